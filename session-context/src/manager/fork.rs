//! Going on in a copy: forks, and sessions of one branch only.

use std::ops::Range;
use std::sync::Arc;

use session_model::body::{EntryBody, Label};
use session_model::document::Loaded;
use session_model::env::fresh_entry_id;
use session_model::json::{ObjectEdit, RawJson};
use session_model::layout::session_file_name;
use session_model::migrate::migrate;
use session_model::storage::{Durability, SessionStorage, StorageKey};
use session_model::time::to_iso;
use session_model::{
    Diagnostic, DiagnosticCode, Entry, EntryKind, NewHeader, SessionDocument, SessionHeader,
};

use super::copy::{Copy, Written, remove_quietly};
use super::open::bucket_of;
use super::persist::read_if_there;
use super::{FileState, NewSession, SessionManager, SessionOptions};
use crate::artifacts::Artifacts;
use crate::error::{Result, SessionError};

/// Where a session went on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forked {
    /// The file it was in, which stays as it was.
    pub from: StorageKey,
    /// The file it is in now.
    pub to: StorageKey,
}

/// A copy to be made of a session; see [`SessionManager::fork_from`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForkFrom {
    /// The session to copy, which may be in use.
    pub source: StorageKey,
    /// The directory the copy works in.
    pub cwd: String,
    /// Where the file goes: the key of the project's bucket; default: `sessions/` and the bucket
    /// of the directory.
    pub bucket: Option<StorageKey>,
    /// What a provider's prompt cache is keyed by; default: the source's key, else its id.
    pub provider_prompt_cache_key: Option<String>,
}

impl ForkFrom {
    /// A copy of this session for this directory.
    pub fn new(source: StorageKey, cwd: impl Into<String>) -> Self {
        Self { source, cwd: cwd.into(), bucket: None, provider_prompt_cache_key: None }
    }

    /// The same with its file in this bucket.
    pub fn bucket(self, bucket: StorageKey) -> Self {
        Self { bucket: Some(bucket), ..self }
    }

    /// The same with a prompt cache key of its own.
    pub fn provider_prompt_cache_key(self, key: impl Into<String>) -> Self {
        Self { provider_prompt_cache_key: Some(key.into()), ..self }
    }
}

impl SessionManager {
    /// Goes on in a copy with a new id: all branches with the same entry ids, and the artifacts.
    ///
    /// The copy's header names this session's id as its parent. The old file stays as it was, with
    /// what was written to it, and the claim on it is given up. A read-only session can be forked,
    /// and one that could not be saved: the copy holds everything. `None`, and nothing done, for a
    /// session [`in_memory`](Self::in_memory).
    ///
    /// Artifacts that could not be copied are told by [`diagnostics`](Self::diagnostics).
    ///
    /// # Errors
    ///
    /// Why the copy could not be written, and [`SessionError::ReadOnly`] for a session of a newer
    /// format; the session goes on in its old file then.
    ///
    /// # Cancel safety
    ///
    /// A cancelled call may leave a whole copy that nobody holds.
    pub async fn fork(&mut self) -> Result<Option<Forked>> {
        if !self.persistent {
            return Ok(None);
        }
        refuse_newer(&self.key, self.header())?;
        let (id, time) = (self.ids.session_id(), to_iso(self.clock.now_ms()));
        let key = beside(&self.key, &time, &id)?;
        let mut document = (*self.document).clone();
        // The old file keeps its torn end; part of a record is nothing to go on from.
        document.forget_torn_tail();
        document.begin_with(forked_header(self.header(), &id, &time, None));
        let rest = self.saved_rest();
        self.go_on_in(key, document, rest).await.map(Some)
    }

    /// What of the file follows the header, if the file holds what memory does.
    fn saved_rest(&self) -> Option<Range<u64>> {
        let FileState::Open(writer) = &self.file else { return None };
        let rest = self.document.beginning().len()..self.document.to_payload().len();
        let is_saved = self.failure.is_none() && writer.len() == rest.end;
        (is_saved && self.document.torn_tail().is_empty()).then_some(rest)
    }

    /// Copies a session: a new id, all branches with the same entry ids, and the artifacts; old
    /// formats are brought up to date in the copy.
    ///
    /// The source is only read. Without one, the new session is empty. Artifacts that could not be
    /// copied are told by [`diagnostics`](Self::diagnostics).
    ///
    /// # Errors
    ///
    /// [`SessionError::NotASession`], [`SessionError::ReadOnly`] for a source of a newer format,
    /// or why the copy could not be written: there is none then.
    pub async fn fork_from(
        storage: Arc<dyn SessionStorage>,
        fork: ForkFrom,
        mut options: SessionOptions,
    ) -> Result<Self> {
        let ForkFrom { source, cwd, bucket, provider_prompt_cache_key } = fork;
        let bucket = match bucket {
            Some(bucket) => bucket,
            None => bucket_of(&cwd)?,
        };
        let Some((_, bytes)) = read_if_there(&*storage, &source).await? else {
            let new = NewSession::in_cwd(cwd).bucket(bucket);
            return Self::create(storage, new, options.eager()).await;
        };
        let Loaded { mut document, mut diagnostics, .. } =
            SessionDocument::load(bytes, &options.load).map_err(|error| {
                SessionError::NotASession { key: source.clone(), source: error }
            })?;
        refuse_newer(&source, document.header())?;
        let (id, time) = (options.ids.session_id(), to_iso(options.clock.now_ms()));
        let key = bucket.join(session_file_name(&time, &id)?)?;
        document.forget_torn_tail();
        if let Some(migration) = migrate(&mut document, &mut *options.ids) {
            diagnostics.push(migration.diagnostic());
        }
        let mut header =
            forked_header(document.header(), &id, &time, provider_prompt_cache_key.as_deref());
        header.edit(&ObjectEdit::new().set("cwd", &RawJson::string(&cwd)));
        document.begin_with(header);
        let reading = FileState::ReadOnly("it is the source of a copy".to_owned());
        let source_document = SessionDocument::new(document.header().clone());
        let mut manager = Self::assemble(storage, source, source_document, reading, options);
        manager.go_on_in(key, document, None).await?;
        diagnostics.append(&mut manager.diagnostics);
        manager.diagnostics = diagnostics;
        Ok(manager)
    }

    /// Goes on in a new session that holds only the path from the root to an entry, and the
    /// artifacts.
    ///
    /// Entry ids stay. Labels on the path are left out, their children hang from what was before
    /// them, and the labels in effect are appended again at the end. The header names the old
    /// file's path (its key where there are no files) as the parent. `None` for a session
    /// [`in_memory`](Self::in_memory), which is cut to the path all the same.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownEntry`], and as [`fork`](Self::fork).
    ///
    /// # Cancel safety
    ///
    /// As [`fork`](Self::fork).
    pub async fn create_branched_session(&mut self, leaf: &str) -> Result<Option<Forked>> {
        let leaf = self.find(leaf)?;
        refuse_newer(&self.key, self.header())?;
        let path = self.tree().path_to(leaf);
        let mut kept = kept_entries(path.into_iter().map(|node| self.tree().entry(node)));
        let (id, time) = (self.ids.session_id(), to_iso(self.clock.now_ms()));
        let labels = self.labels_again(&kept, &time)?;
        kept.extend(labels);
        let header = NewHeader {
            id: id.clone(),
            timestamp: time.clone(),
            cwd: self.cwd().unwrap_or_default(),
            parent_session: self.persistent.then(|| path_or_key(&*self.storage, &self.key)),
            ..NewHeader::default()
        };
        let mut header = SessionHeader::new(&header);
        if let Some(directories) = self.header().json().field("additionalDirectories") {
            header.edit(&ObjectEdit::new().set("additionalDirectories", &directories));
        }
        let mut document = SessionDocument::new(header);
        for entry in kept {
            document.push(entry);
        }
        let key = beside(&self.key, &time, &id)?;
        let forked = self.go_on_in(key, document, None).await?;
        if self.persistent {
            return Ok(Some(forked));
        }
        // Nobody else can come by what this session left in its own memory.
        remove_quietly(&*self.storage, &forked.from).await;
        if let Ok(artifacts) = Artifacts::of(Arc::clone(&self.storage), &forked.from) {
            artifacts.remove_all().await?;
        }
        Ok(None)
    }

    /// New entries for the labels of these entries, behind the last of them.
    fn labels_again(&mut self, kept: &[Entry], time: &str) -> Result<Vec<Entry>> {
        let tree = self.document.tree();
        let mut parent = kept.iter().rev().find_map(|entry| entry.id()).map(|id| id.into_owned());
        let mut made: Vec<Entry> = Vec::new();
        for entry in kept {
            let Some(target) = entry.id() else { continue };
            let Some(label) = tree.label_for(&target) else { continue };
            let id = fresh_entry_id(&mut *self.ids, |id| {
                tree.find(id).is_some() || made.iter().any(|m| m.id().as_deref() == Some(id))
            });
            let label = EntryBody::from(Label {
                target_id: target.into_owned(),
                label: Some(label.to_owned()),
                ..Default::default()
            });
            let json = label.to_entry_json(&id, parent.as_deref(), time);
            let label = Entry::from_json(&json).ok_or_else(|| SessionError::InvalidEntry {
                reason: "no label entry".to_owned(),
            })?;
            made.push(self.filtered(label));
            parent = Some(id);
        }
        Ok(made)
    }

    /// Writes a new file that holds this document, copies the artifacts beside it, and goes on
    /// there; on any failure nothing has changed.
    ///
    /// `rest` is what of the present file follows the header in the new one too.
    async fn go_on_in(
        &mut self,
        key: StorageKey,
        document: SessionDocument,
        rest: Option<Range<u64>>,
    ) -> Result<Forked> {
        self.save_blobs(document.tree().entries()).await?;
        let copy = Copy { storage: &self.storage, from: &self.key, to: &key, owner: &self.owner };
        let written = match copy.write(&document, rest.clone()).await {
            // Somebody took the file away or cut it; memory still holds everything.
            Err(SessionError::Storage(error))
                if rest.is_some() && error.key() == Some(&self.key) =>
            {
                copy.write(&document, None).await
            }
            written => written,
        };
        let Written { writer, mut left_behind } = written?;
        if let FileState::Open(mut old) | FileState::Pending(Some(mut old)) =
            std::mem::replace(&mut self.file, FileState::Open(writer))
        {
            // The new file holds everything, durably; the old one is left as well as can be.
            let synced = old.sync(Durability::Durable).await;
            if let Err(error) = synced.and(old.close().await.map(|_| ())) {
                left_behind.push(Diagnostic::new(
                    DiagnosticCode::NotClosed,
                    format!("the session goes on in a new file; the old one: {error}"),
                ));
            }
        }
        let forked = Forked { from: std::mem::replace(&mut self.key, key.clone()), to: key };
        self.document = Arc::new(document);
        self.usage = None;
        self.made_good();
        left_behind.into_iter().for_each(|diagnostic| self.note(diagnostic));
        Ok(forked)
    }
}

/// The header of a copy: everything stays but what makes it a session of its own.
pub(crate) fn forked_header(
    old: &SessionHeader,
    id: &str,
    time: &str,
    cache_key: Option<&str>,
) -> SessionHeader {
    let own_key = || old.provider_prompt_cache_key().unwrap_or_else(|| old.id());
    let cache_key = cache_key.map_or_else(own_key, str::to_owned);
    let mut header = old.clone();
    header.edit(
        &ObjectEdit::new()
            .set("id", &RawJson::string(id))
            .set("timestamp", &RawJson::string(time))
            .set("parentSession", &RawJson::string(&old.id()))
            .set("providerPromptCacheKey", &RawJson::string(&cache_key))
            .remove("previousSessionFiles"),
    );
    header
}

/// The entries of a path without labels, each hanging from the one before it.
fn kept_entries<'a>(path: impl Iterator<Item = &'a Entry>) -> Vec<Entry> {
    let mut kept: Vec<Entry> = Vec::new();
    let mut skipped = false;
    for entry in path {
        if entry.kind() == EntryKind::Label {
            skipped = true;
            continue;
        }
        let relinked = if std::mem::take(&mut skipped) {
            let parent = kept.last().and_then(Entry::id);
            let parent = parent.as_deref().map_or_else(RawJson::null, RawJson::string);
            entry.edited(&ObjectEdit::new().set("parentId", &parent))
        } else {
            None
        };
        kept.push(relinked.unwrap_or_else(|| entry.clone()));
    }
    kept
}

/// A new session's key in the bucket of another one.
fn beside(key: &StorageKey, time: &str, id: &str) -> Result<StorageKey> {
    Ok(key.with_file_name(session_file_name(time, id)?)?)
}

/// How a header names another session's file.
pub(super) fn path_or_key(storage: &dyn SessionStorage, key: &StorageKey) -> String {
    let path = storage.local_path(key).and_then(|path| path.into_os_string().into_string().ok());
    path.unwrap_or_else(|| key.to_string())
}

fn refuse_newer(key: &StorageKey, header: &SessionHeader) -> Result<()> {
    if !header.is_newer() {
        return Ok(());
    }
    let reason = "it is of a newer format; update the program to copy it".to_owned();
    Err(SessionError::ReadOnly { key: key.clone(), reason })
}
