//! Secrets that were found, to be found again wherever they stand.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::hit::Hit;
use super::rules;

/// The shortest secret that is looked for wherever else it stands, in bytes.
const MIN: usize = 8;

/// The longest one, in bytes.
const MAX: usize = 512;

/// The shortest secret of letters only that is told from a word, in bytes.
const MIN_LETTERS: usize = 20;

/// How many bits the first look takes.
const LOOK_BITS: u32 = 16;

/// The secrets that were found so far, and where they stand in a text.
///
/// No part of this can fail to be built: what was hidden in one place is hidden in all.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Secrets and their kinds by how they begin, those that are long first.
    secrets: HashMap<[u8; MIN], Vec<(String, &'static str)>>,
    /// A bit for each hash of such a beginning.
    look: Vec<u64>,
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
            self.insert(part, kind);
        }
    }

    fn insert(&mut self, secret: &str, kind: &'static str) {
        let Some(start) = secret.as_bytes().first_chunk::<MIN>() else { return };
        let alike = self.secrets.entry(*start).or_default();
        if alike.iter().any(|(known, _)| known == secret) {
            return;
        }
        let at = alike.partition_point(|(known, _)| Reverse(known.len()) <= Reverse(secret.len()));
        alike.insert(at, (secret.to_owned(), kind));
        self.look.resize(1 << (LOOK_BITS - u64::BITS.ilog2()), 0);
        let (word, bit) = place(*start);
        self.look[word] |= bit;
    }

    /// Finds known secrets in a text; of those that begin at one place, the longest.
    pub(super) fn find(&self, text: &str, hits: &mut Vec<Hit>) {
        let (bytes, mut at) = (text.as_bytes(), 0);
        while let Some(start) = bytes.get(at..).and_then(|rest| rest.first_chunk::<MIN>()) {
            let (word, bit) = place(*start);
            let may_be = self.look.get(word).is_some_and(|bits| bits & bit != 0);
            let alike = may_be.then(|| self.secrets.get(start)).flatten();
            let mut alike = alike.into_iter().flatten();
            let Some((secret, kind)) =
                alike.find(|(secret, _)| bytes[at..].starts_with(secret.as_bytes()))
            else {
                at += 1;
                continue;
            };
            let end = at + secret.len();
            if !rules::is_told(kind) || !is_cut(text, end) {
                hits.push(Hit::new(at..end, kind, 0));
            }
            at = end;
        }
    }
}

/// Where the bit of a beginning is.
fn place(start: [u8; MIN]) -> (usize, u64) {
    let hash = u64::from_le_bytes(start).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = (hash >> (u64::BITS - LOOK_BITS)) as usize;
    (hash / u64::BITS as usize, 1 << (hash % u64::BITS as usize))
}

/// Tells whether a word goes on here: `core-tok`, once a secret, is none in `core-token`.
fn is_cut(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
    is_lower(at) && at > 0 && is_lower(at - 1)
}

/// Tells whether a secret, or a word of it, is worth looking for elsewhere. What stands around a
/// value may make a secret of a plain word, and that would be hidden wherever the word is used.
fn is_telling(secret: &str, kind: &str) -> bool {
    let is_word = || secret.chars().all(|c| c.is_alphabetic() || c == '_');
    (MIN..=MAX).contains(&secret.len())
        && !secret.contains(|c: char| c.is_whitespace() || c == '\\')
        && !(is_word() && (rules::is_told(kind) || secret.len() < MIN_LETTERS))
}
