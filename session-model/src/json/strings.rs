//! Every string of a value, wherever it stands.

use std::borrow::Cow;
use std::ops::Range;

use super::text::string_end;
use super::{RawJson, decode_string};

/// A string of a JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonString<'a> {
    /// What it says, each lone surrogate as U+FFFD.
    pub text: Cow<'a, str>,
    /// The name of the field it is the value of, perhaps in an array; empty if there is none.
    pub field: Cow<'a, str>,
    /// Whether it is the name of a field itself; `field` is then empty.
    pub is_name: bool,
}

/// An object or array that is open.
struct Open {
    is_object: bool,
    /// Where the name that applies to strings stands.
    field: Range<usize>,
    name_next: bool,
}

impl RawJson {
    /// Changes strings, and names of fields, and leaves every other byte as it is.
    ///
    /// `change` sees them in order and answers `None` for those that stay. Returns `None` if all
    /// stay. Depth costs memory, not stack.
    ///
    /// ```
    /// use session_model::json::RawJson;
    ///
    /// let value = RawJson::parse(r#"{ "a": [1.0, "\u0062"], "b": "a" }"#)?;
    /// let changed = value.map_strings(|string| {
    ///     (string.text == "b" && string.field == "a").then(|| "new".to_owned())
    /// });
    /// assert_eq!(changed.unwrap().as_str(), r#"{ "a": [1.0, "new"], "b": "a" }"#);
    /// # Ok::<(), session_model::json::InvalidJson>(())
    /// ```
    pub fn map_strings(
        &self,
        mut change: impl FnMut(&JsonString<'_>) -> Option<String>,
    ) -> Option<Self> {
        let (text, mut out) = (self.as_str(), String::new());
        let (bytes, mut clean, mut at) = (text.as_bytes(), 0, 0);
        let mut open: Vec<Open> = Vec::new();
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let end = string_end(bytes, at);
                    let inside = at + 1..end - 1;
                    let is_name = open.last().is_some_and(|top| top.name_next);
                    let field = match open.last_mut() {
                        Some(top) if is_name => {
                            (top.field, top.name_next) = (inside.clone(), false);
                            0..0
                        }
                        top => top.map_or(0..0, |top| top.field.clone()),
                    };
                    let string = JsonString {
                        text: decode_string(&text[inside]),
                        field: decode_string(&text[field]),
                        is_name,
                    };
                    if let Some(new) = change(&string) {
                        out.push_str(&text[clean..at]);
                        super::text::push_string(&mut out, &new);
                        clean = end;
                    }
                    at = end;
                    continue;
                }
                b'{' | b'[' => {
                    let is_object = byte == b'{';
                    let above = open.last().filter(|_| !is_object);
                    let field = above.map_or(0..0, |above| above.field.clone());
                    open.push(Open { is_object, field, name_next: is_object });
                }
                b'}' | b']' => {
                    open.pop();
                }
                b',' => {
                    if let Some(top) = open.last_mut() {
                        top.name_next = top.is_object;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        if clean == 0 {
            return None;
        }
        out.push_str(&text[clean..]);
        Some(Self::trusted(out.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn every_string_is_told_with_its_field() {
        let value = raw(r#"{"a":"1","b":{"c":["2",{"d":"3"},["4"]],"x":"5"},"e\u0066":"\"6"}"#);
        let mut seen = Vec::new();
        let changed = value.map_strings(|string| {
            let mark = if string.is_name { "!" } else { "" };
            seen.push(format!("{}={}{mark}", string.field, string.text));
            None
        });
        assert_eq!(changed, None);
        let want = "=a! a=1 =b! =c! c=2 =d! d=3 c=4 =x! x=5 =ef! ef=\"6";
        assert_eq!(seen.join(" "), want);
    }

    #[test]
    fn only_what_is_changed_is_spelled_anew() {
        let value = raw(r#"[ "\u0061", {"\u0061" : "\ud800", "b":1.0} ,"c"]"#);
        let changed = value.map_strings(|s| (s.text == "c").then(|| "\n".to_owned())).unwrap();
        assert_eq!(changed.as_str(), r#"[ "\u0061", {"\u0061" : "\ud800", "b":1.0} ,"\n"]"#);
        let names = value.map_strings(|s| s.is_name.then(|| format!("<{}>", s.text))).unwrap();
        assert_eq!(names.as_str(), r#"[ "\u0061", {"<a>" : "\ud800", "<b>":1.0} ,"c"]"#);
        let alone = raw("\"x\"").map_strings(|_| Some(String::new())).unwrap();
        assert_eq!(alone.as_str(), "\"\"");
    }

    #[test]
    fn any_depth_is_walked() {
        let deep = raw(&format!("{}\"x\"{}", "[".repeat(100_000), "]".repeat(100_000)));
        let changed = deep.map_strings(|_| Some("y".to_owned())).unwrap();
        assert_eq!(changed.as_str(), deep.as_str().replace('x', "y"));
    }
}
