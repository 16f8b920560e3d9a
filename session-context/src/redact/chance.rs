//! Telling what chance made from names.

/// How long a run is that may be a secret by itself, in bytes; longer ones are data.
const RANDOM: std::ops::RangeInclusive<usize> = 20..=160;

/// How a run is made.
#[derive(Default)]
struct Makeup {
    digits: usize,
    lower: usize,
    upper: usize,
    others: usize,
    /// Groups of digits: one number is in many names.
    numbers: usize,
    /// How often the kind of character changes; separators stand between words and tell nothing.
    changes: usize,
    /// Letters right behind a letter, and how many of those pairs are usual in words.
    pairs: usize,
    usual: usize,
}

impl Makeup {
    fn of(run: &str) -> Self {
        let mut made = Self::default();
        let mut last = None;
        for byte in run.bytes() {
            let count = match byte {
                b'0'..=b'9' => &mut made.digits,
                b'a'..=b'z' => &mut made.lower,
                b'A'..=b'Z' => &mut made.upper,
                _ => {
                    made.others += 1;
                    last = None;
                    continue;
                }
            };
            *count += 1;
            if let Some(last) = last {
                made.add_pair(last, byte);
            }
            made.numbers += usize::from(byte.is_ascii_digit() && !last.is_some_and(is_digit));
            last = Some(byte);
        }
        made
    }

    fn add_pair(&mut self, first: u8, second: u8) {
        let kind = |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_lowercase());
        self.changes += usize::from(kind(first) != kind(second));
        if first.is_ascii_alphabetic() && second.is_ascii_alphabetic() {
            let letter = |byte: u8| usize::from(byte.to_ascii_lowercase() - b'a');
            self.pairs += 1;
            self.usual += usize::from(USUAL[letter(first)] >> letter(second) & 1 == 1);
        }
    }

    /// Tells whether kinds of characters change, and letters follow each other, as chance has it.
    /// The shares are where random runs part from 60,000 names in the sources of programs.
    fn is_of_chance(&self) -> bool {
        let all = self.digits + self.lower + self.upper + self.others;
        let changes = self.changes * 100 / (all - self.others).max(1);
        let usual = self.usual * 100 / self.pairs.max(1);
        let has_pairs = self.pairs >= MIN_PAIRS;
        if self.others * 8 > all || self.lower < 2 || self.upper < 2 {
            return false;
        }
        if all < MIN_SURE && self.others > 0 {
            return false;
        }
        (self.numbers >= 2 && self.lower >= 3 && self.upper >= 3 && changes >= 42)
            || (self.numbers >= 3 && changes >= 42 && usual <= 75)
            || (has_pairs && self.numbers >= 1 && changes >= 25 && usual <= 60)
            || (has_pairs && changes >= 25 && usual <= 50)
            || (all >= LONG && self.numbers >= 2 && changes >= 33 && usual <= 78)
    }
}

/// How long a run is at least whose parts may be joined by signs, in bytes: shorter ones are ids and
/// parts of paths more often than not.
const MIN_SURE: usize = 24;

/// How long a run is that leaves chance less room to look like words, in bytes.
const LONG: usize = 40;

/// How many pairs of letters tell of words.
const MIN_PAIRS: usize = 4;

/// The letters that often stand behind each letter of the alphabet, a bit for each: 93 of 100 pairs
/// in names of programs, and 37 of 100 by chance.
const USUAL: [u32; 26] = [
    0x1debd6f, 0x1164915, 0x01e4d9d, 0x0164119, 0x1efb97f, 0x01a4931, 0x0166991, 0x00a4111,
    0x2aef87f, 0x0000000, 0x0040110, 0x11c4919, 0x014d113, 0x03c6d7d, 0x07efd6e, 0x01ec911,
    0x0100000, 0x11e7d5d, 0x11cc995, 0x11e499d, 0x00eb937, 0x0000111, 0x0026111, 0x0888015,
    0x00ca000, 0x0000010,
];

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// Tells whether a run looks like chance.
pub(super) fn is_random(run: &str) -> bool {
    // A sign before it is of a patch or a path.
    let run = run.trim_end_matches('=').trim_start_matches(['+', '/']);
    RANDOM.contains(&run.len()) && Makeup::of(run).is_of_chance() && entropy(run) >= MIN_ENTROPY
}

/// The least information in a random run, in bits for each byte.
const MIN_ENTROPY: f64 = 3.5;

/// The information in a run by the frequency of its bytes, in bits for each.
fn entropy(run: &str) -> f64 {
    let mut counts = [0_u32; 256];
    run.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let len = run.len() as f64;
    let part = |&count: &u32| {
        let share = f64::from(count) / len;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_what_chance_made() {
        let random = ["q8Xv2Lr9Tz4Kw1Yb6Nc3Md5P", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzK3qL8EXmp"];
        assert_eq!(random.map(is_random), [true; 2]);
        let names = [
            "SessionStorageExtAppendWriterImpl2For3",
            "com/invite/3cU7Bz4UPx",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "aB1",
        ];
        assert_eq!(names.map(is_random), [false; 4]);
    }
}
