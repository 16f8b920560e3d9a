//! Moving away what nothing refers to.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use session_model::BlobRef;
use session_model::storage::{
    ListOptions, ObjectMeta, RenameOptions, SessionStorage, SessionStorageExt, StorageError,
    StorageErrorKind, StorageKey,
};
use session_model::time::{from_iso, to_iso};

use super::{BlobStore, scan};

/// The shortest time a blob is left alone: a program may have made sure of it for a line it is
/// about to write.
pub const MIN_GRACE: Duration = Duration::from_secs(2 * 60 * 60);

/// Where blobs that were moved away are.
pub(super) const TRASH: &str = "trash/blobs";

/// What is looked through for references.
pub type GcRoot = Arc<dyn SessionStorage>;

/// How unused blobs are looked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GcOptions {
    /// How long blobs are left alone that were written or refreshed; default: 7 days, at least
    /// [`MIN_GRACE`].
    pub grace: Duration,
    /// What to look through beside the blobs' own storage; default: nothing.
    pub also: Vec<GcRoot>,
    /// The present; default: the system's time.
    pub now: SystemTime,
}

impl Default for GcOptions {
    fn default() -> Self {
        let grace = Duration::from_secs(7 * 24 * 60 * 60);
        Self { grace, also: Vec::new(), now: SystemTime::now() }
    }
}

impl GcOptions {
    /// These options with another time of grace.
    pub fn grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// These options, looking through another storage too.
    pub fn also(mut self, root: GcRoot) -> Self {
        self.also.push(root);
        self
    }

    /// These options at another time.
    pub fn now(self, now: SystemTime) -> Self {
        Self { now, ..self }
    }
}

/// A blob that nothing refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcCandidate {
    /// The blob.
    pub id: BlobRef,
    /// Its state when references were looked for.
    pub meta: ObjectMeta,
}

/// What a clean-up would do.
#[derive(Debug)]
#[non_exhaustive]
pub struct GcPlan {
    /// How many blobs something refers to.
    pub used: u64,
    /// How many nothing refers to that are too young to go.
    pub young: u64,
    /// What nothing refers to, sorted.
    pub unused: Vec<GcCandidate>,
    /// How many files were looked through.
    pub files: u64,
    /// What could not be looked at; while there is such, nothing is moved.
    pub problems: Vec<StorageError>,
    /// Pipes, sockets and devices, which hold nothing that could refer to a blob.
    pub passed_over: Vec<StorageError>,
    grace: Duration,
    now: SystemTime,
}

/// What a clean-up did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct GcOutcome {
    /// Where the blobs went that were moved away.
    pub moved: Vec<(BlobRef, StorageKey)>,
    /// What was used or changed since the plan, and stays.
    pub kept: Vec<BlobRef>,
    /// What could not be moved.
    pub problems: Vec<StorageError>,
}

impl GcPlan {
    /// Tells whether everything could be looked at, so that the plan may be carried out.
    pub fn is_complete(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns how much room the unused blobs take, in bytes.
    pub fn unused_bytes(&self) -> u64 {
        self.unused.iter().map(|unused| unused.meta.size).sum()
    }
}

impl BlobStore {
    /// Looks for blobs that nothing refers to; changes nothing.
    ///
    /// Every file of the blobs' storage and of the other roots is looked through: sessions,
    /// damaged ones, what was put aside, artifacts, the trash. Only what blobs themselves hold,
    /// here or in the trash, does not count. `progress` is told how many files have been looked
    /// through, of how many.
    pub async fn gc_plan(&self, options: &GcOptions, progress: impl FnMut(u64, u64)) -> GcPlan {
        // The blobs come first: what is put later is not among them, or no longer as it was.
        let found = self.list().await;
        self.plan(found, options, options.grace.max(MIN_GRACE), progress).await
    }

    /// Tells apart what is referred to, what is too young, and what may go.
    pub(super) async fn plan(
        &self,
        (blobs, mut problems): (Vec<(BlobRef, ObjectMeta)>, Vec<StorageError>),
        options: &GcOptions,
        grace: Duration,
        mut progress: impl FnMut(u64, u64),
    ) -> GcPlan {
        let known: HashSet<BlobRef> = blobs.iter().map(|(id, _)| *id).collect();
        let (mut used, mut seen) = (BTreeSet::new(), HashSet::new());
        let mut done = 0;
        loop {
            // What was moved meanwhile is found at its new place by looking once more.
            let mut new = Vec::new();
            for (at, root) in std::iter::once(&self.storage).chain(&options.also).enumerate() {
                let (objects, errors) = root.list_all(None, ListOptions::default()).await;
                problems.extend(errors);
                let keys = objects.into_iter().map(|object| object.key);
                let keys = keys.filter(|key| !self.is_blob(key));
                new.extend(keys.filter(|key| seen.insert((at, key.clone()))).map(|k| (root, k)));
            }
            if new.is_empty() || !problems.iter().all(is_special) {
                break;
            }
            let total = done + new.len() as u64;
            for (root, key) in new {
                match scan::mentioned(&**root, &key, &known, &mut used).await {
                    Err(error) if error.kind() != StorageErrorKind::NotFound => {
                        problems.push(error);
                    }
                    Ok(()) | Err(_) => {}
                }
                done += 1;
                progress(done, total);
            }
        }
        // The folder of blobs is listed twice.
        let mut told = HashSet::new();
        problems.retain(|problem| told.insert(problem.to_string()));
        let (passed_over, problems) = problems.into_iter().partition(is_special);
        let mut plan = GcPlan {
            used: used.len() as u64,
            young: 0,
            unused: Vec::new(),
            files: done,
            problems,
            passed_over,
            grace,
            now: options.now,
        };
        for (id, meta) in blobs.into_iter().filter(|(id, _)| !used.contains(id)) {
            if plan.is_old(&meta) {
                plan.unused.push(GcCandidate { id, meta });
            } else {
                plan.young += 1;
            }
        }
        plan
    }

    /// Moves away what a plan found unused, into `trash/blobs/<time>/`; deletes nothing.
    ///
    /// A blob that was refreshed since stays. A plan that could not look at everything moves
    /// nothing.
    pub async fn gc_apply(&self, plan: &GcPlan) -> GcOutcome {
        let mut outcome = GcOutcome::default();
        if !plan.is_complete() {
            return outcome;
        }
        let since = plan.now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let time = folder_name(since.as_millis() as i64);
        for unused in &plan.unused {
            match self.move_away(plan, unused, &time).await {
                Ok(Some(key)) => outcome.moved.push((unused.id, key)),
                Ok(None) => outcome.kept.push(unused.id),
                Err(error) => outcome.problems.push(error),
            }
        }
        outcome
    }

    async fn move_away(
        &self,
        plan: &GcPlan,
        unused: &GcCandidate,
        time: &str,
    ) -> Result<Option<StorageKey>, StorageError> {
        let to = self.beside(TRASH)?.join(time)?.join(unused.id.to_hex())?;
        let lock = self.lock().await?;
        let moved = match self.head(unused.id).await {
            Ok(Some(meta)) if meta == unused.meta && plan.is_old(&meta) => {
                let key = &unused.meta.key;
                let renamed = self.storage.rename(key, &to, RenameOptions::default()).await;
                renamed.map(|_| Some(to))
            }
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        };
        lock.close().await?;
        match moved {
            Err(error) if error.kind() == StorageErrorKind::NotFound => Ok(None),
            moved => moved,
        }
    }

    /// A key beside the folder of blobs.
    pub(super) fn beside(&self, name: &str) -> Result<StorageKey, StorageError> {
        Ok(match self.prefix.parent() {
            Some(parent) => parent.join(name)?,
            None => StorageKey::new(name)?,
        })
    }

    /// Tells whether this is a blob, here, in the trash, or in another agent directory.
    fn is_blob(&self, key: &StorageKey) -> bool {
        let named = BlobRef::from_hex(key.file_name()).is_ok();
        let trash = self.beside(TRASH).is_ok_and(|trash| key.is_below(&trash));
        named && (trash || key.is_below(&self.prefix))
    }
}

impl GcPlan {
    pub(super) fn is_old(&self, meta: &ObjectMeta) -> bool {
        let since = trashed_at(&meta.key).unwrap_or(meta.modified);
        self.now.duration_since(since).is_ok_and(|age| age >= self.grace)
    }
}

/// Returns whether what was met holds no bytes. A link may lead to some.
fn is_special(problem: &StorageError) -> bool {
    matches!(problem, StorageError::NotAnObject { kind: StorageErrorKind::Invalid, .. })
}

/// The name of the folder in the trash of what is moved at a time.
fn folder_name(time_ms: i64) -> String {
    to_iso(time_ms).replace([':', '.'], "-")
}

/// When a blob in the trash was moved there; `None` for what is in no folder of ours.
pub(super) fn trashed_at(key: &StorageKey) -> Option<SystemTime> {
    let folder = key.parent()?;
    let name = folder.file_name();
    let (day, time) = name.split_once('T')?;
    let time = time.replacen('-', ":", 2).replacen('-', ".", 1);
    let ms = from_iso(&format!("{day}T{time}")).filter(|ms| folder_name(*ms) == name)?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_millis(ms.try_into().ok()?))
}
