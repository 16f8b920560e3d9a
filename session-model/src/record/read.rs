//! Taking an object apart into typed fields.

use crate::json::{Field, ObjectView, RawJson};

use super::extra::OTHER;
use super::{Extra, FieldValue};

/// The fields of one object, handed out in the order a record declares them.
pub(crate) struct FieldReader {
    names: &'static [&'static str],
    values: Vec<Option<RawJson>>,
    next: usize,
    layout: Vec<u8>,
    complete: bool,
    extra: Extra,
}

impl FieldReader {
    /// Sorts the fields of an object into those in `names` and the others; drops `outside`.
    pub(crate) fn new(
        object: &ObjectView,
        names: &'static [&'static str],
        outside: &'static [&'static str],
    ) -> Self {
        let mut values = vec![None; names.len()];
        let mut layout = Vec::with_capacity(object.fields().len());
        let mut extra = Extra::default();
        for field in object.fields() {
            let name = field.name();
            match names.iter().position(|known| *known == name) {
                Some(at) => {
                    if values[at].is_none() {
                        layout.push(at as u8);
                    }
                    values[at] = Some(field.value().clone());
                }
                None if outside.contains(&&*name) => {}
                None => {
                    layout.push(OTHER);
                    extra.push(field.clone());
                }
            }
        }
        Self { names, values, next: 0, layout, complete: true, extra }
    }

    /// Reads the next declared field.
    pub(crate) fn next<T: FieldValue + Default>(&mut self) -> T {
        let (name, raw) = (self.names[self.next], self.values[self.next].take());
        self.next += 1;
        match raw {
            Some(raw) => T::read(&raw).unwrap_or_else(|| {
                self.extra.push(Field::new(name, raw));
                T::default()
            }),
            None => {
                self.complete &= T::OPTIONAL;
                T::default()
            }
        }
    }

    /// Returns what no typed field took.
    pub(crate) fn finish(mut self) -> Extra {
        if !self.complete || !self.layout.is_sorted() {
            self.extra.set_layout(self.layout);
        }
        self.extra
    }
}
