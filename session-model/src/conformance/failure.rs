//! How a check fails.

use std::error::Error;
use std::fmt;
use std::panic::Location;

use crate::storage::{InvalidKey, StorageError};

/// Why a check failed, and where in the suite.
#[derive(Debug)]
pub struct Failure {
    message: String,
    location: &'static Location<'static>,
}

/// The result of a step of a check.
pub(super) type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl Failure {
    #[track_caller]
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), location: Location::caller() }
    }

    /// This failure, with what was going on put before it.
    pub(super) fn during(self, what: impl fmt::Display) -> Self {
        Self { message: format!("{what}: {}", self.message), ..self }
    }

    #[track_caller]
    fn from_error(error: &dyn Error) -> Self {
        let mut message = format!("unexpected error: {error}");
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        Self::new(message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.message, self.location)
    }
}

impl Error for Failure {}

impl From<StorageError> for Failure {
    #[track_caller]
    fn from(error: StorageError) -> Self {
        Self::from_error(&error)
    }
}

impl From<InvalidKey> for Failure {
    #[track_caller]
    fn from(error: InvalidKey) -> Self {
        Self::from_error(&error)
    }
}

impl From<Box<dyn Error + Send + Sync>> for Failure {
    #[track_caller]
    fn from(error: Box<dyn Error + Send + Sync>) -> Self {
        Self::from_error(error.as_ref())
    }
}
