//! Checks of what is in session files.

use session_model::{CURRENT_VERSION, DiagnosticCode};

use super::finding::{Finding, FindingCode, Need, Remedy};
use super::survey::{Content, Survey};

/// Whether a repair takes the bytes a diagnostic speaks of out of the file.
pub(super) fn is_cut(code: DiagnosticCode) -> bool {
    use DiagnosticCode::*;
    matches!(code, DamagedLine | TornTail | TrailingText | FusedRecords | NulRun | ByteOrderMark)
}

pub(super) fn check(survey: &Survey) -> Vec<Finding> {
    let mut found = Vec::new();
    for session in &survey.sessions {
        let path = session.key.as_str();
        let facts = match &session.content {
            Content::Session(facts) => facts,
            Content::Empty => continue,
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
                code if is_cut(code) || code == DiagnosticCode::JoinedRecords => {
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
        for (entry, target) in &facts.dangling {
            let detail =
                format!("entry {entry} refers to {target:?}, which is nowhere in the file");
            found.push(Finding::new(FindingCode::DanglingReference, path, detail, Need::Nothing));
        }
    }
    found
}
