//! Writing an object field by field.

use super::RawJson;
use super::text::push_string;

/// Builds a compact object in the order its fields are added.
///
/// ```
/// use session_model::json::{ObjectBuilder, RawJson};
///
/// let object = ObjectBuilder::new()
///     .string("type", "label")
///     .raw("n", &RawJson::parse("1.0")?)
///     .build();
/// assert_eq!(object.as_str(), r#"{"type":"label","n":1.0}"#);
/// # Ok::<(), session_model::json::InvalidJson>(())
/// ```
#[derive(Debug)]
pub struct ObjectBuilder {
    out: String,
}

impl Default for ObjectBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ObjectBuilder {
    /// Starts an empty object.
    pub fn new() -> Self {
        let mut out = String::with_capacity(256);
        out.push('{');
        Self { out }
    }

    /// Adds a field with any value, on one line.
    pub fn raw(mut self, name: &str, value: &RawJson) -> Self {
        push_key(&mut self.out, name);
        value.push_compact(&mut self.out);
        self
    }

    /// Adds a field with any value unless there is none.
    pub fn optional(self, name: &str, value: Option<&RawJson>) -> Self {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    /// Adds a string field.
    pub fn string(mut self, name: &str, value: &str) -> Self {
        push_key(&mut self.out, name);
        push_string(&mut self.out, value);
        self
    }

    /// Adds a field whose name is given as it is spelled, in quotes.
    pub fn raw_field(mut self, raw_name: &RawJson, value: &RawJson) -> Self {
        push_raw_field(&mut self.out, raw_name, value);
        self
    }

    /// Ends the object.
    pub fn build(mut self) -> RawJson {
        self.out.push('}');
        RawJson::trusted(self.out.into())
    }
}

/// Appends a field's name to a text that ends in an unfinished object.
pub(crate) fn push_key(out: &mut String, name: &str) {
    push_comma(out);
    push_string(out, name);
    out.push(':');
}

/// Appends a text field to a text that ends in an unfinished object; there is nothing to escape in
/// either.
pub(crate) fn push_known(out: &mut String, name: &str, value: &str) {
    push_comma(out);
    for part in ["\"", name, "\":\"", value, "\""] {
        out.push_str(part);
    }
}

/// Appends a field as it is spelled, on one line, to a text that ends in an unfinished object.
pub(crate) fn push_raw_field(out: &mut String, raw_name: &RawJson, value: &RawJson) {
    push_comma(out);
    out.push_str(raw_name.as_str());
    out.push(':');
    value.push_compact(out);
}

/// No value ends in `{`, so a text that does ends in an object without fields.
fn push_comma(out: &mut String) {
    if !out.ends_with('{') {
        out.push(',');
    }
}

/// Appends an array.
pub(crate) fn push_items<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    push: impl Fn(T, &mut String),
) {
    out.push('[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        push(item, out);
    }
    out.push(']');
}
