//! Secrets that are known by the name they are given: `API_KEY=…`, `"password": "…"`, `--token …`.

use std::ops::Range;

use regex::bytes::Regex;

use super::hit::Hit;
use super::names::{announces, is_placeholder, is_variable};

/// The kind of a secret that is known by its name.
pub(super) const KIND: &str = "named-secret";

/// Behind all patterns: a value whose form is known is named after its form.
const RANK: usize = 1_000;

/// The longest value of a name, in bytes.
const MAX_VALUE: usize = 4_096;

/// How a value stands behind its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In quotes, and so is the name.
    Field,
    /// In quotes.
    Quoted,
    /// Behind `=` without a space.
    Equals,
    /// Behind a colon, or with spaces around.
    Loose,
    /// Behind `--name` and a space.
    Option,
    /// The rest of a line, as in a header of HTTP.
    Header,
}

/// Finds the values of names that announce secrets.
pub(super) fn find(names: &Regex, text: &str, hits: &mut Vec<Hit>) {
    let mut from = 0;
    while let Some(found) = names.find_at(text.as_bytes(), from) {
        let name = around(text, found.range());
        from = name.end.max(found.end());
        if !announces(text[name.clone()].trim_matches('-')) {
            continue;
        }
        if let Some((value, form)) = value_behind(text, &name)
            && is_secret(text, &name, &value, form)
        {
            from = value.end;
            hits.push(Hit::new(value, KIND, RANK));
        }
    }
}

/// Widens a word to the name it is part of.
fn around(text: &str, word: Range<usize>) -> Range<usize> {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let bytes = text.as_bytes();
    let before =
        bytes[..word.start].iter().rev().take(128).take_while(|byte| in_name(byte)).count();
    let behind = bytes[word.end..].iter().take(128).take_while(|byte| in_name(byte)).count();
    word.start - before..word.end + behind
}

/// Finds what is assigned to a name.
fn value_behind(text: &str, name: &Range<usize>) -> Option<(Range<usize>, Form)> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
    let skip_space = |mut at: usize| {
        let end = at + 8;
        while at < end && matches!(byte(at), b' ' | b'\t') {
            at += 1;
        }
        at
    };
    let is_option = text[name.clone()].starts_with("--");
    let quoted_name = matches!(byte(name.end), b'"' | b'\'' | b'`');
    let mut at = skip_space(name.end + usize::from(quoted_name));
    // As in `env["TOKEN"] = …`.
    if quoted_name && byte(at) == b']' {
        at = skip_space(at + 1);
    }
    let separator = match (byte(at), byte(at + 1)) {
        (b':', b'=') | (b'=', b'>') => 2,
        (b'=', b'=') => return None,
        (b':' | b'=', _) => 1,
        _ if is_option && at > name.end => 0,
        _ => return None,
    };
    let tight = byte(at) == b'=' && at == name.end && !matches!(byte(at + 1), b' ' | b'\t');
    let start = skip_space(at + separator);
    let limit = floor(text, (start + MAX_VALUE).min(text.len()));
    if let quote @ (b'"' | b'\'' | b'`') = byte(start) {
        let rest = &bytes[start + 1..limit.max(start + 1)];
        let end = rest.iter().position(|&b| b == quote || b == b'\n').unwrap_or(rest.len());
        let form = if quoted_name { Form::Field } else { Form::Quoted };
        return Some((start + 1..start + 1 + end, form));
    }
    let plain = text[name.clone()].to_ascii_lowercase();
    let header = ["authorization", "cookie"].iter().any(|end| plain.ends_with(end));
    let form = match separator {
        0 => Form::Option,
        _ if tight => Form::Equals,
        1 if header && !quoted_name => Form::Header,
        _ => Form::Loose,
    };
    let ends = |b: &u8| match form {
        Form::Header => matches!(b, b'\n' | b'\r' | b'"' | b'\''),
        _ => b.is_ascii_whitespace() || b",;&\"'`<>()[]{}|".contains(b),
    };
    let end = bytes[start..limit].iter().position(ends).map_or(limit, |len| start + len);
    Some((start..end, form))
}

/// The last place at or before `at` where a character begins.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Tells whether a value is a secret, and no placeholder, type or piece of code.
fn is_secret(text: &str, name: &Range<usize>, value: &Range<usize>, form: Form) -> bool {
    let (name, followed_by) = (&text[name.clone()], text.as_bytes().get(value.end));
    let value = &text[value.clone()];
    let behind_scheme = ["Bearer ", "Basic ", "Token "].into_iter().find_map(|scheme| {
        value.get(..scheme.len()).filter(|start| start.eq_ignore_ascii_case(scheme))?;
        value.get(scheme.len()..)
    });
    if is_placeholder(behind_scheme.unwrap_or(value)) || value.len() < 4 {
        return false;
    }
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let odd = has_digit || !value.bytes().all(is_word);
    match form {
        Form::Field => true,
        Form::Quoted => is_variable(name) || (!value.contains(' ') && !announces(value)),
        Form::Equals if is_variable(name) => true,
        // What is called, indexed or taken apart is code.
        _ if matches!(followed_by, Some(b'(' | b'[' | b'{' | b'<')) => false,
        Form::Header => value.len() >= 8 && odd,
        Form::Equals | Form::Option => odd && !announces(value) && !value.contains("::"),
        Form::Loose => odd && value.len() >= 6 && !announces(value) && !value.contains("::"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::catalogue::Catalogue;

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        find(&Catalogue::get().unwrap().names, text, &mut hits);
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    #[test]
    fn values_of_secret_names_are_found_in_all_notations() {
        for (text, secret) in [
            ("API_KEY=abcd", "abcd"),
            ("export DB_PASSWORD='correct horse' # x", "correct horse"),
            ("DB_PASSWORD=correcthorse", "correcthorse"),
            ("  password: hunter2\n", "hunter2"),
            ("{\"client_secret\": \"correct horse\"}", "correct horse"),
            ("{'token' : 'abcdef'}", "abcdef"),
            ("apiKey := \"abc-def\"", "abc-def"),
            ("env[\"TOKEN\"] = \"abcdef\"", "abcdef"),
            ("--token abc123 --x", "abc123"),
            ("--password=abc123", "abc123"),
            ("?a=1&access_token=abc123&b=2", "abc123"),
            ("Server=x;Password=p4ss;Pooling=true", "p4ss"),
            ("Cookie: sid=abc 123; theme=dark\n", "sid=abc 123; theme=dark"),
            ("secret => 'abcdef'", "abcdef"),
        ] {
            assert_eq!(found(text), [secret], "{text}");
        }
    }

    #[test]
    fn code_and_prose_are_left() {
        for text in [
            "token: string;",
            "fn f(token: &str, password: String) {}",
            "let token = self.next_token();",
            "api_key=os.environ[\"API_KEY\"]",
            "password=password, token=token",
            "const apiKey = process.env.API_KEY;",
            "The token: see below. Secret: yes",
            "if token == \"abcdef\" {}",
            "tokens: 123456",
            "PASSWORD=$DB_PASSWORD",
            "password: ********",
            "auth_token = config.auth.token",
            "author: John5on",
            "Authorization: Bearer <api-key-1>",
            "Authorization: bearer $TOKEN_2",
            "export OPENAI_API_KEY=sk-...",
            "{\"apiKey\": \"MY_API_KEY\"}",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
