//! A bundle without the secrets in it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use session_model::json::{ObjectBuilder, RawJson};
use session_model::layout::{BLOBS_DIR, artifacts_key};
use session_model::storage::StorageKey;
use session_model::{BlobRef, TitleSlot};

use super::gather::blob_key;
use super::{Bundle, BundleError};
use crate::error::SessionError;
use crate::redact::{RedactionReport, Redactor};

/// How secrets are hidden: those that are found, or those that were found elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Find,
    Known,
}

impl Bundle {
    /// Hides secrets in sessions, artifacts and blobs, and in their names; the report names files.
    ///
    /// In what is no text (images, archives) each character of a secret becomes a `*`; what is
    /// compressed in there is not looked into. A blob that changes gets another name, and what
    /// names it follows. `progress` is told how many bytes were looked through, and how many there
    /// are.
    ///
    /// # Errors
    ///
    /// [`BundleError::Redact`] if this build cannot look for every kind of secret.
    pub fn redacted(
        mut self,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<(Self, RedactionReport), BundleError> {
        let (mut redactor, mut names) = (Redactor::new()?, Names::default());
        let (mut done, all) = (0, self.size() * 2);
        for round in [Round::Find, Round::Known] {
            for (key, bytes) in &mut self.members {
                progress(done, all);
                done += bytes.len() as u64;
                *bytes = round.hide(&mut redactor, key, bytes);
                names.hide(round, &mut redactor, key);
            }
            for session in &mut self.sessions {
                let place = session.key.as_str();
                for text in [&mut session.title, &mut session.cwd].into_iter().flatten() {
                    *text = round.hide_text(&mut redactor, place, text);
                }
                session.id = round.hide_field(&mut redactor, place, "id", &session.id);
            }
        }
        names.give(&mut self)?;
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
        match artifacts_key(key) {
            Some(_) => self.hide_lines(redactor, key.as_str(), bytes),
            None => self.hide_bytes(redactor, key.as_str(), bytes).into_owned().into(),
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
                let hidden = self.hide_json(redactor, place, &json);
                match hidden == json {
                    true => out.extend_from_slice(line),
                    false => {
                        out.extend_from_slice(hidden.as_bytes());
                        out.extend_from_slice(if line.ends_with(b"\n") { b"\n" } else { b"" });
                    }
                }
            } else {
                out.extend_from_slice(&self.hide_bytes(redactor, place, line));
            }
        }
        out.into()
    }

    fn hide_json(self, redactor: &mut Redactor, place: &str, json: &RawJson) -> RawJson {
        match self {
            Self::Find => redactor.hide(place, json),
            Self::Known => redactor.hide_known(place, json),
        }
    }

    /// Hides in the text of a field, whose name may tell that it only looks like a secret.
    fn hide_field(self, redactor: &mut Redactor, place: &str, field: &str, text: &str) -> String {
        let json = ObjectBuilder::new().string(field, text).build();
        let hidden = self.hide_json(redactor, place, &json);
        let text = hidden.field(field).and_then(|text| text.as_text().map(Cow::into_owned));
        text.unwrap_or_default()
    }

    fn hide_bytes<'b>(
        self,
        redactor: &mut Redactor,
        place: &str,
        bytes: &'b [u8],
    ) -> Cow<'b, [u8]> {
        match self {
            Self::Find => redactor.hide_in_bytes(place, bytes),
            Self::Known => redactor.hide_known_in_bytes(place, bytes),
        }
    }

    fn hide_text(self, redactor: &mut Redactor, place: &str, text: &str) -> String {
        match self {
            Self::Find => redactor.hide_in_text(place, text).into_owned(),
            Self::Known => redactor.hide_known_in_text(place, text).into_owned(),
        }
    }
}

/// Names of files and folders without the secrets in them.
#[derive(Default)]
struct Names {
    /// What a file or folder is called from now on, by the folder it is in and its name, both as
    /// they are. A session and the folder of its artifacts share a name, and so an entry here.
    new: BTreeMap<(String, String), String>,
}

/// A part of a key: its folder, its name, and the `.jsonl` behind that.
fn parts(key: &StorageKey) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut from = 0;
    key.segments().map(move |segment| {
        let folder = key.as_str()[..from].trim_end_matches('/');
        from += segment.len() + 1;
        match segment.strip_suffix(SESSION_END) {
            Some(stem) => (folder, stem, SESSION_END),
            None => (folder, segment, ""),
        }
    })
}

/// How the name of a session ends.
const SESSION_END: &str = ".jsonl";

impl Names {
    fn hide(&mut self, round: Round, redactor: &mut Redactor, key: &StorageKey) {
        if is_blob(key) {
            return;
        }
        for (at, (folder, name, _)) in parts(key).enumerate() {
            let entry = self.new.entry((folder.to_owned(), name.to_owned()));
            let new = entry.or_insert_with(|| name.to_owned());
            // The name of a session ends with its id.
            let field = if at == 2 { "id" } else { "name" };
            *new = round.hide_field(redactor, key.as_str(), field, new);
        }
    }

    /// Gives everything in a bundle its name.
    fn give(mut self, bundle: &mut Bundle) -> Result<(), BundleError> {
        let same = self.new.iter().filter(|((_, old), new)| old == *new);
        let mut taken: BTreeSet<_> = same.map(|(name, _)| name.clone()).collect();
        for ((folder, old), new) in &mut self.new {
            if new == old {
                continue;
            }
            // Not every system takes a colon.
            let wanted = new.replace("[redacted:", "[redacted-");
            new.clone_from(&wanted);
            let mut number = 1;
            while !taken.insert((folder.clone(), new.clone())) {
                number += 1;
                *new = format!("{wanted}-{number}");
            }
        }
        let renamed = |key: &StorageKey| {
            let new = parts(key).map(|(folder, name, end)| {
                let new = self.new.get(&(folder.to_owned(), name.to_owned()));
                format!("{}{end}", new.map_or(name, String::as_str))
            });
            StorageKey::new(new.collect::<Vec<_>>().join("/")).map_err(SessionError::from)
        };
        for session in &mut bundle.sessions {
            session.key = renamed(&session.key)?;
        }
        bundle.sessions.sort_by(|a, b| a.key.cmp(&b.key));
        let members = std::mem::take(&mut bundle.members).into_iter();
        bundle.members = members
            .map(|(key, bytes)| Ok((renamed(&key)?, bytes)))
            .collect::<Result<_, SessionError>>()?;
        Ok(())
    }
}
