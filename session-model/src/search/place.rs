//! Where the entries of a file stand.

use bytes::Bytes;
use memchr::memchr_iter;

use crate::document::Scan;
use crate::entry::Entry;

/// Where an entry stands in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryPlace {
    /// Where its line begins, in bytes.
    pub offset: u64,
    /// How long the line is, its end included.
    pub length: u64,
    /// Which line of the file it is, counted from 1.
    pub line: u64,
}

/// Tells where the entries of a part of a file stand.
///
/// The part begins at `offset` with line `first_line` of the file, and is what was scanned.
pub fn places<'a>(
    scan: &'a Scan,
    part: &'a Bytes,
    offset: u64,
    first_line: u64,
) -> impl Iterator<Item = (EntryPlace, &'a Entry)> {
    let (mut counted, mut line) = (0, first_line);
    scan.entries.iter().map(move |(at, entry)| {
        line += memchr_iter(b'\n', &part[counted..*at]).count() as u64;
        counted = *at;
        let (offset, length) = (offset + *at as u64, entry.line().len() as u64);
        (EntryPlace { offset, length, line }, entry)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::LoadOptions;

    #[test]
    fn lines_are_counted_past_what_is_no_entry() {
        let part = Bytes::from("{\"type\":\"a\"}\nbad\n\n{\"type\":\"b\"}\n{\"type\":\"c\"}");
        let scan = Scan::lines(&part, &LoadOptions::default());
        let found: Vec<_> = places(&scan, &part, 100, 7).map(|(place, _)| place).collect();
        assert_eq!(
            found,
            [
                EntryPlace { offset: 100, length: 13, line: 7 },
                EntryPlace { offset: 118, length: 13, line: 10 },
                EntryPlace { offset: 131, length: 12, line: 11 },
            ]
        );
    }
}
