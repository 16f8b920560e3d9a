//! Images, which the file names and does not hold.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;

use crate::Blob;
use crate::json::{JsonKind, ObjectView, RawJson};

/// The shortest base64 text, or data URL, that is kept as a blob, in characters.
pub const MIN_IMAGE_CHARS: usize = 1024;

/// Writes padding, and reads base64 with or without it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// Decodes base64 of either alphabet, padded or not, with white space anywhere.
///
/// `None` if a part of the text stands for no bytes: other tools drop such parts silently.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut plain: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    while plain.last() == Some(&b'=') {
        plain.pop();
    }
    for byte in &mut plain {
        *byte = match *byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
    }
    BASE64.decode(&plain).ok()
}

/// Encodes bytes as standard base64 with padding.
pub fn encode_base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Tells whether a text is a data URL of an image in base64.
pub fn is_image_data_url(text: &str) -> bool {
    text.strip_prefix("data:image/").is_some_and(|rest| rest.contains(";base64,"))
}

/// Returns the data of a block that is an image.
pub(super) fn image_data(block: &ObjectView) -> Option<&RawJson> {
    let is_image = block.text("type").is_some_and(|kind| kind == "image");
    block.get("data").filter(|data| is_image && data.kind() == JsonKind::String)
}

/// The blob for an image's data, if it is long enough.
pub(super) fn blob_of_data(data: &RawJson) -> Option<Blob> {
    let text = data.as_text()?;
    (text.len() >= MIN_IMAGE_CHARS).then(|| decode_base64(&text).map(Blob::new)).flatten()
}

/// The blob for a data URL, which holds the URL whole.
pub(super) fn blob_of_url(url: &RawJson) -> Option<Blob> {
    let text = url.as_text()?;
    let is_kept = text.len() >= MIN_IMAGE_CHARS && text.is_ascii() && is_image_data_url(&text);
    is_kept.then(|| Blob::new(Bytes::copy_from_slice(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_other_tools_read_it_where_nothing_is_lost() {
        for (text, bytes) in [
            ("QUJD", Some("ABC")),
            ("QUI=", Some("AB")),
            ("QUI", Some("AB")),
            ("QU JD\n", Some("ABC")),
            ("QUJD====", Some("ABC")),
            ("", Some("")),
            ("Q", None),
            ("QUJDx", None),
            ("!!!!", None),
            ("QU=JD", None),
        ] {
            let want = bytes.map(|text| text.as_bytes().to_vec());
            assert_eq!(decode_base64(text), want, "{text}");
        }
        assert_eq!(decode_base64("-_-_"), decode_base64("+/+/"));
        assert_eq!(encode_base64(b"AB"), "QUI=");
    }

    #[test]
    fn only_base64_images_are_data_urls_of_images() {
        assert!(is_image_data_url("data:image/svg+xml;charset=utf8;base64,AA"));
        for text in ["data:image/png,AA", "DATA:image/png;base64,AA", "data:text/plain;base64,AA"] {
            assert!(!is_image_data_url(text), "{text}");
        }
    }
}
