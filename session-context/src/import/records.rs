//! A source taken apart into records, one a line.

use bytes::Bytes;
use memchr::memmem;
use session_model::json::{ObjectView, RawJson};

use super::{ConversionReport, Fate, ImportLimits, LeftOut};

/// The kind that lines without a readable one are counted under.
const UNREADABLE: &str = "(unreadable)";

/// How records of these tools begin; behind a torn record on its line there may be a whole one.
const BEGINNINGS: [&[u8]; 3] = [b"{\"type\":", b"{\"parentUuid\":", b"{\"timestamp\":"];

/// How many places in a damaged line are tried.
const MAX_TRIES: usize = 16;

/// Gives every record that is a JSON object, in file order; everything else is counted.
pub(super) fn for_each(
    source: &Bytes,
    limits: &ImportLimits,
    report: &mut ConversionReport,
    mut take: impl FnMut(ObjectView, &mut ConversionReport),
) {
    let mut rest = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest);
        let (line, behind) = match end {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = behind;
        let line = trimmed(line);
        if line.is_empty() {
            continue;
        }
        match read(source, line, limits) {
            Ok(record) => take(record, report),
            Err(LeftOut::Unreadable) => {
                let is_last = end.is_none();
                let why = if is_last { LeftOut::Torn } else { LeftOut::Unreadable };
                let whole = behind_damage(source, line, limits);
                report.count(UNREADABLE, Fate::LeftOut(why));
                if let Some(record) = whole {
                    take(record, report);
                }
            }
            Err(why) => report.count(UNREADABLE, Fate::LeftOut(why)),
        }
    }
}

fn read(source: &Bytes, line: &[u8], limits: &ImportLimits) -> Result<ObjectView, LeftOut> {
    if line.len() > limits.record_bytes {
        return Err(LeftOut::TooLong);
    }
    if is_deeper(line, limits.depth) {
        return Err(LeftOut::TooDeep);
    }
    let json = RawJson::parse(source.slice_ref(line)).map_err(|_| LeftOut::Unreadable)?;
    json.as_object().ok_or(LeftOut::Unreadable)
}

/// The whole record that ends a damaged line.
fn behind_damage(source: &Bytes, line: &[u8], limits: &ImportLimits) -> Option<ObjectView> {
    if line.last() != Some(&b'}') {
        return None;
    }
    let found = BEGINNINGS.iter().flat_map(|start| memmem::find_iter(&line[1..], start));
    let mut places: Vec<usize> = found.take(MAX_TRIES).map(|at| at + 1).collect();
    places.sort_unstable();
    places.into_iter().find_map(|at| read(source, &line[at..], limits).ok())
}

/// Lost writes leave runs of NUL, and other systems end lines otherwise.
fn trimmed(line: &[u8]) -> &[u8] {
    let is_filling = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let Some(start) = line.iter().position(|byte| !is_filling(byte)) else { return &[] };
    let end = line.iter().rposition(|byte| !is_filling(byte)).map_or(start, |last| last + 1);
    &line[start..end]
}

/// Tells whether JSON is nested deeper, whether it is valid or not.
fn is_deeper(text: &[u8], most: usize) -> bool {
    let (mut depth, mut in_string, mut at) = (0_usize, false, 0);
    while at < text.len() {
        if in_string {
            let Some(found) = memchr::memchr2(b'"', b'\\', &text[at..]) else { return false };
            at += found;
            if text[at] == b'\\' {
                at += 2;
                continue;
            }
            in_string = false;
        } else {
            match text[at] {
                b'"' => in_string = true,
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > most {
                return true;
            }
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &[u8], limits: &ImportLimits) -> (Vec<String>, ConversionReport) {
        let (mut found, mut report) = (Vec::new(), ConversionReport::default());
        for_each(&Bytes::copy_from_slice(source), limits, &mut report, |record, _| {
            found.push(record.text("type").unwrap_or_default().into_owned());
        });
        (found, report)
    }

    fn left_out(report: &ConversionReport) -> Vec<(LeftOut, u64)> {
        let fates = report.kinds().get(UNREADABLE).into_iter().flatten();
        fates
            .filter_map(|(fate, count)| match fate {
                Fate::LeftOut(why) => Some((*why, *count)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn damage_costs_only_the_damaged_record() {
        let source = b"\xef\xbb\xbf{\"type\":\"a\"}\r\n\n\0\0\0{\"type\":\"b\"}\n{\"type\":\"\xff\"}\n\
            [1]\n{\"type\":\"lost\",\"x\":\"{\"type\":\"c\"}\n\0\0\n{\"type\":\"d\"}\n{\"type\":\"e";
        let (found, report) = kinds(source, &ImportLimits::default());
        assert_eq!(found, ["a", "b", "c", "d"]);
        assert_eq!(left_out(&report), [(LeftOut::Unreadable, 3), (LeftOut::Torn, 1)]);
    }

    #[test]
    fn limits_hold_for_each_record() {
        let limits = ImportLimits { record_bytes: 30, depth: 3, ..ImportLimits::default() };
        let source = format!(
            "{{\"type\":\"a\",\"x\":[[1]]}}\n{{\"type\":\"b\",\"x\":[[[1]]]}}\n{{\"type\":\"{}\"}}\n\
             {{\"type\":\"[[[[\\\"[[\"}}",
            "c".repeat(30)
        );
        let (found, report) = kinds(source.as_bytes(), &limits);
        assert_eq!(found, ["a", "[[[[\"[["]);
        assert_eq!(left_out(&report), [(LeftOut::TooLong, 1), (LeftOut::TooDeep, 1)]);
    }
}
