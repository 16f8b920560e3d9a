//! Hiding secrets in what leaves the machine.
//!
//! Found are keys and tokens of a known form, private keys, passwords in URLs, values of names that
//! announce a secret (`API_KEY=…`, `"password": "…"`, `--token …`), and long random strings; also
//! inside base64, escapes of JSON in JSON, and encoded URLs. `docs/export.md` lists the kinds.
//! Each secret becomes `[redacted:kind]`. Signatures and sealed thinking stay: they are of use to
//! their provider only, and with a byte changed to nobody.

mod assignment;
mod hit;
mod json;
mod names;
mod patterns;
mod report;
mod runs;
#[cfg(test)]
pub(crate) mod tests;
mod views;

use std::borrow::Cow;
use std::collections::BTreeSet;

use regex::Regex;
use session_model::json::RawJson;

use hit::{Hit, joined};
pub use report::{Hidden, RedactionReport};
use runs::Wanted;
use views::{Encoding, View};

/// How many encodings within each other are looked into.
const MAX_DEPTH: u8 = 3;

/// The shortest secret that is looked for wherever else it stands, in bytes.
const MIN_KNOWN: usize = 8;

/// Hides secrets and keeps count of them.
///
/// A secret that was known by its name in one place may stand alone in another. So hide first in
/// everything, and then again [what was found](Self::hide_known).
///
/// ```
/// use session_context::redact::Redactor;
///
/// let mut redactor = Redactor::default();
/// let text = redactor.hide_in_text("notes", "curl -H 'Authorization: Bearer abcdef0123456789'");
/// assert_eq!(text, "curl -H 'Authorization: Bearer [redacted:bearer-token]'");
/// let text = redactor.hide_known_in_text("notes", "it was abcdef0123456789");
/// assert_eq!(text, "it was [redacted:bearer-token]");
/// assert_eq!(redactor.into_report().to_string(), "bearer-token: 2 in notes");
/// ```
#[derive(Debug, Default)]
pub struct Redactor {
    report: RedactionReport,
    /// Secrets and their kinds, those that are long first.
    known: BTreeSet<(std::cmp::Reverse<usize>, String, &'static str)>,
    finder: Option<Regex>,
}

impl Redactor {
    /// Hides secrets in a text; `place` is what the report calls it.
    pub fn hide_in_text<'t>(&mut self, place: &str, text: &'t str) -> Cow<'t, str> {
        match self.hidden(place, text, find(text, true)) {
            Some(hidden) => hidden.into(),
            None => text.into(),
        }
    }

    /// Hides secrets in all strings of a value, and in the names of its fields.
    pub fn hide(&mut self, place: &str, value: &RawJson) -> RawJson {
        let hidden =
            value.map_strings(|string| self.hidden(place, &string.text, json::find(string)));
        hidden
            .map_or_else(|| value.clone(), |hidden| json::without_broken_signatures(value, hidden))
    }

    /// Hides in a text what was found so far elsewhere.
    pub fn hide_known_in_text<'t>(&mut self, place: &str, text: &'t str) -> Cow<'t, str> {
        match self.find_known(text).and_then(|hits| self.hidden(place, text, hits)) {
            Some(hidden) => hidden.into(),
            None => text.into(),
        }
    }

    /// Hides in all strings of a value what was found so far elsewhere.
    pub fn hide_known(&mut self, place: &str, value: &RawJson) -> RawJson {
        if self.find_known(value.as_str()).is_none() {
            return value.clone();
        }
        let hidden = value.map_strings(|string| {
            let hits = self.find_known(&string.text).filter(|_| !json::is_sealed(&string.field))?;
            self.hidden(place, &string.text, hits)
        });
        hidden
            .map_or_else(|| value.clone(), |hidden| json::without_broken_signatures(value, hidden))
    }

    /// Returns what was hidden.
    pub fn into_report(self) -> RedactionReport {
        self.report
    }

    /// Writes a text anew without the secrets; `None` if there are none.
    fn hidden(&mut self, place: &str, text: &str, hits: Vec<Hit>) -> Option<String> {
        if hits.is_empty() {
            return None;
        }
        let place = match find(place, false) {
            hits if hits.is_empty() => place.to_owned(),
            _ => "[redacted]".to_owned(),
        };
        let (mut out, mut clean) = (String::with_capacity(text.len()), 0);
        for Hit { range, kind, .. } in hits {
            let secret = &text[range.clone()];
            let alone = !secret.contains(|c: char| c.is_whitespace() || c == '\\');
            if alone && (MIN_KNOWN..=512).contains(&secret.len()) {
                let known = (std::cmp::Reverse(secret.len()), secret.to_owned(), kind);
                if self.known.insert(known) {
                    self.finder = None;
                }
            }
            out.push_str(&text[clean..range.start]);
            out.push_str(&format!("[redacted:{kind}]"));
            clean = range.end;
            self.report.add(kind, &place);
        }
        out.push_str(&text[clean..]);
        Some(out)
    }

    fn find_known(&mut self, text: &str) -> Option<Vec<Hit>> {
        if self.known.is_empty() {
            return None;
        }
        if self.finder.is_none() {
            let all: Vec<_> =
                self.known.iter().map(|(_, secret, _)| regex::escape(secret)).collect();
            // Too many to look for at once are left: they were found where they were named.
            self.finder = Regex::new(&all.join("|")).ok();
        }
        let finder = self.finder.as_ref()?;
        let kind = |found: &str| {
            let known = self.known.iter().find(|(_, secret, _)| secret == found);
            known.map_or(assignment::KIND, |(_, _, kind)| kind)
        };
        let hits: Vec<_> =
            finder.find_iter(text).map(|m| Hit::new(m.range(), kind(m.as_str()), 0)).collect();
        (!hits.is_empty()).then_some(hits)
    }
}

/// Finds all secrets of a text; `random` ones only if asked.
fn find(text: &str, random: bool) -> Vec<Hit> {
    let mut hits = Vec::new();
    collect(text, random, 0, &mut hits);
    joined(hits)
}

fn collect(text: &str, random: bool, depth: u8, hits: &mut Vec<Hit>) {
    patterns::find(text, hits);
    assignment::find(text, hits);
    let deeper = depth < MAX_DEPTH;
    let mut inside = |text: &str| {
        let mut hits = Vec::new();
        collect(text, random, depth + 1, &mut hits);
        hits.first().map(|hit| hit.kind)
    };
    runs::find(text, Wanted { random, base64: deeper }, &mut inside, hits);
    if !deeper {
        return;
    }
    for encoding in [Encoding::Escapes, Encoding::Percent] {
        let Some(view) = View::of(text, encoding) else { continue };
        let mut inside = Vec::new();
        collect(&view.text, random, depth + 1, &mut inside);
        hits.extend(inside.into_iter().map(|hit| hit.at(view.source(hit.range.clone()))));
    }
}
