//! Objects and arrays taken apart one level deep.

use std::borrow::Cow;

use super::{RawJson, decode_string, split};

/// Key and value texts of an object, in order, as spans of the text they were read from.
pub(crate) struct Fields<'a>(pub(crate) Vec<(&'a str, &'a str)>);

/// Splits the text of an object into its fields.
pub(crate) fn fields_of(text: &str) -> Option<Fields<'_>> {
    let part = |range| text.get(range).unwrap_or_default();
    let fields = split::fields(text.as_bytes())?;
    Some(Fields(fields.map(|(key, value)| (part(key), part(value))).collect()))
}

/// One field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    key: RawJson,
    value: RawJson,
}

impl Field {
    /// A field with a name of plain text.
    pub fn new(name: &str, value: RawJson) -> Self {
        Self { key: RawJson::string(name), value }
    }

    /// Returns the field's name, each lone surrogate as U+FFFD.
    pub fn name(&self) -> Cow<'_, str> {
        self.key.as_text().unwrap_or_default()
    }

    /// Returns the field's value.
    pub fn value(&self) -> &RawJson {
        &self.value
    }

    /// Returns the name as it is spelled, in quotes.
    pub fn raw_name(&self) -> &RawJson {
        &self.key
    }
}

/// The fields of an object, in order and with duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectView {
    fields: Vec<Field>,
}

impl ObjectView {
    pub(super) fn of(raw: &RawJson) -> Option<Self> {
        let field = |(key, value)| Field { key: raw.slice(key), value: raw.slice(value) };
        Some(Self { fields: split::fields(raw.as_bytes())?.map(field).collect() })
    }

    /// Returns all fields in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns a field's value; of duplicates the last, as JavaScript does.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.fields.iter().rfind(|field| key_is(field.key.as_bytes(), name)).map(Field::value)
    }

    /// Returns a string field's text, each lone surrogate as U+FFFD.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name)?.as_text()
    }
}

/// The elements of an array, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayView {
    items: Vec<RawJson>,
}

impl ArrayView {
    pub(super) fn of(raw: &RawJson) -> Option<Self> {
        let items = split::items(raw.as_bytes())?;
        Some(Self { items: items.map(|item| raw.slice(item)).collect() })
    }

    /// Returns the elements.
    pub fn items(&self) -> &[RawJson] {
        &self.items
    }
}

/// Tells whether a raw key (in quotes) spells `name`.
pub(super) fn key_is(raw_key: &[u8], name: &str) -> bool {
    let inner = raw_key.get(1..raw_key.len().saturating_sub(1)).unwrap_or_default();
    // Almost every name is spelled plainly.
    inner == name.as_bytes()
        || (inner.contains(&b'\\')
            && std::str::from_utf8(inner).is_ok_and(|inner| decode_string(inner) == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_order_duplicates_and_odd_keys() {
        let raw = RawJson::parse(r#"{"b":1,"2":2,"b":3,"\ud800":4,"é":{"x":[]}}"#).unwrap();
        let object = raw.as_object().unwrap();
        let fields: Vec<_> = object
            .fields()
            .iter()
            .map(|f| (f.name().into_owned(), f.value().to_string()))
            .collect();
        let want = [("b", "1"), ("2", "2"), ("b", "3"), ("\u{fffd}", "4"), ("é", r#"{"x":[]}"#)];
        assert_eq!(fields, want.map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert_eq!(object.get("b").unwrap().as_str(), "3");
        assert_eq!(object.get("é").unwrap().as_str(), r#"{"x":[]}"#);
        assert_eq!(object.get("e"), None);
    }

    #[test]
    fn arrays_keep_every_spelling() {
        let raw = RawJson::parse(r#"[1.0, 1e400 ,"\udc00",null,[ ]]"#).unwrap();
        let items: Vec<_> = raw.as_array().unwrap().items().iter().map(|i| i.to_string()).collect();
        assert_eq!(items, ["1.0", "1e400", r#""\udc00""#, "null", "[ ]"]);
        assert_eq!(raw.as_object(), None);
    }
}
