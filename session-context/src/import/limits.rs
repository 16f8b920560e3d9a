//! What an import takes at most.

/// The largest source that is read, in bytes: 2 GiB.
pub const DEFAULT_MAX_SOURCE_BYTES: u64 = 2 << 30;

/// The longest record that is read, in bytes: 64 MiB.
pub const DEFAULT_MAX_RECORD_BYTES: usize = 64 << 20;

/// The deepest nesting of a record that is read. With what an entry puts around it, other tools
/// can still read it.
pub const DEFAULT_MAX_DEPTH: usize = 120;

/// What an import takes at most; what is beyond is counted and left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportLimits {
    /// Bytes of one source; default: [`DEFAULT_MAX_SOURCE_BYTES`].
    pub source_bytes: u64,
    /// Bytes of one record; default: [`DEFAULT_MAX_RECORD_BYTES`].
    pub record_bytes: usize,
    /// Nesting of one record; default: [`DEFAULT_MAX_DEPTH`].
    pub depth: usize,
}

impl Default for ImportLimits {
    fn default() -> Self {
        Self {
            source_bytes: DEFAULT_MAX_SOURCE_BYTES,
            record_bytes: DEFAULT_MAX_RECORD_BYTES,
            depth: DEFAULT_MAX_DEPTH,
        }
    }
}
