//! Putting typed fields back into an object.

use crate::json::{ObjectBuilder, RawJson};

use super::extra::OTHER;
use super::{Extra, FieldValue};

/// Collects the fields of one record and adds them to an object.
pub(crate) struct FieldWriter<'a> {
    extra: &'a Extra,
    values: Vec<Option<RawJson>>,
}

impl<'a> FieldWriter<'a> {
    pub(crate) fn new(extra: &'a Extra) -> Self {
        Self { extra, values: Vec::with_capacity(16) }
    }

    /// Takes the next declared field: as it was read if nobody set it since.
    pub(crate) fn field<T: FieldValue + Default>(mut self, name: &str, value: &T) -> Self {
        let at = self.values.len() as u8;
        let untouched = *value == T::default();
        let was_missing = self.extra.layout().is_some_and(|layout| !layout.contains(&at));
        self.values.push(match self.extra.get(name) {
            Some(raw) if untouched => Some(raw.clone()),
            _ if untouched && was_missing => None,
            _ => value.write(),
        });
        self
    }

    /// Adds all fields, but not those in `outside`.
    pub(crate) fn finish(
        mut self,
        mut out: ObjectBuilder,
        names: &'static [&'static str],
        outside: &'static [&'static str],
    ) -> ObjectBuilder {
        let mut others = self.extra.fields().iter().filter(|field| {
            let name = &&*field.name();
            !names.contains(name) && !outside.contains(name)
        });
        let layout = self.extra.layout().unwrap_or_default().iter().copied();
        for slot in layout.chain(0..names.len() as u8) {
            if slot == OTHER {
                if let Some(field) = others.next() {
                    out = out.raw_field(field.raw_name(), field.value());
                }
            } else if let Some(value) = self.values[usize::from(slot)].take() {
                out = out.raw(names[usize::from(slot)], &value);
            }
        }
        others.fold(out, |out, field| out.raw_field(field.raw_name(), field.value()))
    }
}
