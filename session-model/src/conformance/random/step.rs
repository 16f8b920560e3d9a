//! What a random run does, step by step, and how steps are drawn.

use std::iter;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use crate::storage::{Durability, ListOptions, ReadRange, StorageKey};

/// How many writers can be open at once.
pub(super) const WRITERS: usize = 3;

/// How many handles of the same data take part.
pub(super) const HANDLES: usize = 2;

/// One call, or one change of what is open.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Put { key: StorageKey, body: Body, condition: Condition, level: Durability },
    Open { writer: usize, key: StorageKey, exclusive: bool, condition: Condition },
    On { writer: usize, call: Call },
    Copy { from: StorageKey, to: StorageKey, overwrite: bool },
    Rename { from: StorageKey, to: StorageKey, overwrite: bool },
    Remove { key: StorageKey },
    RemoveAll { prefix: StorageKey },
    Head { key: StorageKey },
    Read { key: StorageKey, ranges: Vec<ReadRange> },
    Peek { keys: Vec<StorageKey>, head: u64, tail: u64 },
    List { prefix: Option<StorageKey>, options: ListOptions },
    Drain { level: Durability },
    Reopen,
}

/// A call of a writer; nothing happens if it is not open.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Append(Body),
    Truncate(u64),
    Replace(Body, Condition),
    Adopt,
    Sync(Durability),
    Close,
    Drop,
}

/// A body of one character.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    letter: char,
    len: usize,
}

impl Body {
    pub(super) fn bytes(self) -> Bytes {
        self.letter.to_string().repeat(self.len).into()
    }
}

/// A precondition, before it is known what it means at that point of the run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition {
    None,
    Absent,
    CurrentVersion,
    StaleVersion,
    CurrentLength,
    Length(u64),
}

/// A step, and through which handle it is made.
pub(super) fn steps(
    most: usize,
    keys: &[StorageKey],
) -> impl Strategy<Value = Vec<(usize, Step)>> + use<> {
    vec((0..HANDLES, step(keys)), 1..=most.max(1))
}

fn step(keys: &[StorageKey]) -> impl Strategy<Value = Step> + use<> {
    let key = || select(keys.to_vec());
    let prefix = || select(prefixes(keys));
    prop_oneof![
        6 => (key(), body(0), condition(), level())
            .prop_map(|(key, body, condition, level)| Step::Put { key, body, condition, level }),
        5 => (0..WRITERS, key(), any::<bool>(), condition()).prop_map(
            |(writer, key, exclusive, condition)| Step::Open { writer, key, exclusive, condition }
        ),
        18 => (0..WRITERS, call()).prop_map(|(writer, call)| Step::On { writer, call }),
        3 => (key(), key(), any::<bool>())
            .prop_map(|(from, to, overwrite)| Step::Copy { from, to, overwrite }),
        3 => (key(), key(), any::<bool>())
            .prop_map(|(from, to, overwrite)| Step::Rename { from, to, overwrite }),
        3 => key().prop_map(|key| Step::Remove { key }),
        2 => prefix().prop_map(|prefix| Step::RemoveAll { prefix }),
        1 => key().prop_map(|key| Step::Head { key }),
        2 => (key(), vec(range(), 0..4)).prop_map(|(key, ranges)| Step::Read { key, ranges }),
        1 => (vec(key(), 0..4), 0..8_u64, 0..8_u64)
            .prop_map(|(keys, head, tail)| Step::Peek { keys, head, tail }),
        2 => (option::of(prefix()), list_options(key()))
            .prop_map(|(prefix, options)| Step::List { prefix, options }),
        1 => level().prop_map(|level| Step::Drain { level }),
        1 => Just(Step::Reopen),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        8 => body(1).prop_map(Call::Append),
        3 => (0..12_u64).prop_map(Call::Truncate),
        2 => (body(0), condition()).prop_map(|(body, condition)| Call::Replace(body, condition)),
        1 => Just(Call::Adopt),
        1 => level().prop_map(Call::Sync),
        2 => Just(Call::Close),
        2 => Just(Call::Drop),
    ]
}

/// The keys, and the folders they are in.
fn prefixes(keys: &[StorageKey]) -> Vec<StorageKey> {
    let mut found: Vec<_> = keys
        .iter()
        .flat_map(|key| iter::successors(Some(key.clone()), StorageKey::parent))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn body(least: usize) -> impl Strategy<Value = Body> {
    let len = prop_oneof![6 => least..6, 1 => least..20_000];
    (select(vec!['a', 'b', '\n']), len).prop_map(|(letter, len)| Body { letter, len })
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![
        6 => Just(Condition::None),
        1 => Just(Condition::Absent),
        1 => Just(Condition::CurrentVersion),
        1 => Just(Condition::StaleVersion),
        1 => Just(Condition::CurrentLength),
        1 => (0..6_u64).prop_map(Condition::Length),
    ]
}

fn level() -> impl Strategy<Value = Durability> {
    prop_oneof![
        8 => Just(Durability::Accepted),
        1 => Just(Durability::Durable),
        1 => Just(Durability::Published),
    ]
}

fn range() -> impl Strategy<Value = ReadRange> {
    prop_oneof![
        Just(ReadRange::Full),
        (0..9_u64, 0..9_u64).prop_map(|(offset, len)| ReadRange::Range { offset, len }),
        (0..9_u64).prop_map(ReadRange::From),
        (0..9_u64).prop_map(ReadRange::Suffix),
    ]
}

fn list_options(key: impl Strategy<Value = StorageKey>) -> impl Strategy<Value = ListOptions> {
    let suffix = option::of(select(vec!["x", "/x", "e", "-"]).prop_map(str::to_owned));
    (option::of(0..4_usize), suffix, option::of(key), option::of(0..5_usize)).prop_map(
        |(max_depth, suffix, start_after, limit)| ListOptions {
            max_depth,
            suffix,
            start_after,
            limit,
        },
    )
}
