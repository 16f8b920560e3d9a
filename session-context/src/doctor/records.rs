//! Checks of what is in session files.

use session_model::document::LoadOptions;
use session_model::{CURRENT_VERSION, DiagnosticCode};

use super::finding::{Finding, FindingCode, Need, Remedy};
use super::survey::{Content, Survey};

/// The size of a file from which on it is told, in bytes: it is held in memory whole.
const LARGE_FILE: usize = 256 * 1024 * 1024;

/// Whether a repair takes the bytes a diagnostic speaks of out of the file.
pub(super) fn is_cut(code: DiagnosticCode) -> bool {
    use DiagnosticCode::*;
    matches!(code, DamagedLine | TornTail | TrailingText | FusedRecords | NulRun | ByteOrderMark)
}

/// Returns whether a repair mends what a diagnostic speaks of.
pub(super) fn is_mended(code: DiagnosticCode) -> bool {
    is_cut(code) || code == DiagnosticCode::JoinedRecords
}

pub(super) fn check(survey: &Survey) -> Vec<Finding> {
    let mut found = Vec::new();
    for session in &survey.sessions {
        let path = session.key.as_str();
        let facts = match &session.content {
            Content::Session(facts) => facts,
            Content::Empty => continue,
            Content::Zeros(size) => {
                let detail = format!("{size} zero bytes and no record, as a power cut leaves them");
                let advice = "bring it back from a backup, or delete it";
                let code = FindingCode::NotASession;
                found.push(Finding::new(code, path, detail, Need::User(advice)));
                continue;
            }
            Content::NotASession(why) => {
                let advice = "mend its first line, which is to be the session's header; opening \
                              it for writing would move it aside and begin anew";
                let code = FindingCode::NotASession;
                found.push(Finding::new(code, path, why, Need::User(advice)));
                continue;
            }
            Content::Unreadable(why) => {
                let advice = "see that it can be read";
                let code = FindingCode::Unreadable;
                found.push(Finding::new(code, path, why, Need::User(advice)));
                continue;
            }
        };
        for diagnostic in &facts.diagnostics {
            let need = match diagnostic.code {
                code if is_mended(code) => {
                    if facts.is_newer {
                        Need::User("repair it with a program that knows its format")
                    } else {
                        Need::Repair(Remedy::Rewrite)
                    }
                }
                DiagnosticCode::LineTooLong => Need::User("see what wrote so long a line"),
                _ => Need::Nothing,
            };
            found.push(Finding::of_record(path, diagnostic, need));
        }
        if facts.version < f64::from(CURRENT_VERSION) {
            let detail = format!(
                "format version {} is older than {CURRENT_VERSION}; opening it for writing brings it up to date",
                facts.version
            );
            found.push(Finding::new(FindingCode::OlderVersion, path, detail, Need::Nothing));
        }
        let (size, longest) = (facts.size, facts.longest);
        let limit = LoadOptions::default().max_line_bytes;
        if size > LARGE_FILE {
            let detail = format!(
                "{size} bytes, and loading it takes as much memory; begin a new session or fork it"
            );
            found.push(Finding::new(FindingCode::Oversized, path, detail, Need::Nothing));
        }
        if longest > limit / 2 {
            let detail =
                format!("its longest record has {longest} bytes; over {limit} it is not read");
            found.push(Finding::new(FindingCode::Oversized, path, detail, Need::Nothing));
        }
        for (entry, target) in &facts.dangling {
            let detail =
                format!("entry {entry} refers to {target:?}, which is nowhere in the file");
            found.push(Finding::new(FindingCode::DanglingReference, path, detail, Need::Nothing));
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use session_model::storage::StorageKey;

    use super::super::survey::{Facts, SessionFile};
    use super::*;

    #[test]
    fn a_large_file_is_told() {
        let details = |size| {
            let facts = Facts { version: 3.0, size, ..Facts::default() };
            let (key, content) = (StorageKey::new("s.jsonl").unwrap(), Content::Session(facts));
            let sessions = vec![SessionFile { key, is_child: false, content }];
            let found = check(&Survey { sessions, ..Survey::default() });
            found.into_iter().map(|finding| (finding.code, finding.detail)).collect::<Vec<_>>()
        };
        assert_eq!(details(LARGE_FILE), []);
        let told =
            "268435457 bytes, and loading it takes as much memory; begin a new session or fork it";
        assert_eq!(details(LARGE_FILE + 1), [(FindingCode::Oversized, told.to_owned())]);
    }
}
