//! Checks of the binaries sessions refer to.

use session_model::layout::BLOBS_DIR;

use super::finding::{Finding, FindingCode, Need};
use super::survey::{Blob, Content, Survey};

pub(super) fn check(survey: &Survey) -> Vec<Finding> {
    let mut found = Vec::new();
    for (name, blob) in &survey.blobs {
        let path = format!("{BLOBS_DIR}/{name}");
        let user = Need::User;
        found.extend(match blob {
            Blob::Good if survey.is_used(name) => None,
            Blob::Good => {
                let detail = "no session refers to it; `sessionctl gc` collects such";
                Some(Finding::new(FindingCode::UnusedBlob, path, detail, Need::Nothing))
            }
            Blob::Damaged => {
                let detail = "its content is not what its name says";
                let advice = "bring it back from a backup";
                Some(Finding::new(FindingCode::DamagedBlob, path, detail, user(advice)))
            }
            Blob::Stray => {
                let detail = "its name is not that of a blob";
                let advice = "move it elsewhere";
                Some(Finding::new(FindingCode::StrayBlob, path, detail, user(advice)))
            }
            Blob::Unreadable(why) => {
                let advice = "see that it can be read";
                Some(Finding::new(FindingCode::Unreadable, path, why, user(advice)))
            }
        });
    }
    for session in survey.sessions.iter().filter(|_| survey.knows_blobs) {
        let Content::Session(facts) = &session.content else { continue };
        for digest in facts.blobs.iter().filter(|digest| !survey.blobs.contains_key(*digest)) {
            let detail = format!("the blob {digest} it refers to is not there");
            let need = Need::User("bring the blob back from a backup");
            found.push(Finding::new(FindingCode::MissingBlob, session.key.as_str(), detail, need));
        }
    }
    found
}
