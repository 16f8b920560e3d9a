//! Rust values as the text `JSON.stringify` gives.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;

use super::{InvalidJson, RawJson};

/// Prints numbers as ECMAScript does: `100`, not `100.0`; `1e+21`; `null` for what is not finite.
struct JsFormatter;

impl Formatter for JsFormatter {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(ryu_js::Buffer::new().format_finite(value).as_bytes())
    }

    fn write_f32<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(writer, f64::from(value))
    }
}

/// Returns a value as compact JSON with the number text of `JSON.stringify`.
///
/// ```
/// let text = session_model::json::to_json_string(&(100.0, 0.1, 1e21, f64::NAN))?;
/// assert_eq!(text, "[100,0.1,1e+21,null]");
/// # Ok::<(), session_model::json::InvalidJson>(())
/// ```
///
/// # Errors
///
/// [`InvalidJson`] if the value's `Serialize` fails or a map key is no string.
pub fn to_json_string<T: Serialize + ?Sized>(value: &T) -> Result<String, InvalidJson> {
    let mut out = Vec::with_capacity(256);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, JsFormatter);
    value.serialize(&mut serializer).map_err(|e| InvalidJson { reason: e.to_string() })?;
    String::from_utf8(out).map_err(|e| InvalidJson { reason: e.to_string() })
}

/// Returns a value as [`RawJson`] with the number text of `JSON.stringify`.
///
/// # Errors
///
/// As [`to_json_string`].
pub fn to_raw_json<T: Serialize + ?Sized>(value: &T) -> Result<RawJson, InvalidJson> {
    // A raw value inside may carry line breaks, and a record must stay on one line.
    to_json_string(value).map(|text| RawJson::trusted(text.into()).compact())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_in_javascript() {
        let cases = [
            (1.0, "1"),
            (-0.0, "0"),
            (0.009_000_000_000_000_001, "0.009000000000000001"),
            (1e21, "1e+21"),
            (1e-7, "1e-7"),
            (123_456_789.123_456_79, "123456789.12345679"),
            (f64::INFINITY, "null"),
        ];
        for (number, want) in cases {
            assert_eq!(to_json_string(&number).unwrap(), want);
        }
        assert_eq!(to_json_string(&u64::MAX).unwrap(), "18446744073709551615");
    }

    #[test]
    fn raw_values_inside_stay_on_one_line() {
        let raw = RawJson::parse("{ \"n\":\n1.0}").unwrap();
        assert_eq!(to_raw_json(&[raw]).unwrap().as_str(), "[{\"n\":1.0}]");
    }
}
