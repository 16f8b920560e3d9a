//! Times as session files spell them.

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
    let nearest = if epoch_ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let time = Timestamp::from_millisecond(epoch_ms).unwrap_or(nearest);
    let civil = Offset::UTC.to_datetime(time);
    if !(0..=9999).contains(&civil.year()) {
        return civil.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
    }
    let mut out = *b"0000-00-00T00:00:00.000Z";
    let mut put = |at: usize, digits: usize, value: i32| {
        let mut rest = value;
        for place in (at..at + digits).rev() {
            out[place] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    };
    put(0, 4, civil.year().into());
    put(5, 2, civil.month().into());
    put(8, 2, civil.day().into());
    put(11, 2, civil.hour().into());
    put(14, 2, civil.minute().into());
    put(17, 2, civil.second().into());
    put(20, 3, civil.millisecond().into());
    std::str::from_utf8(&out).unwrap_or_default().to_owned()
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
