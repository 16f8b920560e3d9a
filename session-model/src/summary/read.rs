//! Reading the records in the parts of a file.

use bytes::Bytes;
use memchr::{memchr, memrchr};

use super::glance::{Beginning, Glanced};
use super::{FileParts, HEAD_BYTES, SummaryError, cut};
use crate::document::{DEFAULT_MAX_LINE_BYTES, LoadError, LoadOptions, Loaded, SessionDocument};
use crate::entry::Entry;
use crate::header::SessionHeader;
use crate::{Diagnostic, DiagnosticCode};

/// What was found in the parts of a file.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) header: SessionHeader,
    /// The entries of the beginning, or of the whole file.
    pub(super) head: Vec<Entry>,
    /// The entry whose line the beginning cuts off, as far as it goes; none if it is a message that
    /// no person wrote.
    pub(super) cut: Option<Entry>,
    /// The line the end begins in the middle of.
    pub(super) cut_tail: Bytes,
    /// The entries of the end; none if the file was read whole.
    pub(super) tail: Vec<Entry>,
    /// The messages that are not among the entries.
    pub(super) glanced: Glanced,
    pub(super) is_whole: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Records {
    pub(super) fn read(parts: &FileParts) -> Result<Self, SummaryError> {
        if parts.is_whole() {
            let file = match parts.tail.is_empty() {
                true => parts.head.clone(),
                false => [&parts.head[..], &parts.tail[..]].concat().into(),
            };
            let Loaded { document, diagnostics } = load(file)?;
            return Ok(Self {
                head: document.tree().entries().to_vec(),
                header: document.header().clone(),
                cut: None,
                cut_tail: Bytes::new(),
                tail: Vec::new(),
                glanced: Glanced::default(),
                is_whole: true,
                diagnostics,
            });
        }
        let lines = memrchr(b'\n', &parts.head).map_or(0, |last| last + 1);
        let (lines, rest) = (parts.head.slice(..lines), parts.head.slice(lines..));
        let loaded = match load(lines) {
            Err(LoadError::Empty) => return Err(header_is_cut(parts, &rest)),
            loaded => loaded?,
        };
        let Loaded { mut document, mut diagnostics } = loaded;
        let head = document.tree().entries().to_vec();
        let line = memchr(b'\n', &parts.tail).map_or(parts.tail.len(), |first| first + 1);
        let end = parts.tail.slice(line..);
        let offset = parts.size - end.len() as u64;
        let mut glanced = Glanced::over(&end);
        let mut whole = parts.size;
        for lines in glanced.unread.iter().cloned() {
            let at = offset + lines.start as u64;
            let (taken, found) = document.extend(end.slice(lines), at, &LoadOptions::default());
            diagnostics.extend(found);
            whole = taken.end;
        }
        if whole < parts.size {
            let detail =
                format!("the file ends in {} bytes that are no whole record", parts.size - whole);
            let mut torn = Diagnostic::new(DiagnosticCode::TornTail, detail);
            torn.bytes = Some(whole..parts.size);
            diagnostics.push(torn);
        }
        // Of what nobody asks for more than its role, the rest need not be made sense of.
        let cut = match Beginning::of(&rest) {
            Some(message) if message.role != b"user" => {
                glanced.messages += 1;
                None
            }
            _ => cut::complete(&rest).and_then(|json| Entry::from_json(&json)),
        };
        Ok(Self {
            tail: document.tree().entries()[head.len()..].to_vec(),
            header: document.header().clone(),
            glanced,
            head,
            cut,
            cut_tail: parts.tail.slice(..line),
            is_whole: false,
            diagnostics,
        })
    }

    /// How many messages were seen.
    pub(super) fn message_count(&self) -> u64 {
        // What begins as usual need not be read for that.
        let is_message =
            |entry: &&Entry| Beginning::of(entry.line()).is_some() || entry.message().is_some();
        self.all().filter(is_message).count() as u64 + self.glanced.messages
    }

    /// All entries that were read, in file order.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.head.iter().chain(&self.cut).chain(&self.tail)
    }
}

fn load(file: Bytes) -> Result<Loaded, LoadError> {
    SessionDocument::load(file, &LoadOptions::default())
}

/// What to say of a file whose beginning holds no whole header.
fn header_is_cut(parts: &FileParts, rest: &[u8]) -> SummaryError {
    let read = parts.head.len() as u64;
    let lines = parts.head.len() - rest.len();
    let line = 1 + memchr::memchr_iter(b'\n', &parts.head[..lines]).count() as u64;
    let reason = match cut::may_be_header(rest) {
        false => "is no session header".to_owned(),
        true if read < DEFAULT_MAX_LINE_BYTES as u64 => {
            let head = (read * 4).clamp(HEAD_BYTES, DEFAULT_MAX_LINE_BYTES as u64);
            return SummaryError::NeedMore { head };
        }
        true => format!("is longer than the limit of {DEFAULT_MAX_LINE_BYTES} bytes"),
    };
    SummaryError::NotASession(LoadError::NoHeader { line, reason })
}
