//! What was hidden.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};

/// How often secrets of one kind were hidden, and where; never what they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hidden {
    /// How many.
    pub count: u64,
    /// In which entries or files.
    pub places: BTreeSet<String>,
}

/// What was hidden, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactionReport {
    kinds: BTreeMap<&'static str, Hidden>,
}

impl RedactionReport {
    pub(super) fn add(&mut self, kind: &'static str, place: &str) {
        let hidden = self.kinds.entry(kind).or_default();
        hidden.count += 1;
        if !hidden.places.contains(place) {
            hidden.places.insert(place.to_owned());
        }
    }

    /// Names no place that tells a secret.
    pub(super) fn hide_places(&mut self, mut tells: impl FnMut(&str) -> bool) {
        for hidden in self.kinds.values_mut() {
            let places = std::mem::take(&mut hidden.places).into_iter();
            let named =
                places.map(|place| if tells(&place) { "[redacted]".to_owned() } else { place });
            hidden.places = named.collect();
        }
    }

    /// Returns what was hidden, sorted by kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &Hidden)> {
        self.kinds.iter().map(|(kind, hidden)| (*kind, hidden))
    }

    /// Returns how many secrets were hidden.
    pub fn total(&self) -> u64 {
        self.kinds.values().map(|hidden| hidden.count).sum()
    }

    /// Returns the report as a list of `{"kind", "count", "places"}`.
    pub fn to_json(&self) -> RawJson {
        let kinds = self.kinds().map(|(kind, hidden)| {
            let places: Vec<_> = hidden.places.iter().map(|place| RawJson::string(place)).collect();
            ObjectBuilder::new()
                .string("kind", kind)
                .raw("count", &to_raw_json(&hidden.count).unwrap_or_default())
                .raw("places", &RawJson::array(&places))
                .build()
        });
        RawJson::array(&kinds.collect::<Vec<_>>())
    }
}

/// How many places of one kind are named in text.
const NAMED_PLACES: usize = 5;

impl fmt::Display for RedactionReport {
    /// A line for each kind, without an end behind the last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (kind, hidden)) in self.kinds().enumerate() {
            let line = if at > 0 { "\n" } else { "" };
            let places: Vec<_> =
                hidden.places.iter().take(NAMED_PLACES).map(String::as_str).collect();
            write!(f, "{line}{kind}: {} in {}", hidden.count, places.join(", "))?;
            if hidden.places.len() > places.len() {
                write!(f, ", {} more", hidden.places.len() - places.len())?;
            }
        }
        Ok(())
    }
}
