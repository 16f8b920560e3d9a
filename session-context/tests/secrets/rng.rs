//! Chance with a seed, so that a run can be repeated.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

pub const SEED: &str = "SESSION_TEST_SEED";

/// The seed of this run: from the environment, else new each time.
pub fn seed() -> u64 {
    static CHOSEN: OnceLock<u64> = OnceLock::new();
    *CHOSEN.get_or_init(|| match std::env::var(SEED) {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => RandomState::new().build_hasher().finish(),
    })
}

/// SplitMix64.
pub struct Rng(u64);

pub const DIGITS: &str = "0123456789";
pub const HEX: &str = "0123456789abcdef";
pub const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
pub const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Rng {
    /// The chance of one part of a run, which does not depend on what other parts take.
    pub fn new(part: &str) -> Self {
        let mut rng = Self(seed());
        for byte in part.bytes() {
            rng.0 = rng.next() ^ u64::from(byte);
        }
        rng
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    pub fn text(&mut self, alphabet: &str, length: usize) -> String {
        let bytes = alphabet.as_bytes();
        (0..length).map(|_| char::from(*self.pick(bytes))).collect()
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }

    pub fn uuid(&mut self) -> String {
        let hex = self.text(HEX, 30);
        let variant = self.text("89ab", 1);
        let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], &hex[18..]);
        format!("{a}-{b}-4{c}-{variant}{d}-{e}")
    }

    /// A password as people and their programs make them: letters of both cases and digits.
    pub fn password(&mut self, length: usize) -> String {
        loop {
            let text = self.text(BASE62, length);
            let has = |of: fn(&u8) -> bool| text.bytes().filter(of).count() >= 2;
            if has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
            {
                return text;
            }
        }
    }
}
