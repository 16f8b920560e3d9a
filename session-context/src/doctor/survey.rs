//! What there is in a storage, read once for all checks.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use session_model::body::EntryBody;
use session_model::document::{LoadError, LoadOptions, Loaded};
use session_model::layout::{BLOBS_DIR, SESSION_SUFFIX, SESSIONS_DIR, artifacts_key};
use session_model::persisted::{blob_refs, names_blobs};
use session_model::storage::{
    ListOptions, SessionStorage, SessionStorageExt, StorageError, StorageErrorKind, StorageKey,
};
use session_model::{BlobRef, CURRENT_VERSION, Diagnostic, Entry, EntryKind, SessionDocument};

use super::{DoctorOptions, TRASH_DIR};
use crate::blobs::{BlobError, BlobStore, GcOptions};
use crate::error::{Result, with_sources};
use crate::operations::unfinished::{Unfinished, find_unfinished};

/// Everything a check looks at.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) sessions: Vec<SessionFile>,
    pub(super) artifacts: Vec<StorageKey>,
    /// Folders of artifacts whose session is not there, and how many they are.
    pub(super) orphaned: BTreeMap<String, usize>,
    pub(super) asides: Vec<Aside>,
    /// Deletions and restorations that were cut off.
    pub(super) unfinished: Vec<Unfinished>,
    /// Files among the blobs that are none.
    pub(super) stray_blobs: Vec<String>,
    /// What is damaged or could not be read.
    pub(super) blob_problems: Vec<BlobError>,
    /// What a clean-up would move away.
    pub(super) unused_blobs: Vec<BlobRef>,
    /// Sessions and the blobs they refer to that are not there.
    pub(super) missing_blobs: Vec<(StorageKey, BlobRef)>,
    /// What could not be listed, and why.
    pub(super) unreadable: Vec<(String, String)>,
    /// The directory of the storage, if it has one.
    pub(super) root: Option<PathBuf>,
    /// What of it belongs to sessions.
    pub(super) places: Vec<PathBuf>,
}

/// A file that should be a session.
#[derive(Debug)]
pub(super) struct SessionFile {
    pub(super) key: StorageKey,
    /// Whether it lies among the artifacts of another one.
    pub(super) is_child: bool,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Session(Facts),
    Empty,
    /// Zero bytes, so many with the white space among them.
    Zeros(usize),
    NotASession(String),
    Unreadable(String),
}

#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) id: String,
    pub(super) cwd: Option<String>,
    pub(super) version: f64,
    pub(super) is_newer: bool,
    /// The size of the file, in bytes.
    pub(super) size: usize,
    /// The size of the longest record, in bytes.
    pub(super) longest: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Entries and what they refer to that is not there.
    pub(super) dangling: Vec<(String, String)>,
    /// The blobs its entries refer to.
    pub(super) blobs: BTreeSet<BlobRef>,
}

/// Bytes that were put aside.
#[derive(Debug)]
pub(super) struct Aside {
    pub(super) key: StorageKey,
    pub(super) size: u64,
    /// How many records with an id are in them.
    pub(super) records: usize,
    /// How many of these are in the session.
    pub(super) known: usize,
}

impl Survey {
    pub(super) async fn of(
        storage: &Arc<dyn SessionStorage>,
        options: &DoctorOptions,
        progress: &mut (dyn FnMut(usize, usize) + Send),
    ) -> Result<Self> {
        let only = options.session.as_ref();
        let mut survey = Self::default();
        let (found, errors) = storage.list_all(None, ListOptions::default()).await;
        let mut without_key = Vec::new();
        for error in errors {
            match error.key() {
                // What lies in the trash is no session, and is told all the same.
                Some(key) if is_wanted(key, only) || only.is_none() && is_trash(key) => {
                    survey.cannot_read(key, &error);
                }
                Some(_) => {}
                None if only.is_some() => {}
                None if error.kind() == StorageErrorKind::Invalid => {
                    without_key.push((".".to_owned(), with_sources(&error)));
                }
                None => return Err(error.into()),
            }
        }
        let keys: Vec<_> =
            found.into_iter().map(|meta| meta.key).filter(|key| is_wanted(key, only)).collect();
        if only.is_none() {
            match find_unfinished(&**storage).await {
                Ok(unfinished) => survey.unfinished = unfinished,
                Err(error) => {
                    let key = error.storage_error().and_then(StorageError::key);
                    let path = key.map_or(TRASH_DIR.to_owned(), StorageKey::to_string);
                    survey.unreadable.push((path, with_sources(&error)));
                }
            }
        }
        // Only there sessions and their blobs lie together.
        let is_agent_dir = only.is_none() && keys.iter().any(is_of_agent);
        let is_session = |key: &StorageKey| artifacts_key(key).is_some() || only == Some(key);
        let files: Vec<_> = keys
            .iter()
            .filter(|key| is_session(key) && top(key) != Some(BLOBS_DIR))
            .cloned()
            .collect();
        let present: HashSet<&StorageKey> = files.iter().collect();
        for (at, key) in files.iter().enumerate() {
            let content = read(&**storage, key).await;
            let is_child = owner_of(key, &present).is_some();
            survey.sessions.push(SessionFile { key: key.clone(), is_child, content });
            progress(at + 1, files.len());
        }
        for key in keys.iter().filter(|key| !present.contains(key)) {
            survey.sort_in(&**storage, key, &present).await;
        }
        if is_agent_dir {
            survey.look_at_blobs(storage, options).await?;
        } else {
            // Those of an agent directory are met by the checks of files.
            survey.unreadable.append(&mut without_key);
        }
        survey.root = StorageKey::new(SESSIONS_DIR)
            .ok()
            .and_then(|key| Some(storage.local_path(&key)?.parent()?.to_owned()));
        survey.places = survey.places_of(is_agent_dir);
        Ok(survey)
    }

    fn cannot_read(&mut self, key: &StorageKey, error: &StorageError) {
        self.unreadable.push((key.to_string(), with_sources(error)));
    }

    async fn look_at_blobs(
        &mut self,
        storage: &Arc<dyn SessionStorage>,
        options: &DoctorOptions,
    ) -> Result<()> {
        let blobs = BlobStore::new(storage.clone())?;
        self.blob_problems = blobs.verify_all().await.problems;
        let since = Duration::from_millis(options.clock.now_ms().try_into().unwrap_or_default());
        let gc = GcOptions::default().now(SystemTime::UNIX_EPOCH + since);
        let plan = blobs.gc_plan(&gc, |_, _| {}).await;
        if plan.is_complete() {
            self.unused_blobs = plan.unused.iter().map(|unused| unused.id).collect();
        }
        for session in &self.sessions {
            let Content::Session(facts) = &session.content else { continue };
            for id in &facts.blobs {
                match blobs.head(*id).await {
                    Ok(Some(_)) => {}
                    Ok(None) => self.missing_blobs.push((session.key.clone(), *id)),
                    // What lies there in its place, or keeps it from being read, is told once.
                    Err(error) => {
                        self.missing_blobs.push((session.key.clone(), *id));
                        self.blob_problems.push(error.into());
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds the place of what is no session.
    async fn sort_in(
        &mut self,
        storage: &dyn SessionStorage,
        key: &StorageKey,
        sessions: &HashSet<&StorageKey>,
    ) {
        if let Some(session) = session_of_aside(key) {
            let (meta, bytes) = match storage.read_all(key).await {
                Ok(read) => read,
                Err(error) => return self.cannot_read(key, &error),
            };
            let ids = ids_in(&bytes);
            let there = match storage.read_all(&session).await {
                Ok((_, bytes)) => ids_in(&bytes),
                Err(_) => HashSet::new(),
            };
            let known = ids.intersection(&there).count();
            let (key, records) = (key.clone(), ids.len());
            self.asides.push(Aside { key, size: meta.size, records, known });
        } else if key.as_str() == BLOBS_DIR {
            let why = "a file lies where the folder of blobs belongs".to_owned();
            self.unreadable.push((key.to_string(), why));
        } else if top(key) == Some(BLOBS_DIR) {
            let name = key.as_str()[BLOBS_DIR.len() + 1..].to_owned();
            if BlobRef::from_hex(&name).is_err() {
                self.stray_blobs.push(name);
            }
        } else if owner_of(key, sessions).is_some() {
            self.artifacts.push(key.clone());
        } else if top(key) == Some(SESSIONS_DIR) && key.segments().count() > 3 {
            let folder: Vec<_> = key.segments().take(3).collect();
            *self.orphaned.entry(folder.join("/")).or_default() += 1;
        }
    }

    /// What of the storage's directory belongs to sessions: of an agent directory all it has for
    /// them, else the files themselves.
    fn places_of(&self, is_agent_dir: bool) -> Vec<PathBuf> {
        if is_agent_dir {
            let names = ["sessions", "blobs", "terminal-sessions", TRASH_DIR, ".~lock"];
            let history = ["history.db", "history.db-wal", "history.db-shm"];
            return names.into_iter().chain(history).map(PathBuf::from).collect();
        }
        let sessions = self.sessions.iter().filter(|session| !session.is_child);
        let with_artifacts = sessions.flat_map(|session| {
            let artifacts = artifacts_key(&session.key);
            [Some(session.key.clone()), artifacts].into_iter().flatten()
        });
        let asides = self.asides.iter().map(|aside| aside.key.clone());
        with_artifacts.chain(asides).map(|key| key.as_str().into()).collect()
    }
}

fn top(key: &StorageKey) -> Option<&str> {
    key.segments().next()
}

fn is_trash(key: &StorageKey) -> bool {
    top(key) == Some(TRASH_DIR)
}

fn is_of_agent(key: &StorageKey) -> bool {
    matches!(top(key), Some(SESSIONS_DIR | BLOBS_DIR)) && key.segments().count() > 1
}

fn is_wanted(key: &StorageKey, only: Option<&StorageKey>) -> bool {
    match only {
        None => !is_trash(key) && !key.file_name().starts_with('.'),
        Some(session) => {
            key == session
                || session_of_aside(key).as_ref() == Some(session)
                || artifacts_key(session).is_some_and(|artifacts| key.is_below(&artifacts))
        }
    }
}

/// The session that has put these bytes aside.
fn session_of_aside(key: &StorageKey) -> Option<StorageKey> {
    let name = key.file_name();
    let at = [".jsonl.torn-", ".jsonl.damaged-", ".jsonl.changed-"]
        .iter()
        .find_map(|mark| name.find(mark))?;
    key.with_file_name(&name[..at + SESSION_SUFFIX.len()]).ok()
}

/// The nearest session whose artifacts a key is among.
fn owner_of(key: &StorageKey, sessions: &HashSet<&StorageKey>) -> Option<StorageKey> {
    let mut folder = key.parent();
    while let Some(present) = folder {
        if let Ok(session) = StorageKey::new(format!("{present}{SESSION_SUFFIX}"))
            && sessions.contains(&session)
        {
            return Some(session);
        }
        folder = present.parent();
    }
    None
}

async fn read(storage: &dyn SessionStorage, key: &StorageKey) -> Content {
    let bytes = match storage.read_all(key).await {
        Ok((_, bytes)) => bytes,
        Err(error) => return Content::Unreadable(with_sources(&error)),
    };
    let size = bytes.len();
    match SessionDocument::load(bytes.clone(), &LoadOptions::default()) {
        Ok(loaded) => Content::Session(facts(loaded, size)),
        Err(LoadError::Empty) if bytes.contains(&0) => Content::Zeros(size),
        Err(LoadError::Empty) => Content::Empty,
        Err(error) => Content::NotASession(error.to_string()),
    }
}

fn facts(loaded: Loaded, size: usize) -> Facts {
    let Loaded { document, diagnostics, .. } = loaded;
    let (header, tree) = (document.header(), document.tree());
    let missing = |target: &str| !target.is_empty() && tree.find(target).is_none();
    let refers = |entry: &Entry| {
        let target = match entry.kind() {
            EntryKind::Label | EntryKind::Archive | EntryKind::Compaction => target(entry.body())?,
            _ => return None,
        };
        let id = entry.id().unwrap_or_default().into_owned();
        missing(&target).then_some((id, target))
    };
    let naming = tree.entries().iter().filter(|entry| names_blobs(entry.line()));
    Facts {
        id: header.id(),
        cwd: header.cwd(),
        version: header.version(),
        is_newer: header.version() > f64::from(CURRENT_VERSION),
        size,
        longest: tree.entries().iter().map(|entry| entry.line().len()).max().unwrap_or_default(),
        diagnostics,
        dangling: tree.entries().iter().filter_map(refers).collect(),
        blobs: naming.flat_map(|entry| blob_refs(&entry.json())).collect(),
    }
}

fn target(body: EntryBody) -> Option<String> {
    match body {
        EntryBody::Label(label) => Some(label.target_id),
        EntryBody::Archive(archive) => Some(archive.target_id),
        EntryBody::Compaction(compaction) => Some(compaction.first_kept_entry_id),
        _ => None,
    }
}

/// The ids of the records in a file, or in a part of one.
fn ids_in(bytes: &Bytes) -> HashSet<String> {
    // A part has no header of its own.
    let whole = [&b"{\"type\":\"session\",\"version\":3,\"id\":\"\"}\n"[..], bytes].concat();
    match SessionDocument::load(whole.into(), &LoadOptions::default()) {
        Ok(loaded) => {
            let entries = loaded.document.tree().entries().iter();
            entries.filter_map(|entry| entry.id().map(|id| id.into_owned())).collect()
        }
        Err(_) => HashSet::new(),
    }
}
