//! What a store holds: objects, claims, and the rules between them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::time::SystemTime;

use bytes::Bytes;
use session_model::storage::{
    Durability, Holder, ListOptions, ObjectMeta, Precondition, Result, StorageError, StorageKey,
    Version,
};

use crate::content::Content;
use crate::plan::Plan;

#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) content: Content,
    modified: SystemTime,
    pub(crate) version: u64,
}

/// The right of one exclusive writer.
#[derive(Debug)]
struct Claim {
    token: u64,
    owner: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    objects: BTreeMap<StorageKey, Object>,
    claims: HashMap<StorageKey, Claim>,
    /// The last number given to a version or a claim; none is given twice.
    last: u64,
    /// What is to go wrong; nothing in the ordinary case.
    pub(crate) plan: Option<Box<Plan>>,
}

impl State {
    pub(crate) fn object(&mut self, key: &StorageKey) -> Result<&mut Object> {
        self.objects.get_mut(key).ok_or_else(|| StorageError::NotFound { key: key.clone() })
    }

    pub(crate) fn meta(&self, key: &StorageKey) -> Result<ObjectMeta> {
        match self.objects.get(key) {
            Some(object) => Ok(object.meta(key)),
            None => Err(StorageError::NotFound { key: key.clone() }),
        }
    }

    /// The version of an object as a number, or `None` without an object.
    pub(crate) fn version(&self, key: &StorageKey) -> Option<u64> {
        self.objects.get(key).map(|object| object.version)
    }

    /// Checks that no claim but the one with this token is in the way.
    pub(crate) fn check_free(&self, key: &StorageKey, token: Option<u64>) -> Result<()> {
        match self.claims.get(key) {
            Some(claim) if Some(claim.token) != token => Err(busy(key, claim)),
            _ => Ok(()),
        }
    }

    /// Checks that no object below `prefix` is claimed.
    pub(crate) fn check_all_free(&self, prefix: &StorageKey) -> Result<()> {
        match self.claims.iter().find(|(key, _)| key.is_below(prefix)) {
            Some((key, claim)) => Err(busy(key, claim)),
            None => Ok(()),
        }
    }

    pub(crate) fn check_precondition(&self, key: &StorageKey, want: &Precondition) -> Result<()> {
        let there = self.objects.get(key);
        let matches = match (want, there) {
            (Precondition::None, _) | (Precondition::Absent, None) => return Ok(()),
            (Precondition::Absent, Some(_)) => {
                return Err(StorageError::AlreadyExists { key: key.clone() });
            }
            (_, None) => return Err(StorageError::NotFound { key: key.clone() }),
            (Precondition::Present, Some(_)) => return Ok(()),
            (Precondition::Version(version), Some(object)) => object.token() == *version,
            (Precondition::Length(len), Some(object)) => object.content.len() == *len,
            (other, Some(_)) => {
                return Err(StorageError::Unsupported {
                    what: format!("the precondition {other:?}"),
                });
            }
        };
        if matches {
            return Ok(());
        }
        Err(StorageError::Conflict {
            key: key.clone(),
            detail: format!("it does not meet {want:?}"),
        })
    }

    /// Checks that an object may be at this key: none is below or above it.
    pub(crate) fn check_place(&self, key: &StorageKey) -> Result<()> {
        if self.objects.contains_key(key) {
            return Ok(());
        }
        let above = std::iter::successors(key.parent(), StorageKey::parent);
        let other = above
            .into_iter()
            .find(|above| self.objects.contains_key(above))
            .or_else(|| self.below(Some(key)).next().map(|(below, _)| below.clone()));
        match other {
            Some(other) => Err(StorageError::Invalid {
                detail: format!("{key} and {other} cannot both be objects"),
            }),
            None => Ok(()),
        }
    }

    /// Sets the whole content, as a new state of the object.
    pub(crate) fn set(&mut self, key: &StorageKey, body: Bytes) -> ObjectMeta {
        let object =
            Object { content: body.into(), modified: SystemTime::now(), version: self.next() };
        let meta = object.meta(key);
        self.objects.insert(key.clone(), object);
        meta
    }

    pub(crate) fn remove(&mut self, key: &StorageKey) -> Result<Object> {
        self.objects.remove(key).ok_or_else(|| StorageError::NotFound { key: key.clone() })
    }

    pub(crate) fn remove_below(&mut self, prefix: &StorageKey) -> u64 {
        let keys: Vec<_> = self.below(Some(prefix)).map(|(key, _)| key.clone()).collect();
        for key in &keys {
            self.objects.remove(key);
        }
        keys.len() as u64
    }

    pub(crate) fn list(
        &self,
        prefix: Option<&StorageKey>,
        options: &ListOptions,
    ) -> Vec<ObjectMeta> {
        self.below(prefix)
            .filter(|(key, _)| options.admits(prefix, key))
            .take(options.limit.unwrap_or(usize::MAX))
            .map(|(key, object)| object.meta(key))
            .collect()
    }

    pub(crate) fn claim(&mut self, key: &StorageKey, owner: Option<String>) -> u64 {
        let token = self.next();
        self.claims.insert(key.clone(), Claim { token, owner });
        token
    }

    pub(crate) fn release(&mut self, key: &StorageKey, token: u64) {
        if self.claims.get(key).is_some_and(|claim| claim.token == token) {
            self.claims.remove(key);
        }
    }

    /// Returns the same objects, with their versions, free of claims and faults.
    pub(crate) fn image(&mut self) -> Self {
        let objects = self.objects.iter_mut().map(|(key, object)| {
            let content = object.content.whole().into();
            (key.clone(), Object { content, ..*object })
        });
        Self { objects: objects.collect(), last: self.last, ..Self::default() }
    }

    fn below(&self, prefix: Option<&StorageKey>) -> impl Iterator<Item = (&StorageKey, &Object)> {
        let prefix = prefix.map(|prefix| format!("{prefix}/")).unwrap_or_default();
        self.objects
            .range::<str, _>((Bound::Excluded(prefix.as_str()), Bound::Unbounded))
            .take_while(move |(key, _)| key.as_str().starts_with(&prefix))
    }

    /// Returns a number that was never given before.
    pub(crate) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

impl Object {
    /// Changes the content in place, as a new state of the object.
    pub(crate) fn change(&mut self, version: u64, change: impl FnOnce(&mut Content)) {
        change(&mut self.content);
        self.modified = SystemTime::now();
        self.version = version;
    }

    pub(crate) fn meta(&self, key: &StorageKey) -> ObjectMeta {
        ObjectMeta::new(key.clone(), self.content.len(), self.modified, self.token())
    }

    fn token(&self) -> Version {
        Version::new(self.version.to_string())
    }
}

fn busy(key: &StorageKey, claim: &Claim) -> StorageError {
    let mut holder = Holder::default();
    holder.owner.clone_from(&claim.owner);
    holder.pid = Some(std::process::id());
    StorageError::Busy { key: key.clone(), holder: Box::new(holder) }
}

/// Refuses the levels that memory cannot give.
pub(crate) fn check_level(level: Durability) -> Result<()> {
    match level {
        Durability::Accepted | Durability::Durable => Ok(()),
        other => Err(StorageError::Unsupported { what: format!("the durability {other:?}") }),
    }
}
