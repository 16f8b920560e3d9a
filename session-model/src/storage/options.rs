//! Options of storage operations; each has a default that suits a session journal.

use super::{StorageKey, Version};

/// How far a change has got; each level includes those before it.
///
/// Every backend gives `Accepted`. Asked for a level it cannot give, a backend answers
/// [`Unsupported`](super::StorageErrorKind::Unsupported) and changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// It survives the end of this process.
    #[default]
    Accepted,
    /// It survives a loss of power.
    Durable,
    /// A remote store confirmed it.
    Published,
}

/// What must be true of an object for an operation to go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precondition {
    /// Nothing.
    #[default]
    None,
    /// The object does not exist; else `AlreadyExists`.
    Absent,
    /// The object exists, in whatever state; else `NotFound`.
    Present,
    /// The object exists in this state; else `Conflict`, or `NotFound` without an object.
    Version(Version),
    /// The object exists with this size in bytes; else `Conflict`, or `NotFound` without one.
    Length(u64),
}

/// A part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadRange {
    /// All of it.
    Full,
    /// At most `len` bytes from `offset`.
    Range {
        /// The first byte.
        offset: u64,
        /// How many bytes at most.
        len: u64,
    },
    /// All from this offset.
    From(u64),
    /// At most this many bytes at the end.
    Suffix(u64),
}

impl ReadRange {
    /// Returns the bytes `start..end` this range means in an object of `size` bytes.
    pub fn resolve(self, size: u64) -> std::ops::Range<u64> {
        match self {
            Self::Full => 0..size,
            Self::Range { offset, len } => {
                let start = offset.min(size);
                start..start.saturating_add(len).min(size)
            }
            Self::From(offset) => offset.min(size)..size,
            Self::Suffix(len) => size.saturating_sub(len)..size,
        }
    }
}

/// Options of [`put`](super::SessionStorage::put) and [`replace`](super::AppendWriter::replace).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PutOptions {
    /// What must hold before; default: nothing.
    pub precondition: Precondition,
    /// How far the change has got when the call returns; default: `Durable`.
    pub durability: Durability,
}

impl Default for PutOptions {
    fn default() -> Self {
        Self { precondition: Precondition::None, durability: Durability::Durable }
    }
}

impl PutOptions {
    /// The defaults with a precondition.
    pub fn when(precondition: Precondition) -> Self {
        Self { precondition, ..Self::default() }
    }

    /// These options with another durability.
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }
}

/// Options of [`open_append`](super::SessionStorage::open_append).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendOptions {
    /// Whether to be the only writer, across all processes; default: no.
    pub exclusive: bool,
    /// What must hold before; default: nothing.
    pub precondition: Precondition,
    /// A name for this writer, shown to others who get `Busy`; default: none.
    pub owner: Option<String>,
}

impl AppendOptions {
    /// The only writer of the object, known to others by `owner`.
    pub fn exclusive(owner: impl Into<String>) -> Self {
        Self { exclusive: true, owner: Some(owner.into()), ..Self::default() }
    }

    /// These options with a precondition.
    pub fn when(self, precondition: Precondition) -> Self {
        Self { precondition, ..self }
    }
}

/// Options of [`copy`](super::SessionStorage::copy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyOptions {
    /// Whether an existing target is replaced; default: no.
    pub overwrite: bool,
}

impl CopyOptions {
    /// Replaces an existing target.
    pub fn overwriting() -> Self {
        Self { overwrite: true }
    }
}

/// Options of [`rename`](super::SessionStorage::rename).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenameOptions {
    /// Whether an existing target is replaced; default: no.
    pub overwrite: bool,
}

impl RenameOptions {
    /// Replaces an existing target.
    pub fn overwriting() -> Self {
        Self { overwrite: true }
    }
}

/// Options of [`list`](super::SessionStorage::list).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListOptions {
    /// How many segments below the prefix a key may have; default: any number. 1 means directly
    /// below, 0 lists nothing.
    pub max_depth: Option<usize>,
    /// What the text of a key must end with; default: anything.
    pub suffix: Option<String>,
    /// Only keys that sort after this one, whether it exists or not; default: all.
    pub start_after: Option<StorageKey>,
    /// How many items at most, errors among them; default: all.
    pub limit: Option<usize>,
}

impl ListOptions {
    /// Only keys that end with `suffix`.
    pub fn suffix(self, suffix: impl Into<String>) -> Self {
        Self { suffix: Some(suffix.into()), ..self }
    }

    /// Only keys at most `depth` segments below the prefix.
    pub fn max_depth(self, depth: usize) -> Self {
        Self { max_depth: Some(depth), ..self }
    }

    /// Only keys that sort after `key`.
    pub fn start_after(self, key: StorageKey) -> Self {
        Self { start_after: Some(key), ..self }
    }

    /// At most `limit` objects.
    pub fn limit(self, limit: usize) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Tells whether a key below `prefix` is wanted, the limit aside.
    pub fn admits(&self, prefix: Option<&StorageKey>, key: &StorageKey) -> bool {
        let outer = prefix.map_or(0, |p| p.segments().count());
        prefix.is_none_or(|p| key.is_below(p))
            && self.max_depth.is_none_or(|depth| key.segments().count() - outer <= depth)
            && self.suffix.as_deref().is_none_or(|suffix| key.as_str().ends_with(suffix))
            && self.start_after.as_ref().is_none_or(|after| key > after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_at_the_end() {
        let cases = [
            (ReadRange::Full, 0..10),
            (ReadRange::Range { offset: 2, len: 3 }, 2..5),
            (ReadRange::Range { offset: 8, len: u64::MAX }, 8..10),
            (ReadRange::Range { offset: 12, len: 3 }, 10..10),
            (ReadRange::From(4), 4..10),
            (ReadRange::From(11), 10..10),
            (ReadRange::Suffix(3), 7..10),
            (ReadRange::Suffix(30), 0..10),
        ];
        for (range, want) in cases {
            assert_eq!(range.resolve(10), want, "{range:?}");
        }
    }

    #[test]
    fn listing_admits_by_every_option() {
        let key = |k: &str| StorageKey::new(k).unwrap();
        let all = ListOptions::default();
        assert!(all.admits(None, &key("a/b/c.jsonl")));
        assert!(!all.admits(Some(&key("a/b/c.jsonl")), &key("a/b/c.jsonl")));
        let two = ListOptions::default().max_depth(2).suffix(".jsonl");
        assert!(two.admits(Some(&key("s")), &key("s/b/c.jsonl")));
        assert!(!two.admits(Some(&key("s")), &key("s/b/c/d.jsonl")));
        assert!(!two.admits(Some(&key("s")), &key("s/b/c.json")));
        assert!(!ListOptions::default().start_after(key("s/b")).admits(None, &key("s/b")));
        assert!(ListOptions::default().start_after(key("s/b")).admits(None, &key("s/b/a")));
    }
}
