//! One session, open: its entries in memory, and its file kept in step.

mod append;
mod artifacts;
pub(crate) mod aside;
mod batch;
mod blobs;
mod branch;
mod breadcrumb;
mod context;
pub(crate) mod copy;
mod filter;
mod foreign;
pub(crate) mod fork;
mod growth;
mod merge;
mod move_to;
mod observer;
mod open;
mod options;
mod persist;
mod ready;
mod rewrite;
mod shared;
mod state;
mod switch;
mod writes;

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use session_model::body::{EntryBody, TtsrInjection};
use session_model::document::{LoadOptions, SessionDocument};
use session_model::entry::NewEntries;
use session_model::env::{Clock, IdSource};
use session_model::message::UsageTotals;
use session_model::persisted::PersistOptions;
use session_model::storage::{AppendWriter, Durability, SessionStorage, StorageKey};
use session_model::tree::{NodeId, SessionTree};
use session_model::{BlobRef, Diagnostic, Entry, EntryKind, SessionHeader};

use crate::blobs::BlobStore;
use crate::error::SessionError;

pub use append::{check_entry_json, check_message};
pub use batch::NewEntry;
pub use filter::WriteFilter;
pub use fork::{ForkFrom, Forked};
pub use merge::{Merged, OtherCopy};
pub use observer::PersistenceObserver;
pub(crate) use open::{bucket_of, claim_existing};
pub use options::{NewSession, SessionOptions};
pub use rewrite::NameSource;
pub use shared::{SessionGuard, SharedSession};
pub use state::SessionState;
pub(crate) use writes::Writes;

/// An open session.
///
/// Appending writes the entry's line and adds the entry to memory, so `&mut self` is the order in
/// which things are written; an entry that could not be written is in memory all the same. Nothing is written before the first assistant message, unless
/// [`SessionOptions::eager`] or [`ensure_on_disk`](Self::ensure_on_disk) says otherwise.
///
/// While a session is open for writing, no other program can open it for writing.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "memory")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use session_context::{SessionManager, SessionOptions};
/// use session_model::message::Message;
///
/// let mut session = SessionManager::in_memory("/work/project", SessionOptions::default())?;
/// let question = session.append_message(Message::user("hello", 1_767_225_600_000)).await?;
/// session.append_label_change(&question, Some("start")).await?;
/// session.branch(&question)?;
/// let other = session.append_message(Message::user("or rather", 1_767_225_601_000)).await?;
/// assert_eq!(session.branch_ids(), [question, other]);
/// # session.close().await?;
/// # Ok(())
/// # })
/// # }
/// # #[cfg(not(feature = "memory"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct SessionManager {
    storage: Arc<dyn SessionStorage>,
    key: StorageKey,
    document: Arc<SessionDocument>,
    file: FileState,
    clock: Arc<dyn Clock>,
    ids: Box<dyn IdSource>,
    owner: String,
    eager: bool,
    durability: Durability,
    observers: Vec<Arc<dyn PersistenceObserver>>,
    persistent: bool,
    load: LoadOptions,
    persist: PersistOptions,
    filter: Option<Arc<dyn WriteFilter>>,
    blobs: Option<BlobStore>,
    resolve: bool,
    /// Blobs this session made sure of, or read.
    saved_blobs: HashSet<BlobRef>,
    /// The first failure to save since the file was last known to hold everything.
    failure: Option<Arc<SessionError>>,
    diagnostics: Vec<Diagnostic>,
    usage: Option<UsageTotals>,
    /// Where new entries are made, to be used again.
    made: NewEntries,
    /// What [`fresh`](Self::fresh) gave.
    provider_identity: Option<String>,
}

/// How the file stands to what is in memory.
#[derive(Debug)]
enum FileState {
    /// Nothing has been written.
    Pending(Option<Box<dyn AppendWriter>>),
    /// The file exists, and this writer holds it.
    Open(Box<dyn AppendWriter>),
    /// Writing is refused, for this reason.
    ReadOnly(String),
}

impl SessionManager {
    /// Returns the header.
    pub fn header(&self) -> &SessionHeader {
        self.document.header()
    }

    /// Returns the session's id.
    pub fn session_id(&self) -> String {
        self.header().id()
    }

    /// Returns the directory the session works in, as its header has it.
    pub fn cwd(&self) -> Option<String> {
        self.header().cwd()
    }

    /// Returns the key of the session's file.
    pub fn key(&self) -> &StorageKey {
        &self.key
    }

    /// Returns the storage the session is kept in.
    pub fn storage(&self) -> &Arc<dyn SessionStorage> {
        &self.storage
    }

    /// Returns the path of the session's file, if the storage keeps files.
    ///
    /// The file may not exist yet; see [`ensure_on_disk`](Self::ensure_on_disk).
    pub fn session_file(&self) -> Option<PathBuf> {
        self.storage.local_path(&self.key)
    }

    /// Tells whether the session outlives this process's interest in it: false for
    /// [`in_memory`](Self::in_memory).
    pub fn is_persistent(&self) -> bool {
        self.persistent
    }

    /// Tells whether the session's file has been made;
    /// [`persistence_error`](Self::persistence_error) tells whether it holds everything.
    pub fn is_on_disk(&self) -> bool {
        !matches!(self.file, FileState::Pending(_))
    }

    /// Returns why the session cannot be written, if it cannot.
    pub fn read_only_reason(&self) -> Option<&str> {
        match &self.file {
            FileState::ReadOnly(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns the session's title: the last one given.
    pub fn session_name(&self) -> Option<String> {
        self.document.title()
    }

    /// Returns the entries and their tree.
    pub fn tree(&self) -> &SessionTree {
        self.document.tree()
    }

    /// Returns the session as a document.
    pub fn document(&self) -> &SessionDocument {
        &self.document
    }

    /// Returns the session as it is now, for readers beside this manager.
    ///
    /// Nothing is copied, but the first change while a snapshot is held copies the index of the
    /// entries.
    pub fn snapshot(&self) -> Arc<SessionDocument> {
        self.document.clone()
    }

    /// Returns all entries in file order.
    pub fn entries(&self) -> &[Entry] {
        self.tree().entries()
    }

    /// Returns an entry by id.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.tree().find(id).map(|node| self.tree().entry(node))
    }

    /// Returns the id of the entry new entries hang from; `None` at the root, or if it has none.
    pub fn leaf_id(&self) -> Option<String> {
        self.leaf_entry()?.id().map(Cow::into_owned)
    }

    /// Returns the entry new entries hang from.
    pub fn leaf_entry(&self) -> Option<&Entry> {
        self.tree().leaf().map(|leaf| self.tree().entry(leaf))
    }

    /// Returns the children of an entry in the order they were added.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownEntry`].
    pub fn children(&self, id: &str) -> Result<Vec<&Entry>, SessionError> {
        let node = self.find(id)?;
        Ok(self.tree().children_of(node).map(|child| self.tree().entry(child)).collect())
    }

    /// Returns the entries from the root to the leaf.
    pub fn branch_entries(&self) -> Vec<&Entry> {
        let path = self.tree().leaf().map(|leaf| self.tree().path_to(leaf)).unwrap_or_default();
        path.into_iter().map(|node| self.tree().entry(node)).collect()
    }

    /// Returns the ids of the entries from the root to the leaf; one without an id is left out.
    pub fn branch_ids(&self) -> Vec<String> {
        self.branch_entries().iter().filter_map(|entry| entry.id()).map(Cow::into_owned).collect()
    }

    /// Returns the label of an entry.
    pub fn label(&self, id: &str) -> Option<&str> {
        self.tree().label_for(id)
    }

    /// Returns what was found on opening and since, in the order it was found.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the first failure to save that has not been made good since.
    pub fn persistence_error(&self) -> Option<&SessionError> {
        self.failure.as_deref()
    }

    /// Returns the sums of all usage, over all branches.
    pub fn usage_statistics(&mut self) -> UsageTotals {
        let tree = self.document.tree();
        *self.usage.get_or_insert_with(|| {
            let mut totals = UsageTotals::default();
            tree.entries().iter().for_each(|entry| add_usage(&mut totals, entry));
            totals
        })
    }

    /// Returns the rules injected on the path to the leaf, each once, in the order first seen.
    pub fn injected_ttsr_rules(&self) -> Vec<String> {
        let mut rules: Vec<String> = Vec::new();
        for entry in self.branch_entries() {
            if entry.kind() != EntryKind::TtsrInjection {
                continue;
            }
            if let EntryBody::TtsrInjection(TtsrInjection { injected_rules, .. }) = entry.body() {
                for rule in injected_rules {
                    if !rules.contains(&rule) {
                        rules.push(rule);
                    }
                }
            }
        }
        rules
    }

    /// Returns the role of the last model change on the path to the leaf.
    pub fn last_model_change_role(&self) -> Option<String> {
        let path = self.branch_entries();
        let last = path.iter().rev().find(|entry| entry.kind() == EntryKind::ModelChange)?;
        match last.body() {
            EntryBody::ModelChange(change) => Some(change.role_or_default().to_owned()),
            _ => None,
        }
    }

    fn document_mut(&mut self) -> &mut SessionDocument {
        Arc::make_mut(&mut self.document)
    }

    fn find(&self, id: &str) -> Result<NodeId, SessionError> {
        self.tree().find(id).ok_or_else(|| SessionError::UnknownEntry { id: id.to_owned() })
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    fn note(&mut self, diagnostic: Diagnostic) {
        tracing::warn!(session = %self.key, code = %diagnostic.code, "{}", diagnostic.detail);
        self.diagnostics.push(diagnostic);
    }
}

fn add_usage(totals: &mut UsageTotals, entry: &Entry) {
    if matches!(entry.kind(), EntryKind::Message | EntryKind::ModelUsage)
        && let Some(usage) = entry.body().counted_usage()
    {
        totals.add(&usage);
    }
}
