//! The form in which an entry is written, where that is not the whole of it.
//!
//! Memory keeps the whole value. In the file a string of more than [`MAX_STRING_UNITS`] UTF-16
//! units is cut so that it has just so many with [`NOTICE`] behind it, and fields that hold what
//! is of no use later (`partialJson`, `jsonlEvents`) are left out. Signatures, and blocks that are
//! signed or encrypted, are never cut: a part of one is worth nothing.

use memchr::memmem;

use crate::json::{JsonKind, ObjectEdit, ObjectView, RawJson, to_raw_json};

/// The longest string that is written whole, in UTF-16 units.
pub const MAX_STRING_UNITS: usize = 500_000;

/// What stands at the end of a string that was cut.
pub const NOTICE: &str = "\n\n[Session persistence truncated large content]";

const NOTICE_ESCAPED: &str = "\\n\\n[Session persistence truncated large content]";

/// Fields that are left out, at any depth.
const TRANSIENT: [&str; 2] = ["partialJson", "jsonlEvents"];

/// Fields that sign what stands beside them, or are themselves beyond reading.
const SIGNED: [&str; 5] =
    ["thinkingSignature", "thoughtSignature", "textSignature", "signature", "encrypted_content"];

/// How deep values are looked into; what lies deeper is written whole.
const MAX_DEPTH: usize = 128;

/// Returns the form in which an entry is written; `None` if that is the entry as it is.
pub fn persisted_form(entry: &RawJson) -> Option<RawJson> {
    shortened(entry, 0)
}

fn shortened(value: &RawJson, depth: usize) -> Option<RawJson> {
    if depth > MAX_DEPTH || !can_be_shortened(value) {
        return None;
    }
    match value.kind() {
        JsonKind::String => cut(value),
        JsonKind::Array => {
            let items = value.as_array()?;
            let short: Vec<_> =
                items.items().iter().map(|item| shortened(item, depth + 1)).collect();
            short.iter().any(Option::is_some).then(|| {
                let items = items.items().iter().zip(short);
                let items: Vec<_> =
                    items.map(|(item, short)| short.unwrap_or_else(|| item.clone())).collect();
                RawJson::array(&items)
            })
        }
        JsonKind::Object => shortened_object(value, &value.as_object()?, depth),
        _ => None,
    }
}

fn shortened_object(value: &RawJson, fields: &ObjectView, depth: usize) -> Option<RawJson> {
    let signed = fields.text("type").is_some_and(|kind| kind == "redactedThinking")
        || SIGNED.iter().any(|name| fields.get(name).is_some_and(|sign| !sign.is_null()));
    let mut edit = ObjectEdit::new();
    for field in fields.fields() {
        let name = field.name();
        if TRANSIENT.contains(&&*name) {
            edit = edit.remove(name);
        } else if !signed && let Some(short) = shortened(field.value(), depth + 1) {
            if name == "content" && fields.get("lineCount").is_some_and(|n| n.as_f64().is_some()) {
                let lines = short.as_text().map_or(0, |text| text.split('\n').count());
                edit = edit.set("lineCount", &to_raw_json(&lines).unwrap_or_default());
            }
            edit = edit.set(name, &short);
        }
    }
    if edit.is_empty() { None } else { edit.apply(value) }
}

/// A quick look that spares ordinary values the long way.
fn can_be_shortened(value: &RawJson) -> bool {
    let text = value.as_bytes();
    text.len() > MAX_STRING_UNITS
        || TRANSIENT.iter().any(|name| memmem::find(text, name.as_bytes()).is_some())
}

/// Cuts a string that is too long, never inside a surrogate pair.
fn cut(string: &RawJson) -> Option<RawJson> {
    let inner = string.as_str().strip_prefix('"')?.strip_suffix('"')?;
    let room = MAX_STRING_UNITS - NOTICE.len();
    let (mut units, mut at, mut end) = (0, 0, 0);
    while at < inner.len() {
        let (bytes, more) = character(&inner[at..]);
        (units, at) = (units + more, at + bytes);
        if units <= room {
            end = at;
        }
    }
    (units > MAX_STRING_UNITS)
        .then(|| RawJson::trusted(format!("\"{}{NOTICE_ESCAPED}\"", &inner[..end]).into()))
}

/// The bytes and the UTF-16 units of the first character of a string's inside.
fn character(text: &str) -> (usize, usize) {
    let half = |at: usize| {
        let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(hex, 16).ok()
    };
    match text.chars().next() {
        Some('\\') => match (half(0), half(6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, 2),
            (Some(_), _) => (6, 1),
            (None, _) => (2, 1),
        },
        Some(c) => (c.len_utf8(), c.len_utf16()),
        None => (1, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: String) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    fn units(value: &RawJson) -> usize {
        value.as_text().unwrap().encode_utf16().count()
    }

    #[test]
    fn a_string_is_cut_to_the_limit_with_the_notice() {
        assert_eq!(persisted_form(&RawJson::string(&"x".repeat(500_000))), None);
        let short = persisted_form(&RawJson::string(&"x".repeat(500_001))).unwrap();
        let want = "x".repeat(500_000 - NOTICE.len()) + NOTICE;
        assert_eq!(short.as_text().unwrap(), want);
        assert_eq!(persisted_form(&short), None);
        assert_eq!(persisted_form(&RawJson::string(&"é".repeat(500_000))), None);
    }

    #[test]
    fn a_pair_is_never_split() {
        let pairs = persisted_form(&RawJson::string(&"😀".repeat(300_000))).unwrap();
        let shifted = "x".to_owned() + &"😀".repeat(300_000);
        let shifted = persisted_form(&RawJson::string(&shifted)).unwrap();
        let mut lengths = [units(&pairs), units(&shifted)];
        lengths.sort_unstable();
        assert_eq!(lengths, [499_999, 500_000]);
        let escaped = raw(format!("\"{}\"", r"\ud83d\ude00".repeat(300_000)));
        assert_eq!(persisted_form(&escaped).unwrap().as_text(), pairs.as_text());
        let lone = raw(format!("\"{}\"", r"\ud83d".repeat(500_001)));
        assert_eq!(units(&persisted_form(&lone).unwrap()), 500_000);
    }

    #[test]
    fn transient_fields_go_at_any_depth_and_nothing_else_changes() {
        let value = raw(r#"{"n":1.0,"partialJson":"{","a":[{"jsonlEvents":[1],"x":"\ud800"}],"b":"partialJson"}"#.into());
        let want = r#"{"n":1.0,"a":[{"x":"\ud800"}],"b":"partialJson"}"#;
        assert_eq!(persisted_form(&value).unwrap().as_str(), want);
    }

    #[test]
    fn lines_are_counted_again_where_content_was_cut() {
        let long = "a\\n".repeat(300_000);
        let value = raw(format!(r#"{{"path":"p","content":"{long}","lineCount":300001}}"#));
        let fields = persisted_form(&value).unwrap().as_object().unwrap();
        let lines = fields.text("content").unwrap().split('\n').count();
        assert_eq!(fields.get("lineCount").unwrap().as_i64(), Some(lines as i64));
        let other = raw(format!(r#"{{"content":7,"other":"{long}","lineCount":5}}"#));
        let fields = persisted_form(&other).unwrap().as_object().unwrap();
        assert_eq!(fields.get("lineCount").unwrap().as_i64(), Some(5));
    }

    #[test]
    fn what_is_signed_or_encrypted_stays_whole() {
        let long = "s".repeat(600_000);
        for block in [
            format!(r#"{{"type":"thinking","thinking":"{long}","thinkingSignature":"x"}}"#),
            format!(r#"{{"type":"text","text":"t","textSignature":"{long}"}}"#),
            format!(r#"{{"type":"redactedThinking","data":"{long}"}}"#),
            format!(r#"{{"type":"toolCall","arguments":{{"a":"{long}"}},"thoughtSignature":"x"}}"#),
        ] {
            assert_eq!(persisted_form(&raw(format!("[{block}]"))), None);
        }
    }

    #[test]
    fn hostile_depth_is_written_whole() {
        let deep =
            format!("{}\"{}\"{}", "[".repeat(100_000), "x".repeat(500_001), "]".repeat(100_000));
        assert_eq!(persisted_form(&raw(deep)), None);
    }
}
