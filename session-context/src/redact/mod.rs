//! Hiding secrets in what leaves the machine.
//!
//! Found are keys and tokens of a known form, private keys, passwords in URLs, values of names that
//! announce a secret (`API_KEY=…`, `"password": "…"`, `--token …`), and long random strings; also
//! inside base64, escapes of JSON in JSON, pages, encoded URLs, and bytes that are no text.
//! `docs/export.md` lists the kinds. Each secret becomes `[redacted:kind]`. Signatures and sealed
//! thinking stay: they are of use to their provider only, and with a byte changed to nobody.

mod assignment;
mod catalogue;
mod chance;
#[cfg(test)]
pub(crate) mod encodings;
mod error;
mod hit;
mod json;
mod known;
mod mnemonic;
mod names;
mod pattern;
mod private_keys;
mod report;
mod rule;
mod rules;
mod runs;
mod shapes;
#[cfg(test)]
pub(crate) mod tests;
mod urls;
mod views;
mod writing;

use std::borrow::Cow;

use session_model::json::RawJson;

use catalogue::Catalogue;
pub use error::RedactError;
use hit::{Hit, joined};
use known::Known;
pub use report::{Hidden, RedactionReport};
use runs::Wanted;
pub use shapes::Shape;
use views::{Encoding, View};
pub use writing::HideSecrets;

/// How many encodings within each other are looked into.
const MAX_DEPTH: u8 = 3;

/// Hides secrets and keeps count of them.
///
/// A secret that was known by its name in one place may stand alone in another. So hide first in
/// everything, and then again [what was found](Self::hide_known).
///
/// ```
/// use session_context::redact::Redactor;
///
/// let mut redactor = Redactor::new()?;
/// let text = redactor.hide_in_text("notes", "curl -H 'Authorization: Bearer abcdef0123456789'");
/// assert_eq!(text, "curl -H 'Authorization: [redacted:bearer-token]'");
/// let text = redactor.hide_known_in_text("notes", "it was abcdef0123456789");
/// assert_eq!(text, "it was [redacted:bearer-token]");
/// assert_eq!(redactor.into_report().to_string(), "bearer-token: 2 in notes");
/// # Ok::<(), session_context::redact::RedactError>(())
/// ```
#[derive(Debug)]
pub struct Redactor {
    catalogue: &'static Catalogue,
    report: RedactionReport,
    known: Known,
}

impl Redactor {
    /// Returns a redactor that looks for every kind of secret.
    ///
    /// The first call in a process compiles all patterns; later ones take what is there.
    ///
    /// # Errors
    ///
    /// [`RedactError`] if a pattern does not compile: there is no redactor that looks for some of
    /// the kinds only.
    pub fn new() -> Result<Self, RedactError> {
        let catalogue = Catalogue::get()?;
        Ok(Self { catalogue, report: RedactionReport::default(), known: Known::default() })
    }

    /// Hides secrets in a text; `place` is what the report calls it.
    pub fn hide_in_text<'t>(&mut self, place: &str, text: &'t str) -> Cow<'t, str> {
        let hits = self.learned(text, self.find(text, true));
        self.hidden(place, text, hits)
    }

    /// Hides secrets in all strings of a value, and in the names of its fields.
    pub fn hide(&mut self, place: &str, value: &RawJson) -> RawJson {
        let mut pair = json::Pair::default();
        let hidden = value.map_strings(|string| {
            let named = pair.named(string);
            let string = named.as_ref().unwrap_or(string);
            let hits = self.learned(&string.text, json::find(self.catalogue, string));
            changed(self.hidden(place, &string.text, hits))
        });
        hidden
            .map_or_else(|| value.clone(), |hidden| json::without_broken_signatures(value, hidden))
    }

    /// Hides secrets in bytes. Those that are no text, or UTF-16, keep their length: a `*` stands
    /// for each character.
    pub fn hide_in_bytes<'b>(&mut self, place: &str, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        match text_of(bytes) {
            Some(text) => into_bytes(self.hide_in_text(place, text)),
            None => {
                let Some(view) = View::strings(bytes) else { return bytes.into() };
                let hits = self.learned(&view.text, self.find(&view.text, true));
                self.starred(place, bytes, &view, &hits)
            }
        }
    }

    /// Hides in a text what was found so far elsewhere.
    pub fn hide_known_in_text<'t>(&mut self, place: &str, text: &'t str) -> Cow<'t, str> {
        let hits = self.find_known(text);
        self.hidden(place, text, hits)
    }

    /// Hides in all strings of a value what was found so far elsewhere.
    pub fn hide_known(&mut self, place: &str, value: &RawJson) -> RawJson {
        if self.known.is_empty() {
            return value.clone();
        }
        let hidden = value.map_strings(|string| {
            let hits = json::unsealed(string, self.find_known(&string.text));
            changed(self.hidden(place, &string.text, hits))
        });
        hidden
            .map_or_else(|| value.clone(), |hidden| json::without_broken_signatures(value, hidden))
    }

    /// Hides in bytes what was found so far elsewhere, as [`hide_in_bytes`](Self::hide_in_bytes).
    pub fn hide_known_in_bytes<'b>(&mut self, place: &str, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        match text_of(bytes) {
            Some(text) => into_bytes(self.hide_known_in_text(place, text)),
            None => {
                let Some(view) = View::strings(bytes) else { return bytes.into() };
                let hits = self.find_known(&view.text);
                self.starred(place, bytes, &view, &hits)
            }
        }
    }

    /// Returns what was hidden. Places with a secret in their name are called `[redacted]`.
    pub fn into_report(mut self) -> RedactionReport {
        let mut report = std::mem::take(&mut self.report);
        report.hide_places(|place| {
            !self.find(place, false).is_empty() || !self.find_known(place).is_empty()
        });
        report
    }

    /// Writes a text anew without the secrets.
    fn hidden<'t>(&mut self, place: &str, text: &'t str, hits: Vec<Hit>) -> Cow<'t, str> {
        if hits.is_empty() {
            return text.into();
        }
        self.count(place, &hits);
        let (mut out, mut clean) = (String::with_capacity(text.len()), 0);
        for Hit { range, kind, .. } in hits {
            out.push_str(&text[clean..range.start]);
            out.push_str(&format!("[redacted:{kind}]"));
            clean = range.end;
        }
        out.push_str(&text[clean..]);
        out.into()
    }

    /// Writes a star for each character of secrets in bytes that are no text.
    fn starred<'b>(
        &mut self,
        place: &str,
        bytes: &'b [u8],
        view: &View,
        hits: &[Hit],
    ) -> Cow<'b, [u8]> {
        if hits.is_empty() {
            return bytes.into();
        }
        self.count(place, hits);
        let mut out = bytes.to_vec();
        for hit in hits {
            let secret = &mut out[view.source(hit.range.clone())];
            secret.iter_mut().filter(|byte| **byte != 0).for_each(|byte| *byte = b'*');
        }
        out.into()
    }

    fn count(&mut self, place: &str, hits: &[Hit]) {
        hits.iter().for_each(|hit| self.report.add(hit.kind, place));
    }

    /// Takes what was found in a text among what is known.
    fn learned(&mut self, text: &str, hits: Vec<Hit>) -> Vec<Hit> {
        hits.iter().for_each(|hit| self.known.add(&text[hit.range.clone()], hit.kind));
        hits
    }

    fn find(&self, text: &str, random: bool) -> Vec<Hit> {
        find(text, Look::Secrets { catalogue: self.catalogue, random })
    }

    fn find_known(&self, text: &str) -> Vec<Hit> {
        match self.known.is_empty() {
            true => Vec::new(),
            false => find(text, Look::Known(&self.known)),
        }
    }
}

/// What a string became, if it became another.
fn changed(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => text.as_bytes().into(),
        Cow::Owned(text) => text.into_bytes().into(),
    }
}

/// The text that bytes are; zeros are in no text of UTF-8.
fn text_of(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
enum Look<'l> {
    /// What looks like a secret; random runs only if asked.
    Secrets { catalogue: &'l Catalogue, random: bool },
    /// Secrets that were found elsewhere.
    Known(&'l Known),
}

/// Finds what is looked for in a text.
fn find(text: &str, look: Look<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    collect(text, look, 0, &mut hits);
    joined(hits)
}

fn collect(text: &str, look: Look<'_>, depth: u8, hits: &mut Vec<Hit>) {
    let random = match look {
        Look::Secrets { catalogue, random } => {
            catalogue.find(text, hits);
            urls::find(text, hits);
            mnemonic::find(text, hits);
            assignment::find(&catalogue.names, text, hits);
            random
        }
        Look::Known(known) => {
            known.find(text, hits);
            false
        }
    };
    let deeper = depth < MAX_DEPTH;
    let mut inside = |text: &str, random: bool| {
        let look = match look {
            Look::Secrets { catalogue, .. } => Look::Secrets { catalogue, random },
            known => known,
        };
        let mut hits = Vec::new();
        collect(text, look, depth + 1, &mut hits);
        hits
    };
    runs::find(text, Wanted { random, base64: deeper }, &mut inside, hits);
    if !deeper {
        return;
    }
    for encoding in Encoding::ALL {
        let Some(view) = View::of(text, encoding) else { continue };
        hits.extend(inside(&view.text, random).into_iter().map(|hit| {
            // A view of what is no text has a place in the midst of a character.
            let range = pattern::widened(text, view.source(hit.range.clone()));
            hit.at(range)
        }));
    }
}
