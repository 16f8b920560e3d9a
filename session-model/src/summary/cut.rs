//! Making sense of a record whose end was not read.

use crate::json::RawJson;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Ends a record that is cut off so that it is JSON again, with what of it there is.
///
/// A string value that is cut keeps its beginning; anything else that is not whole is left out.
pub(super) fn complete(cut: &[u8]) -> Option<RawJson> {
    let text = String::from_utf8_lossy(cut);
    let text = text.trim_end_matches('\u{fffd}').trim_start_matches('\0');
    let mut scan = Scan::default();
    text.bytes().enumerate().for_each(|(at, byte)| scan.take(at, byte));
    if scan.is_damaged {
        return None;
    }
    let mut whole = match scan.string {
        Some(Inside { is_key: false, escape }) => {
            let escape = escape.filter(|&start| !is_whole_escape(&text[start..]));
            format!("{}\"", &text[..escape.unwrap_or(text.len())])
        }
        _ => text[..scan.safe].to_owned(),
    };
    whole.extend(scan.open.iter().rev());
    RawJson::parse(whole).ok()
}

/// Tells whether the beginning of a record may be that of a header or title slot.
pub(super) fn may_be_header(cut: &[u8]) -> bool {
    let cut = cut.strip_prefix(BOM).unwrap_or(cut);
    if cut.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace()) {
        return true;
    }
    let Some(fields) = complete(cut).and_then(|json| json.as_object()) else { return false };
    let kind = fields.get("type").map(|kind| kind.as_text().unwrap_or_default().into_owned());
    kind.is_none_or(|kind| "session".starts_with(&kind) || "title".starts_with(&kind))
}

/// How far a text has been read.
#[derive(Debug, Default)]
struct Scan {
    /// What closes the objects and lists that are open.
    open: Vec<char>,
    /// The string being read.
    string: Option<Inside>,
    /// The last byte that is part of no string and no scalar.
    last: u8,
    /// Where the text can be cut and closed.
    safe: usize,
    /// Whether something stands there that is in no JSON.
    is_damaged: bool,
}

#[derive(Debug)]
struct Inside {
    is_key: bool,
    /// Where the last escape begins.
    escape: Option<usize>,
}

impl Scan {
    fn take(&mut self, at: usize, byte: u8) {
        if let Some(string) = &mut self.string {
            match byte {
                b'\\' if string.escape.is_none_or(|start| start + 1 != at) => {
                    string.escape = Some(at);
                }
                b'"' if string.escape.is_none_or(|start| start + 1 != at) => {
                    if !string.is_key {
                        self.safe = at + 1;
                    }
                    self.string = None;
                }
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                let in_object = self.open.last() == Some(&'}');
                let is_key = in_object && matches!(self.last, b'{' | b',');
                self.string = Some(Inside { is_key, escape: None });
                return;
            }
            b'{' | b'[' => {
                self.open.push(if byte == b'{' { '}' } else { ']' });
                self.safe = at + 1;
            }
            b'}' | b']' => {
                self.open.pop();
                self.safe = at + 1;
            }
            b',' => self.safe = at,
            b':' => {}
            b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.' => return,
            b' ' | b'\t' | b'\r' | b'\n' => return,
            _ => self.is_damaged = true,
        }
        self.last = byte;
    }
}

fn is_whole_escape(text: &str) -> bool {
    match text.as_bytes() {
        [_, b'u', digits @ ..] => digits.len() >= 4,
        bytes => bytes.len() >= 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_cut_is_json_again() {
        for (cut, want) in [
            (r#"{"a":"tex"#, r#"{"a":"tex"}"#),
            (r#"{"a":"tex\"#, r#"{"a":"tex"}"#),
            (r#"{"a":"tex\u00"#, r#"{"a":"tex"}"#),
            (r#"{"a":"tex\u00e9"#, r#"{"a":"tex\u00e9"}"#),
            (r#"{"a":"q\"x"#, r#"{"a":"q\"x"}"#),
            (r#"{"a":"b\\"#, r#"{"a":"b\\"}"#),
            (r#"{"a":"b\\","c"#, r#"{"a":"b\\"}"#),
            (r#"{"a":"b","c":"#, r#"{"a":"b"}"#),
            (r#"{"a":"b","c":12"#, r#"{"a":"b"}"#),
            (r#"{"a":[{"b":1},{"c":"d"#, r#"{"a":[{"b":1},{"c":"d"}]}"#),
            (r#"{"a":[{"b":1},"#, r#"{"a":[{"b":1}]}"#),
            (r#"{"a":[1,2"#, r#"{"a":[1]}"#),
            (r#"{"a":["x","y"#, r#"{"a":["x","y"]}"#),
            (r#"{"a":{"#, r#"{"a":{}}"#),
            (r#"{"#, r#"{}"#),
            ("\0\0{\"a\":\"x", r#"{"a":"x"}"#),
        ] {
            let whole = complete(cut.as_bytes()).map(|json| json.to_string());
            assert_eq!(whole.as_deref(), Some(want), "{cut}");
        }
        let cut_character = &"{\"a\":\"é".as_bytes()[..7];
        assert_eq!(complete(cut_character), RawJson::parse(r#"{"a":""}"#).ok());
        for cut in ["", "x", "}", "{'a':1", "{\"a\" 1,"] {
            assert_eq!(complete(cut.as_bytes()), None, "{cut}");
        }
    }

    #[test]
    fn a_cut_header_is_told_from_other_files() {
        for (cut, want) in [
            (r#"{"type":"session","id":"s","cwd":"/w"#, true),
            (r#"{"type":"sess"#, true),
            (r#"{"cwd":"/w"#, true),
            ("\u{feff}{\"type\":\"session\"", true),
            ("\0\0 \n", true),
            ("", true),
            (r#"{"type":"title","v":1"#, true),
            (r#"{"type":"message","id":"a"#, false),
            (r#"{"type":7,"id":"a"#, true),
            ("PK\u{3}\u{4}", false),
            ("[1,2", false),
        ] {
            assert_eq!(may_be_header(cut.as_bytes()), want, "{cut}");
        }
    }
}
