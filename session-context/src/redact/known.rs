//! Secrets that were found, to be found again wherever they stand.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::assignment;
use super::hit::Hit;

/// The shortest secret that is looked for wherever else it stands, in bytes.
const MIN: usize = 8;

/// The longest one, in bytes.
const MAX: usize = 512;

/// How much memory the search may take, in bytes; a million secrets fit.
const MAX_FINDER: usize = 1 << 30;

/// Secrets and their kinds, those that are long first.
type Secrets = BTreeSet<(Reverse<usize>, String, &'static str)>;

/// The secrets that were found so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    secrets: Arc<Secrets>,
    finder: Option<Arc<Finder>>,
}

/// Finds known secrets in a text.
#[derive(Debug)]
pub(super) struct Finder {
    secrets: Arc<Secrets>,
    any: Regex,
}

impl Known {
    pub(super) fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Takes a secret, or those words of it that have a number in them.
    pub(super) fn add(&mut self, secret: &str, kind: &'static str) {
        let is_odd = |part: &&str| {
            part.len() == secret.len() || part.bytes().any(|byte| byte.is_ascii_digit())
        };
        for part in secret.split(' ').filter(|part| is_telling(part, kind)).filter(is_odd) {
            let known = (Reverse(part.len()), part.to_owned(), kind);
            if !self.secrets.contains(&known) {
                self.finder = None;
                Arc::make_mut(&mut self.secrets).insert(known);
            }
        }
    }

    /// Returns what finds the secrets so far; `None` if there are none.
    pub(super) fn finder(&mut self) -> Option<Arc<Finder>> {
        if self.finder.is_none() && !self.is_empty() {
            let all: Vec<_> =
                self.secrets.iter().map(|(_, secret, _)| regex::escape(secret)).collect();
            let any = RegexBuilder::new(&all.join("|")).size_limit(MAX_FINDER).build().ok()?;
            self.finder = Some(Arc::new(Finder { secrets: Arc::clone(&self.secrets), any }));
        }
        self.finder.clone()
    }
}

impl Finder {
    pub(super) fn find(&self, whole: &str, hits: &mut Vec<Hit>) {
        for found in self.any.find_iter(whole) {
            let text = found.as_str();
            let from = (Reverse(text.len()), text.to_owned(), "");
            let known = self.secrets.range(from..).next().filter(|(_, secret, _)| secret == text);
            let kind = known.map_or(assignment::KIND, |(_, _, kind)| kind);
            if kind != assignment::KIND || !is_cut(whole, found.end()) {
                hits.push(Hit::new(found.range(), kind, 0));
            }
        }
    }
}

/// Tells whether a word goes on here: `core-tok`, once a secret, is none in `core-token`.
fn is_cut(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
    is_lower(at) && at > 0 && is_lower(at - 1)
}

/// Tells whether a secret, or a word of it, is worth looking for elsewhere. A name may announce a
/// plain word, and that would be hidden wherever somebody uses it.
fn is_telling(secret: &str, kind: &str) -> bool {
    let is_word = || secret.chars().all(|c| c.is_alphabetic() || c == '_');
    (MIN..=MAX).contains(&secret.len())
        && !secret.contains(|c: char| c.is_whitespace() || c == '\\')
        && (kind != assignment::KIND || !is_word())
}
