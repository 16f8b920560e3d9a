//! The calls a store answers, as faults and records name them.

use std::fmt;

use session_model::storage::StorageKey;

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// `SessionStorage::head`.
    Head,
    /// `SessionStorage::read`.
    Read,
    /// `SessionStorage::peek`.
    Peek,
    /// `SessionStorage::put`.
    Put,
    /// `SessionStorage::open_append`.
    OpenAppend,
    /// `SessionStorage::copy`.
    Copy,
    /// `SessionStorage::rename`.
    Rename,
    /// `SessionStorage::remove`.
    Remove,
    /// `SessionStorage::remove_all`.
    RemoveAll,
    /// `SessionStorage::list`.
    List,
    /// `SessionStorage::drain`.
    Drain,
    /// `AppendWriter::append`.
    Append,
    /// `AppendWriter::truncate`.
    Truncate,
    /// `AppendWriter::replace`.
    Replace,
    /// `AppendWriter::adopt`.
    Adopt,
    /// `AppendWriter::sync`.
    Sync,
    /// `AppendWriter::close`.
    Close,
}

impl Operation {
    /// A verb in plain form, as error messages want it.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Head => "look up",
            Self::Read => "read",
            Self::Peek => "peek at",
            Self::Put => "put",
            Self::OpenAppend => "open for appending",
            Self::Copy => "copy",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::RemoveAll => "remove all below",
            Self::List => "list",
            Self::Drain => "drain",
            Self::Append => "append to",
            Self::Truncate => "truncate",
            Self::Replace => "replace",
            Self::Adopt => "adopt",
            Self::Sync => "sync",
            Self::Close => "close",
        }
    }
}

/// A call that reached the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// What was called.
    pub operation: Operation,
    /// The keys it was about, in the order of the arguments.
    pub keys: Vec<StorageKey>,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation.verb())?;
        self.keys.iter().try_for_each(|key| write!(f, " {key}"))
    }
}
