//! JSON as the recordings mean it: numbers and strings by value, to the last digit and code unit.

use std::fmt::Write as _;

use session_model::json::{JsonKind, RawJson, to_json_string};

use crate::Failure;

/// A JSON value.
///
/// Strings and names are kept as [`spelled`], so that half a surrogate pair is a value like any
/// other. An object keeps the order of its members; of duplicates only the last counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
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
            JsonKind::String => Self::String(spelled(json.as_str())),
            JsonKind::Array => {
                Self::Array(json.as_array().unwrap().items().iter().map(Self::of).collect())
            }
            JsonKind::Object => {
                let mut object = Self::Object(Vec::new());
                for field in json.as_object().unwrap().fields() {
                    object.set(&spelled(field.raw_name().as_str()), Self::of(field.value()));
                }
                object
            }
        }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::String(text.replace('\\', r"\\"))
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
            Self::String(spelled) => Some(String::from_utf16_lossy(&units(&quoted(spelled)))),
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
            Self::String(text) => out.push_str(&quoted(text)),
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
                    out.push_str(&quoted(name));
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
        Some(value) => value.to_json().as_str().chars().take(300).collect(),
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

/// The text of a JSON string, given in its quotes: a backslash is doubled, half a surrogate pair
/// is spelled `\u` and its digits.
fn spelled(quoted: &str) -> String {
    let inner = &quoted[1..quoted.len() - 1];
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    let mut out = String::with_capacity(inner.len());
    for c in char::decode_utf16(units(quoted)) {
        match c {
            Ok('\\') => out.push_str(r"\\"),
            Ok(c) => out.push(c),
            Err(lone) => write!(out, "\\u{:04x}", lone.unpaired_surrogate()).unwrap(),
        }
    }
    out
}

/// The JSON string of a spelled text.
fn quoted(spelled: &str) -> String {
    // What is spelled with a backslash is spelled so in JSON.
    let parts = spelled.split('\\').map(|part| {
        let quoted = RawJson::string(part).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    });
    format!("\"{}\"", parts.collect::<Vec<_>>().join("\\"))
}

/// The code units of a JSON string, given in its quotes.
fn units(quoted: &str) -> Vec<u16> {
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
