//! A bundle without the secrets in it.

use std::collections::BTreeMap;

use bytes::Bytes;
use session_model::json::RawJson;
use session_model::layout::{BLOBS_DIR, artifacts_key};
use session_model::storage::StorageKey;
use session_model::{BlobRef, TitleSlot};

use super::gather::blob_key;
use super::{Bundle, BundleError};
use crate::redact::{RedactionReport, Redactor};

/// How secrets are hidden: those that are found, or those that were found elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Find,
    Known,
}

impl Bundle {
    /// Hides secrets in sessions, artifacts and blobs that are text; the report names files.
    ///
    /// What is no text stays: images, archives. A blob that changes gets another name, and what
    /// names it follows.
    ///
    /// # Errors
    ///
    /// None in ordinary use.
    pub fn redacted(mut self) -> Result<(Self, RedactionReport), BundleError> {
        let mut redactor = Redactor::default();
        for round in [Round::Find, Round::Known] {
            for (key, bytes) in &mut self.members {
                *bytes = round.hide(&mut redactor, key, bytes);
            }
            for session in &mut self.sessions {
                let place = session.key.as_str();
                for text in [&mut session.title, &mut session.cwd].into_iter().flatten() {
                    *text = round.hide_text(&mut redactor, place, text);
                }
                session.id = round.hide_text(&mut redactor, place, &session.id);
            }
        }
        self.rename_blobs()?;
        self.redacted = true;
        Ok((self, redactor.into_report()))
    }

    /// Names blobs by what they hold now.
    fn rename_blobs(&mut self) -> Result<(), BundleError> {
        let mut renamed = BTreeMap::new();
        let blobs: Vec<StorageKey> =
            self.members.keys().filter(|key| is_blob(key)).cloned().collect();
        for key in blobs {
            let new = self.members.get(&key).map(|bytes| BlobRef::of(bytes));
            let Some(new) = new.filter(|new| new.to_hex() != key.file_name()) else { continue };
            if let Some(bytes) = self.members.remove(&key) {
                self.members.insert(blob_key(new)?, bytes);
            }
            renamed.insert(key.file_name().to_owned(), new.to_hex());
        }
        if renamed.is_empty() {
            return Ok(());
        }
        for (_, bytes) in self.members.iter_mut().filter(|(key, _)| !is_blob(key)) {
            let Ok(text) = std::str::from_utf8(bytes) else { continue };
            let text =
                renamed.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new));
            *bytes = text.into();
        }
        Ok(())
    }
}

fn is_blob(key: &StorageKey) -> bool {
    key.segments().next() == Some(BLOBS_DIR)
}

impl Round {
    fn hide(self, redactor: &mut Redactor, key: &StorageKey, bytes: &Bytes) -> Bytes {
        if artifacts_key(key).is_some() {
            return self.hide_lines(redactor, key.as_str(), bytes);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => self.hide_text(redactor, key.as_str(), text).into(),
            Err(_) => bytes.clone(),
        }
    }

    /// Hides in the lines of a session; those that are no JSON are text.
    fn hide_lines(self, redactor: &mut Redactor, place: &str, bytes: &Bytes) -> Bytes {
        let mut out = Vec::with_capacity(bytes.len());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if let Some(mut slot) = TitleSlot::read(line) {
                slot.title = self.hide_text(redactor, place, &slot.title);
                out.extend_from_slice(&slot.to_line());
            } else if let Ok(json) = RawJson::parse(line.to_vec()) {
                let hidden = match self {
                    Self::Find => redactor.hide(place, &json),
                    Self::Known => redactor.hide_known(place, &json),
                };
                match hidden == json {
                    true => out.extend_from_slice(line),
                    false => {
                        out.extend_from_slice(hidden.as_bytes());
                        out.extend_from_slice(if line.ends_with(b"\n") { b"\n" } else { b"" });
                    }
                }
            } else {
                let text = String::from_utf8_lossy(line);
                let hidden = self.hide_text(redactor, place, &text);
                // Bytes that are no text stay where there is nothing to hide.
                let is_same = hidden == text;
                out.extend_from_slice(if is_same { line } else { hidden.as_bytes() });
            }
        }
        out.into()
    }

    fn hide_text(self, redactor: &mut Redactor, place: &str, text: &str) -> String {
        match self {
            Self::Find => redactor.hide_in_text(place, text).into_owned(),
            Self::Known => redactor.hide_known_in_text(place, text).into_owned(),
        }
    }
}
