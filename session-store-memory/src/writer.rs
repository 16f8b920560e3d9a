//! A writer of one object.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::{
    AppendWriter, Durability, ObjectMeta, Payload, PutOptions, Result, StorageError,
    StorageErrorKind, StorageKey,
};

use crate::operation::Operation;
use crate::plan::Effect;
use crate::state::{Object, State, check_level};
use crate::storage::{Shared, put};

#[derive(Debug)]
pub(crate) struct MemoryWriter {
    shared: Arc<Shared>,
    key: StorageKey,
    /// The token of the claim of an exclusive writer.
    claim: Option<u64>,
    seen: Seen,
    error: Option<StorageError>,
}

/// The object as its writer left or found it; an exclusive one notices changes by others.
#[derive(Clone, Copy, Debug)]
struct Seen {
    version: u64,
    len: u64,
}

impl MemoryWriter {
    pub(crate) fn new(
        shared: Arc<Shared>,
        key: StorageKey,
        claim: Option<u64>,
        object: &Object,
    ) -> Self {
        Self { shared, key, claim, seen: Seen::of(object), error: None }
    }

    fn check_open(&self) -> Result<()> {
        match &self.error {
            Some(error) => {
                let source = Some(Arc::new(error.clone()));
                Err(StorageError::Closed { key: self.key.clone(), source })
            }
            None => Ok(()),
        }
    }

    /// Closes this writer after an error, unless it is one of those it survives.
    fn settle<T>(&mut self, outcome: Result<T>, survives: &[StorageErrorKind]) -> Result<T> {
        if let Err(error) = &outcome
            && !survives.contains(&error.kind())
        {
            self.error = Some(error.clone());
        }
        outcome
    }

    /// Refuses to go on under a claim that somebody ignored.
    fn check_unchanged(&self, state: &State) -> Result<()> {
        if self.claim.is_none() || state.version(&self.key) == Some(self.seen.version) {
            return Ok(());
        }
        let detail = "somebody changed it in spite of this writer's claim".to_owned();
        Err(StorageError::Conflict { key: self.key.clone(), detail })
    }

    /// Returns the object to be changed: with a claim the one this writer knows, without one
    /// whatever is there, made anew if there is none.
    fn object<'a>(&self, state: &'a mut State) -> Result<&'a mut Object> {
        self.check_unchanged(state)?;
        if self.claim.is_none() {
            state.check_free(&self.key, None)?;
            if state.version(&self.key).is_none() {
                state.check_place(&self.key)?;
                state.set(&self.key, Bytes::new());
            }
        }
        state.object(&self.key)
    }

    fn append_to(&self, state: &mut State, lines: &[u8]) -> Result<(u64, Seen)> {
        if lines.is_empty() {
            return Ok((self.seen.len, self.seen));
        }
        let version = state.next();
        let object = self.object(state)?;
        let start = object.content.len();
        object.change(version, |content| content.append(lines));
        Ok((start, Seen::of(object)))
    }

    /// Writes the first bytes of an append that fails halfway.
    fn append_part(&self, state: &mut State, part: &[u8], effect: Effect) -> Result<()> {
        match effect {
            Effect::Crash => self.append_to(state, part).map(drop),
            Effect::Fail(_) => {
                let content = &mut self.object(state)?.content;
                let before = content.len();
                content.append(part);
                content.truncate(before);
                Ok(())
            }
        }
    }
}

#[async_trait]
impl AppendWriter for MemoryWriter {
    fn len(&self) -> u64 {
        self.seen.len
    }

    async fn append(&mut self, lines: Bytes) -> Result<u64> {
        self.check_open()?;
        let outcome = self.shared.call_in_parts(
            Operation::Append,
            &[&self.key],
            |state| self.append_to(state, &lines),
            |state, len, effect| {
                let part = &lines[..lines.len().min(len as usize)];
                self.append_part(state, part, effect)
            },
        );
        let survives = [StorageErrorKind::Conflict, StorageErrorKind::Busy];
        let (start, seen) = self.settle(outcome, &survives)?;
        self.seen = seen;
        Ok(start)
    }

    async fn truncate(&mut self, len: u64) -> Result<()> {
        self.check_open()?;
        let outcome = self.shared.call(Operation::Truncate, &[&self.key], |state| {
            if self.claim.is_none() {
                let detail = format!("only an exclusive writer truncates {}", self.key);
                return Err(StorageError::Invalid { detail });
            }
            let version = state.next();
            let object = self.object(state)?;
            let size = object.content.len();
            if len > size {
                let detail = format!("{} has {size} bytes, not the {len} to keep", self.key);
                return Err(StorageError::Invalid { detail });
            }
            if len < size {
                object.change(version, |content| content.truncate(len));
            }
            Ok(Seen::of(object))
        });
        let survives = [StorageErrorKind::Conflict, StorageErrorKind::Invalid];
        self.seen = self.settle(outcome, &survives)?;
        Ok(())
    }

    async fn replace(&mut self, body: Payload, options: PutOptions) -> Result<ObjectMeta> {
        self.check_open()?;
        let body = body.to_bytes();
        let (meta, seen) = self.shared.call(Operation::Replace, &[&self.key], |state| {
            let meta = put(state, &self.key, body, &options, self.claim)?;
            Ok((meta, Seen::of(state.object(&self.key)?)))
        })?;
        self.seen = seen;
        Ok(meta)
    }

    async fn adopt(&mut self) -> Result<ObjectMeta> {
        self.check_open()?;
        let (meta, seen) = self.shared.call(Operation::Adopt, &[&self.key], |state| {
            let object = state.object(&self.key)?;
            Ok((object.meta(&self.key), Seen::of(object)))
        })?;
        self.seen = seen;
        Ok(meta)
    }

    async fn sync(&mut self, level: Durability) -> Result<()> {
        self.check_open()?;
        let outcome = self.shared.call(Operation::Sync, &[&self.key], |state| {
            check_level(level)?;
            match level {
                Durability::Accepted => Ok(()),
                _ => self.check_unchanged(state),
            }
        });
        self.settle(outcome, &[StorageErrorKind::Unsupported, StorageErrorKind::Conflict])
    }

    fn error(&self) -> Option<&StorageError> {
        self.error.as_ref()
    }

    async fn close(mut self: Box<Self>) -> Result<ObjectMeta> {
        let meta = self.shared.call(Operation::Close, &[&self.key], |state| state.meta(&self.key));
        match self.error.take() {
            Some(error) => Err(error),
            None => meta,
        }
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        if let Some(claim) = self.claim {
            self.shared.lock().release(&self.key, claim);
        }
    }
}

impl Seen {
    fn of(object: &Object) -> Self {
        Self { version: object.version, len: object.content.len() }
    }
}
