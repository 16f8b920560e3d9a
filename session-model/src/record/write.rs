//! Putting typed fields back into an object.

use crate::json::{RawJson, push_key, push_raw_field};

use super::extra::OTHER;
use super::{Extra, FieldValue};

/// Appends a field to a text that ends in an unfinished object, if there is a value; `key` is a
/// comma, the name in quotes, and a colon.
pub(crate) fn push_field<T: FieldValue>(out: &mut String, key: &'static str, value: &T) {
    if value.is_there() {
        out.push_str(if out.ends_with('{') { &key[1..] } else { key });
        value.push_to(out);
    }
}

/// Collects the fields of one record and adds them to an object, for a record that was read from
/// one with other fields, or another order.
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
        out: &mut String,
        names: &'static [&'static str],
        outside: &'static [&'static str],
    ) {
        let mut others = self.extra.fields().iter().filter(|field| {
            let name = &&*field.name();
            !names.contains(name) && !outside.contains(name)
        });
        let layout = self.extra.layout().unwrap_or_default().iter().copied();
        for slot in layout.chain(0..names.len() as u8) {
            if slot == OTHER {
                if let Some(field) = others.next() {
                    push_raw_field(out, field.raw_name(), field.value());
                }
            } else if let Some(value) = self.values[usize::from(slot)].take() {
                push_key(out, names[usize::from(slot)]);
                value.push_compact(out);
            }
        }
        others.for_each(|field| push_raw_field(out, field.raw_name(), field.value()));
    }
}
