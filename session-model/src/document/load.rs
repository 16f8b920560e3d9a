//! Reading a session file leniently: what can be read is, the rest is kept and reported.

use std::ops::Range;

use bytes::Bytes;
use memchr::memchr;

use super::segment::{Part, parts};
use super::{Kept, SessionDocument, parallel};
use crate::entry::{Entry, RecordLine, content_start, same_length_text};
use crate::header::SessionHeader;
use crate::title_slot::TitleSlot;
use crate::tree::SessionTree;
use crate::{Diagnostic, DiagnosticCode};

/// The longest line that is read by default: 64 MiB.
pub const DEFAULT_MAX_LINE_BYTES: usize = 64 << 20;

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How a session file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The longest line that is read, in bytes; longer ones are kept unread. Default: 64 MiB;
    /// at most 4 GiB.
    pub max_line_bytes: usize,
    /// How many threads read a large file; at most one for each 8 MiB. Default: 1, the caller's.
    pub threads: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { max_line_bytes: DEFAULT_MAX_LINE_BYTES, threads: 1 }
    }
}

/// A file that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The session.
    pub document: SessionDocument,
    /// What was found on the way, in file order.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file that holds no session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is nothing in the file but white space.
    #[error("the file is empty")]
    Empty,
    /// The first record is no session header.
    #[error("not a session file: line {line} {reason}")]
    NoHeader {
        /// The line of the first record, from 1.
        line: u64,
        /// Why it is no header.
        reason: String,
    },
}

impl SessionDocument {
    /// Reads a session file.
    ///
    /// Lines that cannot be read are reported and kept in their place. Old formats are read as
    /// they are; see [`migrate`](crate::migrate::migrate).
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the first record is no valid header; nothing after it is looked at then.
    pub fn load(file: Bytes, options: &LoadOptions) -> Result<Loaded, LoadError> {
        let mut loader = Loader::new(&file, 0, options);
        loader.found = Found::Tree(Box::default());
        if file.starts_with(BOM) {
            loader.at = BOM.len();
            loader.report(
                DiagnosticCode::ByteOrderMark,
                0..BOM.len(),
                "skipped, and dropped when the file is written anew",
            );
        }
        let (header, preamble) = loader.header()?;
        parallel::read_entries(&mut loader);
        let Loader { found, kept, torn, diagnostics, lines, .. } = loader;
        let mut tree = match found {
            Found::Tree(tree) => *tree,
            Found::List(list) => SessionTree::from_entries(list),
        };
        tree.link_all();
        let document = Self { header, tree, preamble, kept, torn, source: file };
        let diagnostics = with_tree_problems(&document, diagnostics, &lines);
        Ok(Loaded { document, diagnostics })
    }
}

/// What the whole lines of a part of a session file hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scan {
    /// The header, if the part is the file's beginning.
    pub header: Option<SessionHeader>,
    /// The entries in file order, each with the place in the part at which its line begins.
    pub entries: Vec<(usize, Entry)>,
}

impl Scan {
    /// Reads the beginning of a session file, up to the end of a line.
    ///
    /// # Errors
    ///
    /// As [`SessionDocument::load`].
    pub fn beginning(lines: &Bytes, options: &LoadOptions) -> Result<Self, LoadError> {
        let mut loader = Loader::new(lines, 0, options);
        if lines.starts_with(BOM) {
            loader.at = BOM.len();
        }
        let (header, _) = loader.header()?;
        Ok(Self { header: Some(header), entries: loader.located_entries() })
    }

    /// Reads the header of a session file alone, whatever comes behind it.
    ///
    /// # Errors
    ///
    /// As [`SessionDocument::load`].
    pub fn header(file: &Bytes) -> Result<SessionHeader, LoadError> {
        let options = LoadOptions::default();
        let mut loader = Loader::new(file, 0, &options);
        if file.starts_with(BOM) {
            loader.at = BOM.len();
        }
        loader.header().map(|(header, _)| header)
    }

    /// Reads whole lines from behind the header of a session file.
    pub fn lines(lines: &Bytes, options: &LoadOptions) -> Self {
        Self { header: None, entries: Loader::new(lines, 0, options).located_entries() }
    }
}

/// Reads what another writer added.
pub(super) fn extend(
    document: &mut SessionDocument,
    bytes: Bytes,
    offset: u64,
    options: &LoadOptions,
) -> (Range<u64>, Vec<Diagnostic>) {
    let mut loader = Loader::new(&bytes, offset, options);
    loader.lines_known = false;
    loader.entries(false);
    let taken = offset..offset + (bytes.len() - loader.torn.len()) as u64;
    let before = document.tree.len();
    for kept in loader.kept {
        document.kept.push(Kept { after: before + kept.after, ..kept });
    }
    if let Found::List(list) = loader.found {
        for entry in list {
            document.tree.insert(entry);
        }
    }
    (taken, loader.diagnostics)
}

/// Reads a file, or a part of it that ends with a line, from front to back.
pub(super) struct Loader<'a> {
    pub(super) file: &'a Bytes,
    offset: u64,
    pub(super) options: &'a LoadOptions,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) line: u64,
    lines_known: bool,
    pub(super) found: Found,
    /// The line of each entry.
    pub(super) lines: Vec<u32>,
    pub(super) kept: Vec<Kept>,
    pub(super) torn: Bytes,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Where entries go.
pub(super) enum Found {
    /// Into a tree at once, while their text is at hand.
    Tree(Box<SessionTree>),
    /// Into a list, for a tree that another thread is growing.
    List(Vec<Entry>),
}

impl Found {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Tree(tree) => tree.len(),
            Self::List(list) => list.len(),
        }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        match self {
            Self::Tree(tree) => tree.push_unlinked(entry),
            Self::List(list) => list.push(entry),
        }
    }
}

impl<'a> Loader<'a> {
    pub(super) fn new(file: &'a Bytes, offset: u64, options: &'a LoadOptions) -> Self {
        Self {
            file,
            offset,
            options,
            at: 0,
            end: file.len(),
            line: 0,
            lines_known: true,
            found: Found::List(Vec::new()),
            lines: Vec::new(),
            kept: Vec::new(),
            torn: Bytes::new(),
            diagnostics: Vec::new(),
        }
    }

    fn next_line(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if start >= self.end {
            return None;
        }
        let end = memchr(b'\n', &self.file[start..self.end]).map_or(self.end, |lf| start + lf + 1);
        self.at = end;
        self.line += 1;
        Some(start..end)
    }

    pub(super) fn report(
        &mut self,
        code: DiagnosticCode,
        bytes: Range<usize>,
        detail: impl Into<String>,
    ) {
        let place = self.offset + bytes.start as u64..self.offset + bytes.end as u64;
        let mut diagnostic = Diagnostic::new(code, detail).at(self.line.max(1), place);
        if !self.lines_known {
            diagnostic.line = None;
        }
        self.diagnostics.push(diagnostic);
    }

    fn header(&mut self) -> Result<(SessionHeader, Bytes), LoadError> {
        let file = self.file;
        let (mut slot, start) = (None, self.at);
        let (mut preamble, mut record_start) = (0..start, start);
        while let Some(range) = self.next_line() {
            let line = &file[range.clone()];
            if self.line == 1
                && let Some(read) = TitleSlot::read(line)
            {
                slot = Some((read, file.slice(range.clone())));
                record_start = range.end;
                continue;
            }
            if content_start(line).is_none() {
                if line.contains(&0) {
                    self.report(
                        DiagnosticCode::NulRun,
                        range.clone(),
                        "zero bytes before the header",
                    );
                }
                preamble.end = range.end;
                continue;
            }
            let no_header =
                |reason: &str| LoadError::NoHeader { line: self.line, reason: reason.into() };
            let text = same_length_text(line);
            let found = parts(&text);
            let Some(at) = found.iter().position(|part| !matches!(part, Part::Blank(_))) else {
                continue;
            };
            let Part::Record(_, record) = &found[at] else {
                return Err(no_header(match &found[at] {
                    Part::Value(_) => "is no object with a type",
                    _ => "is no complete JSON record",
                }));
            };
            // Blank lines between a slot and the header go with the slot.
            let slot = slot.map(|(slot, line)| {
                let with_blank = file.slice(record_start - line.len()..range.start);
                (slot, with_blank)
            });
            if slot.is_some() {
                preamble.end = start;
            }
            let end = self.record_end(&range, &found, at);
            let line = RecordLine::read(file.slice(range.start..end), record.clone());
            let header = SessionHeader::read(line, slot)
                .ok_or_else(|| no_header("is no session header with a string id"))?;
            let line_ended = file[range.clone()].last() == Some(&b'\n');
            if !line_ended {
                self.report(
                    DiagnosticCode::NoFinalNewline,
                    range.clone(),
                    "the last line has no end",
                );
            }
            self.rest_of_line(&range, &text, &found, at);
            return Ok((header, file.slice(preamble)));
        }
        Err(LoadError::Empty)
    }

    fn located_entries(mut self) -> Vec<(usize, Entry)> {
        self.entries(false);
        let Found::List(entries) = self.found else { return Vec::new() };
        // Every line is a slice of the file.
        let start = self.file.as_ptr() as usize;
        let place = |entry: &Entry| entry.line().as_ptr() as usize - start;
        entries.into_iter().map(|entry| (place(&entry), entry)).collect()
    }

    pub(super) fn entries(&mut self, torn_is_reported: bool) {
        while let Some(line) = self.next_line() {
            self.entry_line(line, torn_is_reported);
        }
    }

    fn entry_line(&mut self, line: Range<usize>, torn_is_reported: bool) {
        let file = self.file;
        let bytes = &file[line.clone()];
        let ended = bytes.last() == Some(&b'\n');
        if bytes.len() > self.options.max_line_bytes.min(u32::MAX as usize) {
            let detail = format!(
                "{} bytes, more than the limit of {}",
                bytes.len(),
                self.options.max_line_bytes
            );
            self.report(DiagnosticCode::LineTooLong, line.clone(), detail);
            return self.keep(line);
        }
        let utf8 = std::str::from_utf8(bytes);
        let replaced;
        let text = match utf8 {
            Ok(text) => text,
            Err(_) => {
                replaced = same_length_text(bytes);
                &replaced
            }
        };
        let found = parts(text);
        let has_record = found.iter().any(|part| matches!(part, Part::Record(..)));
        if !has_record && !ended && content_or_nul(bytes) {
            if torn_is_reported {
                let detail =
                    format!("the file ends in {} bytes that are no whole record", bytes.len());
                self.report(DiagnosticCode::TornTail, line.clone(), detail);
            }
            self.torn = file.slice(line);
            return;
        }
        if has_record && utf8.is_err() {
            self.report(
                DiagnosticCode::InvalidUtf8,
                line.clone(),
                "read as U+FFFD where it is no UTF-8",
            );
        }
        if has_record && !ended {
            self.report(DiagnosticCode::NoFinalNewline, line.clone(), "the last line has no end");
        }
        // The ordinary case: one record, one line end.
        if let [Part::Record(envelope, range), rest @ ..] = &found[..]
            && utf8.is_ok()
            && rest
                .iter()
                .all(|part| matches!(part, Part::Blank(r) if !text[r.clone()].contains('\0')))
        {
            let record = RecordLine::read_utf8(file.slice(line.clone()), range.clone());
            return self.entry(record, Some((envelope, &text[range.clone()])), line);
        }
        let whole = line.clone();
        self.odd_line(&whole, text, found);
    }

    pub(super) fn entry(
        &mut self,
        record: RecordLine,
        scanned: Option<(&crate::entry::Envelope<'_>, &str)>,
        place: Range<usize>,
    ) {
        let entry = match scanned {
            Some((envelope, text)) => Entry::from_scanned(record, envelope, text),
            None => Entry::from_line(record),
        };
        match entry {
            Some(entry) if entry.entry_type() == "session" => {
                self.report(DiagnosticCode::ExtraHeader, place.clone(), "a second session header");
                self.keep(place);
            }
            Some(entry) => {
                self.lines.push(self.line as u32);
                self.found.push(entry);
            }
            None => {
                self.report(DiagnosticCode::NotAnEntry, place.clone(), "an object without a type");
                self.keep(place);
            }
        }
    }

    pub(super) fn keep(&mut self, range: Range<usize>) {
        self.kept.push(Kept { after: self.found.len(), bytes: self.file.slice(range) });
    }
}

fn content_or_nul(bytes: &[u8]) -> bool {
    content_start(bytes).is_some() || bytes.contains(&0)
}

fn with_tree_problems(
    document: &SessionDocument,
    mut diagnostics: Vec<Diagnostic>,
    lines: &[u32],
) -> Vec<Diagnostic> {
    // Before version 2 entries have neither ids nor parents.
    let linked = document.header.version() >= 2.0;
    for problem in linked.then(|| document.tree.problems()).into_iter().flatten() {
        let mut diagnostic = Diagnostic::new(problem.code, problem.detail);
        diagnostic.line = lines.get(problem.node.index()).map(|&line| u64::from(line));
        diagnostic.entry = document.tree.entry(problem.node).id().map(|id| id.into_owned());
        diagnostics.push(diagnostic);
    }
    if document.header.is_newer() {
        let detail = format!(
            "format version {} is newer than {}; the session can be read and not changed",
            document.header.version(),
            crate::CURRENT_VERSION
        );
        diagnostics.push(Diagnostic::new(DiagnosticCode::NewerVersion, detail));
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.line.unwrap_or(u64::MAX));
    diagnostics
}
