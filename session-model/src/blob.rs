//! Blobs: bytes kept outside a session's file under the hash of their content.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use sha2::{Digest, Sha256};

/// What every reference starts with.
const PREFIX: &str = "blob:sha256:";

/// The name of a blob: the SHA-256 of its bytes.
///
/// As text it is `blob:sha256:` and 64 lowercase hexadecimal digits, nothing else: what a file
/// claims to be a reference becomes part of a key, so anything looser is refused.
///
/// ```
/// use session_model::BlobRef;
///
/// let blob = BlobRef::of(b"abc");
/// assert!(blob.to_string().starts_with("blob:sha256:ba7816bf"));
/// assert_eq!(blob.to_string().parse(), Ok(blob));
/// assert!("blob:sha256:../secret".parse::<BlobRef>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobRef([u8; 32]);

/// A text that is no reference to a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a blob reference is `blob:sha256:` and 64 lowercase hexadecimal digits")]
pub struct InvalidBlobRef;

/// Bytes to be kept as a blob, and their name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    id: BlobRef,
    bytes: Bytes,
}

impl BlobRef {
    /// The name of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads 64 lowercase hexadecimal digits.
    ///
    /// # Errors
    ///
    /// [`InvalidBlobRef`] for anything else.
    pub fn from_hex(hex: &str) -> Result<Self, InvalidBlobRef> {
        let mut hash = [0; 32];
        if hex.len() != 64 {
            return Err(InvalidBlobRef);
        }
        for (byte, pair) in hash.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
        }
        Ok(Self(hash))
    }

    /// Returns the hash in 64 lowercase hexadecimal digits, which is the blob's file name.
    pub fn to_hex(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.map(|digit| DIGITS[usize::from(digit)] as char).collect()
    }
}

fn digit(byte: u8) -> Result<u8, InvalidBlobRef> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(InvalidBlobRef),
    }
}

impl Blob {
    /// Names these bytes.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { id: BlobRef::of(&bytes), bytes }
    }

    /// Returns the name.
    pub fn id(&self) -> BlobRef {
        self.id
    }

    /// Returns the content.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

impl fmt::Display for BlobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for BlobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BlobRef {
    type Err = InvalidBlobRef;

    fn from_str(text: &str) -> Result<Self, InvalidBlobRef> {
        Self::from_hex(text.strip_prefix(PREFIX).ok_or(InvalidBlobRef)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_form_is_a_reference() {
        let hex = BlobRef::of(b"pixels").to_hex();
        assert_eq!(format!("blob:sha256:{hex}").parse(), Ok(BlobRef::of(b"pixels")));
        for text in [
            hex.clone(),
            format!("blob:sha256:{}", hex.to_uppercase()),
            format!("blob:sha256:{hex}0"),
            format!("blob:sha256:{}", &hex[1..]),
            format!(" blob:sha256:{hex}"),
            format!("blob:md5:{hex}"),
            "blob:sha256:../secret.txt".to_owned(),
            format!("blob:sha256:../{}", &hex[3..]),
        ] {
            assert_eq!(text.parse::<BlobRef>(), Err(InvalidBlobRef), "{text}");
        }
    }
}
