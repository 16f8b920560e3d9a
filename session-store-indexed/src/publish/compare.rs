//! Comparing the remote's log with the file, and what may come of it.
//!
//! A file may always go on where the remote ends. It replaces what is there only if nothing that
//! another host wrote is lost with that, and if it was written so by a program of this host through
//! its storage, or has every entry the remote has: a file that is found in the place of a newer one
//! never takes anything away.

use std::collections::HashSet;

use bytes::{Bytes, BytesMut};
use memchr::memrchr;
use session_model::document::{LoadOptions, Scan};

use super::live::Ready;
use super::publisher::{Publisher, Result};
use super::source::Source;
use crate::outbox::{self, Agreed, Order};
use crate::remote::{MAX_READ_BYTES, SessionState};

/// What a file is to the remote's log.
#[derive(Debug)]
pub(super) enum Compared {
    /// Nothing is to be sent.
    Done(Ready),
    /// It goes on where the log ends.
    GoesOn,
    /// It is to replace the log.
    Replaces,
}

impl Publisher {
    /// Decides what can be decided without a claim.
    pub(super) async fn compare(
        &mut self,
        source: &mut Source<'_>,
        stop: u64,
        state: &SessionState,
        agreed: Option<&Agreed>,
    ) -> Result<Compared> {
        let (key, length, Some(digest)) = (source.key, state.position.length, state.digest) else {
            return Ok(Compared::GoesOn);
        };
        let same = match source.begins_with(length, &digest).await? {
            None => return Ok(Compared::Done(Ready::Changed)),
            Some(same) => same,
        };
        if same {
            if length < stop || source.len() < stop {
                return Ok(Compared::GoesOn);
            }
            let agreed = Agreed { position: state.position, digest, epoch: state.fence.epoch };
            self.database.run(|connection| outbox::agree(connection, key, &agreed))?;
            return Ok(Compared::Done(Ready::Nothing));
        }
        let is_known = self.is_known(agreed, state)?;
        let order = self.database.run(|connection| outbox::ordered(connection, key))?;
        let is_set_back = match agreed {
            Some(agreed) if state.position < agreed.position => {
                source.begins_with(agreed.position.length, &agreed.digest).await?.unwrap_or(false)
            }
            _ => false,
        };
        if is_known && (order == Some(Order::Written) || is_set_back) {
            return Ok(Compared::Replaces);
        }
        if length > source.len() {
            match self.is_beginning(source, state).await? {
                None => return Ok(Compared::Done(Ready::Again)),
                Some(true) => return Ok(Compared::Done(Ready::Nothing)),
                Some(false) => {}
            }
        }
        if !is_known {
            return Ok(Compared::Done(Ready::Diverged));
        }
        Ok(match self.keeps_entries(source, state).await? {
            None => Compared::Done(Ready::Again),
            Some(true) => Compared::Replaces,
            Some(false) => Compared::Done(Ready::Foreign),
        })
    }

    /// Tells whether the remote's log begins with the local file, which is shorter.
    async fn is_beginning(
        &self,
        source: &Source<'_>,
        state: &SessionState,
    ) -> Result<Option<bool>> {
        let mut at = 0;
        while at < source.len() {
            let limit = (source.len() - at).min(MAX_READ_BYTES as u64);
            let Some(theirs) = self.part(source, state, at, limit).await? else { return Ok(None) };
            let stop = at + theirs.len() as u64;
            match source.read(at, stop).await? {
                None => return Ok(None),
                Some(ours) if ours != theirs => return Ok(Some(false)),
                Some(_) => at = stop,
            }
        }
        Ok(Some(true))
    }

    /// Tells whether a file has every entry of the remote's log, by their ids, and no fewer.
    async fn keeps_entries(
        &self,
        source: &Source<'_>,
        state: &SessionState,
    ) -> Result<Option<bool>> {
        let (mut theirs, mut ours) = (Entries::default(), Entries::default());
        let mut at = 0;
        while at < state.position.length {
            let limit = MAX_READ_BYTES as u64;
            let Some(part) = self.part(source, state, at, limit).await? else { return Ok(None) };
            at += part.len() as u64;
            theirs.add(&part);
        }
        at = 0;
        while at < source.len() {
            let stop = source.len().min(at + MAX_READ_BYTES as u64);
            let Some(part) = source.read(at, stop).await? else { return Ok(None) };
            at = stop;
            ours.add(&part);
        }
        Ok(Some(ours.have(&theirs)))
    }

    /// Reads some of the log; `None` if it was replaced.
    async fn part(
        &self,
        source: &Source<'_>,
        state: &SessionState,
        at: u64,
        limit: u64,
    ) -> Result<Option<Bytes>> {
        let part = self.remote.read(source.key, at, limit as usize).await?;
        let same_log = part.filter(|part| {
            part.position.generation == state.position.generation && !part.bytes.is_empty()
        });
        Ok(same_log.map(|part| part.bytes))
    }
}

/// The entries of a log that is read in parts.
#[derive(Debug, Default)]
struct Entries {
    ids: HashSet<String>,
    count: u64,
    /// The beginning of a line.
    rest: BytesMut,
}

impl Entries {
    fn add(&mut self, part: &[u8]) {
        self.rest.extend_from_slice(part);
        let end = memrchr(b'\n', &self.rest).map_or(0, |last| last + 1);
        let lines = self.rest.split_to(end).freeze();
        let scan = Scan::lines(&lines, &LoadOptions::default());
        self.count += scan.entries.len() as u64;
        self.ids
            .extend(scan.entries.iter().filter_map(|(_, entry)| Some(entry.id()?.into_owned())));
    }

    fn have(&self, others: &Self) -> bool {
        self.count >= others.count && others.ids.is_subset(&self.ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(lines: &[&str], part: usize) -> Entries {
        let mut entries = Entries::default();
        for part in (lines.join("\n") + "\n").as_bytes().chunks(part) {
            entries.add(part);
        }
        entries
    }

    #[test]
    fn entries_are_told_apart_wherever_parts_end() {
        let (a, b) = (r#"{"type":"x","id":"a"}"#, r#"{"type":"x","id":"b"}"#);
        let (edited, without) = (r#"{"type":"x","id":"a","y":1}"#, r#"{"type":"x"}"#);
        for part in [1, 7, 22, 1000] {
            let both = entries(&[a, b], part);
            assert!(entries(&[edited, b], 1000).have(&both));
            assert!(entries(&[b, a, without], 1000).have(&both));
            assert!(!entries(&[a], 1000).have(&both));
            assert!(!entries(&[a, without], 1000).have(&both));
            assert!(!entries(&[without], 1000).have(&entries(&[without, without], part)));
        }
    }
}
