//! Checks of what lies beside sessions.

use std::collections::BTreeMap;

use super::finding::{Finding, FindingCode, Need};
use super::survey::Survey;
use crate::artifacts::artifact_number;

pub(super) fn check(survey: &Survey) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut numbers: BTreeMap<(String, u64), Vec<&str>> = BTreeMap::new();
    for key in &survey.artifacts {
        let folder = key.parent().map(|parent| parent.to_string()).unwrap_or_default();
        match artifact_number(key.file_name()) {
            Some(number) => {
                numbers.entry((folder, number)).or_default().push(key.file_name());
            }
            None => {
                let detail = "it lies among artifacts and has no number; it goes where they go";
                let code = FindingCode::StrayArtifact;
                found.push(Finding::new(code, key.as_str(), detail, Need::Nothing));
            }
        }
    }
    for ((folder, number), names) in numbers.into_iter().filter(|(_, names)| names.len() > 1) {
        let detail =
            format!("{} share the number {number}; the first is found by it", names.join(", "));
        found.push(Finding::new(FindingCode::SharedNumber, folder, detail, Need::Nothing));
    }
    for (folder, count) in &survey.orphaned {
        let detail = format!("{count} files are artifacts of {folder}.jsonl, which is not there");
        let advice = "bring the session back from the trash or a backup, or move them away";
        let code = FindingCode::OrphanedArtifacts;
        found.push(Finding::new(code, folder, detail, Need::User(advice)));
    }
    found
}
