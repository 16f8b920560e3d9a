//! The store and its handle.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::vec;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use session_model::storage::{
    AppendOptions, AppendWriter, CopyOptions, Durability, ListOptions, ListStream, ObjectMeta,
    Payload, Peek, PutOptions, ReadRange, RenameOptions, Result, SessionStorage, StorageError,
    StorageKey,
};

use crate::faults::Faults;
use crate::operation::Operation;
use crate::plan::{Effect, Strike, When};
use crate::registry;
use crate::state::{State, check_level};
use crate::writer::MemoryWriter;

/// A store in memory: a handle, cheap to clone, of objects that live as long as any handle.
///
/// ```
/// use session_model::storage::{SessionStorageExt, StorageKey};
/// use session_store_memory::MemoryStorage;
///
/// # pollster::block_on(async {
/// let store = MemoryStorage::new();
/// let key = StorageKey::new("notes.jsonl")?;
/// store.append_once(&key, "one\n".into()).await?;
/// store.clone().append_once(&key, "two\n".into()).await?;
/// assert_eq!(store.read_all(&key).await?.1, "one\ntwo\n");
/// # Ok::<_, session_model::storage::StorageError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct MemoryStorage {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) name: Option<String>,
    state: Mutex<State>,
}

impl MemoryStorage {
    /// Makes an empty store that only its clones share.
    pub fn new() -> Self {
        Self::with(None, State::default())
    }

    /// Returns the store of this name, making it if nobody in this process holds it.
    ///
    /// It lives as long as any of its handles and writers. Once the last is gone its objects are
    /// gone too, and the name makes an empty store again.
    pub fn named(name: &str) -> Self {
        let shared = registry::get_or_insert_with(name, || Shared {
            name: Some(name.to_owned()),
            state: Mutex::default(),
        });
        Self { shared }
    }

    /// Returns what can go wrong in this store on purpose; nothing does unless it is asked for.
    pub fn faults(&self) -> Faults {
        Faults::of(&self.shared)
    }

    /// Returns another store with the same objects, as one finds them after a crash: their
    /// versions and times are kept, claims and faults are gone, writers stay with the old store.
    pub fn restarted(&self) -> Self {
        Self::with(None, self.shared.lock().image())
    }

    fn with(name: Option<String>, state: State) -> Self {
        Self { shared: Arc::new(Shared { name, state: Mutex::new(state) }) }
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the work of one call, unless a fault strikes.
    pub(crate) fn call<T>(
        &self,
        operation: Operation,
        keys: &[&StorageKey],
        work: impl FnOnce(&mut State) -> Result<T>,
    ) -> Result<T> {
        self.call_in_parts(operation, keys, work, |_, _, _| Ok(()))
    }

    /// As [`call`](Self::call), with what a fault partway leaves.
    pub(crate) fn call_in_parts<T>(
        &self,
        operation: Operation,
        keys: &[&StorageKey],
        work: impl FnOnce(&mut State) -> Result<T>,
        partway: impl FnOnce(&mut State, u64, Effect) -> Result<()>,
    ) -> Result<T> {
        let mut state = self.lock();
        let Some(strike) = state.strike(operation, keys) else {
            return work(&mut state);
        };
        match strike.when {
            When::Before => {}
            When::Partway(bytes) => partway(&mut state, bytes, strike.effect)?,
            When::After => {
                let outcome = work(&mut state);
                // What is dropped here may be a writer, which gives up its claim.
                drop(state);
                outcome?;
            }
        }
        Err(strike.error(operation, keys.first().copied()))
    }
}

impl State {
    pub(crate) fn strike(&mut self, operation: Operation, keys: &[&StorageKey]) -> Option<Strike> {
        self.plan.as_mut().and_then(|plan| plan.next(operation, keys))
    }
}

#[async_trait]
impl SessionStorage for MemoryStorage {
    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta> {
        self.shared.call(Operation::Head, &[key], |state| state.meta(key))
    }

    async fn read(
        &self,
        key: &StorageKey,
        ranges: &[ReadRange],
    ) -> Result<(ObjectMeta, Vec<Bytes>)> {
        self.shared.call(Operation::Read, &[key], |state| {
            let object = state.object(key)?;
            let size = object.content.len();
            let parts = ranges.iter().map(|range| object.content.slice(range.resolve(size)));
            let parts = parts.collect();
            Ok((object.meta(key), parts))
        })
    }

    async fn peek(&self, keys: &[StorageKey], head: u64, tail: u64) -> Vec<Result<Peek>> {
        let peek = |state: &mut State, key| {
            let object = state.object(key)?;
            let size = object.content.len();
            let border = head.min(size);
            let head = object.content.slice(0..border);
            let tail = object.content.slice(size.saturating_sub(tail).max(border)..size);
            Ok(Peek::new(object.meta(key), head, tail))
        };
        let mut state = self.shared.lock();
        let strike = state.strike(Operation::Peek, &keys.iter().collect::<Vec<_>>());
        keys.iter()
            .map(|key| match strike {
                Some(strike) => Err(strike.error(Operation::Peek, Some(key))),
                None => peek(&mut state, key),
            })
            .collect()
    }

    async fn put(
        &self,
        key: &StorageKey,
        body: Payload,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        let body = body.to_bytes();
        self.shared.call(Operation::Put, &[key], |state| put(state, key, body, &options, None))
    }

    async fn open_append(
        &self,
        key: &StorageKey,
        options: AppendOptions,
    ) -> Result<Box<dyn AppendWriter>> {
        self.shared.call(Operation::OpenAppend, &[key], |state| {
            state.check_free(key, None)?;
            state.check_precondition(key, &options.precondition)?;
            state.check_place(key)?;
            if state.version(key).is_none() {
                state.set(key, Bytes::new());
            }
            let claim = options.exclusive.then(|| state.claim(key, options.owner));
            let object = state.object(key)?;
            let writer = MemoryWriter::new(Arc::clone(&self.shared), key.clone(), claim, object);
            Ok(Box::new(writer) as Box<dyn AppendWriter>)
        })
    }

    async fn copy(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: CopyOptions,
    ) -> Result<ObjectMeta> {
        self.shared.call(Operation::Copy, &[from, to], |state| {
            let body = state.object(from)?.content.whole();
            check_target(state, to, options.overwrite)?;
            Ok(state.set(to, body))
        })
    }

    async fn rename(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: RenameOptions,
    ) -> Result<ObjectMeta> {
        self.shared.call(Operation::Rename, &[from, to], |state| {
            let body = state.object(from)?.content.whole();
            state.check_free(from, None)?;
            check_target(state, to, options.overwrite)?;
            state.remove(from)?;
            Ok(state.set(to, body))
        })
    }

    async fn remove(&self, key: &StorageKey) -> Result<()> {
        self.shared.call(Operation::Remove, &[key], |state| {
            state.check_free(key, None)?;
            state.remove(key).map(drop)
        })
    }

    async fn remove_all(&self, prefix: &StorageKey) -> Result<u64> {
        self.shared.call(Operation::RemoveAll, &[prefix], |state| {
            state.check_all_free(prefix)?;
            Ok(state.remove_below(prefix))
        })
    }

    fn list(&self, prefix: Option<&StorageKey>, options: ListOptions) -> ListStream {
        let mut state = self.shared.lock();
        let strike = state.strike(Operation::List, prefix.as_slice());
        let mut items: Vec<_> = state.list(prefix, &options).into_iter().map(Ok).collect();
        let struck = match strike {
            None => 0,
            Some(Strike { effect: Effect::Fail(_), .. }) => items.len().min(1),
            Some(Strike { effect: Effect::Crash, .. }) => items.len(),
        };
        for item in &mut items[..struck] {
            if let (Some(strike), Ok(meta)) = (strike, &*item) {
                *item = Err(strike.error(Operation::List, Some(&meta.key)));
            }
        }
        Box::pin(Listing(items.into_iter()))
    }

    async fn drain(&self, level: Durability) -> Result<()> {
        self.shared.call(Operation::Drain, &[], |_| check_level(level))
    }

    fn local_path(&self, _: &StorageKey) -> Option<PathBuf> {
        None
    }
}

/// Replaces an object whole, under the claim with this token or none.
pub(crate) fn put(
    state: &mut State,
    key: &StorageKey,
    body: Bytes,
    options: &PutOptions,
    token: Option<u64>,
) -> Result<ObjectMeta> {
    check_level(options.durability)?;
    state.check_free(key, token)?;
    state.check_precondition(key, &options.precondition)?;
    state.check_place(key)?;
    Ok(state.set(key, body))
}

fn check_target(state: &State, to: &StorageKey, overwrite: bool) -> Result<()> {
    if !overwrite && state.version(to).is_some() {
        return Err(StorageError::AlreadyExists { key: to.clone() });
    }
    state.check_free(to, None)?;
    state.check_place(to)
}

/// A listing, complete when it begins.
struct Listing(vec::IntoIter<Result<ObjectMeta>>);

impl Stream for Listing {
    type Item = Result<ObjectMeta>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next())
    }
}

impl Default for MemoryStorage {
    fn default() -> Self {
        Self::new()
    }
}

/// The address that opens this store: `memory:` or `memory://name`.
impl fmt::Display for MemoryStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shared.name {
            Some(name) => write!(f, "memory://{name}"),
            None => f.write_str("memory:"),
        }
    }
}

impl fmt::Debug for MemoryStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryStorage({self})")
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).finish_non_exhaustive()
    }
}
