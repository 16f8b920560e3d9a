//! All that is needed to find secrets, built once and whole.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use regex::bytes::Regex;

use super::hit::Hit;
use super::pattern::{compile, widened};
use super::rule::{Needs, Rule};
use super::{RedactError, names, private_keys, rules};

/// How far a pattern looks, in bytes; a secret that is longer goes on to the end of its run.
const MAX_MATCH: usize = 8_192;

/// The patterns of all kinds.
#[derive(Debug)]
pub(super) struct Catalogue {
    /// Finds the marks of rules.
    marks: AhoCorasick,
    /// The rule of each mark.
    rule_of: Vec<usize>,
    rules: Vec<(&'static Rule, Regex)>,
    /// Finds names that may announce a secret.
    pub(super) names: Regex,
}

static CATALOGUE: LazyLock<Result<Catalogue, RedactError>> =
    LazyLock::new(|| Catalogue::new(rules::all()));

impl Catalogue {
    /// Returns the catalogue of this build, which is built at the first call.
    pub(super) fn get() -> Result<&'static Self, RedactError> {
        CATALOGUE.as_ref().map_err(Clone::clone)
    }

    fn new(rules: impl Iterator<Item = &'static Rule>) -> Result<Self, RedactError> {
        let (mut marks, mut rule_of, mut compiled) = (Vec::new(), Vec::new(), Vec::new());
        for rule in rules {
            marks.extend_from_slice(rule.marks);
            rule_of.extend(rule.marks.iter().map(|_| compiled.len()));
            compiled.push((rule, compile(rule.kind, &pattern(rule))?));
        }
        let builder = &mut AhoCorasick::builder();
        let builder = builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
        let marks = builder.build(marks).map_err(|error| RedactError::pattern("all", error))?;
        let names = compile(super::assignment::KIND, names::WORDS)?;
        Ok(Self { marks, rule_of, rules: compiled, names })
    }

    /// Tells whether a field's name may tell what its value is.
    pub(super) fn is_named(&self, field: &str) -> bool {
        let mut marks = self.marks.find_overlapping_iter(field);
        marks.any(|mark| self.rules[self.rule_of[mark.pattern().as_usize()]].0.beside)
    }

    /// Finds all secrets of a known form.
    pub(super) fn find(&self, text: &str, hits: &mut Vec<Hit>) {
        private_keys::find(text, hits);
        let bytes = text.as_bytes();
        // Where the last match of a rule ended: marks within it are not looked at again.
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for mark in self.marks.find_overlapping_iter(text) {
            let at = self.rule_of[mark.pattern().as_usize()];
            let (rule, regex) = &self.rules[at];
            let end = ends.iter().find(|(rule, _)| *rule == at).map_or(0, |(_, end)| *end);
            if mark.start() < end {
                continue;
            }
            let from = mark.start().saturating_sub(rule.before).max(end);
            if rule.before == 0 && !rule.glued && !rule.beside && is_glued(bytes, from) {
                continue;
            }
            let window = &bytes[from..bytes.len().min(from + MAX_MATCH)];
            for found in regex.captures_iter(window) {
                let Some(whole) = found.get(0) else { continue };
                let secret = found.iter().skip(1).flatten().next().unwrap_or(whole);
                if from + whole.start() > mark.start() {
                    break;
                }
                let (start, end) = (from + whole.start(), from + whole.end());
                let is_part = rule.beside && bytes.get(end).is_some_and(|byte| is_word(*byte));
                if end < mark.end()
                    || is_part
                    || (!rule.glued && !rule.beside && is_glued(bytes, start))
                {
                    continue;
                }
                let mut range = from + secret.start()..from + secret.end();
                if secret.end() == window.len() {
                    let rest = &bytes[range.end..];
                    range.end += rest.iter().take_while(|byte| is_in_token(**byte)).count();
                }
                ends.retain(|(rule, _)| *rule != at);
                ends.push((at, end));
                let range = widened(text, range);
                let secret = &text[range.clone()];
                if meets(secret, rule.needs) && !names::is_placeholder(secret) {
                    hits.push(Hit::new(range, rule.kind, at));
                }
                break;
            }
        }
    }
}

/// What stands between a name and the value beside it.
const BETWEEN: &str =
    r#"[ \t\w.-]{0,32}?["'`\])]{0,2}[ \t]{0,4}(?:=>|:=|[=:,(>]|\bis\b|[ \t])[ \t]{0,4}["'`(]{0,2}"#;

/// The whole pattern of a rule: a match begins at its mark, or is looked for around it.
fn pattern(rule: &Rule) -> String {
    match (rule.beside, rule.before) {
        (true, _) => {
            let names: Vec<_> = rule.marks.iter().map(|mark| regex::escape(mark)).collect();
            format!(r"\A(?i:{}){BETWEEN}({})", names.join("|"), rule.regex)
        }
        (false, 0) => format!(r"\A(?:{})", rule.regex),
        (false, _) => rule.regex.to_owned(),
    }
}

/// Tells whether a letter or digit stands right before.
fn is_glued(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1].is_ascii_alphanumeric()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.+/=".contains(&byte)
}

/// Tells whether a secret has what its rule needs.
pub(super) fn meets(secret: &str, needs: Needs) -> bool {
    let any = |is: fn(&u8) -> bool| secret.as_bytes().iter().any(is);
    let has_digit = || any(u8::is_ascii_digit);
    match needs {
        Needs::Nothing => true,
        Needs::Digit => has_digit() || behind_prefix(secret),
        Needs::DigitAndLetter => has_digit() && any(u8::is_ascii_alphabetic),
        Needs::Mixed => has_digit() && any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase),
        Needs::Odd => {
            has_digit()
                || any(|byte| !byte.is_ascii_alphabetic())
                || secret.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        }
        Needs::UserAndPassword => is_user_and_password(secret),
    }
}

/// Tells whether letters behind a prefix change between capitals and small ones, which words do not.
fn behind_prefix(secret: &str) -> bool {
    let bytes = secret.as_bytes();
    let changes = bytes
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    changes.count() >= 2
}

/// Takes base64 with padding or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Tells whether base64 is that of a user's name and password.
fn is_user_and_password(base64: &str) -> bool {
    let decoded = BASE64.decode(base64.trim_end_matches('=')).unwrap_or_default();
    decoded.iter().all(|byte| !byte.is_ascii_control()) && decoded.contains(&b':')
}
