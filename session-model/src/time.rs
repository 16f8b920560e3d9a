//! Times as session files spell them.

use std::cell::RefCell;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use crate::json::{JsonKind, RawJson};

/// Writes epoch milliseconds as `2026-01-01T00:00:00.000Z`, as `Date.prototype.toISOString` does.
///
/// A time outside the years -9999 to 9999 is written as the nearest inside.
///
/// ```
/// assert_eq!(session_model::time::to_iso(1_767_225_600_000), "2026-01-01T00:00:00.000Z");
/// ```
pub fn to_iso(epoch_ms: i64) -> String {
    thread_local! {
        // Of many times written one after the other most are of the same second.
        static LAST: RefCell<(i64, String)> = const { RefCell::new((0, String::new())) };
    }
    let epoch_ms = epoch_ms.clamp(Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
    let (second, ms) = (epoch_ms.div_euclid(1000), epoch_ms.rem_euclid(1000));
    LAST.with_borrow_mut(|(of, start)| {
        if *of != second || start.is_empty() {
            (*of, *start) = (second, iso_to_the_second(second));
        }
        let mut out = String::with_capacity(start.len() + 4);
        out.push_str(start);
        for place in [100, 10, 1] {
            out.push(char::from(b'0' + (ms / place % 10) as u8));
        }
        out.push('Z');
        out
    })
}

fn iso_to_the_second(second: i64) -> String {
    let time = Timestamp::from_second(second).unwrap_or_default();
    let civil = Offset::UTC.to_datetime(time);
    let rest = civil.strftime("-%m-%dT%H:%M:%S.");
    match civil.year() {
        year @ 0.. => format!("{year:04}{rest}"),
        year => format!("{year:07}{rest}"),
    }
}

/// Reads a time text as epoch milliseconds.
///
/// Understands ISO 8601 with an offset, without one (taken as UTC), and a date alone.
pub fn from_iso(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(floor_ms(time));
    }
    let civil = text
        .parse::<DateTime>()
        .ok()
        .or_else(|| text.parse::<Date>().ok().map(|date| date.to_datetime(Default::default())))?;
    Offset::UTC.to_timestamp(civil).ok().map(floor_ms)
}

fn floor_ms(time: Timestamp) -> i64 {
    time.as_nanosecond().div_euclid(1_000_000).try_into().unwrap_or(i64::MAX)
}

/// Reads a `timestamp` field: a time text, or epoch milliseconds.
pub fn from_json(value: &RawJson) -> Option<i64> {
    match value.kind() {
        JsonKind::String => from_iso(&value.as_text()?),
        JsonKind::Number => value.as_f64().filter(|ms| ms.abs() <= 8.64e15).map(|ms| ms as i64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_milliseconds_always() {
        assert_eq!(to_iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(to_iso(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(to_iso(1_767_225_601_050), "2026-01-01T00:00:01.050Z");
        assert_eq!(to_iso(i64::MAX), "9999-12-30T22:00:00.999Z");
        assert_eq!(to_iso(i64::MIN), "-009999-01-02T01:59:59.000Z");
        assert_eq!(to_iso(-62_167_219_200_001), "-000001-12-31T23:59:59.999Z");
    }

    #[test]
    fn times_of_one_second_differ_in_their_milliseconds() {
        let ms = [999, 0, 1000, 999, 1999, 7, -1];
        let seconds = ["00", "00", "01", "00", "01", "00"].map(|s| format!("1970-01-01T00:00:{s}"));
        let spelled = ["999", "000", "000", "999", "999", "007"];
        let mut want: Vec<_> =
            seconds.iter().zip(spelled).map(|(second, ms)| format!("{second}.{ms}Z")).collect();
        want.push("1969-12-31T23:59:59.999Z".to_owned());
        assert_eq!(ms.map(to_iso).to_vec(), want);
    }

    #[test]
    fn reads_the_spellings_found_in_files() {
        let cases = [
            ("2026-01-01T00:00:01.000Z", Some(1_767_225_601_000)),
            ("2026-01-01T05:00:00+02:00", Some(1_767_236_400_000)),
            ("2026-01-01", Some(1_767_225_600_000)),
            ("2026-01-01T02:00:00.123456Z", Some(1_767_232_800_123)),
            ("2026-01-01T00:00:01", Some(1_767_225_601_000)),
            ("not a date", None),
            ("", None),
        ];
        for (text, want) in cases {
            assert_eq!(from_iso(text), want, "{text:?}");
        }
        let number = RawJson::parse("1767225600500").unwrap();
        assert_eq!(from_json(&number), Some(1_767_225_600_500));
        assert_eq!(from_json(&RawJson::null()), None);
    }
}
