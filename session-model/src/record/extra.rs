//! The fields a record has beside the typed ones.

use crate::json::{Field, RawJson};

/// The fields of an object that its record does not know or could not read, with their names and
/// values as they were spelled.
///
/// A known field whose value has an unexpected type lies here under its own name, and its typed
/// field holds the default. It is written in its own place for as long as the typed field stays at
/// the default; a typed field that was set wins. A field that was missing from the object stays
/// missing in the same way. Of a known field given twice only the value in force, the last, is
/// kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    fields: Vec<Field>,
    absent: Vec<&'static str>,
}

impl Extra {
    /// Returns the fields in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns a field's value; of duplicates the last.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.fields.iter().rev().find(|field| field.name() == name).map(Field::value)
    }

    /// Sets a field: replaces the value in force, or adds one at the end.
    pub fn set(&mut self, name: &str, value: RawJson) {
        let field = Field::new(name, value);
        match self.fields.iter_mut().rfind(|field| field.name() == name) {
            Some(old) => *old = field,
            None => self.fields.push(field),
        }
    }

    pub(super) fn push(&mut self, field: Field) {
        self.fields.push(field);
    }

    pub(super) fn note_absent(&mut self, name: &'static str) {
        self.absent.push(name);
    }

    pub(super) fn is_absent(&self, name: &str) -> bool {
        self.absent.contains(&name)
    }
}
