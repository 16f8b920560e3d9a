//! How field types are read and written.

use crate::json::RawJson;

/// A type a record's field can have.
pub(crate) trait FieldValue: Sized + PartialEq {
    /// Whether a missing field is nothing special.
    const OPTIONAL: bool = false;

    /// Reads a value; `None` if it is of an unexpected type.
    fn read(raw: &RawJson) -> Option<Self>;

    /// Returns the value to write; `None` leaves the field out.
    fn write(&self) -> Option<RawJson>;
}

impl<T: FieldValue> FieldValue for Option<T> {
    const OPTIONAL: bool = true;

    fn read(raw: &RawJson) -> Option<Self> {
        // A `null` is not a missing field: it stays with the fields that could not be read.
        if raw.is_null() { None } else { T::read(raw).map(Some) }
    }

    fn write(&self) -> Option<RawJson> {
        self.as_ref().and_then(T::write)
    }
}

impl FieldValue for RawJson {
    fn read(raw: &RawJson) -> Option<Self> {
        Some(raw.clone())
    }

    fn write(&self) -> Option<RawJson> {
        Some(self.clone())
    }
}

impl FieldValue for String {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_text().map(Into::into)
    }

    fn write(&self) -> Option<RawJson> {
        Some(RawJson::string(self))
    }
}

impl FieldValue for bool {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_bool()
    }

    fn write(&self) -> Option<RawJson> {
        Some((*self).into())
    }
}

impl FieldValue for i64 {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_i64()
    }

    fn write(&self) -> Option<RawJson> {
        Some((*self).into())
    }
}

impl FieldValue for u64 {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_i64().and_then(|number| number.try_into().ok())
    }

    fn write(&self) -> Option<RawJson> {
        Some(RawJson::trusted(self.to_string().into()))
    }
}

impl FieldValue for f64 {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_f64().filter(|number| number.is_finite())
    }

    fn write(&self) -> Option<RawJson> {
        // JSON has no other number; `JSON.stringify` writes `null` for the rest.
        if !self.is_finite() {
            return Some(RawJson::null());
        }
        let text = ryu_js::Buffer::new().format_finite(*self).to_owned();
        Some(RawJson::trusted(text.into()))
    }
}

impl<T: FieldValue> FieldValue for Vec<T> {
    fn read(raw: &RawJson) -> Option<Self> {
        raw.as_array()?.items().iter().map(T::read).collect()
    }

    fn write(&self) -> Option<RawJson> {
        let items: Vec<_> = self.iter().filter_map(T::write).collect();
        Some(RawJson::array(&items))
    }
}
