//! Appending many entries with one write.

use session_model::body::EntryBody;
use session_model::entry::NewEntries;
use session_model::json::{ObjectBuilder, RawJson};
use session_model::message::Message;

use super::SessionManager;
use super::append::{At, check_entry_json, check_message, with_envelope};
use crate::error::Result;

/// An entry to be appended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NewEntry {
    /// An entry of any type; see [`SessionManager::append`].
    Body(Box<EntryBody>),
    /// A message given as JSON; see [`SessionManager::append_message_json`].
    MessageJson(RawJson),
    /// An entry given as JSON; see [`SessionManager::append_entry_json`].
    EntryJson(RawJson),
}

impl NewEntry {
    /// A message.
    pub fn message(message: impl Into<Message>) -> Self {
        EntryBody::from(message.into()).into()
    }

    /// A message if the JSON is an object with a `role` and no `type`, else an entry.
    pub fn from_json(json: RawJson) -> Self {
        let has = |name| json.as_object().is_some_and(|object| object.get(name).is_some());
        if has("role") && !has("type") { Self::MessageJson(json) } else { Self::EntryJson(json) }
    }

    /// Checks that this can be appended to some session; whether the entries it speaks of exist is
    /// another question.
    ///
    /// # Errors
    ///
    /// [`SessionError::InvalidEntry`](crate::SessionError::InvalidEntry).
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Body(_) => Ok(()),
            Self::MessageJson(message) => check_message(message),
            Self::EntryJson(entry) => check_entry_json(entry).map(drop),
        }
    }

    /// Makes the entry; `false` if its type is no string.
    fn make(&self, made: &mut NewEntries, at: At<'_>) -> Result<bool> {
        self.check()?;
        let json = match self {
            Self::Body(body) => {
                return Ok(made.add(body, at.id, at.parent, at.time, at.options));
            }
            Self::MessageJson(message) => {
                let body = ObjectBuilder::new().raw("message", message).build();
                with_envelope("message", &body, &at)
            }
            Self::EntryJson(entry) => with_envelope(&check_entry_json(entry)?, entry, &at),
        };
        Ok(made.add_json(&json, at.options))
    }
}

impl From<EntryBody> for NewEntry {
    fn from(body: EntryBody) -> Self {
        Self::Body(Box::new(body))
    }
}

impl SessionManager {
    /// Appends entries, each as a child of the one before, and returns their ids in order.
    ///
    /// All lines go to the file in one write, with one sync if the session is
    /// [`Durable`](session_model::storage::Durability::Durable).
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append). If one entry is refused, none is appended. `NotSaved` names
    /// the first: all of them are in memory.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe, as [`append`](Self::append).
    pub async fn append_batch(
        &mut self,
        entries: impl IntoIterator<Item = NewEntry>,
    ) -> Result<Vec<String>> {
        let ids = self.write_batch(entries).await?;
        if let Some(first) = ids.first() {
            self.settle_durability(first).await?;
        }
        Ok(ids)
    }

    /// Appends entries without waiting for the disk.
    pub(super) async fn write_batch(
        &mut self,
        entries: impl IntoIterator<Item = NewEntry>,
    ) -> Result<Vec<String>> {
        let prepared = self.prepare(entries, |new, made, at| new.make(made, at))?;
        self.save_new(prepared).await
    }
}
