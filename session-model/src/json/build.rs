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
        self.key(name);
        self.out.push_str(value.compact().as_str());
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
        self.key(name);
        push_string(&mut self.out, value);
        self
    }

    /// Adds a field whose name is given as it is spelled, in quotes.
    pub fn raw_field(mut self, raw_name: &RawJson, value: &RawJson) -> Self {
        self.comma();
        self.out.push_str(raw_name.as_str());
        self.out.push(':');
        self.out.push_str(value.compact().as_str());
        self
    }

    /// Ends the object.
    pub fn build(mut self) -> RawJson {
        self.out.push('}');
        RawJson::trusted(self.out.into())
    }

    fn key(&mut self, name: &str) {
        self.comma();
        push_string(&mut self.out, name);
        self.out.push(':');
    }

    fn comma(&mut self) {
        if self.out.len() > 1 {
            self.out.push(',');
        }
    }
}
