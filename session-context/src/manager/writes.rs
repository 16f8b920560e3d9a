//! Several entries that belong together.

use crate::error::{Result, SessionError};

/// Sees to it that what belongs together is in memory as a whole, even if it cannot be saved:
/// saving again then writes all of it.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    failed: Option<SessionError>,
}

impl Writes {
    /// Returns the id of an entry that is in memory, saved or not.
    pub(crate) fn took(&mut self, appended: Result<String>) -> Result<String> {
        match appended {
            Err(SessionError::NotSaved { entry, source }) => {
                let id = entry.clone();
                self.failed.get_or_insert(SessionError::NotSaved { entry, source });
                Ok(id)
            }
            appended => appended,
        }
    }

    /// Tells whether all was saved.
    pub(crate) fn finish(self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}
