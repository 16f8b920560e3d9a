//! How field types are read and written.

use std::fmt::Write as _;

use crate::json::{JsonKind, RawJson, push_items, push_string};

/// A type a record's field can have.
pub(crate) trait FieldValue: Sized + PartialEq {
    /// Whether a missing field is nothing special.
    const OPTIONAL: bool = false;

    /// Reads a value; `None` if it is of an unexpected type.
    fn read(raw: &RawJson) -> Option<Self>;

    /// Tells whether there is a value to write; without one the field is left out.
    fn is_there(&self) -> bool {
        true
    }

    /// Appends the value as compact JSON; there must be one.
    fn push_to(&self, out: &mut String);

    /// Tells that nothing in the value can have another [persisted form](crate::persisted), as
    /// long as the whole entry is not too long for one string.
    fn is_plain(&self) -> bool;

    /// Returns the value to write, if there is one.
    fn write(&self) -> Option<RawJson> {
        self.is_there().then(|| RawJson::written(|out| self.push_to(out)))
    }
}

impl<T: FieldValue> FieldValue for Option<T> {
    const OPTIONAL: bool = true;

    fn read(raw: &RawJson) -> Option<Self> {
        // A `null` is not a missing field: it stays with the fields that could not be read.
        if raw.is_null() { None } else { T::read(raw).map(Some) }
    }

    fn is_there(&self) -> bool {
        self.as_ref().is_some_and(T::is_there)
    }

    fn push_to(&self, out: &mut String) {
        if let Some(value) = self {
            value.push_to(out);
        }
    }

    fn is_plain(&self) -> bool {
        self.as_ref().is_none_or(T::is_plain)
    }
}

impl FieldValue for RawJson {
    fn read(raw: &RawJson) -> Option<Self> {
        Some(raw.clone())
    }

    fn push_to(&self, out: &mut String) {
        self.push_compact(out);
    }

    fn is_plain(&self) -> bool {
        matches!(self.kind(), JsonKind::Null | JsonKind::Bool | JsonKind::Number)
    }

    fn write(&self) -> Option<RawJson> {
        Some(self.clone())
    }
}

impl FieldValue for String {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_text().map(Into::into)
    }

    fn push_to(&self, out: &mut String) {
        push_string(out, self);
    }

    fn is_plain(&self) -> bool {
        true
    }
}

impl FieldValue for bool {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_bool()
    }

    fn push_to(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn is_plain(&self) -> bool {
        true
    }
}

impl FieldValue for i64 {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_i64()
    }

    fn push_to(&self, out: &mut String) {
        // Writing to a string does not fail.
        let _ = write!(out, "{self}");
    }

    fn is_plain(&self) -> bool {
        true
    }
}

impl FieldValue for u64 {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_i64().and_then(|number| number.try_into().ok())
    }

    fn push_to(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }

    fn is_plain(&self) -> bool {
        true
    }
}

impl FieldValue for f64 {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_f64().filter(|number| number.is_finite())
    }

    fn push_to(&self, out: &mut String) {
        // JSON has no other number; `JSON.stringify` writes `null` for the rest.
        match self.is_finite() {
            true => out.push_str(ryu_js::Buffer::new().format_finite(*self)),
            false => out.push_str("null"),
        }
    }

    fn is_plain(&self) -> bool {
        true
    }
}

impl<T: FieldValue> FieldValue for Vec<T> {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_array()?.items().iter().map(T::read).collect()
    }

    fn push_to(&self, out: &mut String) {
        push_items(out, self.iter().filter(|item| item.is_there()), T::push_to);
    }

    fn is_plain(&self) -> bool {
        self.iter().all(T::is_plain)
    }
}
