//! Lines that hold something else than one record.

use std::ops::Range;

use super::load::Loader;
use super::segment::Part;
use crate::DiagnosticCode;
use crate::entry::RecordLine;

impl Loader<'_> {
    /// Where the bytes that belong to the record at `at` end: before the next record, if any.
    pub(super) fn record_end(&self, line: &Range<usize>, found: &[Part<'_>], at: usize) -> usize {
        let next = found[at + 1..].iter().find_map(|part| match part {
            Part::Record(_, range) => Some(line.start + range.start),
            _ => None,
        });
        next.unwrap_or(line.end)
    }

    pub(super) fn odd_line(&mut self, line: &Range<usize>, text: &str, found: Vec<Part<'_>>) {
        let first = found.iter().position(|part| matches!(part, Part::Record(..)));
        let Some(first) = first else {
            let damage = found.iter().find_map(|part| match part {
                Part::Junk(_, reason) => Some(reason.clone()),
                _ => None,
            });
            match damage {
                Some(reason) => self.report(DiagnosticCode::DamagedLine, line.clone(), reason),
                None => self.report_parts(line, text, &found, false),
            }
            return self.keep(line.clone());
        };
        let Part::Record(_, range) = &found[first] else { return };
        let junk_first = found[..first].iter().any(|part| !matches!(part, Part::Blank(_)));
        let mut start = line.start;
        if junk_first {
            let split = line.start + range.start;
            let lost = line.start..split;
            self.report(
                DiagnosticCode::FusedRecords,
                lost.clone(),
                "part of a record, with a whole one behind it on the line",
            );
            self.keep(lost);
            start = split;
        } else {
            self.report_parts(line, text, &found[..first], true);
        }
        let end = self.record_end(line, &found, first);
        let record = line.start + range.start - start..line.start + range.end - start;
        self.entry(RecordLine::read(self.file.slice(start..end), record), None, start..end);
        self.rest_of_line(line, text, found, first, end);
    }

    /// Handles what follows the record at `at`, whose bytes end at `end`.
    pub(super) fn rest_of_line(
        &mut self,
        line: &Range<usize>,
        text: &str,
        found: Vec<Part<'_>>,
        at: usize,
        end: usize,
    ) {
        let behind: Vec<_> = found.into_iter().skip(at + 1).collect();
        let next = behind.iter().position(|part| matches!(part, Part::Record(..)));
        self.report_parts(line, text, &behind[..next.unwrap_or(behind.len())], true);
        if let Some(next) = next {
            let detail = "several records on one line; all are loaded";
            self.report(DiagnosticCode::JoinedRecords, end..line.end, detail);
            let Part::Record(_, range) = &behind[next] else { return };
            let start = line.start + range.start;
            let record_end = self.record_end(line, &behind, next);
            let record = 0..range.len();
            self.entry(
                RecordLine::read(self.file.slice(start..record_end), record),
                None,
                start..record_end,
            );
            self.rest_of_line(line, text, behind, next, record_end);
        }
    }

    fn report_parts(
        &mut self,
        line: &Range<usize>,
        text: &str,
        parts: &[Part<'_>],
        beside_record: bool,
    ) {
        for part in parts {
            let place = |range: &Range<usize>| line.start + range.start..line.start + range.end;
            match part {
                Part::Blank(range) if text[range.clone()].contains('\0') => {
                    let zeros = text[range.clone()].bytes().filter(|&b| b == 0).count();
                    self.report(
                        DiagnosticCode::NulRun,
                        place(range),
                        format!("{zeros} zero bytes skipped"),
                    );
                }
                Part::Value(range) | Part::Junk(range, _) if beside_record => {
                    self.report(
                        DiagnosticCode::TrailingText,
                        place(range),
                        "text behind a complete record",
                    );
                }
                Part::Value(range) => {
                    self.report(
                        DiagnosticCode::NotAnEntry,
                        place(range),
                        "JSON, but no object with a type",
                    );
                }
                Part::Blank(_) | Part::Record(..) | Part::Junk(..) => {}
            }
        }
    }
}
