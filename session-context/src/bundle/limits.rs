//! How much a bundle may hold that is read.

/// What is refused before it fills memory or disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleLimits {
    /// The size of everything in a bundle, in bytes; default: 2 GiB.
    pub max_bytes: u64,
    /// How many files it holds; default: 100,000.
    pub max_members: usize,
    /// How much larger everything in it is than the bundle; default: 500. The first 16 MiB do not
    /// count: short sessions of one kind can be packed tightly.
    pub max_ratio: u64,
}

/// What does not count for the ratio, in bytes.
const FREE_BYTES: u64 = 16 * 1024 * 1024;

impl Default for BundleLimits {
    fn default() -> Self {
        Self { max_bytes: 2 * 1024 * 1024 * 1024, max_members: 100_000, max_ratio: 500 }
    }
}

impl BundleLimits {
    /// These limits with another size, in bytes.
    pub fn max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// How much a bundle of so many bytes may hold, in bytes.
    pub(super) fn for_bundle(self, packed: usize) -> u64 {
        let by_ratio = (packed as u64).saturating_mul(self.max_ratio).saturating_add(FREE_BYTES);
        self.max_bytes.min(by_ratio)
    }
}
