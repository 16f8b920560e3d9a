//! One line of a list.

use std::cmp::{Ordering, Reverse};
use std::path::PathBuf;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::storage::{ObjectMeta, SessionStorage, StorageKey};
use session_model::summary::SessionSummary;

use crate::Result;
use crate::error::with_sources;

/// A session, or a file that should be one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionRow {
    /// The file's key.
    pub key: StorageKey,
    /// Where the file is, if it is one on this machine.
    pub path: Option<PathBuf>,
    /// Size, time and version of the file; `None` if it could not be looked at.
    pub meta: Option<ObjectMeta>,
    /// Which of the listed places the file lies in, counted from 0.
    pub place: usize,
    /// The session whose agent started this one, if the file lies among its artifacts.
    pub agent_of: Option<StorageKey>,
    /// Whether another listed file has the same session id.
    pub id_is_shared: bool,
    /// What is known of the session, or why nothing is.
    pub summary: Result<SessionSummary>,
}

impl SessionRow {
    pub(crate) fn new(
        storage: &dyn SessionStorage,
        key: StorageKey,
        meta: Option<ObjectMeta>,
        summary: Result<SessionSummary>,
    ) -> Self {
        let path = storage.local_path(&key);
        Self { path, key, meta, place: 0, agent_of: None, id_is_shared: false, summary }
    }

    /// Returns the file's path, or its key if it has none, as text.
    pub fn location(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => self.key.to_string(),
        }
    }

    /// Returns the row as an object.
    ///
    /// A session is as [`SessionSummary::to_json`] writes it, with `idIsShared` if that is so.
    /// Anything else has `path`, `size?` and `error`.
    pub fn to_json(&self) -> RawJson {
        let path = self.location();
        match &self.summary {
            Ok(summary) if !self.id_is_shared => summary.to_json(&path),
            Ok(summary) => {
                let shared = to_raw_json(&true).unwrap_or_default();
                let fields = summary.to_json(&path).as_object().unwrap_or_default();
                let all = fields.fields().iter().fold(ObjectBuilder::new(), |object, field| {
                    object.raw_field(field.raw_name(), field.value())
                });
                all.raw("idIsShared", &shared).build()
            }
            Err(error) => {
                let size = self.meta.as_ref().and_then(|meta| to_raw_json(&meta.size).ok());
                ObjectBuilder::new()
                    .string("path", &path)
                    .optional("size", size.as_ref())
                    .string("error", &with_sources(error))
                    .build()
            }
        }
    }

    /// The directory the session works in, if it is known.
    pub(super) fn cwd(&self) -> Option<&str> {
        self.summary.as_ref().ok()?.cwd.as_deref()
    }

    /// Sessions by activity, the latest first; then what is none. Ties are broken by key.
    pub(super) fn newest_first(&self, other: &Self) -> Ordering {
        let order = |row: &Self| {
            let activity = |summary: &SessionSummary| summary.activity.map(|a| a.at_ms);
            (row.summary.is_err(), Reverse(row.summary.as_ref().ok().and_then(activity)))
        };
        order(self)
            .cmp(&order(other))
            .then_with(|| (&self.key, self.place).cmp(&(&other.key, other.place)))
    }
}

#[cfg(test)]
mod tests {
    use session_model::summary::FileParts;
    use session_store_memory::MemoryStorage;

    use super::*;
    use crate::SessionError;

    #[test]
    fn rows_of_the_same_moment_are_in_the_order_of_their_keys() {
        let row = |key: &str, readable: bool| {
            let key = StorageKey::new(key).unwrap();
            let file = "{\"type\":\"session\",\"id\":\"s\",\"timestamp\":\"2026-01-01\"}\n";
            let summary = match readable {
                true => Ok(SessionSummary::from_parts(&FileParts::whole(file)).unwrap()),
                false => Err(SessionError::NotFound { key: key.clone() }),
            };
            SessionRow::new(&MemoryStorage::new(), key, None, summary)
        };
        let mut rows = [row("b", false), row("d", true), row("a", false), row("c", true)];
        rows.sort_by(SessionRow::newest_first);
        assert_eq!(rows.map(|row| row.key.to_string()), ["c", "d", "a", "b"]);
    }
}
