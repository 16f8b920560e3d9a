//! Looking at session files: the beginning and the end of each, by several threads.

use std::sync::OnceLock;
use std::thread;

use session_model::storage::{ObjectMeta, Peek, SessionStorage, StorageError, StorageErrorKind};
use session_model::summary::{FileParts, HEAD_BYTES, SessionSummary, SummaryError, TAIL_BYTES};

use super::SessionRow;
use crate::{Result, SessionError};

/// How many files a thread is started for.
const MIN_SHARE: usize = 16;

/// Makes the rows of some files, in their order; `None` for one that is gone.
pub(super) async fn look(
    storage: &dyn SessionStorage,
    files: &[ObjectMeta],
) -> Vec<Option<SessionRow>> {
    let keys: Vec<_> = files.iter().map(|meta| meta.key.clone()).collect();
    let peeks = storage.peek(&keys, HEAD_BYTES, TAIL_BYTES).await;
    let seen: Vec<_> = files.iter().zip(peeks).collect();
    let first = side_by_side(seen, |(meta, peek)| first_look(storage, meta, peek));
    let mut rows = Vec::with_capacity(files.len());
    for (meta, look) in files.iter().zip(first) {
        rows.push(match look {
            Look::Row(row) => *row,
            Look::More(head) => look_further(storage, meta, head).await,
        });
    }
    rows
}

/// What came of looking at a file.
enum Look {
    Row(Box<Option<SessionRow>>),
    /// So many bytes of the beginning are to be read.
    More(u64),
}

fn first_look(
    storage: &dyn SessionStorage,
    meta: &ObjectMeta,
    peek: Result<Peek, StorageError>,
) -> Look {
    let summary = match peek {
        Ok(peek) => match SessionSummary::from_parts(&FileParts::from(peek)) {
            Err(SummaryError::NeedMore { head }) => return Look::More(head),
            Err(SummaryError::NotASession(source)) => {
                Err(SessionError::NotASession { key: meta.key.clone(), source })
            }
            Ok(summary) => Ok(summary),
        },
        Err(error) if error.kind() == StorageErrorKind::NotFound => {
            return Look::Row(Box::new(None));
        }
        Err(error) => Err(error.into()),
    };
    let row = SessionRow::new(storage, meta.key.clone(), Some(meta.clone()), summary);
    Look::Row(Box::new(Some(row)))
}

/// Reads ever more of a file's beginning, until its header is whole.
async fn look_further(
    storage: &dyn SessionStorage,
    meta: &ObjectMeta,
    mut head: u64,
) -> Option<SessionRow> {
    let mut asked = HEAD_BYTES;
    while head > asked {
        asked = head;
        let peek = storage.peek(std::slice::from_ref(&meta.key), head, TAIL_BYTES).await.pop()?;
        match first_look(storage, meta, peek) {
            Look::Row(row) => return *row,
            Look::More(more) => head = more,
        }
    }
    let what = format!("reading the first {asked} bytes of {}", meta.key);
    let summary = Err(StorageError::Unsupported { what }.into());
    Some(SessionRow::new(storage, meta.key.clone(), Some(meta.clone()), summary))
}

/// Does something with each of many things, in several threads if there are enough of them.
fn side_by_side<T: Send, R: Send>(things: Vec<T>, act: impl Fn(T) -> R + Sync) -> Vec<R> {
    let shares = processors().min(things.len() / MIN_SHARE).max(1);
    let size = things.len().div_ceil(shares).max(1);
    let mut things = things.into_iter();
    let act = &act;
    let run = |share: Vec<T>| share.into_iter().map(act).collect::<Vec<_>>();
    thread::scope(|scope| {
        let mine: Vec<_> = things.by_ref().take(size).collect();
        let mut others = Vec::new();
        while things.len() > 0 {
            let share: Vec<_> = things.by_ref().take(size).collect();
            others.push(scope.spawn(move || run(share)));
        }
        let mut done = run(mine);
        for other in others {
            match other.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

/// How many threads can run at a time; asking the system takes as long as looking at some files.
fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, |count| count.get()))
}
