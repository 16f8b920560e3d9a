//! Just enough of Rust's grammar to tell code from comments and strings.
//!
//! A parser would give more than the checks ask, and drop the comments they ask for.

/// A Rust text twice: once with only its code left, once with only its comments. Everything else
/// is blanked, so that offsets and lines are those of the text.
#[derive(Default)]
pub(super) struct Masked {
    pub(super) code: String,
    pub(super) comments: String,
}

enum Kind {
    Code,
    Comment,
    Literal,
}

impl Masked {
    pub(super) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut code, mut comments) = (blank(bytes), blank(bytes));
        let mut at = 0;
        while at < bytes.len() {
            let (kind, length) = next_piece(bytes, at);
            let end = (at + length).min(bytes.len());
            match kind {
                Kind::Code => code[at..end].copy_from_slice(&bytes[at..end]),
                Kind::Comment => comments[at..end].copy_from_slice(&bytes[at..end]),
                Kind::Literal => {}
            }
            at = end;
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: text(code), comments: text(comments) }
    }
}

fn blank(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }).collect()
}

fn next_piece(bytes: &[u8], at: usize) -> (Kind, usize) {
    let rest = &bytes[at..];
    match rest {
        [b'/', b'/', ..] => {
            (Kind::Comment, rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()))
        }
        [b'/', b'*', ..] => (Kind::Comment, block_comment(rest)),
        [b'"', ..] => (Kind::Literal, string(rest)),
        [b'\'', ..] => character(rest),
        [b'r', ..] if starts_word(bytes, at) => match raw_string(rest) {
            Some(length) => (Kind::Literal, length),
            None => (Kind::Code, 1),
        },
        _ => (Kind::Code, 1),
    }
}

/// Whether a word starts at `at`, a prefix `b` or `c` of a literal aside.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let before = &bytes[..at];
    let before = before.strip_suffix(b"b").or(before.strip_suffix(b"c")).unwrap_or(before);
    !before.last().is_some_and(is_word)
}

/// Block comments nest.
fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    break;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    let body = rest[1 + hashes..].strip_prefix(b"\"")?;
    let mut end = vec![b'#'; hashes + 1];
    end[0] = b'"';
    let length = body.windows(end.len()).position(|window| window == end);
    Some(length.map_or(rest.len(), |length| 2 + hashes + length + end.len()))
}

/// A character literal, or the quote of a lifetime or label.
fn character(rest: &[u8]) -> (Kind, usize) {
    if rest.get(1) == Some(&b'\\') {
        let end = rest.iter().skip(3).position(|byte| *byte == b'\'');
        return (Kind::Literal, end.map_or(rest.len(), |end| end + 4));
    }
    let width = rest[1..].iter().skip(1).take_while(|byte| **byte & 0xC0 == 0x80).count() + 1;
    match rest.get(1 + width) {
        Some(b'\'') => (Kind::Literal, width + 2),
        _ => (Kind::Code, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both halves, with runs of blanks squeezed.
    fn halves(text: &str) -> (String, String) {
        let masked = Masked::new(text);
        assert_eq!((masked.code.len(), masked.comments.len()), (text.len(), text.len()));
        let squeeze = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        (squeeze(masked.code), squeeze(masked.comments))
    }

    fn code(text: &str) -> String {
        halves(text).0
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(
            halves("a // b\nc /* d /* e */ f */ g"),
            ("a c g".into(), "// b /* d /* e */ f */".into())
        );
        assert_eq!(halves("//! b"), (String::new(), "//! b".into()));
        assert_eq!(halves("a /* open"), ("a".into(), "/* open".into()));
    }

    #[test]
    fn strings_are_neither_code_nor_comments() {
        assert_eq!(halves(r#"a("// \" b", 1)"#), ("a( , 1)".into(), String::new()));
        assert_eq!(code(r###"a(br#" " // "#, r"\", cr##""#"##)"###), "a(b , , c )");
        assert_eq!(code("r#type bar\"x\" r"), "r#type bar r");
        assert_eq!(code("a \"open"), "a");
        assert_eq!(code("a r#\"open\""), "a");
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        assert_eq!(code("f('\"', '\\'', '\\u{1f600}', 'é', '/')"), "f( , , , , )");
        assert_eq!(
            code("fn f<'a>(x: &'a str) { 'l: loop {} }"),
            "fn f<'a>(x: &'a str) { 'l: loop {} }"
        );
    }
}
