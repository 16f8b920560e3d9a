//! Secrets in values of JSON, where the names of fields tell more.

use session_model::json::{JsonString, ObjectEdit, RawJson};

use super::hit::Hit;
use super::{Look, assignment, catalogue::Catalogue, names};

/// What providers sign with.
const SIGNATURES: [&str; 3] = ["textSignature", "thinkingSignature", "thoughtSignature"];

/// The fields that name what the next one gives, and that one: `{"name": "API_KEY", "value": "…"}`.
const PAIR: ([&str; 3], &str) = (["name", "key", "variable"], "value");

/// The name of a secret that was just read, whose value is next.
#[derive(Default)]
pub(super) struct Pair(Option<String>);

impl Pair {
    /// Returns the string as the value of the field that the one before it names.
    pub(super) fn named<'s>(&mut self, string: &JsonString<'s>) -> Option<JsonString<'s>> {
        if string.is_name {
            return None;
        }
        let (names, value) = PAIR;
        let name = self.0.take();
        let field = &*string.field;
        if names.iter().any(|name| field.eq_ignore_ascii_case(name)) {
            self.0 = names::announces(&string.text).then(|| string.text.to_string());
        }
        let name = name.filter(|_| field.eq_ignore_ascii_case(value))?;
        let mut named = string.clone();
        named.field = name.into();
        Some(named)
    }
}

/// Finds the secrets of a string.
pub(super) fn find(catalogue: &Catalogue, string: &JsonString<'_>) -> Vec<Hit> {
    let (field, text) = (&*string.field, &*string.text);
    let find_in_text = |random| {
        let mut hits = super::find(text, Look::Secrets { catalogue, random });
        beside(catalogue, field, text, &mut hits);
        hits
    };
    if is_sealed(field) {
        return unsealed(string, find_in_text(false));
    }
    if text.len() >= 4 && names::announces(field) && !is_no_secret(field, text) {
        // A form says more than a name does.
        let mut hits = find_in_text(false);
        hits.retain(|hit| hit.range == (0..text.len()));
        return match hits.is_empty() {
            true => vec![Hit::new(0..text.len(), assignment::KIND, 0)],
            false => hits,
        };
    }
    find_in_text(!is_id(field))
}

fn is_no_secret(field: &str, text: &str) -> bool {
    names::is_placeholder(text) || names::is_plain(field, text)
}

/// The longest value that the name of its field is read together with, in bytes.
const MAX_BESIDE: usize = 256;

/// Finds what only the name of the field tells of, as in `{"heroku":"…"}`.
fn beside(catalogue: &Catalogue, field: &str, text: &str, hits: &mut Vec<Hit>) {
    if text.len() > MAX_BESIDE || !hits.is_empty() || !catalogue.is_named(field) {
        return;
    }
    let start = field.len() + "=".len();
    let mut both = Vec::new();
    catalogue.find(&format!("{field}={text}"), &mut both);
    both.retain(|hit| hit.range.start >= start);
    hits.extend(both.iter().map(|hit| hit.at(hit.range.start - start..hit.range.end - start)));
}

/// Keeps of the secrets found in a string what does not break a seal: a signature may hold anything
/// by chance, but it is no secret from end to end, and its letters are those of base64.
pub(super) fn unsealed(string: &JsonString<'_>, mut hits: Vec<Hit>) -> Vec<Hit> {
    let in_seal = |b: u8| b.is_ascii_alphanumeric() || b"+/=-_.".contains(&b);
    if is_sealed(&string.field) && string.text.bytes().all(in_seal) {
        hits.retain(|hit| hit.range == (0..string.text.len()));
    }
    hits
}

/// Tells whether a field holds what only its provider can read.
fn is_sealed(field: &str) -> bool {
    SIGNATURES.contains(&field)
        || matches!(field, "signature" | "encrypted_content" | "encryptedContent")
}

/// Tells whether a field holds an id, which may look random.
fn is_id(field: &str) -> bool {
    field == "id" || ["Id", "ID", "_id", "Uuid", "uuid"].iter().any(|end| field.ends_with(end))
}

/// Removes the signatures of blocks that were changed: they do not fit any more, and a provider
/// would refuse them.
pub(super) fn without_broken_signatures(old: &RawJson, new: RawJson) -> RawJson {
    with_blocks(old, new, |before, after| {
        let edit = SIGNATURES.iter().fold(ObjectEdit::new(), |edit, name| edit.remove(*name));
        (before != after && is_signed(before)).then(|| edit.apply(after).unwrap_or_default())
    })
}

/// Puts back the blocks that are signed or sealed.
pub(super) fn with_signed_blocks(old: &RawJson, new: RawJson) -> RawJson {
    let is_kept = |block: &RawJson| {
        let fields = block.as_object().unwrap_or_default();
        fields.text("type").is_some_and(|kind| kind == "redactedThinking")
            || fields.fields().iter().any(|f| is_sealed(&f.name()) && !f.value().is_null())
    };
    with_blocks(old, new, |before, after| {
        (before != after && is_kept(before)).then(|| before.clone())
    })
}

fn is_signed(block: &RawJson) -> bool {
    SIGNATURES.iter().any(|name| block.field(name).is_some_and(|sign| !sign.is_null()))
}

/// Changes the content blocks of a message that is itself a changed one.
fn with_blocks(
    old: &RawJson,
    new: RawJson,
    mut change: impl FnMut(&RawJson, &RawJson) -> Option<RawJson>,
) -> RawJson {
    let content = |entry: &RawJson| entry.field("message")?.field("content")?.as_array();
    let (Some(before), Some(after)) = (content(old), content(&new)) else { return new };
    let blocks = before.items().iter().zip(after.items());
    let changed: Vec<_> = blocks.map(|(before, after)| change(before, after)).collect();
    if changed.iter().all(Option::is_none) {
        return new;
    }
    let blocks = changed.into_iter().zip(after.items());
    let blocks: Vec<_> = blocks.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect();
    let message = new.field("message").and_then(|message| {
        ObjectEdit::new().set("content", &RawJson::array(&blocks)).apply(&message)
    });
    let entry = message.and_then(|m| ObjectEdit::new().set("message", &m).apply(&new));
    entry.unwrap_or(new)
}
