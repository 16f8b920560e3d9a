//! Names of session files.

use super::SESSION_SUFFIX;
use crate::storage::{MAX_SEGMENT_BYTES, StorageKey};
use crate::time;

/// A time or id that can be no part of a file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} {value:?} cannot be part of a file name; use letters, digits, `-`, `_` and `.` of \
     ASCII only, and keep it short"
)]
pub struct InvalidSessionName {
    what: &'static str,
    value: String,
}

/// Returns the name of a session's file: its time with `:` and `.` as `-`, `_`, its id, `.jsonl`.
///
/// # Errors
///
/// [`InvalidSessionName`] if the time or the id is empty, long or holds other characters than
/// those it names: both may come from a file somebody else wrote.
///
/// ```
/// use session_model::layout::session_file_name;
///
/// let name = session_file_name("2026-01-01T00:00:02.000Z", "0198a7c2")?;
/// assert_eq!(name, "2026-01-01T00-00-02-000Z_0198a7c2.jsonl");
/// assert!(session_file_name("2026-01-01T00:00:02.000Z", "../x").is_err());
/// # Ok::<(), session_model::layout::InvalidSessionName>(())
/// ```
pub fn session_file_name(timestamp: &str, id: &str) -> Result<String, InvalidSessionName> {
    let dashed = timestamp.replace([':', '.'], "-");
    let name = format!("{dashed}_{id}{SESSION_SUFFIX}");
    let is_safe = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    let invalid = |what, value: &str| Err(InvalidSessionName { what, value: value.to_owned() });
    if !is_safe(&dashed) || dashed.len() > 64 {
        return invalid("time", timestamp);
    }
    if !is_safe(id) || name.len() > MAX_SEGMENT_BYTES {
        return invalid("session id", id);
    }
    Ok(name)
}

/// The key below which a session's artifacts lie; `None` if the key is not that of a session.
pub fn artifacts_key(session: &StorageKey) -> Option<StorageKey> {
    StorageKey::new(session.as_str().strip_suffix(SESSION_SUFFIX)?).ok()
}

/// What the name of a session's file tells.
///
/// It is a hint for search; the file's header decides.
///
/// ```
/// use session_model::layout::SessionFileName;
///
/// let name = SessionFileName::parse("2026-01-01T00-00-02-000Z_0198a7c2.jsonl").unwrap();
/// assert_eq!(name.timestamp_ms, Some(1_767_225_602_000));
/// assert_eq!(name.id, "0198a7c2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionFileName<'a> {
    /// The name without its ending.
    pub stem: &'a str,
    /// When the session was made, in milliseconds since the epoch, if the name begins with that.
    pub timestamp_ms: Option<i64>,
    /// The session's id: what follows the time, else what follows the last `_`, else the stem.
    pub id: &'a str,
}

impl<'a> SessionFileName<'a> {
    /// Takes a name apart; `None` if it does not end as that of a session.
    pub fn parse(name: &'a str) -> Option<Self> {
        let stem = name.strip_suffix(SESSION_SUFFIX)?;
        let dated = stem.split_once('_').and_then(|(time, id)| Some((from_dashed(time)?, id)));
        Some(match dated {
            Some((time, id)) => Self { stem, timestamp_ms: Some(time), id },
            None => {
                let id = stem.rsplit_once('_').map_or(stem, |(_, id)| id);
                Self { stem, timestamp_ms: None, id }
            }
        })
    }
}

/// Reads `2026-01-01T00-00-02-000Z`.
fn from_dashed(text: &str) -> Option<i64> {
    let (date, clock) = text.split_once('T')?;
    let parts: Vec<&str> = clock.strip_suffix('Z')?.split('-').collect();
    match parts[..] {
        [hours, minutes, seconds] => {
            time::from_iso(&format!("{date}T{hours}:{minutes}:{seconds}Z"))
        }
        [hours, minutes, seconds, millis] => {
            time::from_iso(&format!("{date}T{hours}:{minutes}:{seconds}.{millis}Z"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_take_only_what_is_safe_everywhere() {
        let time = "2026-01-01T00:00:02.000Z";
        let refused = [
            (time, "", "session id \"\""),
            (time, "a/b", "session id \"a/b\""),
            (time, "a b", "session id \"a b\""),
            (time, "é", "session id \"é\""),
            (time, "a\u{1b}", "session id \"a\\u{1b}\""),
            ("", "a", "time \"\""),
            ("../..", "a", "time \"../..\""),
        ];
        for (timestamp, id, want) in refused {
            let error = session_file_name(timestamp, id).unwrap_err().to_string();
            assert!(error.starts_with(want), "{error}");
        }
        assert!(session_file_name(time, &"a".repeat(300)).is_err());
        assert!(session_file_name(&"0".repeat(65), "a").is_err());
        let name = session_file_name(time, "A-b_c.9").unwrap();
        assert_eq!(name, "2026-01-01T00-00-02-000Z_A-b_c.9.jsonl");
        assert_eq!(SessionFileName::parse(&name).unwrap().id, "A-b_c.9");
    }

    #[test]
    fn names_of_every_origin_are_taken_apart() {
        let parse = |name| SessionFileName::parse(name).map(|n| (n.stem, n.timestamp_ms, n.id));
        let time = Some(1_767_225_602_000);
        for (name, want) in [
            ("2026-01-01T00-00-02-000Z_a.jsonl", Some(("2026-01-01T00-00-02-000Z_a", time, "a"))),
            ("2026-01-01T00-00-02Z_a_b.jsonl", Some(("2026-01-01T00-00-02Z_a_b", time, "a_b"))),
            ("renamed_by_hand.jsonl", Some(("renamed_by_hand", None, "hand"))),
            ("2026-13-01T00-00-02Z_a.jsonl", Some(("2026-13-01T00-00-02Z_a", None, "a"))),
            ("week.jsonl", Some(("week", None, "week"))),
            ("week.JSONL", None),
            ("a.jsonl.damaged-1", None),
        ] {
            assert_eq!(parse(name), want, "{name}");
        }
    }

    #[test]
    fn artifacts_lie_beside_the_session() {
        let key = |key| StorageKey::new(key).unwrap();
        assert_eq!(artifacts_key(&key("sessions/b/t_a.jsonl")), Some(key("sessions/b/t_a")));
        assert_eq!(artifacts_key(&key("sessions/b/t_a.log")), None);
        assert_eq!(artifacts_key(&key("sessions/.jsonl")), None);
    }
}
