//! What no typed variant fits.

use crate::json::RawJson;

/// A value of a kind this version does not know, kept whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// What it calls itself: the text of its `type` or `role`; empty if that is no string.
    pub tag: String,
    /// The value.
    pub raw: RawJson,
}

impl Unknown {
    pub(crate) fn of(tag_name: &str, raw: &RawJson) -> Self {
        let tag = raw.as_object().and_then(|object| object.text(tag_name).map(Into::into));
        Self { tag: tag.unwrap_or_default(), raw: raw.clone() }
    }
}
