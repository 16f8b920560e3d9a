//! Which texts have a term, and how often: numbers in as few bytes as they need.

use super::error::ReadError;

/// The most occurrences of a term in one text that are told apart.
const MOST: u32 = 255;

/// Texts that have a term, in rising order, as they are stored.
///
/// Each is its distance from the one before, doubled, and one more if a byte follows that tells how
/// often the text has the term; else it has it once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Postings {
    bytes: Vec<u8>,
    /// Where the next distance is counted from.
    next: u32,
    /// The last text, and how often it has the term; not in `bytes` yet.
    last: Option<(u32, u32)>,
}

impl Postings {
    /// Notes that a text has the term; texts come in rising order.
    pub(crate) fn add(&mut self, text: u32, times: u32) {
        match &mut self.last {
            Some((last, known)) if *last == text => *known = known.saturating_add(times),
            _ => {
                self.flush();
                self.last = Some((text, times));
            }
        }
    }

    /// Starts anew, for another term.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        (self.next, self.last) = (0, None);
    }

    fn flush(&mut self) {
        let Some((text, times)) = self.last.take() else { return };
        let distance = u64::from(text - self.next) << 1;
        push_number(&mut self.bytes, distance | u64::from(times > 1));
        if times > 1 {
            self.bytes.push(times.min(MOST) as u8);
        }
        self.next = text + 1;
    }

    /// Makes [`bytes`](Self::bytes) complete.
    pub(crate) fn finish(&mut self) {
        self.flush();
    }

    /// Returns what is to be stored, once it is finished.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.last.is_none()
    }
}

/// Reads what was stored: gives each text with how often it has the term.
pub(crate) fn read_postings(
    bytes: &[u8],
    mut found: impl FnMut(u32, u32),
) -> Result<(), ReadError> {
    let (mut at, mut next) = (0, 0_u64);
    while let Some(first) = bytes.get(at) {
        // Nearly all numbers have one byte or two.
        let number = match (*first, bytes.get(at + 1)) {
            (first @ ..0x80, _) => {
                at += 1;
                u64::from(first)
            }
            (first, Some(second @ ..0x80)) => {
                at += 2;
                u64::from(first & 0x7f) | u64::from(*second) << 7
            }
            _ => {
                let mut rest = &bytes[at..];
                let number = take_number(&mut rest)?;
                at = bytes.len() - rest.len();
                number
            }
        };
        let text = next + (number >> 1);
        let times = match number & 1 {
            0 => 1,
            _ => {
                at += 1;
                u32::from(*bytes.get(at - 1).ok_or(ReadError::Malformed)?)
            }
        };
        found(u32::try_from(text).map_err(|_| ReadError::Malformed)?, times);
        next = text + 1;
    }
    Ok(())
}

/// Writes a number, seven bits a byte, the lowest first.
pub(crate) fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the front.
pub(crate) fn take_number(bytes: &mut &[u8]) -> Result<u64, ReadError> {
    let (mut number, mut shift) = (0_u64, 0);
    while let Some((first, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(number);
        }
        shift += 7;
        if shift > 56 {
            break;
        }
    }
    Err(ReadError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were_added() {
        let added = [(0, 1), (1, 2), (2, 1), (500, 300), (501, 1), (u32::MAX - 1, 7)];
        let mut postings = Postings::default();
        assert!(postings.is_empty());
        postings.add(0, 1);
        for (text, times) in &added[1..] {
            for _ in 0..*times {
                postings.add(*text, 1);
            }
        }
        let mut found = Vec::new();
        postings.finish();
        read_postings(postings.bytes(), |text, times| found.push((text, times))).unwrap();
        let expected: Vec<_> =
            added.iter().map(|(text, times)| (*text, (*times).min(MOST))).collect();
        assert_eq!(found, expected);
        assert!(!postings.is_empty());
    }

    #[test]
    fn what_is_no_number_is_malformed() {
        for bytes in [&[0x80][..], &[0xff; 12], &[1]] {
            assert!(read_postings(bytes, |_, _| {}).is_err(), "{bytes:?}");
        }
    }
}
