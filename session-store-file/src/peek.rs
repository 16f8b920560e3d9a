//! Looking at many objects, by several threads.

use std::ops::Range;
use std::sync::OnceLock;
use std::thread;

use session_model::storage::{Peek, Result, StorageKey};

use crate::read;
use crate::store::{Parents, Store};

/// How many objects a thread is started for.
const MIN_SHARE: usize = 16;

/// Reads the beginnings and the ends of objects.
pub(crate) fn peek(store: &Store, keys: &[StorageKey], head: u64, tail: u64) -> Vec<Result<Peek>> {
    let shares = processors().min(keys.len() / MIN_SHARE).max(1);
    let mut shares = keys.chunks(keys.len().div_ceil(shares).max(1));
    let run = move |keys| share(store, keys, head, tail);
    let mine = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = shares.map(|keys| scope.spawn(move || run(keys))).collect();
        let mut peeks = run(mine);
        for other in others {
            match other.join() {
                Ok(more) => peeks.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        peeks
    })
}

fn share(store: &Store, keys: &[StorageKey], head: u64, tail: u64) -> Vec<Result<Peek>> {
    let plan = |size| ends(size, head, tail);
    let mut parents = Parents::new(store);
    let peek = |key| {
        let (state, mut parts) = read::read(&mut parents, key, plan)?;
        let tail = parts.pop().unwrap_or_default();
        let head = parts.pop().unwrap_or_default();
        Ok(Peek::new(state.meta(key), head, tail))
    };
    keys.iter().map(peek).collect()
}

/// The beginning of an object of this size, and its end without that.
fn ends(size: u64, head: u64, tail: u64) -> Vec<Range<u64>> {
    let head = head.min(size);
    vec![0..head, size.saturating_sub(tail).max(head)..size]
}

/// How many threads can run at a time; asking the system takes as long as reading some objects.
fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, |count| count.get()))
}
