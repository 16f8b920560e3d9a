//! How much a bundle may hold.

use super::BundleError;

/// What is refused before it fills memory or disk, when a bundle is packed as when it is unpacked:
/// what is packed within these limits is unpacked within them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleLimits {
    /// The size of everything in a bundle, in bytes; default: 2 GiB.
    pub max_bytes: u64,
    /// How many files it holds; default: 100,000.
    pub max_members: usize,
}

/// The longest manifest, in bytes.
pub(super) const MAX_MANIFEST: u64 = 64 * 1024 * 1024;

/// What tar adds to each file at most, in bytes: headers, a long name, and padding.
pub(super) const TAR_OVERHEAD: u64 = 4_096;

impl Default for BundleLimits {
    fn default() -> Self {
        Self { max_bytes: 2 * 1024 * 1024 * 1024, max_members: 100_000 }
    }
}

impl BundleLimits {
    /// These limits with another size, in bytes.
    pub fn max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// The size of the largest file that a bundle within these limits can be, in bytes: what cannot
    /// be compressed grows a little, and so does what is encrypted.
    pub fn max_packed(&self) -> u64 {
        let files = (self.max_members as u64).saturating_mul(TAR_OVERHEAD);
        self.max_bytes
            .saturating_add(self.max_bytes / 64)
            .saturating_add(files)
            .saturating_add(2 * MAX_MANIFEST)
    }

    pub(super) fn admit(&self, bytes: u64, members: usize) -> Result<(), BundleError> {
        if bytes > self.max_bytes {
            return Err(BundleError::TooLarge { limit: self.max_bytes });
        }
        if members > self.max_members {
            return Err(BundleError::TooManyFiles { limit: self.max_members });
        }
        Ok(())
    }
}
