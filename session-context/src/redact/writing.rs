//! Hiding secrets in what is written.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use session_model::json::{ObjectEdit, RawJson};

use super::{RedactError, Redactor, json};
use crate::WriteFilter;

/// What tells an entry from others, and where it belongs.
const ENVELOPE: [&str; 4] = ["type", "id", "parentId", "timestamp"];

/// Keeps secrets out of a session's file.
///
/// The model goes on seeing them until the session is opened anew. Blocks that a provider signed or
/// sealed are written as they are: changed, they would be refused. Artifacts and images are not
/// looked into.
///
/// ```
/// # pollster::block_on(async {
/// use std::sync::Arc;
///
/// use session_context::redact::HideSecrets;
/// use session_context::{NewSession, SessionManager, SessionOptions};
/// use session_model::message::Message;
/// use session_store_memory::MemoryStorage;
///
/// let options = SessionOptions::default().eager().filter(HideSecrets::new()?);
/// let storage = Arc::new(MemoryStorage::new());
/// let mut session = SessionManager::create(storage, NewSession::in_cwd("/w"), options).await?;
/// session.append_message(Message::user("export API_KEY=k7Rw2pXz9Qm4", 1)).await?;
/// let entry = &session.entries()[0];
/// assert!(entry.json().as_str().contains("API_KEY=k7Rw2pXz9Qm4"));
/// assert!(!String::from_utf8_lossy(entry.line()).contains("k7Rw2pXz9Qm4"));
/// # Ok::<(), session_context::SessionError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct HideSecrets(Mutex<Redactor>);

impl HideSecrets {
    /// Returns a filter that hides every kind of secret.
    ///
    /// # Errors
    ///
    /// [`RedactError`] as [`Redactor::new`]: a session is not written through a part of a filter.
    pub fn new() -> Result<Self, RedactError> {
        Ok(Self(Mutex::new(Redactor::new()?)))
    }

    fn redactor(&self) -> MutexGuard<'_, Redactor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WriteFilter for HideSecrets {
    fn entry(&self, entry: &RawJson) -> Option<RawJson> {
        let mut redactor = self.redactor();
        let hidden = redactor.hide("", entry);
        let hidden = redactor.hide_known("", &hidden);
        if hidden == *entry {
            return None;
        }
        let hidden = json::with_signed_blocks(entry, hidden);
        let envelope =
            ENVELOPE.iter().fold(ObjectEdit::new(), |edit, name| match entry.field(name) {
                Some(value) => edit.set(*name, &value),
                None => edit,
            });
        envelope.apply(&hidden)
    }

    fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let mut redactor = self.redactor();
        match redactor.hide_in_text("", name) {
            Cow::Borrowed(_) => redactor.hide_known_in_text("", name),
            Cow::Owned(hidden) => Cow::Owned(redactor.hide_known_in_text("", &hidden).into_owned()),
        }
    }
}
