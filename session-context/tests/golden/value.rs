//! JSON as the recordings mean it: numbers and strings by value, to the last digit and code unit.

use std::fmt::Write as _;

use session_model::json::{JsonKind, RawJson, to_json_string};

use crate::Failure;

/// A JSON value.
///
/// Strings are UTF-16, so that half a surrogate pair is a value like any other. An object keeps
/// the order of its members; of duplicates only the last counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    String(Vec<u16>),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    pub(crate) fn parse(text: impl Into<bytes::Bytes>) -> Result<Self, Failure> {
        Ok(Self::of(&RawJson::parse(text)?))
    }

    pub(crate) fn of(json: &RawJson) -> Self {
        match json.kind() {
            JsonKind::Null => Self::Null,
            JsonKind::Bool => Self::Bool(json.as_bool().unwrap()),
            // The recordings were printed by `JSON.stringify`, which has `null` for infinity.
            JsonKind::Number => match json.as_f64().unwrap() {
                number if number.is_finite() => Self::Number(number),
                _ => Self::Null,
            },
            JsonKind::String => Self::String(utf16(json.as_str())),
            JsonKind::Array => {
                Self::Array(json.as_array().unwrap().items().iter().map(Self::of).collect())
            }
            JsonKind::Object => {
                let mut object = Self::Object(Vec::new());
                for field in json.as_object().unwrap().fields() {
                    let name = spelled(&utf16(field.raw_name().as_str()));
                    object.set(&name, Self::of(field.value()));
                }
                object
            }
        }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::String(text.encode_utf16().collect())
    }

    pub(crate) fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::Array(texts.into_iter().map(|text| Self::text(text.as_ref())).collect())
    }

    pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    pub(crate) fn set(&mut self, name: &str, value: Self) {
        let Self::Object(members) = self else { return };
        match members.iter_mut().find(|(own, _)| own == name) {
            Some((_, old)) => *old = value,
            None => members.push((name.to_owned(), value)),
        }
    }

    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn as_text(&self) -> Option<String> {
        match self {
            Self::String(units) => Some(String::from_utf16_lossy(units)),
            _ => None,
        }
    }

    pub(crate) fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number as i64),
            _ => None,
        }
    }

    /// As `JSON.stringify` prints it.
    pub(crate) fn to_json(&self) -> RawJson {
        let mut out = String::new();
        self.print(&mut out);
        RawJson::parse(out).unwrap()
    }

    fn print(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => out.push_str(&to_json_string(number).unwrap()),
            Self::String(units) => print_string(units, out),
            Self::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    item.print(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    print_string(&unspelled(name), out);
                    out.push(':');
                    value.print(out);
                }
                out.push('}');
            }
        }
    }

    /// Where and how another value differs, in a line each; the first few places only.
    pub(crate) fn differences(&self, right: &Self) -> Vec<String> {
        let mut found = Vec::new();
        diff(self, right, String::new(), &mut found);
        found.truncate(8);
        found
    }
}

fn diff(ours: &Value, right: &Value, path: String, found: &mut Vec<String>) {
    let short = |value: Option<&Value>| match value {
        None => "nothing".to_owned(),
        Some(value) => {
            let text = value.to_json().to_string();
            text.char_indices()
                .nth(300)
                .map_or(text.clone(), |(end, _)| format!("{}…", &text[..end]))
        }
    };
    match (ours, right) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a.iter().chain(b.iter().filter(|(name, _)| ours.get(name).is_none()));
            for (name, _) in names {
                let path = format!("{path}/{name}");
                match (ours.get(name), right.get(name)) {
                    (Some(a), Some(b)) => diff(a, b, path, found),
                    (a, b) => {
                        found.push(format!("{path}: is {}, should be {}", short(a), short(b)));
                    }
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                diff(a, b, format!("{path}/{at}"), found);
            }
        }
        _ if ours == right => {}
        _ => {
            found.push(format!(
                "{path}: is {}, should be {}",
                short(Some(ours)),
                short(Some(right))
            ));
        }
    }
}

/// Decodes a JSON string, given in its quotes.
fn utf16(quoted: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(quoted.len());
    let mut rest = quoted[1..quoted.len() - 1].chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        units.push(match rest.next().unwrap() {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'b' => 8,
            'f' => 12,
            'u' => {
                let digits: String = rest.by_ref().take(4).collect();
                u16::from_str_radix(&digits, 16).unwrap()
            }
            other => other as u16,
        });
    }
    units
}

fn print_string(units: &[u16], out: &mut String) {
    out.push('"');
    for c in char::decode_utf16(units.iter().copied()) {
        match c {
            Err(lone) => write!(out, "\\u{:04x}", lone.unpaired_surrogate()).unwrap(),
            Ok(c) => {
                let quoted = RawJson::string(c.encode_utf8(&mut [0; 4]));
                out.push_str(&quoted.as_str()[1..quoted.as_str().len() - 1]);
            }
        }
    }
    out.push('"');
}

/// A member's name as text: half a surrogate pair is spelled `\u` and its digits.
fn spelled(units: &[u16]) -> String {
    let mut out = String::new();
    for c in char::decode_utf16(units.iter().copied()) {
        match c {
            Ok('\\') => out.push_str("\\\\"),
            Ok(c) => out.push(c),
            Err(lone) => write!(out, "\\u{:04x}", lone.unpaired_surrogate()).unwrap(),
        }
    }
    out
}

fn unspelled(name: &str) -> Vec<u16> {
    utf16(&format!("\"{name}\""))
}
