//! Where sessions lie, for commands that put them elsewhere.

use std::env;
use std::path::{Path, PathBuf};

use session_context::SessionManager;
use session_model::layout::{AgentProfile, BucketRoots, BucketScheme, SESSIONS_DIR};
use session_model::storage::{SessionStorage, StorageError, StorageKey};

use crate::failure::{Failure, chain};
use crate::output::say;
use crate::store::{StoreArgs, sessions_key};
use crate::target::Target;

impl Target {
    /// The same session as a key of its agent directory, if it lies in one.
    pub(crate) fn in_agent_dir(self, store: &StoreArgs) -> Result<Self, Failure> {
        let path = match self.storage.local_path(&self.key) {
            Some(path) if self.key.parent().is_none() => path,
            _ => return Ok(self),
        };
        let sessions = path
            .ancestors()
            .skip(2)
            .find(|folder| folder.file_name().is_some_and(|name| name == SESSIONS_DIR));
        match sessions.and_then(Path::parent).and_then(|root| split_at(root, &path)) {
            Some((root, key)) => Ok(Self { storage: store.open(root)?, key, ..self }),
            None => Ok(self),
        }
    }

    /// The same session with the folder it lies in as part of its key, so that another one can be
    /// put beside it.
    pub(crate) fn with_bucket(self, store: &StoreArgs) -> Result<Self, Failure> {
        if self.key.parent().is_some() {
            return Ok(self);
        }
        let path = self.storage.local_path(&self.key);
        let split = path.as_deref().and_then(|path| split_at(path.ancestors().nth(2)?, path));
        let (root, key) = split.ok_or_else(|| self.no_bucket("copied"))?;
        Ok(Self { storage: store.open(root)?, key, ..self })
    }

    /// The refusal of what needs an agent directory.
    pub(crate) fn no_bucket(&self, what: &str) -> Failure {
        Failure::Refused(format!(
            "{} lies in no agent directory, so it cannot be {what}; put it into \
             <agent directory>/{SESSIONS_DIR}/<folder>/ first",
            self.name
        ))
    }
}

/// A directory as the place of a storage, and what lies in it as a key there.
fn split_at<'a>(root: &'a Path, path: &Path) -> Option<(&'a str, StorageKey)> {
    let key = StorageKey::new(path.strip_prefix(root).ok()?.to_str()?).ok()?;
    Some((root.to_str()?, key))
}

/// Where a session's file is.
pub(crate) fn location(manager: &SessionManager) -> String {
    path_or_key(&**manager.storage(), manager.key())
}

/// The path of an object, or its key if the storage has no files.
pub(crate) fn path_or_key(storage: &dyn SessionStorage, key: &StorageKey) -> String {
    storage.local_path(key).map_or_else(|| key.to_string(), |path| path.display().to_string())
}

/// The one path of a directory, whatever links and dots lead to it.
pub(crate) fn canonical_dir(directory: &Path) -> Result<String, Failure> {
    let what = directory.display().to_string();
    let path =
        directory.canonicalize().map_err(|source| Failure::Input { what: what.clone(), source })?;
    if !path.is_dir() {
        return Err(Failure::Refused(format!("{what} is no directory")));
    }
    let no_text = || Failure::Refused(format!("the path {what} is no UTF-8"));
    Ok(path.to_str().ok_or_else(no_text)?.to_owned())
}

/// The bucket of a directory, named as that of a session is.
pub(crate) fn bucket_like(target: &Target, cwd: &str) -> Result<StorageKey, Failure> {
    let canonical = |path: Option<PathBuf>| path?.canonicalize().ok()?.to_str().map(str::to_owned);
    let (home, temp) = (canonical(env::home_dir()), canonical(Some(env::temp_dir())));
    let roots = BucketRoots { home: home.as_deref(), temp: temp.as_deref() };
    let name = scheme_of(target).bucket_name(cwd, &roots);
    Ok(sessions_key()?.join(name)?)
}

/// How the bucket of a session is named; a name that tells nothing is as the agent has it.
fn scheme_of(target: &Target) -> BucketScheme {
    let bucket = target.key.parent();
    let name = bucket.as_ref().map(StorageKey::file_name).unwrap_or_default();
    if name.starts_with('-') && !name.starts_with("--") {
        return BucketScheme::Relative;
    }
    let path = target.storage.local_path(&target.key);
    let root = path.as_deref().and_then(|path| path.ancestors().nth(target.key.segments().count()));
    let known = |profile: &AgentProfile| root.is_some_and(|root| root.ends_with(profile.agent_dir));
    AgentProfile::KNOWN.into_iter().find(known).unwrap_or_default().buckets
}

/// Tells which artifacts are still where they were.
pub(crate) fn tell_left_behind(errors: &[StorageError]) {
    for error in errors {
        say("warning", &format!("an artifact stays where it was: {}", chain(error)));
    }
}
