//! Following a file that another program goes on appending to.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use session_model::document::Scan;
use session_model::storage::{ReadRange, StorageErrorKind};
use session_model::{Diagnostic, DiagnosticCode, Entry};

use super::SessionManager;
use crate::error::Result;
use crate::waiting::Pause;

/// How often a file that only grows is caught up with before a write is given up. Each time only what
/// is new is read, so that a program has to write without a pause to be ahead for that long.
pub(super) const CATCH_UPS: usize = 500;

/// How much of the known part's beginning and end is compared each time, in bytes.
const END: usize = 4096;

/// How often, and with which pause, the rest of a record is waited for that is half written.
pub(super) const LOOKS: usize = 20;
pub(super) const PAUSE: Duration = Duration::from_millis(5);

/// What another program appended while this one was about to write.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// The size of the file that memory holds all of; `None` before the whole was compared.
    pub(super) known: Option<u64>,
    /// How that part begins and ends.
    ends: [Bytes; 2],
    /// How many entries were taken over.
    pub(super) entries: usize,
    /// The first entry of a branch that begins where this session goes on, too.
    rival: Option<String>,
    found: Vec<Diagnostic>,
}

impl Growth {
    /// Begins with a file whose beginning was compared, and is this.
    pub(super) fn begin(&mut self, known: &Bytes) {
        self.known = Some(known.len() as u64);
        let most = known.len().min(END);
        self.ends = [known.slice(..most), known.slice(known.len() - most..)];
    }

    /// What is read of a file to see how it went on.
    fn ranges(&self, known: u64) -> [ReadRange; 3] {
        let [head, last] = self.ends.each_ref().map(|end| end.len() as u64);
        let last = ReadRange::Range { offset: known - last, len: last };
        [ReadRange::Range { offset: 0, len: head }, last, ReadRange::From(known)]
    }
}

impl SessionManager {
    /// Takes over what was appended behind the part of the file that memory holds; `false` if that
    /// is not all that happened.
    pub(super) async fn take_over_growth(&mut self, growth: &mut Growth) -> Result<bool> {
        let Some(mut known) = growth.known.filter(|_| self.failure.is_none()) else {
            return Ok(false);
        };
        for _ in 0..LOOKS {
            let parts = match self.storage.read(&self.key, &growth.ranges(known)).await {
                Err(error) if error.kind() == StorageErrorKind::NotFound => return Ok(false),
                read => read?.1,
            };
            let [head, last, tail] = &parts[..] else { return Ok(false) };
            if *head != growth.ends[0] || *last != growth.ends[1] {
                return Ok(false);
            }
            let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let lines = tail.slice(..whole);
            let theirs: Vec<Entry> =
                Scan::lines(&lines, &self.load).entries.into_iter().map(|(_, new)| new).collect();
            let rival = self.rival(&theirs);
            growth.rival = growth.rival.take().or(rival);
            growth.entries += theirs.len();
            let (load, leaf) = (self.load.clone(), self.tree().leaf());
            let document = self.document_mut();
            let (_, found) = document.extend(lines, known, &load);
            document.set_leaf(leaf);
            growth.found.extend(found);
            self.usage = None;
            known += whole as u64;
            growth.known = Some(known);
            let last = Bytes::from([last, &tail[..whole]].concat());
            growth.ends[1] = last.slice(last.len().saturating_sub(END)..);
            if whole == tail.len() {
                return Ok(true);
            }
            // It is in the middle of a record.
            Pause::of(PAUSE).await;
        }
        Ok(false)
    }

    /// Tells what was taken over, once.
    pub(super) fn note_growth(&mut self, growth: Growth) {
        let Growth { entries, rival, found, .. } = growth;
        if entries == 0 && found.is_empty() {
            return;
        }
        let detail = format!(
            "another program appends to the session's file: {entries} of its entries were taken over"
        );
        self.note(Diagnostic::new(DiagnosticCode::ForeignChange, detail));
        self.note_rival(rival);
        found.into_iter().for_each(|diagnostic| self.note(diagnostic));
    }

    /// Tells whether the file holds all that memory does, whatever another program added.
    pub(super) async fn is_all_in_file(&mut self) -> bool {
        let known = self.document.to_payload().to_bytes();
        let whole = self.storage.read(&self.key, &[ReadRange::Full]).await;
        whole.is_ok_and(|(_, parts)| parts.first().is_some_and(|file| file.starts_with(&known)))
    }

    /// Tells whether another program is writing the file just now.
    pub(super) async fn is_being_written(&mut self) -> Result<bool> {
        let before = self.storage.head(&self.key).await?.version;
        for _ in 0..LOOKS {
            Pause::of(PAUSE).await;
            if self.storage.head(&self.key).await?.version != before {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn note_rival(&mut self, rival: Option<String>) {
        if let Some(id) = rival {
            let detail = "another program went on from the same entry; its branch begins here";
            let diagnostic = Diagnostic::new(DiagnosticCode::InterleavedBranches, detail);
            self.note(diagnostic.of_entry(id));
        }
    }

    /// The first entry of a branch that another program began where this session goes on too.
    pub(super) fn rival(&self, theirs: &[Entry]) -> Option<String> {
        let tree = self.tree();
        let rival = theirs.iter().find(|entry| {
            let session_model::Parent::Id(parent) = entry.parent() else { return false };
            let Some(node) = tree.find(&parent) else { return false };
            tree.leaf() == Some(node) || tree.children_of(node).next().is_some()
        })?;
        rival.id().map(Cow::into_owned)
    }
}
