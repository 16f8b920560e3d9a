//! Reading what a session file holds beyond its indexed part.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use memchr::{memmem, memrchr};
use session_model::EntryKind;
use session_model::document::{LoadError, LoadOptions, Scan};
use session_model::entry::{Entry, Parent};
use session_model::storage::{
    ObjectMeta, ReadRange, SessionStorage, StorageError, StorageErrorKind, StorageKey,
};
use session_model::summary::{FileParts, HEAD_BYTES, SessionSummary, SummaryError, TAIL_BYTES};

use super::Mark;
use super::apply::{Advance, Change, Known, Shown};
use super::entries::NewEntry;
use super::fingerprint::{fingerprint, identity, samples};
use super::summaries::Noted;

/// How much of a file is read at once, so that it stays in the cache of a processor; more if a line
/// is longer.
const CHUNK: u64 = 1 << 20;

/// A session on the way from its indexed part to the end of its file.
#[derive(Debug)]
pub(super) struct CatchUp<'a> {
    storage: &'a dyn SessionStorage,
    key: StorageKey,
    mark: Mark,
    known: Option<Known>,
    chunk: u64,
    is_done: bool,
}

impl<'a> CatchUp<'a> {
    pub(super) fn new(
        storage: &'a dyn SessionStorage,
        key: StorageKey,
        mark: Mark,
        known: Option<Known>,
    ) -> Self {
        Self { storage, key, mark, known, chunk: CHUNK, is_done: false }
    }

    /// Reads on; `None` once the end was reached.
    pub(super) async fn step(&mut self) -> Option<Change> {
        if self.is_done {
            return None;
        }
        match self.advance().await {
            Ok(change) => Some(change),
            Err(error) if error.kind() == StorageErrorKind::NotFound => {
                self.is_done = true;
                self.known.is_some().then(|| Change::Remove(self.key.clone(), None))
            }
            // It must not keep the others from being indexed. The missing version has it looked
            // at again whenever all are.
            Err(error) => {
                self.is_done = true;
                let from = self.known.as_ref().map(|known| (known.generation, known.indexed));
                let to = Known { version: String::new(), ..self.known.clone().unwrap_or_default() };
                let problem = Some(error.to_string());
                let shown = Some(Shown { status: "unknown", problem, ..Shown::default() });
                let key = self.key.clone();
                let advance = Advance { key, from, to, entries: Vec::new(), shown };
                Some(Change::Advance(Box::new(advance)))
            }
        }
    }

    async fn advance(&mut self) -> Result<Change, StorageError> {
        let path = self.storage.local_path(&self.key);
        let before = identity(path.as_deref());
        let from = self.known.clone().filter(|known| self.may_go_on(known, &before));
        let indexed = from.as_ref().map_or(0, |known| known.indexed);
        let [head, tail] = samples(indexed);
        let rest = ReadRange::Range { offset: indexed, len: self.chunk };
        let (meta, parts) = self.storage.read(&self.key, &[head, tail, rest]).await?;
        let [head, tail, rest] = <[Bytes; 3]>::try_from(parts).unwrap_or_default();
        if let Some(known) = &from {
            let same = meta.size >= indexed
                && fingerprint(&head, &tail) == known.fingerprint
                && before == identity(path.as_deref());
            if !same {
                self.mark = Mark::Rewritten;
                return Box::pin(self.advance()).await;
            }
        }
        let is_end = indexed + rest.len() as u64 >= meta.size;
        let lines = rest.slice(..memrchr(b'\n', &rest).map_or(0, |last| last + 1));
        if lines.is_empty() && !is_end {
            self.chunk *= 2;
            return Box::pin(self.advance()).await;
        }
        let was = self.known.as_ref().map(|known| (known.generation, known.indexed));
        let mut to = from.unwrap_or_else(|| Known {
            generation: was.map_or(1, |(generation, _)| generation + 1),
            regular: true,
            ..Known::default()
        });
        let (entries, problem) = match self.scan(&lines, &mut to) {
            Ok(entries) => (entries, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let after = to.indexed;
        (to.version, to.size) = (meta.version.to_string(), meta.size);
        (to.modified_ms, to.identity) = (epoch_ms(&meta), before);
        self.is_done = is_end || problem.is_some();
        let sampled: Vec<Bytes> = match after == indexed {
            true => vec![head, tail],
            false => {
                let (now, parts) = self.storage.read(&self.key, &samples(after)).await?;
                if now.version != meta.version && now.size < after {
                    return Box::pin(self.advance()).await;
                }
                parts
            }
        };
        if let [head, tail] = &sampled[..] {
            to.fingerprint = fingerprint(head, tail);
        }
        let shown = match self.is_done {
            true => Some(self.shown(problem).await?),
            false => None,
        };
        self.known = Some(to.clone());
        self.mark = Mark::Grown;
        let key = self.key.clone();
        Ok(Change::Advance(Box::new(Advance { key, from: was, to, entries, shown })))
    }

    /// Tells whether the indexed part can still be the beginning of the file.
    fn may_go_on(&self, known: &Known, identity: &str) -> bool {
        let told_apart = !identity.is_empty() || self.mark == Mark::Grown;
        self.mark != Mark::Rewritten && told_apart && known.identity == identity
    }

    /// Reads entries from whole lines that begin at the indexed offset, and moves that on.
    fn scan(&self, lines: &Bytes, known: &mut Known) -> Result<Vec<NewEntry>, LoadError> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let options = LoadOptions::default();
        let scan = match known.indexed {
            0 => Scan::beginning(lines, &options)?,
            _ => Scan::lines(lines, &options),
        };
        // Before version 2 entries have neither ids nor parents.
        known.regular &= scan.header.is_none_or(|header| header.version() >= 2.0);
        let start = known.indexed;
        known.indexed += lines.len() as u64;
        known.entries += scan.entries.len() as u64;
        let entries = scan.entries.iter().map(|(at, entry)| {
            count(entry, known);
            NewEntry {
                id: entry.id().map(String::from),
                parent: match entry.parent() {
                    Parent::Id(id) => Some(id.into_owned()),
                    Parent::None => None,
                },
                kind: entry.entry_type().into_owned(),
                offset: start + *at as u64,
                length: entry.line().len() as u64,
            }
        });
        let entries: Vec<_> = entries.collect();
        if let Some(last) = entries.last() {
            known.leaf.clone_from(&last.id);
        }
        Ok(entries)
    }

    async fn shown(&self, problem: Option<String>) -> Result<Shown, StorageError> {
        let looked = SystemTime::now();
        let (meta, summary) = summary(self.storage, &self.key).await?;
        let noted = Noted::new(looked, &meta, summary.as_ref().ok());
        Ok(match summary {
            Ok(summary) => Shown {
                id: Some(summary.id),
                cwd: summary.cwd,
                parent: summary.parent_session,
                title: summary.title.map(|title| title.text),
                created_ms: summary.created_ms,
                activity_ms: summary.activity.map(|activity| activity.at_ms),
                status: summary.status.as_str(),
                problem,
                noted,
            },
            Err(error) => {
                let problem = problem.or_else(|| Some(error.to_string()));
                Shown { status: "unknown", problem, noted, ..Shown::default() }
            }
        })
    }
}

/// Reads what a list shows of a session, and in which state of the file.
pub(crate) async fn summary(
    storage: &dyn SessionStorage,
    key: &StorageKey,
) -> Result<(ObjectMeta, Result<SessionSummary, SummaryError>), StorageError> {
    let mut head = HEAD_BYTES;
    loop {
        let peeked = storage.peek(std::slice::from_ref(key), head, TAIL_BYTES).await;
        let Some(peek) = peeked.into_iter().next() else {
            return Err(StorageError::NotFound { key: key.clone() });
        };
        let peek = peek?;
        let meta = peek.meta.clone();
        match SessionSummary::from_parts(&FileParts::from(peek)) {
            Err(SummaryError::NeedMore { head: more }) if more > head => head = more,
            read => return Ok((meta, read)),
        }
    }
}

fn count(entry: &Entry, known: &mut Known) {
    known.messages += u64::from(entry.kind() == EntryKind::Message);
    // Few lines have it, and reading a body takes much longer than this.
    if memmem::find(entry.line(), b"\"usage\"").is_some()
        && let Some(usage) = entry.body().counted_usage()
    {
        known.usage.add(&usage);
    }
}

fn epoch_ms(meta: &ObjectMeta) -> i64 {
    let since = meta.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
