//! A field that may be missing, `null`, or a value.

use crate::json::RawJson;

use super::FieldValue;

/// A value that tells a missing field from one that is `null`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Nullable<T> {
    /// The field is not there.
    #[default]
    Absent,
    /// The field is `null`.
    Null,
    /// The field has a value.
    Value(T),
}

impl<T> Nullable<T> {
    /// Returns the value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<T: FieldValue> FieldValue for Nullable<T> {
    const OPTIONAL: bool = true;

    fn read(raw: &RawJson) -> Option<Self> {
        if raw.is_null() { Some(Self::Null) } else { T::read(raw).map(Self::Value) }
    }

    fn is_there(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Null => true,
            Self::Value(value) => value.is_there(),
        }
    }

    fn push_to(&self, out: &mut String) {
        match self {
            Self::Absent => {}
            Self::Null => out.push_str("null"),
            Self::Value(value) => value.push_to(out),
        }
    }

    fn is_plain(&self) -> bool {
        self.value().is_none_or(T::is_plain)
    }
}
