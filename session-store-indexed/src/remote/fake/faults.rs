//! Which call fails, and how; all from one seed.

use std::time::Duration;

use crate::remote::RemoteError;

/// Faults of a [`FakeRemote`](super::FakeRemote); by default there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FakeFaults {
    /// Where the run begins.
    pub seed: u64,
    /// The most the logical clock moves with a call, besides one microsecond.
    pub max_delay: Duration,
    /// Calls in a thousand that fail without effect.
    pub cut_before: u16,
    /// Calls in a thousand that take effect and fail; of a batch of units, a part of it.
    pub cut_after: u16,
    /// What every call is answered that would change something.
    pub refuse: Option<RemoteError>,
    /// How long a call really takes; if at all, a Tokio runtime with time is needed.
    pub takes: Duration,
    /// How many times a call lets calls made at the same time go first, at most.
    pub reorder: u16,
    /// Answers in a thousand that are lies: other keys, lengths, numbers, bytes, rows, order.
    pub hostile: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Fine,
    CutBefore,
    CutAfter,
}

/// SplitMix64.
#[derive(Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 to below `end`; 0 if there is none.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)).checked_rem(end).unwrap_or(0)
    }

    pub(super) fn fate(&mut self, faults: &FakeFaults) -> Fate {
        let roll = self.below(1000);
        let before = u64::from(faults.cut_before);
        if roll < before {
            Fate::CutBefore
        } else if roll < before + u64::from(faults.cut_after) {
            Fate::CutAfter
        } else {
            Fate::Fine
        }
    }
}
