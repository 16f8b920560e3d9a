//! Telling what is new in a file since the last look.

use std::collections::HashMap;

use bytes::Bytes;
use memchr::memrchr;
use session_model::document::LoadError;
use session_model::storage::{ObjectMeta, ReadRange, StorageErrorKind, Version};
use session_model::{Diagnostic, DiagnosticCode, Entry, SessionDocument, SessionHeader};

use super::{FollowEvent, SessionReader};
use crate::error::{Result, SessionError};

/// How much before the known end is compared, to tell a grown file from a replaced one.
const ANCHOR_BYTES: usize = 1024;
/// After so many looks at an unchanged file, an end without a line end counts as what it is.
const PATIENCE: u32 = 10;

/// Follows a session, one look at a time.
///
/// Only whole lines count. An entry is told once, as often as the file has its id: also when the
/// file is replaced, cut and written again, or removed for a while.
#[derive(Clone, Debug)]
pub struct Follower {
    reader: SessionReader,
    /// Whether entries that are found on the first look are told.
    from_start: bool,
    /// Whether the file was ever seen, and is there.
    was_seen: bool,
    is_there: bool,
    at: Option<Place>,
    told: Told,
}

/// How far a file is known.
#[derive(Clone, Debug)]
struct Place {
    header: SessionHeader,
    version: Version,
    /// The end of what is known.
    offset: u64,
    /// The bytes before it.
    anchor: Bytes,
    /// How often an end without a line end was met unchanged; `None` once it was told.
    patience: Option<u32>,
}

/// How often each entry was told, by id, or line if it has none.
#[derive(Clone, Debug, Default)]
struct Told {
    session: String,
    counts: HashMap<Box<[u8]>, u32>,
    /// How many entries of a format without ids were told.
    without_ids: Option<usize>,
}

impl Follower {
    pub(super) fn new(reader: SessionReader, from_start: bool) -> Self {
        let told = Told::default();
        Self { reader, from_start, was_seen: false, is_there: false, at: None, told }
    }

    /// Looks at the file and returns what is new since the last look.
    ///
    /// Only what was added is read, unless the file was replaced or cut.
    ///
    /// # Errors
    ///
    /// Why the file could not be read, or [`SessionError::NotASession`]; the next look begins
    /// where this one did. A file that does not exist is no error.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what a dropped look has read is found by the next one.
    pub async fn look(&mut self) -> Result<Vec<FollowEvent>> {
        let SessionReader { storage, key, .. } = &self.reader;
        let meta = match storage.head(key).await {
            Err(error) if error.kind() == StorageErrorKind::NotFound => return Ok(self.gone()),
            head => head?,
        };
        let Some(at) = &mut self.at else { return self.reload().await };
        if at.version == meta.version {
            return Ok(at.wait(&meta, &self.reader));
        }
        let start = at.offset - at.anchor.len() as u64;
        let (meta, parts) = match storage.read(key, &[ReadRange::From(start)]).await {
            Err(error) if error.kind() == StorageErrorKind::NotFound => return Ok(self.gone()),
            read => read?,
        };
        let bytes = parts.into_iter().next().unwrap_or_default();
        if !bytes.starts_with(&at.anchor) {
            return self.reload().await;
        }
        let added = bytes.slice(at.anchor.len()..);
        Ok(self.grown(&meta, added))
    }

    fn gone(&mut self) -> Vec<FollowEvent> {
        self.at = None;
        let was_there = std::mem::take(&mut self.is_there);
        if was_there { vec![FollowEvent::Removed] } else { Vec::new() }
    }

    /// Takes what lies behind the known end up to the last line end.
    fn grown(&mut self, meta: &ObjectMeta, added: Bytes) -> Vec<FollowEvent> {
        let Some(at) = &mut self.at else { return Vec::new() };
        at.version = meta.version.clone();
        at.patience = Some(0);
        let end = memrchr(b'\n', &added).map_or(0, |lf| lf + 1);
        if end == 0 {
            return Vec::new();
        }
        let mut document = SessionDocument::new(at.header.clone());
        let (_, found) = document.extend(added.slice(..end), at.offset, &self.reader.load);
        at.offset += end as u64;
        at.anchor = tail(&[&at.anchor, &added[..end]].concat());
        let entries = document.tree().entries();
        entries.iter().for_each(|entry| self.told.count(entry));
        let mut events: Vec<_> = entries.iter().cloned().map(FollowEvent::Entry).collect();
        events.extend(found.into_iter().map(FollowEvent::Diagnostic));
        events
    }

    /// Reads the whole file and tells what of it was not told yet.
    async fn reload(&mut self) -> Result<Vec<FollowEvent>> {
        let SessionReader { storage, key, load } = &self.reader;
        let (meta, parts) = match storage.read(key, &[ReadRange::Full]).await {
            Err(error) if error.kind() == StorageErrorKind::NotFound => return Ok(self.gone()),
            read => read?,
        };
        let bytes = parts.into_iter().next().unwrap_or_default();
        let whole = bytes.slice(..memrchr(b'\n', &bytes).map_or(0, |lf| lf + 1));
        let anchor = tail(&whole);
        let offset = whole.len() as u64;
        let document = match SessionDocument::load(whole, load) {
            Ok(loaded) => loaded.document,
            // Somebody is about to write it.
            Err(LoadError::Empty) => return Ok(Vec::new()),
            Err(source) => return Err(SessionError::NotASession { key: key.clone(), source }),
        };
        let news = self.told.news(&document);
        let mut events = Vec::new();
        if self.was_seen {
            events.push(FollowEvent::Reloaded);
        }
        if self.was_seen || self.from_start {
            events.extend(news.into_iter().map(FollowEvent::Entry));
        }
        let header = document.header().clone();
        let version = meta.version;
        self.at = Some(Place { header, version, offset, anchor, patience: Some(0) });
        (self.was_seen, self.is_there) = (true, true);
        Ok(events)
    }
}

impl Place {
    /// Counts looks at an end that is no whole line, and tells of it once it stays.
    fn wait(&mut self, meta: &ObjectMeta, reader: &SessionReader) -> Vec<FollowEvent> {
        let torn = meta.size - self.offset;
        let Some(looks) = self.patience.as_mut().filter(|_| torn > 0) else { return Vec::new() };
        *looks += 1;
        if *looks < PATIENCE {
            return Vec::new();
        }
        self.patience = None;
        let detail =
            format!("the file of {} ends in {torn} bytes that are no whole line", reader.key);
        let diagnostic = Diagnostic::new(DiagnosticCode::TornTail, detail);
        vec![FollowEvent::Diagnostic(diagnostic)]
    }
}

impl Told {
    fn count(&mut self, entry: &Entry) {
        *self.counts.entry(name(entry)).or_default() += 1;
        self.without_ids = self.without_ids.map(|told| told + 1);
    }

    /// Returns the entries that were not told yet, and counts them.
    fn news(&mut self, document: &SessionDocument) -> Vec<Entry> {
        let header = document.header();
        if header.id() != self.session {
            *self = Self { session: header.id(), ..Self::default() };
        }
        // A migration gives ids to entries that had none, and keeps their order.
        let known = self.without_ids.filter(|_| header.version() >= 2.0).unwrap_or(0);
        self.without_ids = (header.version() < 2.0).then_some(0);
        let mut present: HashMap<Box<[u8]>, u32> = HashMap::new();
        let mut news = Vec::new();
        for (index, entry) in document.tree().entries().iter().enumerate() {
            let name = name(entry);
            let count = present.entry(name.clone()).or_default();
            *count += 1;
            let told = self.counts.entry(name).or_default();
            if *told < *count {
                *told = *count;
                if index >= known {
                    news.push(entry.clone());
                }
            }
        }
        self.without_ids = self.without_ids.map(|_| document.tree().len());
        news
    }
}

/// What tells an entry from others.
fn name(entry: &Entry) -> Box<[u8]> {
    match entry.id() {
        Some(id) => id.as_bytes().into(),
        None => entry.line().trim_ascii().into(),
    }
}

fn tail(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&bytes[bytes.len().saturating_sub(ANCHOR_BYTES)..])
}
