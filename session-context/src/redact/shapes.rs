//! What is looked for, for those who want to know.

use super::{Redactor, rules};

/// A shape of secrets that is looked for. Several may be of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// What such a secret becomes: `[redacted:kind]`.
    pub kind: &'static str,
    /// What the kinds around it have in common.
    pub family: &'static str,
    /// Who publishes the shape, and where.
    pub source: &'static str,
}

impl Redactor {
    /// Returns all shapes that are looked for, family by family.
    pub fn shapes() -> impl Iterator<Item = Shape> {
        let families = rules::FAMILIES.iter();
        let ruled = families.flat_map(|(family, rules)| {
            let shape = |kind, source| Shape { kind, family, source };
            rules.iter().map(move |rule| shape(rule.kind, rule.source))
        });
        let coded = rules::CODED.iter();
        ruled.chain(coded.map(|&(kind, source)| Shape {
            kind,
            family: rules::CODED_FAMILY,
            source,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_many_kinds_and_each_shape_has_a_source() {
        let kinds: BTreeSet<_> = Redactor::shapes().map(|shape| shape.kind).collect();
        assert!(kinds.len() >= 150, "{}", kinds.len());
        let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert_eq!(kinds.iter().find(|kind| !kind.chars().all(in_name)), None);
        let unnamed = Redactor::shapes().find(|shape| shape.source.len() < 5);
        assert_eq!(unnamed, None);
    }
}
