//! Checks of the binaries sessions refer to.

use std::collections::BTreeSet;

use session_model::layout::BLOBS_DIR;

use super::finding::{Finding, FindingCode, Need};
use super::survey::Survey;
use crate::blobs::BlobError;

pub(super) fn check(survey: &Survey) -> Vec<Finding> {
    let path = |name: &str| format!("{BLOBS_DIR}/{name}");
    let stray = survey.stray_blobs.iter().map(|name| {
        let (detail, need) = ("its name is not that of a blob", Need::User("move it elsewhere"));
        Finding::new(FindingCode::StrayBlob, path(name), detail, need)
    });
    let unused = survey.unused_blobs.iter().map(|id| {
        let detail = "nothing refers to it; `sessionctl gc` collects such";
        Finding::new(FindingCode::UnusedBlob, path(&id.to_hex()), detail, Need::Nothing)
    });
    let mut told = BTreeSet::new();
    let problems = survey.blob_problems.iter().filter_map(|problem| {
        let (code, key, advice) = match problem {
            BlobError::Damaged { id, .. } => {
                (FindingCode::DamagedBlob, path(&id.to_hex()), "bring it back from a backup")
            }
            BlobError::Storage(error) => {
                let key = error.key()?.to_string();
                // What could not be listed is known already.
                let is_known = survey.unreadable.iter().any(|(known, _)| *known == key);
                if is_known || !told.insert(key.clone()) {
                    return None;
                }
                (FindingCode::Unreadable, key, "see that it can be read")
            }
            BlobError::Missing { .. } => return None,
        };
        Some(Finding::new(code, key, problem.to_string(), Need::User(advice)))
    });
    let missing = survey.missing_blobs.iter().map(|(session, id)| {
        let detail = BlobError::Missing { id: *id }.to_string();
        let need = Need::User("bring the blob back from the trash or a backup");
        Finding::new(FindingCode::MissingBlob, session.as_str(), detail, need)
    });
    stray.chain(unused).chain(problems).chain(missing).collect()
}
