//! What a record holds beside its typed fields.

use crate::json::{Field, RawJson};

/// The fields of an object that its record does not know or could not read, with their names and
/// values as they were spelled.
///
/// A known field whose value has an unexpected type, or a list with one such item, lies here under
/// its own name, and its typed field holds the default. It is written in its own place for as long
/// as the typed field stays at the default; a typed field that was set wins.
///
/// Where an object did not have its fields in the declared order, or lacked some, that is kept here
/// too: it is written as it was read, and fields set since follow. Of a known field given twice
/// only the value in force, the last, is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    fields: Vec<Field>,
    /// The order of the object that was read, unless it is the declared one and complete: the
    /// index of a declared field, or [`OTHER`] for the next of the others.
    layout: Option<Box<[u8]>>,
}

/// Stands for a field that is not declared. Sorts behind all that are.
pub(super) const OTHER: u8 = u8::MAX;

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

    /// Tells whether all there is to write are the declared fields, in their order.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.layout.is_none()
    }

    pub(super) fn push(&mut self, field: Field) {
        self.fields.push(field);
    }

    pub(super) fn set_layout(&mut self, layout: Vec<u8>) {
        self.layout = Some(layout.into());
    }

    pub(super) fn layout(&self) -> Option<&[u8]> {
        self.layout.as_deref()
    }
}
