//! Everything the fake keeps.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use session_model::storage::StorageKey;

use super::session::Session;
use crate::remote::{
    AppendUnit, Applied, Change, Event, Feed, Fence, Listed, Names, Page, Part, Put, Rewrite,
    SessionState,
};

#[derive(Clone, Debug)]
pub(super) struct Server {
    sessions: BTreeMap<StorageKey, Session>,
    pub(super) objects: BTreeMap<StorageKey, Bytes>,
    activity: BTreeMap<StorageKey, u64>,
    feed: VecDeque<Event>,
    kept: usize,
    /// The newest event that was dropped.
    floor: u64,
    last: u64,
}

impl Server {
    pub(super) fn new(kept: usize) -> Self {
        Self {
            sessions: BTreeMap::new(),
            objects: BTreeMap::new(),
            activity: BTreeMap::new(),
            feed: VecDeque::new(),
            kept,
            floor: 0,
            last: 0,
        }
    }

    pub(super) fn session(&mut self, key: &StorageKey) -> &mut Session {
        self.sessions.entry(key.clone()).or_default()
    }

    /// Runs a change of a session that may not be there, and tells the feed.
    fn change(
        &mut self,
        key: &StorageKey,
        now: Option<u64>,
        change: impl FnOnce(&mut Session) -> Applied,
    ) -> Applied {
        let Some(session) = self.sessions.get_mut(key) else {
            return Applied::Fenced(Fence { epoch: 0, owner: String::new() });
        };
        let answer = change(session);
        let state = session.state();
        if let (Some(now), Applied::Ok | Applied::Dup) = (now, &answer) {
            let change = match state.tombstone {
                Some(_) => Change::Removed,
                None => Change::Written(state.position),
            };
            self.tell(key, change, now);
        }
        answer
    }

    fn tell(&mut self, key: &StorageKey, change: Change, now: u64) {
        self.last = now.max(self.last + 1);
        self.activity.insert(key.clone(), self.last);
        self.feed.push_back(Event { at: self.last, session: key.clone(), change });
        if self.feed.len() > self.kept {
            self.floor = self.feed.pop_front().map_or(self.floor, |event| event.at);
        }
    }

    pub(super) fn release(&mut self, key: &StorageKey, fence: &Fence) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.release(fence);
        }
    }

    pub(super) fn apply(&mut self, unit: &AppendUnit, now: u64) -> Applied {
        let generation = unit.start.generation;
        let seen = self.sessions.get(&unit.session).map(|session| session.position().generation);
        // Nobody sees a rewrite under way.
        let now = (seen == Some(generation)).then_some(now);
        self.change(&unit.session, now, |session| session.apply(unit))
    }

    pub(super) fn begin(&mut self, key: &StorageKey, fence: &Fence, generation: u64) -> Applied {
        self.change(key, None, |session| session.begin(fence, generation))
    }

    pub(super) fn commit(&mut self, rewrite: &Rewrite, now: u64) -> Applied {
        self.change(&rewrite.session, Some(now), |session| session.commit(rewrite))
    }

    pub(super) fn remove(
        &mut self,
        key: &StorageKey,
        fence: &Fence,
        moved_to: Option<&StorageKey>,
        now: u64,
    ) -> Applied {
        self.change(key, Some(now), |session| session.remove(fence, moved_to))
    }

    pub(super) fn state(&self, key: &StorageKey) -> Option<SessionState> {
        self.sessions.get(key).map(Session::state)
    }

    pub(super) fn read(&self, key: &StorageKey, from: u64, limit: usize) -> Option<Part> {
        self.sessions.get(key).map(|session| session.read(from, limit))
    }

    pub(super) fn list(&self, before: Option<u64>, limit: usize) -> Page {
        let mut sessions: Vec<_> = self
            .activity
            .iter()
            .filter(|&(_, &activity)| before.is_none_or(|before| activity < before))
            .filter_map(|(key, &activity)| {
                Some(Listed { session: key.clone(), activity, state: self.state(key)? })
            })
            .collect();
        sessions.sort_by_key(|listed| std::cmp::Reverse(listed.activity));
        let more = sessions.len() > limit;
        sessions.truncate(limit);
        let next = sessions.last().filter(|_| more).map(|listed| listed.activity);
        Page { sessions, skipped: Vec::new(), next }
    }

    pub(super) fn feed(&self, after: u64, limit: usize) -> Feed {
        let later = self.feed.iter().filter(|event| event.at > after);
        let events: Vec<_> = later.take(limit).cloned().collect();
        let next = events.last().map_or(after, |event| event.at);
        Feed {
            more: events.len() == limit,
            events,
            skipped: Vec::new(),
            next,
            complete: after >= self.floor && after <= self.last,
        }
    }

    pub(super) fn put_object(&mut self, key: &StorageKey, bytes: Bytes) -> Put {
        match self.objects.get(key) {
            None => {
                self.objects.insert(key.clone(), bytes);
                Put::Created
            }
            Some(there) if *there == bytes => Put::Same,
            Some(_) => Put::Differs,
        }
    }

    pub(super) fn list_objects(
        &self,
        prefix: &StorageKey,
        after: Option<&str>,
        limit: usize,
    ) -> Names {
        let wanted = |key: &&StorageKey| {
            key.is_below(prefix) && after.is_none_or(|after| key.as_str() > after)
        };
        let keys: Vec<_> = self.objects.keys().filter(wanted).take(limit).cloned().collect();
        let next = keys.last().filter(|_| keys.len() == limit).map(StorageKey::to_string);
        Names { keys, skipped: Vec::new(), next }
    }
}
