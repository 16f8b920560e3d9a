//! Putting back what a line only names.

use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memmem::Finder;

use super::image::image_data;
use super::{MAX_DEPTH, cut, encode_base64};
use crate::BlobRef;
use crate::json::{JsonKind, ObjectEdit, RawJson};

static FIND_NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("blob:sha256:"));

/// Tells whether a text may name blobs, without reading it as JSON.
pub fn names_blobs(text: &[u8]) -> bool {
    FIND_NAME.find(text).is_some()
}

/// Returns the blobs [`restored`] would ask for, in order, each as often as it is named.
pub fn blob_refs(entry: &RawJson) -> Vec<BlobRef> {
    let mut found = Vec::new();
    restored(entry, |id| {
        found.push(id);
        None
    });
    found
}

/// Puts the content of blobs in the place of references, and returns the entry as it was before
/// it was written; `None` if nothing was put back.
///
/// References are the `data` of image blocks in the `content` of a `message` or `custom_message`
/// entry, every `image_url`, and strings that were cut and name their whole. `blob` gives a blob's
/// content; a reference it has no answer to stays, and so does one whose content is of another
/// kind.
pub fn restored(
    entry: &RawJson,
    mut blob: impl FnMut(BlobRef) -> Option<Bytes>,
) -> Option<RawJson> {
    if !names_blobs(entry.as_bytes()) {
        return None;
    }
    let fields = entry.as_object()?;
    let holder = match fields.text("type").as_deref() {
        Some("message") => Some(Place::Message),
        Some("custom_message") => Some(Place::HasContent),
        _ => None,
    };
    put_back(entry, holder.unwrap_or(Place::Elsewhere), 0, &mut blob)
}

/// What a value is, as far as references go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A message entry, whose field `message` has content.
    Message,
    /// What has a field `content` with images.
    HasContent,
    /// A list of blocks.
    Content,
    /// A block of such a list.
    Block,
    ImageUrl,
    Elsewhere,
}

impl Place {
    fn of_field(self, name: &str) -> Self {
        match (self, name) {
            (_, "image_url") => Self::ImageUrl,
            (Self::Message, "message") => Self::HasContent,
            (Self::HasContent, "content") => Self::Content,
            _ => Self::Elsewhere,
        }
    }
}

fn put_back(
    value: &RawJson,
    place: Place,
    depth: usize,
    blob: &mut dyn FnMut(BlobRef) -> Option<Bytes>,
) -> Option<RawJson> {
    if depth > MAX_DEPTH || !names_blobs(value.as_bytes()) {
        return None;
    }
    match value.kind() {
        JsonKind::String => string(value, place, blob),
        JsonKind::Array => {
            let place = if place == Place::Content { Place::Block } else { Place::Elsewhere };
            let items = value.as_array()?;
            let whole: Vec<_> =
                items.items().iter().map(|item| put_back(item, place, depth + 1, blob)).collect();
            whole.iter().any(Option::is_some).then(|| {
                let items = items.items().iter().zip(whole);
                let items: Vec<_> =
                    items.map(|(item, whole)| whole.unwrap_or_else(|| item.clone())).collect();
                RawJson::array(&items)
            })
        }
        JsonKind::Object => {
            let fields = value.as_object()?;
            let data = if place == Place::Block { image_data(&fields) } else { None };
            let data = data.and_then(reference);
            let mut edit = ObjectEdit::new();
            if let Some(bytes) = data.and_then(&mut *blob) {
                edit = edit.set("data", &RawJson::string(&encode_base64(&bytes)));
            }
            for field in fields.fields() {
                let name = field.name();
                let whole = if data.is_some() && name == "data" {
                    None
                } else {
                    put_back(field.value(), place.of_field(&name), depth + 1, blob)
                };
                if let Some(whole) = whole {
                    edit = edit.set(name, &whole);
                }
            }
            if edit.is_empty() { None } else { edit.apply(value) }
        }
        _ => None,
    }
}

fn string(
    value: &RawJson,
    place: Place,
    blob: &mut dyn FnMut(BlobRef) -> Option<Bytes>,
) -> Option<RawJson> {
    if let Some(id) = cut::whole_text(value) {
        return cut::restored(value, &blob(id)?);
    }
    if place != Place::ImageUrl {
        return None;
    }
    let bytes = blob(reference(value)?)?;
    std::str::from_utf8(&bytes).ok().map(RawJson::string)
}

fn reference(value: &RawJson) -> Option<BlobRef> {
    value.as_text()?.parse().ok()
}
