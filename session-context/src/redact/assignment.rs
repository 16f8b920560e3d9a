//! Secrets that are known by the name they are given: `API_KEY=…`, `"password": "…"`, `--token …`.

use std::ops::Range;

use regex::bytes::Regex;

use super::hit::Hit;
use super::names::{announces, is_placeholder, is_plain, is_short, is_variable};

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
    /// Between the tags of an element, as in `<password>…</password>`.
    Element,
    /// In quotes behind a name in quotes and a comma, as in `define('PASSWORD', '…')`.
    Argument,
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
    if let Some(value) = element(text, name) {
        return Some((value, Form::Element));
    }
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
    let is_option = text[name.clone()].starts_with("--");
    let quoted_name = is_quote(byte(name.end));
    let mut at = skip_space(bytes, name.end + usize::from(quoted_name));
    // As in `env["TOKEN"] = …`.
    if quoted_name && byte(at) == b']' {
        at = skip_space(bytes, at + 1);
    }
    let paired = value_of_pair(text, name.end);
    let separator = match (byte(at), byte(at + 1)) {
        _ if paired.is_some() => 0,
        (b':', b'=') | (b'=', b'>') => 2,
        (b'=', b'=') | (b':', b':') => return None,
        (b':' | b'=', _) => 1,
        (b',', _) if quoted_name && byte(name.end) != b'`' => 1,
        _ if is_option && at > name.end => 0,
        _ => return None,
    };
    let is_argument = byte(at) == b',' && paired.is_none();
    let tight = byte(at) == b'=' && at == name.end && !matches!(byte(at + 1), b' ' | b'\t');
    let start = paired.unwrap_or_else(|| skip_space(bytes, at + separator));
    let limit = floor(text, (start + MAX_VALUE).min(text.len()));
    if is_quote(byte(start)) {
        let rest = &bytes[start + 1..limit.max(start + 1)];
        let ends = |&b: &u8| b == byte(start) || b == b'\n';
        let end = rest.iter().position(ends).unwrap_or(rest.len());
        let form = match (is_argument, quoted_name) {
            (true, _) => Form::Argument,
            (_, true) => Form::Field,
            _ => Form::Quoted,
        };
        return Some((start + 1..start + 1 + end, form));
    }
    if is_argument {
        return None;
    }
    let plain = text[name.clone()].to_ascii_lowercase();
    let header = ["authorization", "cookie"].iter().any(|end| plain.ends_with(end));
    let form = match separator {
        0 if paired.is_none() => Form::Option,
        0 if byte(name.end) == b'<' => Form::Element,
        _ if tight => Form::Equals,
        1 if header && !quoted_name => Form::Header,
        _ => Form::Loose,
    };
    let ends = |b: &u8| match form {
        Form::Header => matches!(b, b'\n' | b'\r' | b'"' | b'\''),
        Form::Element => matches!(b, b'\n' | b'<'),
        _ => b.is_ascii_whitespace() || b",;&\"'`<>()[]{}|".contains(b),
    };
    let end = bytes[start..limit].iter().position(ends).map_or(limit, |len| start + len);
    // Within JSON a line ends so; the same is read without escapes, too.
    let end = text[start..end].find("\\n").map_or(end, |len| start + len);
    Some((start..end, form))
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// How many spaces may stand around a separator.
const MAX_SPACES: usize = 8;

fn skip_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default().iter().take(MAX_SPACES);
    at + rest.take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// How far the tag of an element goes on behind its name, in bytes.
const MAX_TAG: usize = 128;

/// Finds what stands in the element of this name, up to the tag that closes it.
fn element(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = name.start.checked_sub(1).map(|at| bytes[at]);
    if !matches!(before, Some(b'<' | b':')) || !matches!(bytes.get(name.end), Some(b'>' | b' ')) {
        return None;
    }
    let tag = bytes[name.end..].iter().take(MAX_TAG);
    let tag = tag.take_while(|byte| !matches!(byte, b'>' | b'<' | b'\n')).count();
    let start = name.end + tag + 1;
    let limit = floor(text, (start + MAX_VALUE).min(text.len()));
    let inside = text.get(start..limit).filter(|_| bytes.get(start - 1) == Some(&b'>'))?;
    let (open, close) = ("<![CDATA[", "]]>");
    let value = match inside.trim_start().strip_prefix(open) {
        Some(data) => data.split_once(close)?.0,
        None => inside.split('<').next()?,
    };
    let end = start + (value.as_ptr() as usize - inside.as_ptr() as usize) + value.len();
    let behind = text[end..].trim_start_matches(close);
    // The end of a text may cut the tag off.
    let tag = behind.strip_prefix("</").map_or(behind == "<", |tag| {
        tag.split('>').next().is_some_and(|tag| tag.trim_end().ends_with(&text[name.clone()]))
    });
    let from = end - value.trim_start().len();
    tag.then_some(from..from + value.trim().len())
}

/// How far the value of a pair may be from its name, in bytes.
const MAX_PAIR: usize = 48;

/// Where the value begins in a pair whose name was just read: `name="password" value="…"`, or on
/// two lines, as in YAML; in a list of properties it is the next string.
fn value_of_pair(text: &str, at: usize) -> Option<usize> {
    let end = floor(text, (at + MAX_PAIR).min(text.len()));
    let rest = text.get(at..end)?;
    if let Some(behind) = rest.strip_prefix("</key>") {
        let string = behind.trim_start().strip_prefix("<string>")?;
        return Some(end - string.len());
    }
    // A patch and a listing have a sign or a number before each line.
    let between = |c: char| c.is_ascii_digit() || " \t\r\n,\"'+|".contains(c);
    let trimmed = rest.trim_start_matches(between);
    let behind = trimmed.strip_prefix("value")?.trim_start_matches(['"', '\'']).trim_start();
    let value = behind.strip_prefix([':', '='])?.trim_start_matches([' ', '\t']);
    (trimmed.len() < rest.len()).then_some(end - value.len())
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
    let (start, followed_by) = (name.start, text.as_bytes().get(value.end));
    let name = &text[name.clone()];
    let value = &text[value.clone()];
    let behind_scheme = ["Bearer ", "Basic ", "Token "].into_iter().find_map(|scheme| {
        value.get(..scheme.len()).filter(|start| start.eq_ignore_ascii_case(scheme))?;
        value.get(scheme.len()..)
    });
    if is_placeholder(behind_scheme.unwrap_or(value)) || value.len() < 4 || is_plain(name, value) {
        return false;
    }
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let odd = has_digit || !value.bytes().all(is_word);
    let is_code = announces(value) || value.contains("::");
    match form {
        Form::Field | Form::Element => true,
        Form::Argument => {
            let is_call = text[..start].trim_end_matches(['"', '\'']).ends_with('(');
            let is_told = is_variable(name) || (is_call && odd);
            is_told && !value.contains(' ') && !is_name(value)
        }
        Form::Quoted => is_variable(name) || (!value.contains(' ') && !announces(value)),
        Form::Equals if is_variable(name) => true,
        // What is called, indexed or taken apart is code.
        _ if matches!(followed_by, Some(b'(' | b'[' | b'{' | b'<')) => false,
        Form::Header => value.len() >= 8 && odd,
        Form::Equals | Form::Option => odd && !is_code,
        Form::Loose => odd && value.len() >= 6 && !is_code && !is_short(name),
    }
}

/// Tells whether a value is itself a name of a variable, as in a list of them.
fn is_name(value: &str) -> bool {
    announces(value) || (is_variable(value) && value.contains('_'))
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
            ("{'token' : 'abc-d3f'}", "abc-d3f"),
            ("apiKey := \"abc-d3f\"", "abc-d3f"),
            ("env[\"TOKEN\"] = \"abcdef\"", "abcdef"),
            ("--token abc123 --x", "abc123"),
            ("--password=abc123", "abc123"),
            ("?a=1&access_token=abc123&b=2", "abc123"),
            ("Server=x;Password=p4ss;Pooling=true", "p4ss"),
            ("Cookie: sid=abc 123; theme=dark\n", "sid=abc 123; theme=dark"),
            ("secret => 'abcdef'", "abcdef"),
            ("<password>correct horse</password>", "correct horse"),
            ("<dbPassword type=\"x\">\n hunter2\n</dbPassword>", "hunter2"),
            ("<ns:apiKey><![CDATA[a<b1]]></ns:apiKey>", "a<b1"),
            ("<password>hunter<", "hunter"),
            ("<ns:apiKey><![CDATA[a-b1]]></ns:apiKey>", "a-b1"),
            ("define('DB_PASSWORD', 'hunter');", "hunter"),
            ("define('DB_PASSWORD','correct-horse')", "correct-horse"),
            ("setenv(\"API_KEY\", \"abcd\", 1)", "abcd"),
            (".header(\"x-api-key\", \"abc123\")", "abc123"),
            ("<add key=\"ApiKey\" value=\"abc-1d\"/>", "abc-1d"),
            ("- name: DB_PASSWORD\n  value: hunter2\n", "hunter2"),
            ("{\"name\": \"DB_PASSWORD\", \"value\": \"hunter\"}", "hunter"),
            ("<key>password</key>\n<string>hunter2</string>", "hunter2"),
            ("{\"pass\": \"hunter\"}", "hunter"),
        ] {
            assert_eq!(found(text).concat(), secret, "{text}");
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
            "{\"apiKey\": \"ollama\", \"token\": \"lm-studio\"}",
            "{\"password_required\": \"Password not found in vault\"}",
            "{\"password\": \"Please enter your password\"}",
            "[\"DB_PASSWORD\", \"DB_USER\", \"API_KEY\"]",
            "f(\"password\", \"Password\") + g('token', 'name')",
            "type Err<Authorization> = Result<Password, Token>;",
            "Option<Token> and <token> in </other>",
            "PASSWORD_RESET_URL=https://example.com/x",
            "pass: 1234/1234",
            "`a-token`, `b-key-1` and ['password', 'x-key-1']",
            "\"cli.enter_password\": \"请输入 cpolar 密码\"",
            "TokenSet{AccessToken: \"exchanged-1\"}",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
