//! Walking a directory tree in the order of keys.

use std::fs::File;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use futures_core::Stream;
use rustix::fs::{Dir, FileType};
use session_model::storage::{ListOptions, ObjectMeta, Result, StorageError, StorageKey};

use crate::dir::{self, Found};
use crate::error::{During, Fault};
use crate::lock::Courtesy;
use crate::names;
use crate::store::Store;

const OPERATION: &str = "list";

/// The objects below a prefix, sorted by key as bytes.
///
/// Holds the names of one directory a level, never those of the whole tree.
pub(crate) struct Listing {
    store: Arc<Store>,
    prefix: Option<StorageKey>,
    options: ListOptions,
    /// Whether the caller holds the operation lock as long as it uses this.
    locked: bool,
    started: bool,
    found: usize,
    levels: Vec<Level>,
}

/// A directory that is being walked.
struct Level {
    dir: File,
    key: Option<StorageKey>,
    /// How many segments below the prefix the entries have.
    depth: usize,
    /// The names left, those of directories with a `/` behind, so that they sort as keys do.
    names: vec::IntoIter<Vec<u8>>,
}

impl Listing {
    pub(crate) fn new(
        store: &Arc<Store>,
        prefix: Option<&StorageKey>,
        options: ListOptions,
    ) -> Self {
        let (store, prefix) = (Arc::clone(store), prefix.cloned());
        Self { store, prefix, options, locked: false, started: false, found: 0, levels: Vec::new() }
    }

    /// All there is below a prefix, for somebody who holds the operation lock.
    pub(crate) fn locked(store: &Arc<Store>, prefix: &StorageKey) -> Self {
        Self { locked: true, ..Self::new(store, Some(prefix), ListOptions::default()) }
    }

    fn start(&mut self) -> Result<()> {
        let opened = match (self.store.root(), &self.prefix) {
            (Ok(root), Some(prefix)) => dir::descend(&root, prefix),
            (Ok(root), None) => Ok(Some(root)),
            (Err(fault), _) => Err(fault),
        };
        let levels = opened.and_then(|dir| {
            dir.map(|dir| self.level(dir, self.prefix.clone(), 1)).into_iter().collect()
        });
        self.levels = match (levels, &self.prefix) {
            (levels, Some(prefix)) => levels.during(OPERATION, prefix)?,
            (levels, None) => levels.map_err(|fault| self.store.root_failed(OPERATION, &fault))?,
        };
        Ok(())
    }

    fn visit(&mut self, name: &[u8]) -> Option<Result<ObjectMeta>> {
        let level = self.levels.last()?;
        let (name, is_dir) = match name.strip_suffix(b"/") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let key = match level.key_of(name) {
            Ok(key) => key,
            Err(error) => return self.wants_unnamed(level, name, is_dir).then_some(Err(error)),
        };
        if is_dir {
            return if self.wants_below(level, &key) {
                self.enter(&key).err().map(Err)
            } else {
                None
            };
        }
        if !self.options.admits(self.prefix.as_ref(), &key) {
            return None;
        }
        match dir::find(&level.dir, key.file_name()) {
            Ok(Found::Object(state)) => Some(Ok(state.meta(&key))),
            // Gone since the directory was read.
            Ok(Found::Nothing | Found::Directory) => None,
            Err(fault) => Some(Err(fault.at(OPERATION, &key))),
        }
    }

    fn enter(&mut self, key: &StorageKey) -> Result<()> {
        let Some(level) = self.levels.last() else { return Ok(()) };
        match dir::enter(&level.dir, key.file_name()) {
            Ok(Some(dir)) => {
                let below = self.level(dir, Some(key.clone()), level.depth + 1);
                self.levels.push(below.during(OPERATION, key)?);
                Ok(())
            }
            // Gone since the directory was read.
            Ok(None) | Err(Fault::BelowObject) => Ok(()),
            Err(fault) => Err(fault.at(OPERATION, key)),
        }
    }

    /// Reads the names in a directory.
    ///
    /// No other operation goes on meanwhile, if they take no longer than the courtesy lasts: on
    /// some file systems a file that is renamed over another one could be missed or met twice.
    fn level(&self, dir: File, key: Option<StorageKey>, depth: usize) -> Result<Level, Fault> {
        let lock = if self.locked { None } else { self.store.present_lock() };
        let _courtesy = lock.as_ref().map(Courtesy::of_reader);
        let mut names = Vec::new();
        for entry in Dir::read_from(&dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") || names::is_reserved(name.to_bytes()) {
                continue;
            }
            let is_dir = match entry.file_type() {
                FileType::Unknown => matches!(dir::find(&dir, name), Ok(Found::Directory)),
                known => known == FileType::Directory,
            };
            let mut name = name.to_bytes().to_vec();
            name.extend(is_dir.then_some(b'/'));
            names.push(name);
        }
        names.sort_unstable();
        Ok(Level { dir, key, depth, names: names.into_iter() })
    }

    /// Tells whether a directory can hold anything that is wanted.
    fn wants_below(&self, level: &Level, key: &StorageKey) -> bool {
        let passed =
            |after: &StorageKey| !after.is_below(key) && after.as_str() > &format!("{key}/")[..];
        self.options.max_depth.is_none_or(|depth| level.depth < depth)
            && !self.options.start_after.as_ref().is_some_and(passed)
    }

    /// Tells whether something without a valid key is to be reported.
    fn wants_unnamed(&self, level: &Level, name: &[u8], is_dir: bool) -> bool {
        let Self { options, .. } = self;
        let path = [level.prefix().as_bytes(), name].concat();
        options.max_depth.is_none_or(|depth| level.depth + usize::from(is_dir) <= depth)
            && (is_dir || options.suffix.as_ref().is_none_or(|s| name.ends_with(s.as_bytes())))
            && options.start_after.as_ref().is_none_or(|after| *path > *after.as_str().as_bytes())
    }
}

impl Level {
    fn prefix(&self) -> String {
        self.key.as_ref().map(|key| format!("{key}/")).unwrap_or_default()
    }

    fn key_of(&self, name: &[u8]) -> Result<StorageKey> {
        match std::str::from_utf8(name) {
            Ok(name) => Ok(StorageKey::new(self.prefix() + name)?),
            Err(_) => Err(StorageError::Invalid {
                detail: format!(
                    "invalid storage key {:?}: not UTF-8",
                    self.prefix() + &String::from_utf8_lossy(name)
                ),
            }),
        }
    }
}

impl Iterator for Listing {
    type Item = Result<ObjectMeta>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.options.limit.is_none_or(|limit| self.found < limit) {
            let item = if self.started {
                match self.levels.last_mut()?.names.next() {
                    Some(name) => self.visit(&name),
                    None => {
                        self.levels.pop();
                        None
                    }
                }
            } else {
                self.started = true;
                self.start().err().map(Err)
            };
            if item.is_some() {
                self.found += 1;
                return item;
            }
        }
        None
    }
}

impl Stream for Listing {
    type Item = Result<ObjectMeta>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.next())
    }
}
