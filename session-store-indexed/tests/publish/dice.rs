//! Chance that can be replayed.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// SplitMix64.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    }
}

pub fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Runs every seed, as many as the variable says, or the one that is to be replayed.
pub fn for_each_seed(many: &str, default: u64, mut run: impl FnMut(u64)) {
    if let Some(seed) = number("SESSION_SIM_SEED") {
        return run(seed);
    }
    for seed in 0..number(many).unwrap_or(default) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(seed))) {
            eprintln!("replay with SESSION_SIM_SEED={seed}");
            resume_unwind(panic);
        }
    }
}
