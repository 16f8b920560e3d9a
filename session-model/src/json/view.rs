//! Objects and arrays taken apart one level deep.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{JsonKind, RawJson, decode_string};

/// Key and value texts of an object, in order, as spans of the text they were read from.
pub(crate) struct Fields<'a>(pub(crate) Vec<(&'a str, &'a str)>);

struct FieldsVisitor;

impl<'a> Visitor<'a> for FieldsVisitor {
    type Value = Fields<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Fields<'a>, A::Error> {
        let mut fields = Vec::new();
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            fields.push((key.get(), value.get()));
        }
        Ok(Fields(fields))
    }
}

impl<'a> Deserialize<'a> for Fields<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// Splits the text of an object into its fields.
pub(crate) fn fields_of(text: &str) -> Option<Fields<'_>> {
    serde_json::from_str(text).ok()
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
        if raw.kind() != JsonKind::Object {
            return None;
        }
        let fields = fields_of(raw.as_str())?.0;
        let fields = fields
            .into_iter()
            .map(|(key, value)| Field { key: raw.slice_of(key), value: raw.slice_of(value) })
            .collect();
        Some(Self { fields })
    }

    /// Returns all fields in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns a field's value; of duplicates the last, as JavaScript does.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.fields.iter().rev().find(|field| field.name() == name).map(Field::value)
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

struct Items<'a>(Vec<&'a RawValue>);

struct ItemsVisitor;

impl<'a> Visitor<'a> for ItemsVisitor {
    type Value = Items<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<Items<'a>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Items(items))
    }
}

impl<'a> Deserialize<'a> for Items<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

impl ArrayView {
    pub(super) fn of(raw: &RawJson) -> Option<Self> {
        if raw.kind() != JsonKind::Array {
            return None;
        }
        let items: Items<'_> = serde_json::from_str(raw.as_str()).ok()?;
        Some(Self { items: items.0.into_iter().map(|item| raw.slice_of(item.get())).collect() })
    }

    /// Returns the elements.
    pub fn items(&self) -> &[RawJson] {
        &self.items
    }
}

/// Tells whether a raw key (in quotes) spells `name`.
pub(super) fn key_is(raw_key: &str, name: &str) -> bool {
    let inner = raw_key.get(1..raw_key.len().saturating_sub(1)).unwrap_or_default();
    decode_string(inner) == name
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
