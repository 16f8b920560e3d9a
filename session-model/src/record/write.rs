//! Putting typed fields back into an object.

use crate::json::ObjectBuilder;

use super::{Extra, FieldValue};

/// Adds the fields of one record to an object.
pub(crate) struct FieldWriter<'a> {
    out: ObjectBuilder,
    extra: &'a Extra,
}

impl<'a> FieldWriter<'a> {
    pub(crate) fn new(out: ObjectBuilder, extra: &'a Extra) -> Self {
        Self { out, extra }
    }

    /// Adds a declared field, as it was read if nobody set it since.
    pub(crate) fn field<T: FieldValue + Default>(mut self, name: &'static str, value: &T) -> Self {
        let as_read = (*value == T::default())
            .then(|| self.extra.get(name).map(Some).or(self.extra.is_absent(name).then_some(None)))
            .flatten();
        self.out = match as_read {
            Some(raw) => self.out.optional(name, raw),
            None => self.out.optional(name, value.write().as_ref()),
        };
        self
    }

    /// Adds the fields that are neither declared nor in `outside`.
    pub(crate) fn finish(
        self,
        names: &'static [&'static str],
        outside: &'static [&'static str],
    ) -> ObjectBuilder {
        self.extra.fields().iter().fold(self.out, |out, field| {
            let name = &&*field.name();
            if names.contains(name) || outside.contains(name) {
                return out;
            }
            out.raw_field(field.raw_name(), field.value())
        })
    }
}
