//! The checks, a module a subject.

use super::check::{Check, Entry};

/// Declares the modules of checks and the one table of them all.
macro_rules! modules {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+

        static MODULES: &[(&str, &[Entry])] = &[$((stringify!($module), $module::TABLE)),+];
    };
}

modules! {
    append, cancel, claim, conflict, copy, durability, fault, join, keys, list, nesting, put, random, read,
    remove, sharing, version, writer,
}

/// Returns every check, in the order of the table.
pub fn checks() -> impl Iterator<Item = Check> {
    MODULES.iter().flat_map(|(module, entries)| entries.iter().map(|entry| Check { module, entry }))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        let names: Vec<_> = checks().map(|check| check.name()).collect();
        let distinct: HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "a check is in a table twice");
        assert!(names.contains(&"append::bytes_begin_at_the_returned_offset".to_owned()));
    }
}
