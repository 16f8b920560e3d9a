//! Short forms for what checks do and expect again and again.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::task::Poll;

use bytes::Bytes;

use super::cx::Store;
use super::failure::{Failure, Result};
use crate::storage::{
    AppendOptions, AppendWriter, Durability, ListOptions, ObjectMeta, Payload, Precondition,
    PutOptions, SessionStorageExt, StorageError, StorageErrorKind, StorageKey,
};

pub(super) type Writer = Box<dyn AppendWriter>;

#[track_caller]
pub(super) fn key(name: &str) -> Result<StorageKey> {
    Ok(StorageKey::new(name)?)
}

/// Options every backend can serve, with a precondition.
pub(super) fn when(precondition: Precondition) -> PutOptions {
    PutOptions::when(precondition).durability(Durability::Accepted)
}

pub(super) async fn put(store: &Store, name: &str, body: impl Into<Bytes>) -> Result<ObjectMeta> {
    put_when(store, name, body, Precondition::None).await?.map_err(Failure::from)
}

/// A put whose outcome the check looks at.
pub(super) async fn put_when(
    store: &Store,
    name: &str,
    body: impl Into<Bytes>,
    precondition: Precondition,
) -> Result<Result<ObjectMeta, StorageError>> {
    Ok(store.put(&key(name)?, Payload::from(body.into()), when(precondition)).await)
}

pub(super) async fn shared(store: &Store, name: &str) -> Result<Writer> {
    Ok(store.open_append(&key(name)?, AppendOptions::default()).await?)
}

pub(super) async fn exclusive(store: &Store, name: &str) -> Result<Writer> {
    Ok(store.open_append(&key(name)?, AppendOptions::exclusive("the suite")).await?)
}

pub(super) async fn content(store: &Store, name: &str) -> Result<Bytes> {
    Ok(store.read_all(&key(name)?).await?.1)
}

/// Checks the keys and contents of the whole store, and that listing and reading agree.
pub(super) async fn holds(store: &Store, want: &[(&str, &str)]) -> Result {
    let want: BTreeMap<_, _> =
        want.iter().map(|(name, body)| (*name, Bytes::copy_from_slice(body.as_bytes()))).collect();
    let got = dump(store).await?;
    let got: BTreeMap<_, _> =
        got.iter().map(|(name, body)| (name.as_str(), body.clone())).collect();
    same("the objects in the store", got, want)
}

/// Reads the whole store by its listing.
pub(super) async fn dump(store: &Store) -> Result<BTreeMap<String, Bytes>> {
    let mut all = BTreeMap::new();
    for meta in listed(store, None, ListOptions::default()).await? {
        let (read, body) = store.read_all(&meta.key).await?;
        same("what list and read know of an object", &read, &meta)?;
        same("the size of an object", read.size, body.len() as u64)?;
        same("what head knows of an object", store.head(&meta.key).await?, meta)?;
        all.insert(read.key.to_string(), body);
    }
    Ok(all)
}

/// Lists, and takes any error item for a failure.
pub(super) async fn listed(
    store: &Store,
    prefix: Option<&StorageKey>,
    options: ListOptions,
) -> Result<Vec<ObjectMeta>> {
    let (objects, errors) = store.list_all(prefix, options).await;
    match errors.into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(objects),
    }
}

#[track_caller]
pub(super) fn same<T: PartialEq<U> + Debug, U: Debug>(what: &str, got: T, want: U) -> Result {
    if got == want {
        return Ok(());
    }
    Err(Failure::new(format!("{what}: got {}, want {}", brief(&got), brief(&want))))
}

#[track_caller]
pub(super) fn differ<T: PartialEq + Debug>(what: &str, one: T, other: T) -> Result {
    ensure(&format!("{what}: both are {}", brief(&one)), one != other)
}

#[track_caller]
pub(super) fn ensure(what: &str, holds: bool) -> Result {
    if holds { Ok(()) } else { Err(Failure::new(what)) }
}

/// The debug form of a value, cut where nobody reads on.
fn brief(value: &impl Debug) -> String {
    const LONGEST: usize = 600;
    let text = format!("{value:?}");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

/// Expects an error of one kind that names `name`, and returns it.
#[track_caller]
pub(super) fn refused<T: Debug>(
    outcome: Result<T, StorageError>,
    kind: StorageErrorKind,
    name: &str,
) -> Result<StorageError> {
    match outcome {
        Err(error) if error.kind() == kind => {
            let named = error.key().map(StorageKey::as_str);
            match named {
                Some(named) if named != name => {
                    Err(Failure::new(format!("{error} ({kind:?}) names {named:?}, not {name:?}")))
                }
                _ => Ok(error),
            }
        }
        Err(error) => Err(Failure::new(format!(
            "got {:?} ({error}), want {kind:?} for {name:?}",
            error.kind()
        ))),
        Ok(value) => {
            Err(Failure::new(format!("got {}, want {kind:?} for {name:?}", brief(&value))))
        }
    }
}

/// Runs futures side by side on this thread and returns what each returned, in order.
pub(super) async fn join<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> =
        futures.into_iter().map(|future| Ok::<_, F::Output>(Box::pin(future))).collect();
    poll_fn(|task| {
        let mut pending = false;
        for slot in &mut running {
            if let Ok(future) = slot {
                match future.as_mut().poll(task) {
                    Poll::Ready(outcome) => *slot = Err(outcome),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    running.into_iter().filter_map(Result::err).collect()
}
