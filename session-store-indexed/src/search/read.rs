//! Reading what a session file holds beyond its indexed part.

use bytes::Bytes;
use memchr::{memchr_iter, memrchr};
use session_model::document::{LoadOptions, Scan};
use session_model::search::{EntryPlace, EntryText, places, texts_of, written_ms};
use session_model::storage::{
    ReadRange, SessionStorage, StorageError, StorageErrorKind, StorageKey,
};
use session_model::time::from_iso;

use super::batch::{Advance, Batch, Texts};
use super::state::{Shown, State};
use crate::index::{SAMPLE, fingerprint, identity, samples, summary};

/// How much of a file is read at once; more if a line is longer.
const CHUNK: u64 = 4 << 20;

/// A session on the way from its indexed part to the end of its file.
#[derive(Debug)]
pub(super) struct SessionReader<'a> {
    storage: &'a dyn SessionStorage,
    key: StorageKey,
    known: Option<State>,
    /// Whether what is known was read by this reader, and not some time before.
    is_begun: bool,
    is_rewritten: bool,
    pub(super) is_done: bool,
}

/// What was read at once.
struct Step {
    to: State,
    texts: Texts,
    open: Texts,
    /// What hits show, if that was the end.
    shown: Option<Shown>,
}

impl<'a> SessionReader<'a> {
    pub(super) fn new(
        storage: &'a dyn SessionStorage,
        key: StorageKey,
        known: Option<State>,
    ) -> Self {
        Self { storage, key, known, is_begun: false, is_rewritten: false, is_done: false }
    }

    /// Reads on, and adds what there is to a batch.
    pub(super) async fn step(&mut self, batch: &mut Batch) {
        let from = self.known.as_ref().map(|known| (known.generation, known.indexed));
        let none = Texts::default();
        let (to, texts, open, shown) = match self.advance(batch).await {
            Ok(Step { to, texts, open, shown }) => (Some(to), texts, open, shown),
            Err(error) if error.kind() == StorageErrorKind::NotFound => (None, none, none, None),
            // The missing version has it looked at again each time.
            Err(error) => {
                let to = State { version: String::new(), ..self.known.clone().unwrap_or_default() };
                let problem = Some(error.to_string());
                (Some(to), none, none, Some(Shown { problem, ..Shown::default() }))
            }
        };
        self.is_done = to.is_none() || shown.is_some();
        self.known.clone_from(&to);
        batch.advance(Advance { key: self.key.clone(), from, to, texts, open, shown });
    }

    async fn advance(&mut self, batch: &mut Batch) -> Result<Step, StorageError> {
        let path = self.storage.local_path(&self.key);
        let mut chunk = CHUNK;
        loop {
            let before = identity(path.as_deref());
            let from = self.known.clone().filter(|known| {
                let told_apart = self.is_begun || !before.is_empty();
                !self.is_rewritten && told_apart && known.identity == before
            });
            let indexed = from.as_ref().map_or(0, |known| known.indexed);
            let [head, tail] = samples(indexed);
            let rest = ReadRange::Range { offset: indexed, len: chunk };
            let (meta, parts) = self.storage.read(&self.key, &[head, tail, rest]).await?;
            let [head, tail, rest] = <[Bytes; 3]>::try_from(parts).unwrap_or_default();
            if let Some(known) = &from {
                let is_same = meta.size >= indexed
                    && fingerprint(&head, &tail) == known.fingerprint
                    && before == identity(path.as_deref());
                if !is_same {
                    self.is_rewritten = true;
                    continue;
                }
            }
            let is_end = indexed + rest.len() as u64 >= meta.size;
            let lines = rest.slice(..memrchr(b'\n', &rest).map_or(0, |last| last + 1));
            if lines.is_empty() && !is_end {
                chunk = chunk.saturating_mul(2);
                continue;
            }
            let generation = self.known.as_ref().map_or(1, |known| known.generation + 1);
            let mut to = from.unwrap_or_else(|| State { generation, ..State::default() });
            let (texts, problem) = match add_texts(&lines, &to, batch) {
                Ok(texts) => (texts, None),
                Err(problem) => (Texts::default(), Some(problem)),
            };
            batch.bytes += lines.len() as u64;
            to.fingerprint = fingerprint_behind(&head, &tail, &lines);
            to.indexed = indexed + lines.len() as u64;
            to.lines += memchr_iter(b'\n', &lines).count() as u64;
            // As whoever reads the file shows a last line without its end.
            let open = match is_end && problem.is_none() {
                true => add_texts(&rest.slice(lines.len()..), &to, batch).unwrap_or_default(),
                false => Texts::default(),
            };
            // A state in between is looked at again, should it be the last to be written.
            let is_last = is_end || problem.is_some();
            to.version = if is_last { meta.version.to_string() } else { String::new() };
            (to.size, to.identity) = (meta.size, before);
            // What follows belongs to this reading, whatever it was before.
            (self.is_begun, self.is_rewritten) = (true, false);
            let shown = match (problem, is_end) {
                (Some(problem), _) => {
                    Some(Shown { problem: Some(problem.to_string()), ..Shown::default() })
                }
                (None, true) => Some(self.shown().await?),
                (None, false) => None,
            };
            return Ok(Step { to, texts, open, shown });
        }
    }

    async fn shown(&self) -> Result<Shown, StorageError> {
        Ok(match summary(self.storage, &self.key).await?.1 {
            Ok(summary) => Shown {
                id: Some(summary.id),
                cwd: summary.cwd,
                title: summary.title.map(|title| title.text),
                problem: None,
            },
            Err(error) => Shown { problem: Some(error.to_string()), ..Shown::default() },
        })
    }
}

/// Adds the texts of lines that begin at the indexed offset.
fn add_texts(
    lines: &Bytes,
    known: &State,
    batch: &mut Batch,
) -> Result<Texts, session_model::document::LoadError> {
    let mut added = Texts { first: batch.texts.len() as u32, ..Texts::default() };
    if lines.is_empty() {
        return Ok(added);
    }
    let options = LoadOptions::default();
    let scan = match known.indexed {
        0 => Scan::beginning(lines, &options)?,
        _ => Scan::lines(lines, &options),
    };
    if let Some(header) = &scan.header
        && let Some(title) = header.title()
    {
        // Of no length: it is read from the header.
        let place = EntryPlace { offset: 0, length: 0, line: 1 };
        let written = header.timestamp().and_then(|time| from_iso(&time));
        batch.add(&EntryText::title(title), place, written);
    }
    for (place, entry) in places(&scan, lines, known.indexed, known.lines + 1) {
        let texts = texts_of(entry);
        added.cut += u64::from(texts.iter().any(|text| text.is_cut));
        for text in texts {
            batch.add(&text, place, written_ms(entry));
        }
    }
    added.count = batch.texts.len() as u32 - added.first;
    Ok(added)
}

/// The fingerprint of an indexed part that grew by some lines, given the samples of what it was.
fn fingerprint_behind(head: &Bytes, tail: &Bytes, lines: &Bytes) -> i64 {
    let sample = SAMPLE as usize;
    let begun: Vec<u8> = head.iter().chain(&**lines).take(sample).copied().collect();
    let from_lines = lines.slice(lines.len().saturating_sub(sample)..);
    let from_tail = tail.slice(tail.len().saturating_sub(sample - from_lines.len())..);
    fingerprint(&begun, &[from_tail, from_lines].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_of_what_grew_is_that_of_the_whole() {
        let file: Bytes = (0..20_000_u32).map(|n| (n % 251) as u8).collect::<Vec<_>>().into();
        let range = |range: ReadRange| {
            let range = range.resolve(file.len() as u64);
            file.slice(range.start as usize..range.end as usize)
        };
        for (from, to) in
            [(0, 100), (0, 9000), (100, 200), (100, 6000), (5000, 5010), (9000, 20_000)]
        {
            let [head, tail] = samples(from).map(range);
            let lines = file.slice(from as usize..to as usize);
            let [whole_head, whole_tail] = samples(to).map(range);
            assert_eq!(
                fingerprint_behind(&head, &tail, &lines),
                fingerprint(&whole_head, &whole_tail),
                "{from}..{to}"
            );
        }
    }
}
