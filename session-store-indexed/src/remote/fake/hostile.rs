//! Answers that are not as they should be: keys, lengths, numbers, bodies, order.

use std::time::Duration;

use bytes::Bytes;
use session_model::storage::StorageKey;

use super::faults::Dice;
use crate::remote::{
    Applied, Change, Claimed, Digest, Event, Feed, Fence, Listed, Names, Page, Part, Position,
    SessionState, Tombstone,
};

/// Keys that must become no file, and some that are another session's.
const KEYS: [&str; 14] = [
    "extensions/evil.ts",
    "history.db",
    "index.db",
    "trash/x/s.jsonl",
    ".ssh/authorized_keys",
    "sessions",
    "sessions/evil.ts",
    "sessions/b/.hidden.jsonl",
    "sessions/NUL/s.jsonl",
    "sessions/b/\u{1b}[2J.jsonl",
    "blobs/0000",
    "sessions/b/s0.jsonl",
    "sessions/b/s0/.profile",
    "sessions/b/new.jsonl",
];

/// How many bytes an owner or metadata can have at most, and more.
const LONG: usize = 100_000;

impl Dice {
    /// Returns one of several.
    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> Option<&'a T> {
        from.get(self.below(from.len() as u64) as usize).copied()
    }

    fn number(&mut self, right: u64) -> u64 {
        match self.below(8) {
            0 => u64::MAX,
            1 => 1_000_000_000_000_000,
            2 => 0,
            3 => right.wrapping_add(1),
            4 => right.wrapping_sub(1),
            5 => i64::MAX as u64,
            6 => 1 << 53,
            _ => self.below(1 << 20),
        }
    }

    fn key(&mut self) -> Option<StorageKey> {
        StorageKey::new(self.pick(&KEYS)?).ok()
    }

    fn owner(&mut self) -> String {
        match self.below(4) {
            0 => String::new(),
            1 => "x".repeat(LONG),
            2 => "\u{1b}[2J\n".to_owned(),
            _ => "somebody/else".to_owned(),
        }
    }

    fn bytes(&mut self, right: &[u8]) -> Bytes {
        let mut bytes = right.to_vec();
        match self.below(5) {
            0 => bytes.clear(),
            1 => bytes.truncate(bytes.len() / 2),
            2 => bytes.extend_from_slice(b"more\n"),
            3 => bytes = (0..self.below(4096)).map(|_| self.below(256) as u8).collect(),
            _ => {
                let at = self.below(bytes.len() as u64) as usize;
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
            }
        }
        bytes.into()
    }

    fn position(&mut self, position: &mut Position) {
        match self.below(2) {
            0 => position.length = self.number(position.length),
            _ => position.generation = self.number(position.generation),
        }
    }

    fn fence(&mut self, fence: &mut Fence) {
        match self.below(2) {
            0 => fence.epoch = self.number(fence.epoch),
            _ => fence.owner = self.owner(),
        }
    }

    fn session(&mut self, state: &mut SessionState) {
        match self.below(7) {
            0 | 1 => self.position(&mut state.position),
            2 => state.digest = None,
            3 => state.digest = Some(Digest([self.below(256) as u8; 32])),
            4 => self.fence(&mut state.fence),
            5 => state.meta = vec![b'{'; LONG].into(),
            _ => {
                let by = Fence { epoch: self.number(1), owner: self.owner() };
                let moved_to = (self.below(3) > 0).then(|| self.key()).flatten();
                state.tombstone = Some(Tombstone { by, moved_to });
            }
        }
    }

    /// Mutates rows: one of them, their number, their order.
    fn rows<T: Clone>(&mut self, rows: &mut Vec<T>, row: impl Fn(&mut Self, &mut T)) {
        let at = self.below(rows.len() as u64) as usize;
        match self.below(4) {
            0 => rows.truncate(at),
            1 => rows.reverse(),
            2 => rows.extend_from_within(..),
            _ => rows.iter_mut().skip(at).take(1).for_each(|found| row(self, found)),
        }
    }
}

/// An answer of a remote that can be a lie.
pub(super) trait Lie {
    /// Makes it one.
    fn lie(&mut self, dice: &mut Dice);
}

impl Lie for Option<SessionState> {
    fn lie(&mut self, dice: &mut Dice) {
        match self {
            Some(_) if dice.below(8) == 0 => *self = None,
            Some(state) => dice.session(state),
            None => {}
        }
    }
}

impl Lie for Option<Part> {
    fn lie(&mut self, dice: &mut Dice) {
        let Some(part) = self else { return };
        match dice.below(3) {
            0 => dice.position(&mut part.position),
            _ => part.bytes = dice.bytes(&part.bytes),
        }
    }
}

impl Lie for Page {
    fn lie(&mut self, dice: &mut Dice) {
        match dice.below(6) {
            0 => self.next = Some(dice.number(0)),
            _ => dice.rows(&mut self.sessions, |dice, row: &mut Listed| match dice.below(3) {
                0 => row.session = dice.key().unwrap_or_else(|| row.session.clone()),
                1 => row.activity = dice.number(row.activity),
                _ => dice.session(&mut row.state),
            }),
        }
    }
}

impl Lie for Feed {
    fn lie(&mut self, dice: &mut Dice) {
        match dice.below(6) {
            0 => self.next = dice.number(self.next),
            1 => self.complete = false,
            2 => self.more = true,
            _ => dice.rows(&mut self.events, |dice, event: &mut Event| match dice.below(3) {
                0 => event.session = dice.key().unwrap_or_else(|| event.session.clone()),
                1 => event.at = dice.number(event.at),
                _ => match &mut event.change {
                    Change::Written(position) => dice.position(position),
                    Change::Removed => event.change = Change::Written(Position::default()),
                },
            }),
        }
    }
}

impl Lie for Claimed {
    fn lie(&mut self, dice: &mut Dice) {
        match self {
            Self::Granted(fence) if dice.below(2) == 0 => dice.fence(fence),
            Self::Granted(fence) | Self::Held { by: fence, .. } => {
                let mut by = fence.clone();
                dice.fence(&mut by);
                *self = Self::Held { by, left: Duration::from_millis(dice.number(1)) };
            }
        }
    }
}

impl Lie for Applied {
    fn lie(&mut self, dice: &mut Dice) {
        *self = match dice.below(3) {
            0 => {
                Self::Gap { have: Position { generation: dice.number(1), length: dice.number(1) } }
            }
            1 => Self::Conflict { at: dice.number(0) },
            _ => Self::Fenced(Fence { epoch: dice.number(1), owner: dice.owner() }),
        };
    }
}

impl Lie for Option<Bytes> {
    fn lie(&mut self, dice: &mut Dice) {
        if let Some(bytes) = self {
            *bytes = dice.bytes(bytes);
        }
    }
}

impl Lie for Names {
    fn lie(&mut self, dice: &mut Dice) {
        match dice.below(3) {
            0 => self.next = self.keys.first().map(StorageKey::to_string),
            _ => dice.rows(&mut self.keys, |dice, key| {
                *key = dice.key().unwrap_or_else(|| key.clone());
            }),
        }
        if dice.below(2) == 0 {
            self.keys.extend(dice.key());
        }
    }
}

impl Lie for Vec<Option<Digest>> {
    fn lie(&mut self, dice: &mut Dice) {
        dice.rows(self, |_, digest| *digest = Some(Digest([7; 32])));
    }
}
