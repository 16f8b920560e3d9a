//! Ways in which a secret is written down, for tests.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use session_model::json::RawJson;

/// A text with a secret in it, written in some way.
pub(crate) struct Encoded {
    pub(crate) way: String,
    pub(crate) text: String,
    /// What the secret has become; it must not be left.
    secret: String,
    /// What may stand between its letters.
    between: &'static [&'static str],
}

impl Encoded {
    fn new(way: impl Into<String>, text: impl Into<String>, secret: impl Into<String>) -> Self {
        Self { way: way.into(), text: text.into(), secret: secret.into(), between: &[] }
    }

    fn but_for(self, between: &'static [&'static str]) -> Self {
        Self { between, ..self }
    }

    /// Tells whether the secret can be read in what is left of the text.
    pub(crate) fn is_in(&self, left: &str) -> bool {
        let left = self.between.iter().fold(left.to_owned(), |left, mark| left.replace(mark, ""));
        left.contains(&self.secret)
    }
}

/// The part of base64 that only the bytes from `at` on, `len` of them, are in.
fn core(base64: &str, at: usize, len: usize) -> String {
    base64[at.div_ceil(3) * 4..(at + len) / 3 * 4].to_owned()
}

fn wide(text: &str, bytes_of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes_of).collect()
}

/// A text with a secret in it, in every way.
pub(crate) fn encodings(text: &str, secret: &str) -> Vec<Encoded> {
    let mut all = vec![Encoded::new("plain", text, secret)];
    let at = text.find(secret).unwrap();
    for before in ["", "a", "ab"] {
        let note = format!("{before}note: {text}\n");
        let engines = [("", &STANDARD), ("bare ", &STANDARD_NO_PAD), ("url-safe ", &URL_SAFE)];
        for (name, engine) in engines {
            let base64 = engine.encode(&note);
            let core = core(&base64, note.find(secret).unwrap(), secret.len());
            let way = |way: &str| format!("{name}base64{way} behind {before:?}");
            all.push(Encoded::new(way(""), format!("x {base64} y"), &core));
            all.push(Encoded::new(way(" in a path"), format!("/tmp/x-{base64}/y"), &core));
            all.push(Encoded::new(way(", cut"), &base64[before.len() + 1..], &core));
            for (width, end) in
                [(76, "\n"), (64, "\r\n"), (60, "\n    "), (42, "\n"), (76, "\\n"), (40, "\\r\\n")]
            {
                let lines: Vec<_> = base64.as_bytes().chunks(width).collect();
                let lines: Vec<_> = lines.into_iter().map(String::from_utf8_lossy).collect();
                let wrapped = Encoded::new(way(&format!(" of {width}")), lines.join(end), &core);
                all.push(wrapped.but_for(&["\r", "\n", " ", "\\r", "\\n"]));
            }
        }
    }
    for (name, bytes_of) in
        [("LE", u16::to_le_bytes as fn(u16) -> [u8; 2]), ("BE", u16::to_be_bytes)]
    {
        for before in ["", "a ", "\u{feff}"] {
            let (bytes, behind) =
                (wide(&format!("{before}{text}"), bytes_of), wide(&text[..at], bytes_of));
            let at = behind.len() + wide(before, bytes_of).len();
            let base64 = STANDARD.encode(&bytes);
            let core = core(&base64, at, 2 * secret.len());
            all.push(Encoded::new(
                format!("base64 of UTF-16{name} behind {before:?}"),
                base64,
                core,
            ));
        }
        let raw = String::from_utf8(wide(text, bytes_of)).unwrap();
        all.push(Encoded::new(format!("UTF-16{name}"), raw, secret).but_for(&["\0"]));
    }
    let image = [&b"\x89PNG\r\n\x1a\n"[..], &[0x9c; 99], text.as_bytes(), &[0x9c; 60]].concat();
    let base64 = STANDARD.encode(image);
    let within = core(&base64, 107 + at, secret.len());
    all.push(Encoded::new("base64 of an image", base64, within));

    let quoted = |text: &str| RawJson::string(text).to_string();
    let inside = |text: &str| quoted(text).trim_matches('"').to_owned();
    all.push(Encoded::new("JSON", quoted(text), inside(secret)));
    all.push(Encoded::new("JSON in JSON", quoted(&quoted(text)), inside(&inside(secret))));
    let each = |form: fn(u32) -> String| {
        move |text: &str| text.chars().map(|c| form(u32::from(c))).collect::<String>()
    };
    for (name, form) in [
        ("\\u", each(|c| format!("\\u{c:04x}"))),
        ("\\u{}", each(|c| format!("\\u{{{c:x}}}"))),
        ("\\x", each(|c| format!("\\x{c:02x}"))),
        ("&#x;", each(|c| format!("&#x{c:X};"))),
        ("&#;", each(|c| format!("&#{c};"))),
        ("%", each(|c| format!("%{c:02X}"))),
        ("%25", each(|c| format!("%25{c:02X}"))),
    ] {
        all.push(Encoded::new(name, form(text), form(secret)));
    }
    let page = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;")
            .replace('=', "&equals;")
    };
    all.push(Encoded::new("a page", page(text), page(secret)));
    let (first, second) = text.split_at(at + secret.len() / 2);
    for (name, mark) in [("a line that goes on", "\\\n"), ("the same on Windows", "\\\r\n")] {
        let split = Encoded::new(name, format!("{first}{mark}{second}"), secret);
        all.push(split.but_for(&["\\\n", "\\\r\n"]));
    }
    let colour = format!("{}\u{1b}[1;31m{}\u{1b}[0m{second}", &text[..at], &first[at..]);
    all.push(Encoded::new("colours", colour, secret).but_for(&["\u{1b}[1;31m", "\u{1b}[0m"]));
    all
}
