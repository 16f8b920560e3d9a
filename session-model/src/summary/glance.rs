//! Messages of which a list needs no more than how their line begins and ends.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use crate::time;

const PARENT: &[u8] = b",\"parentId\":";

/// The lines of a file's end, and which of them need not be read.
#[derive(Debug, Default)]
pub(super) struct Glanced {
    /// How many messages were only glanced at.
    pub(super) messages: u64,
    /// The time of the newest of them.
    pub(super) newest_ms: Option<i64>,
    /// What is left to read, as ranges of whole lines in file order.
    pub(super) unread: Vec<Range<usize>>,
}

/// The beginning of a message's line, as every known writer spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beginning<'a> {
    time: &'a [u8],
    pub(super) role: &'a [u8],
    /// What follows the role.
    rest: &'a [u8],
}

impl Glanced {
    /// Glances at the lines, from the last turn of the conversation on backwards; that turn and
    /// what follows it are left to read.
    ///
    /// Reading all of every message would take most of the time of a list.
    pub(super) fn over(lines: &[u8]) -> Self {
        let parent = memmem::Finder::new(PARENT);
        let mut glanced = Self::default();
        let mut newest: Option<&[u8]> = None;
        let mut turn_is_known = false;
        let mut end = lines.len();
        while end > 0 {
            let start = memrchr(b'\n', &lines[..end - 1]).map_or(0, |at| at + 1);
            let line = &lines[start..end];
            match Beginning::of(line) {
                // A record fused to a torn one names a parent of its own.
                Some(message) if line.ends_with(b"}}\n") && parent.find(message.rest).is_none() => {
                    if turn_is_known {
                        glanced.messages += 1;
                        newest = newest.max(Some(message.time));
                    } else {
                        turn_is_known =
                            matches!(message.role, b"user" | b"assistant" | b"toolResult");
                        glanced.leave(start..end);
                    }
                }
                _ => glanced.leave(start..end),
            }
            end = start;
        }
        glanced.unread.reverse();
        match newest {
            None => glanced,
            Some(newest) => match std::str::from_utf8(newest).ok().and_then(time::from_iso) {
                Some(time) => Self { newest_ms: Some(time), ..glanced },
                None => {
                    let mut all = Self::default();
                    all.leave(0..lines.len());
                    all
                }
            },
        }
    }

    /// Leaves lines to read that lie before all those left so far.
    fn leave(&mut self, lines: Range<usize>) {
        match self.unread.last_mut() {
            Some(later) if later.start == lines.end => later.start = lines.start,
            _ => self.unread.push(lines),
        }
    }
}

impl<'a> Beginning<'a> {
    /// Reads the beginning of a line; `None` if it is not wholly as usual.
    pub(super) fn of(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(b"{\"type\":\"message\",\"id\":\"")?;
        let rest = plain_string(rest)?.1.strip_prefix(PARENT)?;
        let rest = match rest.strip_prefix(b"null") {
            Some(rest) => rest,
            None => plain_string(rest.strip_prefix(b"\"")?)?.1,
        };
        let (time, rest) = plain_string(rest.strip_prefix(b",\"timestamp\":\"")?)?;
        let (role, rest) = plain_string(rest.strip_prefix(b",\"message\":{\"role\":\"")?)?;
        is_usual_time(time).then_some(Self { time, role, rest })
    }
}

/// Tells whether a time is spelled so that later ones sort behind it.
fn is_usual_time(time: &[u8]) -> bool {
    const USUAL: &[u8] = b"0000-00-00T00:00:00.000Z";
    let fits = |(byte, usual): (&u8, &u8)| match usual {
        b'0' => byte.is_ascii_digit(),
        _ => byte == usual,
    };
    time.len() == USUAL.len() && time.iter().zip(USUAL).all(fits)
}

/// Splits behind the end of a string without escapes.
fn plain_string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (string, rest) = text.split_at(memchr(b'"', text)?);
    (!string.contains(&b'\\')).then_some((string, &rest[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(time: &str, role: &str, text: &str) -> String {
        format!(
            "{{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"{time}\",\"message\":{{\"role\":\"{role}\",\"content\":\"{text}\"}}}}\n"
        )
    }

    fn over(lines: &[&str]) -> (u64, Option<i64>, Vec<String>) {
        let text = lines.concat();
        let glanced = Glanced::over(text.as_bytes());
        let unread = glanced.unread.into_iter().map(|range| text[range].to_owned());
        (glanced.messages, glanced.newest_ms, unread.collect())
    }

    #[test]
    fn messages_before_the_last_turn_are_glanced_at() {
        let [first, second, third] =
            [3, 2, 1].map(|s| message(&format!("2026-01-01T00:00:0{s}.000Z"), "user", "x"));
        let label = "{\"type\":\"label\",\"id\":\"l\"}\n";
        let own = message("2026-01-01T00:00:09.000Z", "custom", "x");
        let want = (
            2,
            Some(1_767_225_603_000),
            vec![label.to_owned(), [&third[..], &own, label].concat()],
        );
        assert_eq!(over(&[&first, label, &second, &third, &own, label]), want);
        assert_eq!(over(&[&own, &own]), (0, None, vec![own.repeat(2)]));
        assert_eq!(over(&[]), (0, None, Vec::new()));
    }

    #[test]
    fn what_is_odd_is_left_to_read() {
        let usual = message("2026-01-01T00:00:01.000Z", "user", "x");
        let fused = usual[..60].to_owned() + &usual;
        let torn = usual.trim_end().to_owned();
        for odd in [
            &fused,
            &usual.replace("\"id\":\"a\"", "\"id\":\"\\u0061\""),
            &usual.replace("}}\n", "}\n"),
            &usual.replace("00:00:01.000Z", "00:00:01Z"),
            &usual.replace("message\",", "other\","),
        ] {
            assert_eq!(over(&[odd, &usual]), (0, None, vec![[&odd[..], &usual].concat()]), "{odd}");
        }
        let accented = usual.replace("\"x\"", "\"\u{e9}\"");
        let want = (1, Some(1_767_225_601_000), vec![usual.clone()]);
        assert_eq!(over(&[&accented, &usual]), want);
        let no_day = message("2026-99-01T00:00:01.000Z", "user", "x");
        assert_eq!(over(&[&no_day, &usual]), (0, None, vec![[&no_day[..], &usual].concat()]));
        assert_eq!(
            over(&[&usual, &usual, &torn]),
            (1, Some(1_767_225_601_000), vec![usual.clone() + &torn])
        );
    }
}
