//! What is to go wrong, counted down call by call.

use session_model::storage::{Holder, StorageError, StorageErrorKind, StorageKey};

use crate::operation::{Call, Operation};

/// When in a call a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the call had any effect.
    Before,
    /// After so many bytes of an append; in any other call as [`Before`](Self::Before), since
    /// those have no halfway.
    Partway(u64),
    /// After the call had its whole effect; the caller is told that it failed all the same.
    After,
}

/// What a fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The call fails; what it wrote partway is cut back.
    Fail(StorageErrorKind),
    /// The store stops: what is written stays as it is, and no further call is answered.
    Crash,
}

/// A fault that strikes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strike {
    pub(crate) when: When,
    pub(crate) effect: Effect,
}

/// A fault on its way.
#[derive(Debug)]
struct Armed {
    /// The only operation that counts; all count without one.
    operation: Option<Operation>,
    /// How many calls go well before.
    left: u64,
    strike: Strike,
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    armed: Vec<Armed>,
    pub(crate) fired: bool,
    crashed: bool,
    pub(crate) record: Option<Vec<Call>>,
}

impl Plan {
    pub(crate) fn arm(
        &mut self,
        operation: Option<Operation>,
        left: u64,
        when: When,
        effect: Effect,
    ) {
        self.armed.push(Armed { operation, left, strike: Strike { when, effect } });
    }

    /// Takes back what has not struck yet; a crash stays.
    pub(crate) fn disarm(&mut self) {
        self.armed.clear();
        self.fired = false;
    }

    /// Counts a call and tells what strikes it.
    pub(crate) fn next(&mut self, operation: Operation, keys: &[&StorageKey]) -> Option<Strike> {
        if self.crashed {
            return Some(Strike { when: When::Before, effect: Effect::Crash });
        }
        if let Some(record) = &mut self.record {
            let keys = keys.iter().copied().cloned().collect();
            record.push(Call { operation, keys });
        }
        let mut struck = None;
        self.armed.retain_mut(|armed| {
            if armed.operation.is_some_and(|only| only != operation) {
                return true;
            }
            if armed.left == 0 {
                struck = struck.or(Some(armed.strike));
                return false;
            }
            armed.left -= 1;
            true
        });
        if let Some(strike) = struck {
            self.fired = true;
            self.crashed = strike.effect == Effect::Crash;
        }
        struck
    }
}

impl Strike {
    /// The error the caller gets.
    pub(crate) fn error(self, operation: Operation, key: Option<&StorageKey>) -> StorageError {
        let (kind, source) = match self.effect {
            Effect::Fail(kind) => (kind, "an injected fault"),
            Effect::Crash => (StorageErrorKind::Unavailable, "an injected crash"),
        };
        // `drain` and a listing of all speak of no object, yet most errors must name one.
        let key = match key.map_or_else(|| StorageKey::new("memory"), |key| Ok(key.clone())) {
            Ok(key) => key,
            Err(invalid) => return invalid.into(),
        };
        match kind {
            StorageErrorKind::NotFound => StorageError::NotFound { key },
            StorageErrorKind::AlreadyExists => StorageError::AlreadyExists { key },
            StorageErrorKind::Conflict => StorageError::Conflict { key, detail: source.to_owned() },
            StorageErrorKind::Busy => {
                StorageError::Busy { key, holder: Box::new(Holder::default()) }
            }
            StorageErrorKind::Closed => StorageError::Closed { key, source: None },
            StorageErrorKind::Invalid => StorageError::Invalid { detail: source.to_owned() },
            StorageErrorKind::Unsupported => StorageError::Unsupported { what: source.to_owned() },
            below => StorageError::failed(below, operation.verb(), key, source),
        }
    }
}
