//! Passwords in URLs: `scheme://user:password@host`.

use memchr::memmem;

use super::hit::Hit;
use super::names::is_placeholder;
use super::pattern::widened;

/// The kind of such passwords.
pub(super) const KIND: &str = "url-password";

/// Behind the forms of tokens, before names.
const RANK: usize = 800;

/// How far the end of a password is looked for, in bytes.
const MAX: usize = 512;

/// Finds the passwords of all URLs in a text.
pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    for at in memmem::find_iter(text.as_bytes(), "://") {
        let start = at + "://".len();
        let rest = &text.as_bytes()[start..text.len().min(start + MAX)];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'<>`".contains(byte);
        let rest = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
        let Some((from, len)) = password(rest) else { continue };
        let range = widened(text, start + from..start + from + len);
        let secret = &text[range.clone()];
        if !is_placeholder(secret) && !secret.starts_with('{') {
            hits.push(Hit::new(range, KIND, RANK));
        }
    }
}

/// Where in an address the password begins, and how long it is.
fn password(address: &[u8]) -> Option<(usize, usize)> {
    let from = 1 + address.iter().position(|byte| b":/@?#".contains(byte))?;
    if address[from - 1] != b':' {
        return None;
    }
    let tail = &address[from..];
    let path = tail.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(tail.len());
    // Where an `@` stands that a host follows, the last first.
    let before_host = |is: fn(&[u8]) -> bool| {
        let marks = memchr::memrchr_iter(b'@', tail);
        marks.into_iter().find(move |at| is(&tail[at + 1..]))
    };
    let len = match memchr::memrchr(b'@', &tail[..path]) {
        // The host may be the rest of a password that was not encoded.
        Some(at) if is_name(&tail[at + 1..]) => at,
        Some(at) => before_host(is_name).unwrap_or(at),
        // Behind the port comes the path.
        None if tail[..path].iter().all(u8::is_ascii_digit) => return None,
        None => before_host(is_host)?,
    };
    (len > 0).then_some((from, len))
}

/// Tells whether a host stands here: a name or address, and what may follow it.
fn is_host(text: &[u8]) -> bool {
    let len = host_len(text);
    let port = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_digit);
    len > 0
        && match &text[len..] {
            [] | [b'/' | b'?' | b'#' | b',' | b')' | b';' | b'&' | b']' | b'}' | b'\\', ..] => true,
            [b':', rest @ ..] => port(rest),
            _ => false,
        }
}

/// Tells whether a host stands here that cannot well be the rest of a password: a name with a dot,
/// an address, one with a port, or this machine.
fn is_name(text: &[u8]) -> bool {
    let host = &text[..host_len(text)];
    let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let dots = host.iter().filter(|byte| **byte == b'.').count();
    let is_number = last.iter().all(u8::is_ascii_digit);
    let named = dots > 0 && last.len() >= 2 && last.iter().all(u8::is_ascii_alphabetic);
    let has_port =
        matches!(text.get(host.len()..), Some([b':', digit, ..]) if digit.is_ascii_digit());
    is_host(text) && (named || (dots == 3 && is_number) || has_port || host == b"localhost")
}

fn host_len(text: &[u8]) -> usize {
    if text.first() == Some(&b'[') {
        return text.iter().position(|byte| *byte == b']').map_or(0, |end| end + 1);
    }
    let in_host = |byte: &&u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte);
    text.iter().take_while(in_host).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        find(text, &mut hits);
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    #[test]
    fn passwords_are_found_with_any_sign_in_them() {
        for (url, password) in [
            ("postgres://u:hunter2pw@h/db", "hunter2pw"),
            ("redis://:hunter2@localhost:6379/0", "hunter2"),
            ("https://u:p@ss@example.com/x", "p@ss"),
            ("https://u:p/ss@example.com/x", "p/ss"),
            ("https://u:p@w/d@example.com:80/x", "p@w/d"),
            ("https://u:p/a@b/c@localhost/x", "p/a@b/c"),
            ("amqp://u:a/b@rabbit/vhost", "a/b"),
            ("mysql://u:p?a#b@10.0.0.1:3306/x", "p?a#b"),
            ("https://u:geh€im@h/x", "geh€im"),
            ("https://u:tok3n@registry/@scope/name", "tok3n"),
            ("https://u:tok3n@example.com/a@b.com", "tok3n"),
            ("mongodb://u:p4ss@a:1,b:2/x", "p4ss"),
            ("http://u:p4ss@[::1]:80/x", "p4ss"),
        ] {
            assert_eq!(found(&format!("x {url} y")), [password], "{url}");
        }
    }

    #[test]
    fn ports_paths_and_placeholders_are_none() {
        for url in [
            "https://example.com:8080/path@2x.png",
            "https://example.com/@scope/a:b@c",
            "ssh://git@example.com:22/a@b",
            "http://localhost:3000/@vite/client",
            "http://${HOST}:${PORT}/x@y.com",
            "http://{host}:{port}/x@y.com",
            "postgres://user:<password>@host/db",
            "postgres://user:$PASSWORD@host/db",
            "oci://registry:latest/x@sha256:abc",
            "https://example.com",
        ] {
            assert_eq!(found(url), [""; 0], "{url}");
        }
    }
}
