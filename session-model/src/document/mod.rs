//! A session file in memory: header, entries, and everything else it held.

mod load;
mod odd_line;
mod parallel;
mod payload;
mod segment;

use std::ops::Range;

use bytes::Bytes;

use crate::Diagnostic;
use crate::entry::Entry;
use crate::header::SessionHeader;
use crate::tree::{NodeId, SessionTree};

pub use load::{DEFAULT_MAX_LINE_BYTES, LoadError, LoadOptions, Loaded, Scan};

/// A session file, taken apart so that it can be put together again byte for byte.
///
/// ```
/// use session_model::document::{LoadOptions, SessionDocument};
///
/// let file = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n\
///             {\"type\":\"custom\",\"id\":\"a\",\"parentId\":null,\"n\":1.0}\n\
///             not json\n";
/// let loaded = SessionDocument::load(file.into(), &LoadOptions::default())?;
/// assert_eq!(loaded.document.tree().len(), 1);
/// assert_eq!(loaded.diagnostics[0].to_string().split(':').next(), Some("damaged-line"));
/// assert_eq!(loaded.document.to_payload().to_bytes(), file);
/// # Ok::<(), session_model::document::LoadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SessionDocument {
    header: SessionHeader,
    tree: SessionTree,
    /// What stood before the header: a byte order mark, blank lines.
    preamble: Bytes,
    kept: Vec<Kept>,
    torn: Bytes,
    /// The buffer the document was loaded from.
    source: Bytes,
}

/// Bytes of the file that are no record, in their place.
#[derive(Clone, Debug)]
struct Kept {
    /// How many entries come before them.
    after: usize,
    bytes: Bytes,
}

impl SessionDocument {
    /// A session that has no entries yet.
    pub fn new(header: SessionHeader) -> Self {
        Self {
            header,
            tree: SessionTree::default(),
            preamble: Bytes::new(),
            kept: Vec::new(),
            torn: Bytes::new(),
            source: Bytes::new(),
        }
    }

    /// Returns the header.
    pub fn header(&self) -> &SessionHeader {
        &self.header
    }

    /// Returns the header, to be changed.
    pub fn header_mut(&mut self) -> &mut SessionHeader {
        &mut self.header
    }

    /// Leaves out a byte order mark: who reads a file bears it, and who writes one anew drops it.
    pub fn drop_byte_order_mark(&mut self) {
        if self.preamble.starts_with(load::BOM) {
            self.preamble = self.preamble.slice(load::BOM.len()..);
        }
    }

    /// Makes the document a copy with a header of its own, before which nothing stands.
    pub fn begin_with(&mut self, header: SessionHeader) {
        self.preamble = Bytes::new();
        self.header = header;
    }

    /// Returns the entries and their tree.
    pub fn tree(&self) -> &SessionTree {
        &self.tree
    }

    /// Moves the leaf; see [`SessionTree::set_leaf`].
    pub fn set_leaf(&mut self, leaf: Option<NodeId>) {
        self.tree.set_leaf(leaf);
    }

    /// Returns what appending this entry writes: its line, with a line end before it if the file
    /// lacks one.
    pub fn line_for(&self, entry: &Entry) -> Bytes {
        if self.ends_line() {
            return entry.line().clone();
        }
        [&b"\n"[..], entry.line()].concat().into()
    }

    /// Adds an entry at the end, makes it the leaf, and returns what to append to the file.
    pub fn push(&mut self, entry: Entry) -> Bytes {
        let line = self.line_for(&entry);
        if !self.ends_line() {
            self.end_line();
        }
        self.tree.insert(entry);
        line
    }

    /// Puts other entries in the place of all, in file order; everything else stays in place.
    ///
    /// The leaf stays where its id is.
    pub fn replace_entries(&mut self, entries: Vec<Entry>) {
        let last = entries.len();
        self.kept.iter_mut().for_each(|kept| kept.after = kept.after.min(last));
        self.tree.replace_all(entries);
    }

    /// Changes some entries in place; `change` answers `None` for those that stay.
    pub fn edit_entries(&mut self, mut change: impl FnMut(NodeId, &Entry) -> Option<Entry>) {
        let mut changed = false;
        let edit = |node| {
            let old = self.tree.entry(node);
            let new = change(node, old);
            changed |= new.is_some();
            new.unwrap_or_else(|| old.clone())
        };
        let entries = self.tree.nodes().map(edit).collect();
        if changed {
            self.tree.replace_all(entries);
        }
    }

    /// Returns the part of a record the file ended in, if it did.
    ///
    /// It is written back until [`forget_torn_tail`](Self::forget_torn_tail) is called.
    pub fn torn_tail(&self) -> &Bytes {
        &self.torn
    }

    /// Drops the torn end of the file, once it is safe elsewhere.
    pub fn forget_torn_tail(&mut self) {
        self.torn = Bytes::new();
    }

    /// Returns the session's title: the header's or its slot's, else that of the last title entry.
    pub fn title(&self) -> Option<String> {
        let given = || self.tree.title().filter(|title| !title.is_empty()).map(str::to_owned);
        self.header.title().or_else(given)
    }

    /// Reads lines that were added to the file behind what is loaded, and adds their entries.
    ///
    /// `offset` is where in the file they begin. The leaf moves to the last new entry. A last
    /// line without its end is not taken: the returned range says which bytes were.
    pub fn extend(
        &mut self,
        bytes: Bytes,
        offset: u64,
        options: &LoadOptions,
    ) -> (Range<u64>, Vec<Diagnostic>) {
        load::extend(self, bytes, offset, options)
    }

    /// Tells whether the file ends in a line end, so that a record may follow.
    pub fn ends_line(&self) -> bool {
        if !self.torn.is_empty() {
            return false;
        }
        let kept = self.kept.last().filter(|kept| kept.after == self.tree.len());
        match (kept, self.tree.entries().last()) {
            (Some(kept), _) => kept.bytes.last() == Some(&b'\n'),
            (None, Some(entry)) => entry.ends_line(),
            (None, None) => self.header.ends_line(),
        }
    }

    fn end_line(&mut self) {
        let entries = self.tree.len();
        if !self.torn.is_empty() {
            let bytes = std::mem::take(&mut self.torn);
            self.kept.push(Kept { after: entries, bytes });
        }
        match self.kept.last_mut().filter(|kept| kept.after == entries) {
            Some(kept) => kept.bytes = [&kept.bytes[..], b"\n"].concat().into(),
            None if entries == 0 => self.header.end_line(),
            None => {
                let last = NodeId::last_of(entries);
                self.edit_entries(|node, entry| (node == last).then(|| entry.with_line_end()));
            }
        }
    }
}

#[cfg(test)]
mod tests;
