//! Lists of sessions, made by looking at the beginning and the end of each file.

mod catalog;
mod continued;
mod cwd;
mod find;
mod known;
mod lineage;
mod look;
mod noted;
mod row;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

use session_model::layout::SESSION_SUFFIX;
use session_model::storage::{
    ListOptions, ObjectMeta, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};
use session_model::summary::SessionSummary;

use crate::Result;

pub use catalog::{Place, SessionCatalog};
pub use continued::{SessionLocation, session_to_continue};
pub(crate) use cwd::cwd_stat;
pub use cwd::{CwdFilter, CwdState};
use known::KnownSummaries;
pub use lineage::{Kinship, LineageNode, lineage};
use noted::Noted;
pub use row::SessionRow;

/// How many files are looked at in one call of the storage.
const BATCH: usize = 64;

/// Stands for a file directly in the storage whose name can be no key.
const UNNAMED: &str = "?";

/// Which sessions a list is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those directly below this key: the bucket of one directory.
    Bucket(StorageKey),
    /// Those of all buckets below this key, which is commonly `sessions`.
    All(StorageKey),
    /// Those directly in the storage, and in its folders.
    Root,
}

impl Scope {
    /// The key everything in the scope is below, and how many segments below.
    fn prefix_and_depth(&self) -> (Option<&StorageKey>, usize) {
        match self {
            Self::Bucket(bucket) => (Some(bucket), 1),
            Self::All(sessions) => (Some(sessions), 2),
            Self::Root => (None, 2),
        }
    }
}

/// How far a listing has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingProgress {
    /// How many files have been looked at.
    pub done: usize,
    /// How many there are.
    pub total: usize,
}

/// How [`list_sessions`] lists.
#[derive(Default)]
#[non_exhaustive]
pub struct ListingOptions<'a> {
    /// Whose sessions are listed; default: everybody's.
    pub cwd: Option<CwdFilter>,
    /// How many sessions at most, the newest; default: all. Files that are no sessions are
    /// listed on top of that.
    pub limit: Option<usize>,
    /// Whether sessions of child agents, which lie among the artifacts of others, are listed too;
    /// default: they are not.
    pub children: bool,
    /// What is told of the progress, after every 64 files; default: nothing.
    pub progress: Option<&'a mut (dyn FnMut(ListingProgress) + Send)>,
}

impl std::fmt::Debug for ListingOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ListingOptions")
            .field("cwd", &self.cwd)
            .field("limit", &self.limit)
            .field("children", &self.children)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

impl<'a> ListingOptions<'a> {
    /// These options with only the sessions of one directory.
    pub fn cwd(self, cwd: CwdFilter) -> Self {
        Self { cwd: Some(cwd), ..self }
    }

    /// These options with so many sessions at most.
    pub fn limit(self, limit: usize) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// These options with the sessions of child agents.
    pub fn children(self) -> Self {
        Self { children: true, ..self }
    }

    /// These options, telling of the progress.
    pub fn progress(self, progress: &'a mut (dyn FnMut(ListingProgress) + Send)) -> Self {
        Self { progress: Some(progress), ..self }
    }
}

/// Lists sessions, those somebody last said something in first.
///
/// Sessions of the same moment are in the order of their keys. What could not be read, or is no
/// session, comes last, in the order of keys: nothing is left out but files whose name begins
/// with a dot, and those that were removed meanwhile. A session whose directory is not known
/// passes every [`cwd`](ListingOptions::cwd).
///
/// Of every file at most 36 KiB are read, unless its header is longer than 4 KiB.
///
/// # Errors
///
/// [`SessionError::Storage`](crate::SessionError::Storage) if the listing failed as a whole.
///
/// # Cancel safety
///
/// Cancel safe: it only reads.
///
/// ```
/// use session_context::listing::{ListingOptions, Scope, list_sessions};
/// use session_model::storage::{SessionStorageExt, StorageKey};
/// use session_store_memory::MemoryStorage;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let storage = MemoryStorage::new();
/// let file = "{\"type\":\"session\",\"id\":\"s\",\"title\":\"Mine\"}\n";
/// storage.append_once(&StorageKey::new("sessions/--w--/a.jsonl")?, file.into()).await?;
/// let scope = Scope::All(StorageKey::new("sessions")?);
/// let rows = list_sessions(&storage, &scope, ListingOptions::default()).await?;
/// assert_eq!(rows[0].summary.as_ref().unwrap().title.as_ref().unwrap().text, "Mine");
/// # Ok(())
/// # }
/// # pollster::block_on(example()).unwrap();
/// ```
pub async fn list_sessions(
    storage: &dyn SessionStorage,
    scope: &Scope,
    options: ListingOptions<'_>,
) -> Result<Vec<SessionRow>> {
    list_places(&[(storage, scope)], options, None).await
}

/// Lists the sessions of several places as one list, each file once.
async fn list_places(
    places: &[(&dyn SessionStorage, &Scope)],
    options: ListingOptions<'_>,
    known: Option<&KnownSummaries>,
) -> Result<Vec<SessionRow>> {
    let ListingOptions { mut cwd, limit, children, mut progress } = options;
    let looked = SystemTime::now();
    let (mut files, mut rows) = (Vec::new(), Vec::new());
    for (place, (storage, scope)) in places.iter().enumerate() {
        let (found, unseen) = session_files(*storage, scope, children).await?;
        rows.extend(unseen.into_iter().map(|row| SessionRow { place, ..row }));
        files.push(found);
    }
    let (mut done, total) = (0, files.iter().map(Vec::len).sum());
    for (place, files) in files.into_iter().enumerate() {
        let storage = places[place].0;
        let mut noted = Noted::beside(storage);
        for batch in files.chunks(BATCH) {
            let find = |file: &SessionFile| known?.find(place, &file.meta);
            let mut found: Vec<_> = batch.iter().map(find).collect();
            noted.fill(batch.iter().map(|file| &file.meta), &mut found);
            let new = batch.iter().zip(&found).filter(|(_, found)| found.is_none());
            let new: Vec<_> = new.map(|(file, _)| file.meta.clone()).collect();
            let new = look::look(storage, &new).await;
            noted.keep(looked, new.iter().flatten());
            let mut new = new.into_iter();
            for (file, found) in batch.iter().zip(found) {
                let meta = &file.meta;
                let row = match found {
                    Some(summary) => {
                        let (key, meta) = (meta.key.clone(), meta.clone());
                        Some(SessionRow::new(storage, key, Some(meta), Ok(summary)))
                    }
                    None => new.next().flatten(),
                };
                let agent_of = file.agent_of.clone();
                rows.extend(row.map(|row| SessionRow { place, agent_of, ..row }));
            }
            done += batch.len();
            if let Some(progress) = &mut progress {
                progress(ListingProgress { done, total });
            }
        }
        noted.tell(known);
    }
    if let Some(known) = known {
        known.keep(
            looked,
            rows.iter().filter_map(|row| {
                Some((row.place, row.meta.as_ref()?, row.summary.as_ref().ok()?))
            }),
        );
    }
    if places.len() > 1 {
        // One place may lie in another.
        let mut seen = HashSet::new();
        rows.retain(|row| row.path.clone().is_none_or(|path| seen.insert(path)));
    }
    mark_shared_ids(&mut rows);
    if let Some(filter) = &mut cwd {
        rows.retain(|row| row.cwd().is_none_or(|cwd| filter.admits(cwd)));
    }
    rows.sort_by(SessionRow::newest_first);
    if let Some(limit) = limit {
        let sessions = rows.iter().take_while(|row| row.summary.is_ok()).count();
        rows.drain(limit.min(sessions)..sessions);
    }
    Ok(rows)
}

/// Returns the session of a directory that somebody last said something in.
///
/// Unlike in a list, a session whose directory is not known is nobody's.
///
/// # Errors
///
/// As [`list_sessions`].
///
/// # Cancel safety
///
/// Cancel safe: it only reads.
pub async fn most_recent(
    storage: &dyn SessionStorage,
    scope: &Scope,
    cwd: CwdFilter,
) -> Result<Option<SessionRow>> {
    let options = ListingOptions::default().cwd(cwd);
    let rows = list_sessions(storage, scope, options).await?;
    Ok(rows.into_iter().find(|row| row.cwd().is_some()))
}

/// A file that should be a session.
struct SessionFile {
    meta: ObjectMeta,
    /// The session whose agent started this one.
    agent_of: Option<StorageKey>,
}

/// The files that should be sessions, and rows for those that cannot be looked at.
async fn session_files(
    storage: &dyn SessionStorage,
    scope: &Scope,
    children: bool,
) -> Result<(Vec<SessionFile>, Vec<SessionRow>)> {
    let (prefix, depth) = scope.prefix_and_depth();
    let mut options = ListOptions::default().suffix(SESSION_SUFFIX);
    if !children {
        options = options.max_depth(depth);
    }
    let (mut files, errors) = storage.list_all(prefix, options).await;
    files.retain(|meta| !meta.key.file_name().starts_with('.'));
    let mut rows = Vec::new();
    for error in errors {
        // A file whose name can be no key is shown at its folder's; any other error that names no
        // file is one of the whole listing.
        if error.key().is_none() && error.kind() != StorageErrorKind::Invalid {
            return Err(error.into());
        }
        let folder = || prefix.map_or_else(|| StorageKey::new(UNNAMED), |key| Ok(key.clone()));
        let key = error.key().cloned().map_or_else(folder, Ok)?;
        rows.push(SessionRow::new(storage, key, None, Err(error.into())));
    }
    let outer = prefix.map_or(0, |key| key.segments().count());
    let level = |key: &StorageKey| key.segments().count() - outer;
    // In a folder of sessions without buckets, artifacts lie where buckets would.
    let topmost: HashSet<StorageKey> =
        files.iter().filter(|meta| level(&meta.key) == 1).map(|meta| meta.key.clone()).collect();
    let agent_of = |key: &StorageKey| {
        let parent = format!("{}{SESSION_SUFFIX}", key.parent()?);
        let parent = StorageKey::new(parent).ok()?;
        (level(key) > depth || topmost.contains(&parent)).then_some(parent)
    };
    let files = files.into_iter().map(|meta| SessionFile { agent_of: agent_of(&meta.key), meta });
    Ok((files.filter(|file| children || file.agent_of.is_none()).collect(), rows))
}

fn mark_shared_ids(rows: &mut [SessionRow]) {
    let mut times: HashMap<String, u32> = HashMap::new();
    for row in rows.iter() {
        if let Ok(summary) = &row.summary {
            *times.entry(summary.id.clone()).or_default() += 1;
        }
    }
    for row in rows {
        let shared = |summary: &SessionSummary| times.get(&summary.id).is_some_and(|&n| n > 1);
        row.id_is_shared = row.summary.as_ref().is_ok_and(shared);
    }
}
