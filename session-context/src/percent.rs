//! Decoding parts of URLs.

use crate::OpenStorageError;
use crate::open_storage::invalid;

/// Decodes `%` and two hex digits.
pub(crate) fn percent_decoded(text: &str) -> Result<String, OpenStorageError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        let decoded = match byte {
            b'%' => match (left.next().and_then(hex), left.next().and_then(hex)) {
                (Some(high), Some(low)) => high * 16 + low,
                _ => return Err(invalid("% must be followed by two hex digits; write %25 for %")),
            },
            other => other,
        };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).map_err(|_| invalid("the path is no UTF-8 once it is decoded"))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}
