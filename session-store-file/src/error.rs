//! What can go wrong below the contract, and the one place where it becomes a [`StorageError`].

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use session_model::storage::{StorageError, StorageErrorKind, StorageKey};

const SYMLINK: &str = "a symbolic link is in the way, and links are not followed";
const SPECIAL: &str = "what lies there is neither a file nor a directory";

/// A failure that does not know yet which object it happened to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{SYMLINK}")]
    Symlink,
    #[error("an object lies where a directory is needed")]
    BelowObject,
    #[error("a directory that holds other things lies there")]
    Directory,
    #[error("{SPECIAL}")]
    Special,
    #[error("the root directory is gone")]
    RootGone(#[source] io::Error),
    #[error("file locks do not work here")]
    NoLocks(#[source] io::Error),
    #[error("the file system does not change modes; mount it so that only its owner can read it")]
    FixedModes,
    #[error("another process did not give up the operation lock within {0:?}")]
    LockHeld(Duration),
    #[error("the object kept shrinking while it was read")]
    Shrinking,
    #[error("a part was written and could not be cut off again ({cut})")]
    Torn {
        #[source]
        write: io::Error,
        cut: io::Error,
    },
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

impl Fault {
    /// Names the object, and what was being done to it as a verb in plain form.
    pub(crate) fn at(self, operation: &'static str, key: &StorageKey) -> StorageError {
        let no_object = |kind, what| {
            let key = key.clone();
            StorageError::NotAnObject { kind, operation, key, what }
        };
        let kind = match &self {
            Self::Io(error) | Self::Torn { write: error, .. } => kind_of(error),
            Self::Symlink => return no_object(StorageErrorKind::Denied, SYMLINK),
            Self::Special => return no_object(StorageErrorKind::Invalid, SPECIAL),
            Self::BelowObject | Self::Directory => StorageErrorKind::Invalid,
            Self::NoLocks(_) => StorageErrorKind::Unsupported,
            Self::FixedModes => StorageErrorKind::Denied,
            Self::RootGone(_) | Self::LockHeld(_) | Self::Shrinking => {
                StorageErrorKind::Unavailable
            }
        };
        match kind {
            StorageErrorKind::NotFound => StorageError::NotFound { key: key.clone() },
            StorageErrorKind::AlreadyExists => StorageError::AlreadyExists { key: key.clone() },
            StorageErrorKind::Invalid => {
                StorageError::Invalid { detail: format!("cannot {operation} {key}: {self}") }
            }
            StorageErrorKind::Unsupported => StorageError::Unsupported {
                what: format!("writing to a file system without file locks ({self})"),
            },
            kind => StorageError::failed(kind, operation, key.clone(), self),
        }
    }
}

fn kind_of(error: &io::Error) -> StorageErrorKind {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT) => StorageErrorKind::NotFound,
        Some(Errno::EXIST) => StorageErrorKind::AlreadyExists,
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::LOOP) => StorageErrorKind::Denied,
        // A limit on the size of files ends growth as a full disk does.
        Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => StorageErrorKind::Full,
        Some(Errno::NOTDIR | Errno::ISDIR | Errno::NOTEMPTY | Errno::NAMETOOLONG) => {
            StorageErrorKind::Invalid
        }
        Some(Errno::MFILE | Errno::NFILE | Errno::STALE | Errno::TIMEDOUT) => {
            StorageErrorKind::Unavailable
        }
        _ => StorageErrorKind::Other,
    }
}

/// Puts the object and the operation to a failure.
pub(crate) trait During<T> {
    fn during(self, operation: &'static str, key: &StorageKey) -> Result<T, StorageError>;
}

impl<T, E: Into<Fault>> During<T> for Result<T, E> {
    fn during(self, operation: &'static str, key: &StorageKey) -> Result<T, StorageError> {
        self.map_err(|error| error.into().at(operation, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_of_the_system_has_its_kind() {
        let key = StorageKey::new("a/b").unwrap();
        for (errno, kind) in [
            (Errno::NOENT, StorageErrorKind::NotFound),
            (Errno::EXIST, StorageErrorKind::AlreadyExists),
            (Errno::ACCESS, StorageErrorKind::Denied),
            (Errno::PERM, StorageErrorKind::Denied),
            (Errno::ROFS, StorageErrorKind::Denied),
            (Errno::LOOP, StorageErrorKind::Denied),
            (Errno::NOSPC, StorageErrorKind::Full),
            (Errno::DQUOT, StorageErrorKind::Full),
            (Errno::FBIG, StorageErrorKind::Full),
            (Errno::NOTDIR, StorageErrorKind::Invalid),
            (Errno::ISDIR, StorageErrorKind::Invalid),
            (Errno::NAMETOOLONG, StorageErrorKind::Invalid),
            (Errno::MFILE, StorageErrorKind::Unavailable),
            (Errno::STALE, StorageErrorKind::Unavailable),
            (Errno::IO, StorageErrorKind::Other),
        ] {
            assert_eq!(Fault::from(errno).at("read", &key).kind(), kind, "{errno:?}");
        }
    }

    #[test]
    fn a_torn_append_says_both_what_failed_and_what_is_left() {
        let torn = Fault::Torn { write: Errno::NOSPC.into(), cut: Errno::IO.into() };
        let error = torn.at("append to", &StorageKey::new("s.jsonl").unwrap());
        assert_eq!(error.kind(), StorageErrorKind::Full);
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(
            source.to_string(),
            format!(
                "a part was written and could not be cut off again ({})",
                io::Error::from(Errno::IO)
            )
        );
        assert_eq!(source.source().unwrap().to_string(), io::Error::from(Errno::NOSPC).to_string());
    }
}
