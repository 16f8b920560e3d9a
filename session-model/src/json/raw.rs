//! A piece of JSON text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use serde::de::IgnoredAny;

use super::lookup::fields_of;
use super::{ArrayView, ObjectView, decode_string, trim_json_space};

/// One JSON value, kept as text.
///
/// The text is valid JSON by the grammar of RFC 8259, has no white space around it, and may hold
/// what a parser of values rejects or changes: lone surrogates, numbers out of range, duplicate
/// keys, any depth. Cloning is cheap; equality is that of the text.
///
/// ```
/// use session_model::json::RawJson;
///
/// let value = RawJson::parse(r#" {"a": 1.0, "b": "\ud83d"} "#)?;
/// assert_eq!(value.as_str(), r#"{"a": 1.0, "b": "\ud83d"}"#);
/// let object = value.as_object().unwrap();
/// assert_eq!(object.get("a").unwrap().as_f64(), Some(1.0));
/// assert_eq!(object.get("b").unwrap().as_text().unwrap(), "\u{fffd}");
/// # Ok::<(), session_model::json::InvalidJson>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(Bytes);

/// A text that is not JSON, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON: {reason}")]
pub struct InvalidJson {
    pub(crate) reason: String,
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl RawJson {
    /// Checks a text and keeps it without the white space around it.
    ///
    /// # Errors
    ///
    /// [`InvalidJson`] if the text is not exactly one JSON value in UTF-8.
    pub fn parse(text: impl Into<Bytes>) -> Result<Self, InvalidJson> {
        let text: Bytes = text.into();
        let invalid = |reason: String| InvalidJson { reason };
        let utf8 = std::str::from_utf8(&text).map_err(|e| invalid(e.to_string()))?;
        serde_json::from_str::<IgnoredAny>(utf8).map_err(|e| invalid(e.to_string()))?;
        Ok(Self::trusted(text.slice_ref(trim_json_space(&text))))
    }

    /// Keeps a text known to be one valid JSON value without white space around it.
    pub(crate) fn trusted(text: Bytes) -> Self {
        Self(text)
    }

    /// The value `null`.
    pub fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    /// A string value.
    pub fn string(text: &str) -> Self {
        Self::written(|out| super::text::push_string(out, text))
    }

    /// Keeps the one valid and compact JSON value that `write` appends to an empty text.
    pub(crate) fn written(write: impl FnOnce(&mut String)) -> Self {
        let mut out = String::new();
        write(&mut out);
        Self(out.into())
    }

    /// An array value of these, each on one line.
    pub fn array<'a>(items: impl IntoIterator<Item = &'a Self>) -> Self {
        Self::written(|out| super::push_items(out, items, Self::push_compact))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        // The constructors checked it; an empty text is better than a panic should one not have.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the text as shared bytes.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// Returns the value's type.
    pub fn kind(&self) -> JsonKind {
        match self.0.first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't' | b'f') => JsonKind::Bool,
            Some(b'n') | None => JsonKind::Null,
            Some(_) => JsonKind::Number,
        }
    }

    /// Tells whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// Returns the value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.0[..] {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Returns the value of a number as JavaScript reads it; a number out of range is infinite.
    pub fn as_f64(&self) -> Option<f64> {
        (self.kind() == JsonKind::Number).then(|| self.as_str().parse().ok()).flatten()
    }

    /// Returns the value of a number that is whole and fits, whatever its spelling.
    pub fn as_i64(&self) -> Option<i64> {
        let number = self.as_f64()?;
        self.as_str().parse().ok().or_else(|| {
            // Beyond 2^53 a float no longer tells neighbours apart.
            (number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0)
                .then_some(number as i64)
        })
    }

    /// Returns the text of a string, each lone surrogate as U+FFFD.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        let inner = self.as_str().strip_prefix('"')?.strip_suffix('"')?;
        Some(decode_string(inner))
    }

    /// Returns one field of an object; of duplicates the last, as JavaScript does.
    ///
    /// Cheaper than [`as_object`](Self::as_object) where one field is all that is wanted.
    pub fn field(&self, name: &str) -> Option<Self> {
        let [value] = self.some_fields([name]);
        value
    }

    /// Returns some fields of an object; of duplicates the last, as JavaScript does.
    ///
    /// Cheaper than [`as_object`](Self::as_object) where not all fields are wanted.
    ///
    /// ```
    /// use session_model::json::RawJson;
    ///
    /// let object = RawJson::parse(r#"{"a":1,"b":2,"a":3}"#)?;
    /// let [a, c] = object.some_fields(["a", "c"]);
    /// assert_eq!((a.unwrap().as_i64(), c), (Some(3), None));
    /// # Ok::<(), session_model::json::InvalidJson>(())
    /// ```
    pub fn some_fields<const N: usize>(&self, names: [&str; N]) -> [Option<Self>; N] {
        fields_of(&self.0, names).map(|value| value.map(|value| self.slice(value)))
    }

    /// Returns the fields of an object.
    pub fn as_object(&self) -> Option<ObjectView> {
        ObjectView::of(self)
    }

    /// Returns the elements of an array.
    pub fn as_array(&self) -> Option<ArrayView> {
        ArrayView::of(self)
    }

    /// Returns the same value without white space between its tokens.
    ///
    /// Numbers, escapes, order and duplicates stay as they are. No copy is made if there is no
    /// white space to drop.
    pub fn compact(&self) -> Self {
        match super::text::without_space(self.as_str()) {
            Cow::Borrowed(_) => self.clone(),
            Cow::Owned(text) => Self(text.into()),
        }
    }

    /// Appends the value without white space between its tokens.
    pub(crate) fn push_compact(&self, out: &mut String) {
        out.push_str(&super::text::without_space(self.as_str()));
    }

    /// Returns the same value with U+FFFD in the place of each lone surrogate.
    ///
    /// Programs that refuse lone surrogates can read the result. No copy is made if there are none.
    ///
    /// ```
    /// use session_model::json::RawJson;
    ///
    /// let cut = RawJson::parse(r#"["\ud83d\ude00", "\ud83d"]"#)?;
    /// assert_eq!(cut.without_lone_surrogates().as_str(), "[\"\\ud83d\\ude00\", \"\u{fffd}\"]");
    /// # Ok::<(), session_model::json::InvalidJson>(())
    /// ```
    pub fn without_lone_surrogates(&self) -> Self {
        super::text::without_lone_surrogates(self.as_str())
            .map_or_else(|| self.clone(), |text| Self(text.into()))
    }

    /// Reads the value as a Rust type.
    ///
    /// # Errors
    ///
    /// [`InvalidJson`] if the value does not fit the type, or holds what `serde_json` rejects
    /// (lone surrogates in a `String`, depth over 128).
    pub fn decode<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, InvalidJson> {
        serde_json::from_str(self.as_str()).map_err(|e| InvalidJson { reason: e.to_string() })
    }

    /// Returns the value that lies there in this text, shared.
    pub(super) fn slice(&self, value: Range<usize>) -> Self {
        Self(self.0.slice(value))
    }
}

impl From<bool> for RawJson {
    fn from(value: bool) -> Self {
        Self(value.to_string().into())
    }
}

impl From<i64> for RawJson {
    fn from(value: i64) -> Self {
        Self(value.to_string().into())
    }
}

impl Default for RawJson {
    /// The value `null`.
    fn default() -> Self {
        Self::null()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for RawJson {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(self.as_str()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for RawJson {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
        Ok(Self::trusted(String::from(Box::<str>::from(raw)).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn reads_scalars_whatever_their_spelling() {
        assert_eq!(raw("1e2").as_i64(), Some(100));
        assert_eq!(raw("1.0").as_i64(), Some(1));
        assert_eq!(raw("1.5").as_i64(), None);
        assert_eq!(raw("9007199254740993").as_i64(), Some(9_007_199_254_740_993));
        assert_eq!(raw("1e400").as_f64(), Some(f64::INFINITY));
        assert_eq!(raw("1e400").as_i64(), None);
        assert_eq!(raw("\"1\"").as_i64(), None);
        assert_eq!(raw("true").as_bool(), Some(true));
        assert_eq!(raw("\"true\"").as_bool(), None);
        assert!(raw(" null ").is_null());
    }

    #[test]
    fn refuses_what_is_not_one_value() {
        for text in ["", " ", "{", "{} {}", "{'a':1}", "[1,]", "01", "\u{feff}{}", "\"\u{1}\""] {
            assert!(RawJson::parse(text.to_owned()).is_err(), "{text:?}");
        }
        assert!(RawJson::parse(&b"\"\xff\""[..]).is_err());
    }

    #[test]
    fn any_depth_is_a_value() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(raw(&deep).kind(), JsonKind::Array);
    }

    #[test]
    fn one_field_is_that_of_the_object() {
        let object = raw(r#"{"a":1,"b":{"a":2},"\u0061": [ 3 ]}"#);
        assert_eq!(object.field("a"), Some(raw("[ 3 ]")));
        assert_eq!(object.field("b"), Some(raw(r#"{"a":2}"#)));
        assert_eq!((object.field("c"), raw("[1]").field("a")), (None, None));
    }

    #[test]
    fn an_array_holds_its_items_as_they_are_spelled() {
        let items = [raw("1.0"), raw("{ \"a\" :\n1 }")];
        assert_eq!(RawJson::array(&items).as_str(), r#"[1.0,{"a":1}]"#);
        assert_eq!(RawJson::array(&[]).as_str(), "[]");
    }

    #[test]
    fn compact_drops_only_space_between_tokens() {
        let value = raw("{ \"a b\" : [ 1.0 ,\n\t\"x \\\" y\\\\\" ] , \"a b\":\r\n1E2 }");
        assert_eq!(value.compact().as_str(), "{\"a b\":[1.0,\"x \\\" y\\\\\"],\"a b\":1E2}");
        assert_eq!(raw("{\"a\":\" \"}").compact(), raw("{\"a\":\" \"}"));
    }
}
