//! Writing what was converted, once: the session of an earlier import is found again.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_model::body::{BranchSummary, EntryBody};
use session_model::env::{Clock, fresh_entry_id};
use session_model::json::{ObjectEdit, RawJson};
use session_model::layout::session_file_name;
use session_model::persisted::{OversizePolicy, PersistOptions};
use session_model::storage::{SessionStorage, StorageKey};
use session_model::time::to_iso;
use session_model::tree::SessionTree;
use session_model::{Entry, EntryKind, NewHeader, SessionDocument, SessionHeader};

use super::{Conversion, ImportError, ImportLimits, SourceTitle, Tool, codex, convert, source};
use crate::blobs::BlobStore;
use crate::env::{RandomIds, SystemClock};
use crate::listing::{ListingOptions, Place, SessionCatalog};
use crate::manager::{NameSource, SessionManager, SessionOptions, bucket_of};
use crate::{Result, SessionError};

/// How sessions are imported.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportOptions {
    /// What is taken at most.
    pub limits: ImportLimits,
    /// Whether nothing is written and only told what would be.
    pub dry_run: bool,
    /// What others are told who find a session in use; default: `session-context`.
    pub owner: String,
    /// How images and long texts are written; default: both as blobs, so that nothing is lost.
    pub persist: PersistOptions,
    /// Where blobs are; default: in `blobs/` of the storage.
    pub blobs: Option<BlobStore>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            limits: ImportLimits::default(),
            dry_run: false,
            owner: env!("CARGO_PKG_NAME").to_owned(),
            persist: PersistOptions::default().oversize(OversizePolicy::Blob),
            blobs: None,
        }
    }
}

/// What an import did, or would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportOutcome {
    /// There is a new session.
    Created,
    /// The source had grown, and the session has so many entries more.
    Updated {
        /// How many entries were added.
        added: usize,
        /// Whether they are on a branch of their own, because the session was continued here. The
        /// leaf stays where it was then.
        as_branch: bool,
    },
    /// The session is there, and the source has nothing new.
    Unchanged,
    /// The source holds no conversation.
    Empty,
}

/// What became of a source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// The source as it was converted.
    pub conversion: Conversion,
    /// The session's file; none if the source holds no conversation.
    pub key: Option<StorageKey>,
    /// What was done.
    pub outcome: ImportOutcome,
}

/// Imports sources into a storage.
///
/// The same source always becomes the same session. If that is there, it gets what the source has
/// grown by; nothing in it is ever changed or removed.
#[derive(Debug)]
pub struct Importer {
    storage: Arc<dyn SessionStorage>,
    options: ImportOptions,
    /// The files of sessions by id, once they were looked for.
    known: Option<HashMap<String, StorageKey>>,
}

impl Importer {
    /// Imports into this storage, an agent directory.
    pub fn new(storage: Arc<dyn SessionStorage>, options: ImportOptions) -> Self {
        Self { storage, options, known: None }
    }

    /// Imports a file.
    ///
    /// # Errors
    ///
    /// [`ImportError`]: nothing was written, or only in part where a session could not be extended.
    ///
    /// # Cancel safety
    ///
    /// A new session is there whole or not at all. An update is not cancel safe, as
    /// [`SessionManager::append`]; it can be made again.
    pub async fn import(
        &mut self,
        tool: Tool,
        path: &Path,
    ) -> std::result::Result<Imported, ImportError> {
        let (path, bytes) = source::read(path, &self.options.limits)?;
        let conversion = convert(tool, bytes, &path.to_string_lossy(), &self.options.limits);
        let (key, outcome) = self.take(&conversion, &path).await?;
        Ok(Imported { conversion, key, outcome })
    }

    async fn take(
        &mut self,
        conversion: &Conversion,
        path: &Path,
    ) -> Result<(Option<StorageKey>, ImportOutcome)> {
        if conversion.is_empty() {
            return Ok((None, ImportOutcome::Empty));
        }
        let known = self.known().await?.get(&conversion.session_id).cloned();
        if let Some(key) = known {
            let outcome = self.update(&key, conversion).await?;
            return Ok((Some(key), outcome));
        }
        let cwd = conversion.cwd.clone().unwrap_or_else(|| folder_of(path));
        let created = to_iso(conversion.created_ms);
        let name = session_file_name(&created, &conversion.session_id)?;
        let key = bucket_of(&cwd)?.join(name)?;
        if !self.options.dry_run {
            let title = conversion.title.as_ref();
            let header = SessionHeader::new(&NewHeader {
                id: conversion.session_id.clone(),
                timestamp: created,
                cwd,
                parent_session: Some(conversion.source_id.clone()),
                title: title.map(|title| title.text.clone()),
                title_source: title.map(|title| source_of(title).to_owned()),
                ..NewHeader::default()
            });
            let entries = &conversion.entries;
            let (storage, options) = (Arc::clone(&self.storage), self.session_options());
            SessionManager::write_ready(storage, key.clone(), header, entries, options).await?;
        }
        // Several files of a source may hold the same session.
        self.known().await?.insert(conversion.session_id.clone(), key.clone());
        Ok((Some(key), ImportOutcome::Created))
    }

    async fn known(&mut self) -> Result<&mut HashMap<String, StorageKey>> {
        if self.known.is_none() {
            let place = Place::agent_dir(Arc::clone(&self.storage))?;
            let rows = SessionCatalog::new(vec![place]).list_all(ListingOptions::default()).await?;
            // Of files that share an id the one with the latest activity comes first, and stays.
            let ids =
                rows.into_iter().rev().filter_map(|row| Some((row.summary.ok()?.id, row.key)));
            self.known = Some(ids.collect());
        }
        Ok(self.known.get_or_insert_default())
    }

    fn session_options(&self) -> SessionOptions {
        let options = SessionOptions::default()
            .owner(self.options.owner.clone())
            .persist(self.options.persist);
        match &self.options.blobs {
            Some(blobs) => options.blobs(blobs.clone()),
            None => options,
        }
    }

    async fn update(&self, key: &StorageKey, conversion: &Conversion) -> Result<ImportOutcome> {
        let (storage, options) = (Arc::clone(&self.storage), self.session_options());
        let there = match SessionManager::open_read_only(storage, key.clone(), options).await {
            // A dry run has only told of it.
            Err(SessionError::NotFound { .. }) if self.options.dry_run => {
                return Ok(ImportOutcome::Unchanged);
            }
            there => there?,
        };
        let growth = Growth::of(there.document(), conversion);
        let title = conversion.title.as_ref().filter(|title| is_news(there.document(), title));
        let outcome = growth.outcome();
        if self.options.dry_run || (growth.entries.is_empty() && title.is_none()) {
            return Ok(outcome);
        }
        let (storage, options) = (Arc::clone(&self.storage), self.session_options());
        let cwd = there.cwd().unwrap_or_default();
        let mut session = SessionManager::open(storage, key.clone(), &cwd, options).await?;
        let done = extend(&mut session, conversion, title).await;
        let closed = session.close().await;
        done.and_then(|outcome| closed.map(|()| outcome))
    }
}

async fn extend(
    session: &mut SessionManager,
    conversion: &Conversion,
    title: Option<&SourceTitle>,
) -> Result<ImportOutcome> {
    // Somebody may have continued it meanwhile.
    let growth = Growth::of(session.document(), conversion);
    session.append_ready(&growth.entries).await?;
    if let Some(title) = title {
        let source = if title.by_user { NameSource::User } else { NameSource::Auto };
        session.set_session_name(&title.text, source).await?;
    }
    Ok(growth.outcome())
}

/// What a source has more than the session has of it.
struct Growth {
    entries: Vec<RawJson>,
    added: usize,
    as_branch: bool,
}

impl Growth {
    fn of(session: &SessionDocument, conversion: &Conversion) -> Self {
        let tree = session.tree();
        let id = |entry: &RawJson| entry.field("id")?.as_text().map(|id| id.into_owned());
        let is_new = |entry: &&RawJson| id(entry).is_some_and(|id| tree.find(&id).is_none());
        let mut entries: Vec<RawJson> = conversion.entries.iter().filter(is_new).cloned().collect();
        let (added, mut as_branch) = (entries.len(), false);
        let leaf = tree.leaf().filter(|_| added > 0);
        let Some(leaf) = leaf else { return Self { entries, added, as_branch } };
        let is_aside = |entry: &Entry| {
            matches!(entry.kind(), EntryKind::TitleChange | EntryKind::Label | EntryKind::Archive)
        };
        let path = tree.path_to(leaf);
        let last = path.iter().rev().find(|node| !is_aside(tree.entry(**node)));
        let last = last.map(|node| tree.entry(*node));
        let last_id = last.and_then(Entry::id);
        let is_early = last.is_some_and(|last| codex::is_of_event(&last.json()));
        let leaf_id = tree.entry(leaf).id().unwrap_or_default();
        let of_source: HashSet<String> = conversion.entries.iter().filter_map(id).collect();
        match last_id {
            Some(last) if is_early || of_source.contains(&*last) => {
                // A title or label at the end is no branch of its own.
                let moved = RawJson::string(&leaf_id);
                for entry in entries.iter_mut().filter(|_| last != leaf_id) {
                    let parent = entry.field("parentId");
                    if parent.as_ref().and_then(RawJson::as_text).as_deref() == Some(&*last) {
                        let edit = ObjectEdit::new().set("parentId", &moved);
                        *entry = edit.apply(entry).unwrap_or_else(|| entry.clone());
                    }
                }
            }
            _ => {
                as_branch = true;
                entries.extend(back_to(&leaf_id, tree, &of_source));
            }
        }
        Self { entries, added, as_branch }
    }

    fn outcome(&self) -> ImportOutcome {
        match self.added {
            0 => ImportOutcome::Unchanged,
            added => ImportOutcome::Updated { added, as_branch: self.as_branch },
        }
    }
}

/// A marker that keeps the leaf where it is.
fn back_to(leaf: &str, tree: &SessionTree, taken: &HashSet<String>) -> Option<RawJson> {
    if leaf.is_empty() {
        return None;
    }
    let id = fresh_entry_id(&mut RandomIds, |id| tree.find(id).is_some() || taken.contains(id));
    let marker = EntryBody::from(BranchSummary { from_id: leaf.to_owned(), ..Default::default() });
    Some(marker.to_entry_json(&id, Some(leaf), &to_iso(SystemClock.now_ms())))
}

/// A title is taken over unless somebody named the session here.
fn is_news(session: &SessionDocument, title: &SourceTitle) -> bool {
    match session.title() {
        Some(present) => present != title.text && title.earlier.contains(&present),
        None => true,
    }
}

fn source_of(title: &SourceTitle) -> &'static str {
    if title.by_user { "user" } else { "auto" }
}

/// The folder a source lies in, for want of the directory it worked in.
fn folder_of(path: &Path) -> String {
    path.parent().map(PathBuf::from).unwrap_or_default().to_string_lossy().into_owned()
}
