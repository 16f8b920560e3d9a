//! The form in which an entry is written, where that is not the whole of it.
//!
//! Memory keeps the whole value. In the file
//!
//! - an image of [`MIN_IMAGE_CHARS`] characters of base64 or more, in a list called `content`, is
//!   a reference to a blob with its bytes, and so is an `image_url` that is a data URL;
//! - a string of more than [`MAX_STRING_UNITS`] UTF-16 units is cut so that it has just so many
//!   with [`NOTICE`] behind it; with [`OversizePolicy::Blob`] it also names a blob that holds it
//!   whole;
//! - fields that hold what is of no use later (`partialJson`, `jsonlEvents`) are left out.
//!
//! Signatures, and blocks that are signed or encrypted, are never cut: a part of one is worth
//! nothing. `docs/format.md` has the rules in full.

mod cut;
mod image;
mod restore;

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::Blob;
use crate::json::{JsonKind, ObjectEdit, ObjectView, RawJson, to_raw_json};

pub use cut::{MAX_STRING_UNITS, NOTICE};
pub use image::{MIN_IMAGE_CHARS, decode_base64, encode_base64, is_image_data_url};
pub use restore::{blob_refs, names_blobs, restored};

/// What becomes of images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImagePolicy {
    /// Large ones become blobs, and the line names them.
    #[default]
    Blob,
    /// They stay in the line.
    Inline,
}

/// What becomes of strings that are too long for a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OversizePolicy {
    /// They are cut, as other tools do; the rest is lost once the session is closed.
    #[default]
    Cut,
    /// They are cut, and kept whole in a blob that the cut one names.
    Blob,
}

/// How entries are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PersistOptions {
    /// What becomes of images; default: blobs.
    pub images: ImagePolicy,
    /// What becomes of strings that are too long; default: cut.
    pub oversize: OversizePolicy,
}

impl PersistOptions {
    /// These options with another policy for images.
    pub fn images(self, images: ImagePolicy) -> Self {
        Self { images, ..self }
    }

    /// These options with another policy for strings that are too long.
    pub fn oversize(self, oversize: OversizePolicy) -> Self {
        Self { oversize, ..self }
    }
}

/// The form in which an entry is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Persisted {
    /// What the line holds.
    pub json: RawJson,
    /// What it refers to, to be durable before the line is written.
    pub blobs: Vec<Blob>,
}

/// Fields that are left out, at any depth.
const TRANSIENT: [&str; 2] = ["partialJson", "jsonlEvents"];
// To prepare a search takes longer than to search an ordinary entry.
static FIND_TRANSIENT: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| TRANSIENT.map(Finder::new));
static FIND_IMAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("image"));

/// Fields that sign what stands beside them, or are themselves beyond reading.
const SIGNED: [&str; 5] =
    ["thinkingSignature", "thoughtSignature", "textSignature", "signature", "encrypted_content"];

/// How deep values are looked into; what lies deeper is written whole.
const MAX_DEPTH: usize = 128;

/// Returns the form in which an entry is written; `None` if that is the entry as it is.
pub fn persisted_form(entry: &RawJson, options: &PersistOptions) -> Option<Persisted> {
    let mut writing = Writing { options: *options, blobs: Vec::new() };
    let json = writing.shortened(entry, Place::Elsewhere, 0)?;
    Some(Persisted { json, blobs: writing.blobs })
}

/// What a value is, as far as images go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The value of a field `content`.
    Content,
    /// An item of a list called `content`.
    ContentItem,
    /// The value of a field `image_url`.
    ImageUrl,
    Elsewhere,
}

struct Writing {
    options: PersistOptions,
    blobs: Vec<Blob>,
}

impl Writing {
    fn shortened(&mut self, value: &RawJson, place: Place, depth: usize) -> Option<RawJson> {
        if depth > MAX_DEPTH || !may_be_shortened(value.as_bytes(), place, &self.options) {
            return None;
        }
        match value.kind() {
            JsonKind::String => self.string(value, place),
            JsonKind::Array => {
                let place =
                    if place == Place::Content { Place::ContentItem } else { Place::Elsewhere };
                let items = value.as_array()?;
                let short: Vec<_> = items
                    .items()
                    .iter()
                    .map(|item| self.shortened(item, place, depth + 1))
                    .collect();
                short.iter().any(Option::is_some).then(|| {
                    let items = items.items().iter().zip(short);
                    let items: Vec<_> =
                        items.map(|(item, short)| short.unwrap_or_else(|| item.clone())).collect();
                    RawJson::array(&items)
                })
            }
            JsonKind::Object => self.object(value, &value.as_object()?, place, depth),
            _ => None,
        }
    }

    fn string(&mut self, value: &RawJson, place: Place) -> Option<RawJson> {
        if place == Place::ImageUrl
            && self.options.images == ImagePolicy::Blob
            && let Some(blob) = image::blob_of_url(value)
        {
            return Some(self.keep(blob));
        }
        let (short, blob) = cut::cut(value, self.options.oversize == OversizePolicy::Blob)?;
        self.blobs.extend(blob);
        Some(short)
    }

    fn object(
        &mut self,
        value: &RawJson,
        fields: &ObjectView,
        place: Place,
        depth: usize,
    ) -> Option<RawJson> {
        let signed = fields.text("type").is_some_and(|kind| kind == "redactedThinking")
            || SIGNED.iter().any(|name| fields.get(name).is_some_and(|sign| !sign.is_null()));
        let image = (place == Place::ContentItem && self.options.images == ImagePolicy::Blob)
            .then(|| image::image_data(fields).and_then(image::blob_of_data))
            .flatten();
        let mut edit = ObjectEdit::new();
        if let Some(blob) = &image {
            edit = edit.set("data", &self.keep(blob.clone()));
        }
        for field in fields.fields() {
            let name = field.name();
            if TRANSIENT.contains(&&*name) {
                edit = edit.remove(name);
                continue;
            }
            if signed || (image.is_some() && name == "data") {
                continue;
            }
            let place = match &*name {
                "content" => Place::Content,
                "image_url" => Place::ImageUrl,
                _ => Place::Elsewhere,
            };
            let Some(short) = self.shortened(field.value(), place, depth + 1) else { continue };
            if name == "content" && fields.get("lineCount").is_some_and(|n| n.as_f64().is_some()) {
                let lines = short.as_text().map_or(0, |text| text.split('\n').count());
                edit = edit.set("lineCount", &to_raw_json(&lines).unwrap_or_default());
            }
            edit = edit.set(name, &short);
        }
        if edit.is_empty() { None } else { edit.apply(value) }
    }

    /// Keeps a blob and returns its name.
    fn keep(&mut self, blob: Blob) -> RawJson {
        let name = RawJson::string(&blob.id().to_string());
        self.blobs.push(blob);
        name
    }
}

/// Tells whether [`persisted_form`] has to look at an entry; it has not at ordinary ones, and of
/// plain ones only at those that may hold a string that is too long.
pub(crate) fn may_have_other_form(entry: &[u8], is_plain: bool, options: &PersistOptions) -> bool {
    entry.len() > MAX_STRING_UNITS
        || (!is_plain && may_be_shortened(entry, Place::Elsewhere, options))
}

/// A quick look that spares ordinary values the long way.
fn may_be_shortened(text: &[u8], place: Place, options: &PersistOptions) -> bool {
    let holds = |name: &Finder<'_>| name.find(text).is_some();
    text.len() > MAX_STRING_UNITS
        || FIND_TRANSIENT.iter().any(holds)
        || text.len() >= MIN_IMAGE_CHARS
            && options.images == ImagePolicy::Blob
            && (place == Place::ImageUrl || holds(&FIND_IMAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(value: &RawJson) -> Option<RawJson> {
        persisted_form(value, &PersistOptions::default()).map(|form| form.json)
    }

    fn raw(text: String) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    fn units(value: &RawJson) -> usize {
        value.as_text().unwrap().encode_utf16().count()
    }

    #[test]
    fn a_string_is_cut_to_the_limit_with_the_notice() {
        assert_eq!(form(&RawJson::string(&"x".repeat(500_000))), None);
        let short = form(&RawJson::string(&"x".repeat(500_001))).unwrap();
        let want = "x".repeat(500_000 - NOTICE.len()) + NOTICE;
        assert_eq!(short.as_text().unwrap(), want);
        assert_eq!(form(&short), None);
        assert_eq!(form(&RawJson::string(&"é".repeat(500_000))), None);
    }

    #[test]
    fn a_pair_is_never_split() {
        let pairs = form(&RawJson::string(&"😀".repeat(300_000))).unwrap();
        let shifted = "x".to_owned() + &"😀".repeat(300_000);
        let shifted = form(&RawJson::string(&shifted)).unwrap();
        let mut lengths = [units(&pairs), units(&shifted)];
        lengths.sort_unstable();
        assert_eq!(lengths, [499_999, 500_000]);
        let escaped = raw(format!("\"{}\"", r"\ud83d\ude00".repeat(300_000)));
        assert_eq!(form(&escaped).unwrap().as_text(), pairs.as_text());
        let lone = raw(format!("\"{}\"", r"\ud83d".repeat(500_001)));
        assert_eq!(units(&form(&lone).unwrap()), 500_000);
    }

    #[test]
    fn transient_fields_go_at_any_depth_and_nothing_else_changes() {
        let value = raw(r#"{"n":1.0,"partialJson":"{","a":[{"jsonlEvents":[1],"x":"\ud800"}],"b":"partialJson"}"#.into());
        let want = r#"{"n":1.0,"a":[{"x":"\ud800"}],"b":"partialJson"}"#;
        assert_eq!(form(&value).unwrap().as_str(), want);
    }

    #[test]
    fn lines_are_counted_again_where_content_was_cut() {
        let long = "a\\n".repeat(300_000);
        let value = raw(format!(r#"{{"path":"p","content":"{long}","lineCount":300001}}"#));
        let fields = form(&value).unwrap().as_object().unwrap();
        let lines = fields.text("content").unwrap().split('\n').count();
        assert_eq!(fields.get("lineCount").unwrap().as_i64(), Some(lines as i64));
        let other = raw(format!(r#"{{"content":7,"other":"{long}","lineCount":5}}"#));
        let fields = form(&other).unwrap().as_object().unwrap();
        assert_eq!(fields.get("lineCount").unwrap().as_i64(), Some(5));
    }

    #[test]
    fn what_is_signed_or_encrypted_stays_whole() {
        let long = "s".repeat(600_000);
        for block in [
            format!(r#"{{"type":"thinking","thinking":"{long}","thinkingSignature":"x"}}"#),
            format!(r#"{{"type":"text","text":"t","textSignature":"{long}"}}"#),
            format!(r#"{{"type":"redactedThinking","data":"{long}"}}"#),
            format!(r#"{{"type":"toolCall","arguments":{{"a":"{long}"}},"thoughtSignature":"x"}}"#),
        ] {
            assert_eq!(form(&raw(format!("[{block}]"))), None);
        }
    }

    #[test]
    fn hostile_depth_is_written_whole() {
        let deep =
            format!("{}\"{}\"{}", "[".repeat(100_000), "x".repeat(500_001), "]".repeat(100_000));
        assert_eq!(form(&raw(deep)), None);
    }
}
