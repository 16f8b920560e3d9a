//! What each step must answer and leave, told by a map.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::step::{Call, Condition, Step, WRITERS};
use crate::storage::{Durability, Precondition, StorageErrorKind, StorageKey, Version};

/// What a step answers, as far as a map can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Nothing,
    /// An offset or a count.
    Number(u64),
    /// What is known of an object: its key and size.
    Object(StorageKey, u64),
    /// An object's size and the parts that were read.
    Parts(u64, Vec<Bytes>),
    /// Per key the size, head and tail; `None` for one that is not found.
    Peeks(Vec<Option<(u64, Bytes, Bytes)>>),
    /// Keys and sizes in the order listed.
    Listing(Vec<(StorageKey, u64)>),
}

/// What a step answers, or the kinds of errors of which it must return one.
pub(super) type Prediction = Result<Answer, Vec<StorageErrorKind>>;

#[derive(Debug)]
pub(super) struct Object {
    pub(super) body: Vec<u8>,
    /// The tokens of the states this object went through; the present state has the last one,
    /// unless it is to be told by the store yet.
    pub(super) versions: Vec<Version>,
    pub(super) is_new_state: bool,
}

#[derive(Debug)]
pub(super) struct Writer {
    key: StorageKey,
    exclusive: bool,
    pub(super) len: u64,
    /// The kind of the error that closed it.
    pub(super) closed: Option<StorageErrorKind>,
}

#[derive(Debug, Default)]
pub(super) struct Oracle {
    pub(super) objects: BTreeMap<StorageKey, Object>,
    pub(super) writers: [Option<Writer>; WRITERS],
    levels: Vec<Durability>,
}

impl Oracle {
    pub(super) fn new(levels: Vec<Durability>) -> Self {
        Self { levels, ..Self::default() }
    }

    /// Says what a condition means now.
    pub(super) fn precondition(&self, key: &StorageKey, condition: Condition) -> Precondition {
        let object = self.objects.get(key);
        let version = |back: usize| {
            let versions = object.map(|object| object.versions.as_slice()).unwrap_or_default();
            match versions.len().checked_sub(1 + back) {
                Some(i) => Precondition::Version(versions[i].clone()),
                None => Precondition::Version(Version::new("never a version")),
            }
        };
        match condition {
            Condition::None => Precondition::None,
            Condition::Absent => Precondition::Absent,
            Condition::CurrentVersion => version(0),
            Condition::StaleVersion => version(1),
            Condition::CurrentLength => Precondition::Length(object.map_or(0, Object::len)),
            Condition::Length(len) => Precondition::Length(len),
        }
    }

    /// Says what a condition means now for the object of a writer.
    pub(super) fn writer_precondition(&self, number: usize, condition: Condition) -> Precondition {
        match &self.writers[number] {
            Some(writer) => self.precondition(&writer.key, condition),
            None => Precondition::None,
        }
    }

    /// Predicts a step, and makes it if it is to succeed.
    pub(super) fn step(&mut self, step: &Step) -> Prediction {
        match step {
            Step::Put { key, body, condition, level } => {
                let mut refusals = self.level(*level);
                refusals.extend(self.write_refusals(key, *condition, None));
                refuse(refusals)?;
                Ok(self.set(key, body.bytes().to_vec()))
            }
            Step::Open { writer, key, exclusive, condition } => {
                self.writers[*writer] = None;
                refuse(self.write_refusals(key, *condition, None))?;
                if !self.objects.contains_key(key) {
                    self.set(key, Vec::new());
                }
                let len = self.objects[key].len();
                let opened = Writer { key: key.clone(), exclusive: *exclusive, len, closed: None };
                self.writers[*writer] = Some(opened);
                Ok(Answer::Number(len))
            }
            Step::On { writer, call } => self.call(*writer, call),
            Step::Copy { from, to, overwrite } => {
                refuse(self.move_refusals(from, to, *overwrite))?;
                Ok(self.set(to, self.objects[from].body.clone()))
            }
            Step::Rename { from, to, overwrite } => {
                let mut refusals = self.move_refusals(from, to, *overwrite);
                refusals.extend(self.busy(from, None));
                refuse(refusals)?;
                let body = self.objects[from].body.clone();
                if from != to {
                    self.objects.remove(from);
                }
                Ok(self.set(to, body))
            }
            Step::Remove { key } => {
                let mut refusals: Vec<_> = self.busy(key, None).into_iter().collect();
                refusals.extend(self.head(key).err().into_iter().flatten());
                refuse(refusals)?;
                self.objects.remove(key);
                Ok(Answer::Nothing)
            }
            Step::RemoveAll { prefix } => {
                let below: Vec<_> =
                    self.objects.keys().filter(|key| key.is_below(prefix)).cloned().collect();
                refuse(below.iter().filter_map(|key| self.busy(key, None)).collect())?;
                self.objects.retain(|key, _| !key.is_below(prefix));
                Ok(Answer::Number(below.len() as u64))
            }
            Step::Head { key } => self.head(key),
            Step::Read { key, ranges } => {
                let size = self.object(key)?.len();
                let body = &self.object(key)?.body;
                let parts = ranges.iter().map(|range| part(body, range.resolve(size)));
                Ok(Answer::Parts(size, parts.collect()))
            }
            Step::Peek { keys, head, tail } => {
                let peeks = keys.iter().map(|key| {
                    let object = self.objects.get(key)?;
                    let size = object.len();
                    let border = size.min(*head);
                    let start = size.saturating_sub(*tail).max(border);
                    Some((size, part(&object.body, 0..border), part(&object.body, start..size)))
                });
                Ok(Answer::Peeks(peeks.collect()))
            }
            Step::List { prefix, options } => {
                let listed = self
                    .objects
                    .iter()
                    .filter(|(key, _)| options.admits(prefix.as_ref(), key))
                    .map(|(key, object)| (key.clone(), object.len()))
                    .take(options.limit.unwrap_or(usize::MAX));
                Ok(Answer::Listing(listed.collect()))
            }
            Step::Drain { level } => {
                refuse(self.level(*level))?;
                Ok(Answer::Nothing)
            }
            Step::Reopen => {
                self.writers = Default::default();
                Ok(Answer::Nothing)
            }
        }
    }

    fn call(&mut self, number: usize, call: &Call) -> Prediction {
        let Some(writer) = &self.writers[number] else { return Ok(Answer::Nothing) };
        let (key, exclusive) = (writer.key.clone(), writer.exclusive);
        match (call, writer.closed) {
            (Call::Drop, _) => {
                self.writers[number] = None;
                return Ok(Answer::Nothing);
            }
            (Call::Close, closed) => {
                self.writers[number] = None;
                return closed.map_or_else(|| self.head(&key), |kind| Err(vec![kind]));
            }
            (_, Some(_)) => return Err(vec![StorageErrorKind::Closed]),
            (_, None) => {}
        }
        let answer = match call {
            Call::Append(body) => self.append(number, &key, &body.bytes())?,
            Call::Truncate(len) => {
                let there = self.objects.get(&key).map(|object| object.body.as_slice());
                let there = there.filter(|body| exclusive && *len <= body.len() as u64);
                let kept = there.map(|body| (body.len(), body[..*len as usize].to_vec()));
                let (size, kept) = kept.ok_or_else(|| vec![StorageErrorKind::Invalid])?;
                if kept.len() < size {
                    self.set(&key, kept);
                }
                Answer::Nothing
            }
            Call::Replace(body, condition) => {
                refuse(self.write_refusals(&key, *condition, Some(number)))?;
                self.set(&key, body.bytes().to_vec())
            }
            Call::Adopt => self.head(&key)?,
            Call::Sync(level) => {
                refuse(self.level(*level))?;
                return Ok(Answer::Nothing);
            }
            Call::Close | Call::Drop => Answer::Nothing,
        };
        let len = self.objects.get(&key).map_or(0, Object::len);
        if let Some(writer) = &mut self.writers[number] {
            writer.len = len;
        }
        Ok(answer)
    }

    fn append(&mut self, number: usize, key: &StorageKey, bytes: &[u8]) -> Prediction {
        refuse(self.busy(key, Some(number)).into_iter().collect())?;
        if let Some(kind) = self.misplaced(key) {
            if let Some(writer) = &mut self.writers[number] {
                writer.closed = Some(kind);
            }
            return Err(vec![kind]);
        }
        let mut body = self.objects.get(key).map(|object| object.body.clone()).unwrap_or_default();
        let start = body.len() as u64;
        body.extend(bytes);
        self.set(key, body);
        Ok(Answer::Number(start))
    }

    /// Sets a body as a new state; an object that is there goes on with its history.
    fn set(&mut self, key: &StorageKey, body: Vec<u8>) -> Answer {
        let answer = Answer::Object(key.clone(), body.len() as u64);
        let versions = self.objects.remove(key).map(|old| old.versions).unwrap_or_default();
        self.objects.insert(key.clone(), Object { body, versions, is_new_state: true });
        answer
    }

    fn object(&self, key: &StorageKey) -> Result<&Object, Vec<StorageErrorKind>> {
        self.objects.get(key).ok_or_else(|| vec![StorageErrorKind::NotFound])
    }

    fn head(&self, key: &StorageKey) -> Prediction {
        Ok(Answer::Object(key.clone(), self.object(key)?.len()))
    }

    fn level(&self, level: Durability) -> Vec<StorageErrorKind> {
        let missing = !self.levels.contains(&level);
        missing.then_some(StorageErrorKind::Unsupported).into_iter().collect()
    }

    fn write_refusals(
        &self,
        key: &StorageKey,
        condition: Condition,
        writer: Option<usize>,
    ) -> Vec<StorageErrorKind> {
        let object = self.objects.get(key);
        let unmet = match (self.precondition(key, condition), object) {
            (Precondition::None, _) | (Precondition::Absent, None) => None,
            (Precondition::Absent, Some(_)) => Some(StorageErrorKind::AlreadyExists),
            (_, None) => Some(StorageErrorKind::NotFound),
            (Precondition::Present, Some(_)) => None,
            (Precondition::Length(len), Some(object)) if object.len() == len => None,
            (Precondition::Version(version), Some(object))
                if object.versions.last() == Some(&version) =>
            {
                None
            }
            _ => Some(StorageErrorKind::Conflict),
        };
        [unmet, self.busy(key, writer), self.misplaced(key)].into_iter().flatten().collect()
    }

    fn move_refusals(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        overwrite: bool,
    ) -> Vec<StorageErrorKind> {
        let missing = (!self.objects.contains_key(from)).then_some(StorageErrorKind::NotFound);
        let exists = (!overwrite && self.objects.contains_key(to))
            .then_some(StorageErrorKind::AlreadyExists);
        [missing, exists, self.busy(to, None), self.misplaced(to)].into_iter().flatten().collect()
    }

    /// The refusal of whoever is not the writer that holds this key.
    fn busy(&self, key: &StorageKey, writer: Option<usize>) -> Option<StorageErrorKind> {
        let held = self.writers.iter().enumerate().any(|(i, held)| {
            Some(i) != writer
                && held.as_ref().is_some_and(|held| held.exclusive && held.key == *key)
        });
        held.then_some(StorageErrorKind::Busy)
    }

    /// The refusal of a new object above or below another.
    fn misplaced(&self, key: &StorageKey) -> Option<StorageErrorKind> {
        let clash = !self.objects.contains_key(key)
            && self.objects.keys().any(|other| other.is_below(key) || key.is_below(other));
        clash.then_some(StorageErrorKind::Invalid)
    }
}

impl Object {
    fn len(&self) -> u64 {
        self.body.len() as u64
    }
}

fn part(body: &[u8], range: std::ops::Range<u64>) -> Bytes {
    Bytes::copy_from_slice(&body[range.start as usize..range.end as usize])
}

fn refuse(kinds: Vec<StorageErrorKind>) -> Result<(), Vec<StorageErrorKind>> {
    if kinds.is_empty() { Ok(()) } else { Err(kinds) }
}
