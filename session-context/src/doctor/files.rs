//! Checks of files as the system has them: who may read them, and what was left behind.

use super::finding::{Finding, FindingCode, Need};
use super::survey::Survey;

const READ: &str = "see that it can be read, or give it another name";

pub(super) fn check(survey: &Survey) -> Vec<Finding> {
    #[cfg(feature = "file")]
    let mut found = on_disk(survey);
    #[cfg(not(feature = "file"))]
    let mut found = Vec::new();
    for (path, why) in &survey.unreadable {
        let is_known = |known: &Finding| {
            matches!(known.code, FindingCode::NotAFile | FindingCode::Unreadable)
                && known.path == *path
        };
        if !found.iter().any(is_known) {
            found.push(Finding::new(FindingCode::Unreadable, path, why, Need::User(READ)));
        }
    }
    found
}

#[cfg(feature = "file")]
fn on_disk(survey: &Survey) -> Vec<Finding> {
    use session_store_file::{OddityKind, Upkeep};

    use super::finding::Remedy;

    let mut found = Vec::new();
    let Some(root) = &survey.root else { return found };
    if root.is_symlink() {
        let target = root.canonicalize().unwrap_or_default().display().to_string();
        let detail = format!("the directory is a symbolic link to {target}");
        found.push(Finding::new(FindingCode::LinkedRoot, ".", detail, Need::Nothing));
    }
    let Ok(upkeep) = Upkeep::open(root) else { return found };
    for oddity in upkeep.inspect(&survey.places) {
        let path = oddity.path.display().to_string();
        let finding = match oddity.kind {
            OddityKind::TooOpen { mode, right } => {
                let detail = format!("its mode is {mode:o}; {right:o} keeps it private");
                (FindingCode::TooOpen, detail, Need::Repair(Remedy::Tighten))
            }
            OddityKind::Leftover => {
                let detail = "a writer that is gone left it unfinished".to_owned();
                (FindingCode::Leftover, detail, Need::Repair(Remedy::Retire))
            }
            OddityKind::StaleClaim => {
                let detail = "nobody holds it, and what it was for is gone".to_owned();
                (FindingCode::StaleClaim, detail, Need::Repair(Remedy::Retire))
            }
            OddityKind::NotAFile => {
                let detail = "a symbolic link or special file; it is not followed or read";
                let advice = "put what it leads to in its place";
                (FindingCode::NotAFile, detail.to_owned(), Need::User(advice))
            }
            OddityKind::NoLocks => {
                let detail = "the file system has no locks, so nothing can be written safely";
                let advice = "move the directory to a file system with locks";
                (FindingCode::NoLocks, detail.to_owned(), Need::User(advice))
            }
            OddityKind::Unreadable(why) => (FindingCode::Unreadable, why, Need::User(READ)),
            _ => continue,
        };
        let (code, detail, need) = finding;
        found.push(Finding::new(code, path, detail, need));
    }
    found
}
