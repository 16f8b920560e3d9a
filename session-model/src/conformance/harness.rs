//! What a backend's test binary supplies to be checked.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::storage::{Durability, SessionStorage, StorageKey};

/// A future as the suite hands it to [`Harness::block_on`].
pub type Task<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The result of a harness hook.
pub type HookResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A kind of backend under test: makes places for data and runs futures.
pub trait Harness: Send + Sync + 'static {
    /// Declares what the backend and this harness can do.
    ///
    /// What is declared is checked, and so is what is not: see [`Abilities`].
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    /// Makes an empty place for data that shares nothing with any other, also not with those of
    /// checks that run at the same time.
    ///
    /// # Errors
    ///
    /// Whatever keeps the place from being made; the check fails with it.
    fn subject(&self) -> HookResult<Box<dyn Subject>>;

    /// Runs a future to its end on the calling thread.
    ///
    /// Some checks call it on several threads at once with handles of the same store.
    fn block_on(&self, task: Task<'_>);
}

/// A place for data, under its own root; dropping it cleans up.
#[async_trait]
pub trait Subject: Send + Sync {
    /// Opens the data as another process would.
    ///
    /// Handles opened earlier may live or be gone. A check that drops all of them and opens again
    /// proves what survives; a check that holds several proves what holds between processes. They
    /// should therefore share no state that processes would not share.
    ///
    /// # Errors
    ///
    /// Whatever keeps the store from being opened; the check fails with it.
    async fn open(&self) -> HookResult<Arc<dyn SessionStorage>>;

    /// Changes an object as a program would that knows neither contract nor claims.
    ///
    /// Called only if [`Abilities::tampering`] is declared.
    ///
    /// # Errors
    ///
    /// By default always, as this cannot be done.
    async fn tamper(&self, key: &StorageKey, how: Tampering) -> HookResult<()> {
        Err(format!("the harness declares tampering but did not do {how:?} to {key}").into())
    }

    /// Makes the next call that reaches `point`, through any handle of this place, fail there.
    ///
    /// Called only for points declared in [`Abilities::faults`].
    ///
    /// # Errors
    ///
    /// By default always, as this cannot be done.
    async fn fail_next(&self, point: FaultPoint) -> HookResult<()> {
        Err(format!("the harness declares faults but did not arm {point:?}").into())
    }
}

/// What a backend and its harness can do, as they declare it.
///
/// By default: the levels `Accepted` and `Durable`, no local paths, no tampering, no faults.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Abilities {
    /// The levels of durability the backend gives. Those missing must be answered with
    /// `Unsupported`, which is checked.
    pub levels: Vec<Durability>,
    /// Whether the backend keeps each object in a file of its own. If not, it must name none,
    /// which is checked.
    pub local_paths: bool,
    /// Whether the harness can change objects behind the contract's back. If not, the checks
    /// that need it do not apply.
    pub tampering: bool,
    /// Where the harness can make calls fail. The checks that need other points do not apply.
    pub faults: Vec<FaultPoint>,
}

impl Default for Abilities {
    fn default() -> Self {
        Self {
            levels: vec![Durability::Accepted, Durability::Durable],
            local_paths: false,
            tampering: false,
            faults: Vec::new(),
        }
    }
}

impl Abilities {
    /// These abilities with other levels of durability.
    pub fn levels(self, levels: impl Into<Vec<Durability>>) -> Self {
        Self { levels: levels.into(), ..self }
    }

    /// These abilities with a file for each object.
    pub fn local_paths(self) -> Self {
        Self { local_paths: true, ..self }
    }

    /// These abilities with [`Subject::tamper`].
    pub fn tampering(self) -> Self {
        Self { tampering: true, ..self }
    }

    /// These abilities with [`Subject::fail_next`] at some points.
    pub fn faults(self, faults: impl Into<Vec<FaultPoint>>) -> Self {
        Self { faults: faults.into(), ..self }
    }
}

/// A change made behind the contract's back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tampering {
    /// Another object with this content takes the place, as by renaming a file over it.
    Replace(Bytes),
    /// These bytes appear at the end of the object.
    Append(Bytes),
    /// The object goes away.
    Remove,
}

/// A place inside a backend at which a call can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultPoint {
    /// An append, before any byte is written.
    Append,
    /// An append, after some of its bytes were written.
    AppendHalfway,
    /// A `sync` of a writer.
    Sync,
    /// A `put`, before the new object is in place.
    Put,
    /// A `replace` of a writer, before the new object is in place.
    Replace,
}
