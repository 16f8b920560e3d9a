//! Checks of whose a session is and what it is called.

use std::collections::BTreeMap;

use session_model::layout::{BucketRoots, BucketScheme, SESSIONS_DIR, SessionFileName};

use super::finding::{Finding, FindingCode, Need};
use super::survey::{Content, Facts, Survey};

pub(super) fn check(survey: &Survey) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut by_id: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut buckets: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for session in survey.sessions.iter().filter(|session| !session.is_child) {
        let Content::Session(facts) = &session.content else { continue };
        let path = session.key.as_str();
        by_id.entry(&facts.id).or_default().push(path);
        if let Some(name) = SessionFileName::parse(session.key.file_name())
            && name.timestamp_ms.is_some()
            && name.id != facts.id
        {
            let detail = format!("its header has the id {:?}, which holds", facts.id);
            found.push(Finding::new(FindingCode::OtherName, path, detail, Need::Nothing));
        }
        let mut segments = session.key.segments();
        if let (Some(SESSIONS_DIR), Some(bucket), Some(_), None) =
            (segments.next(), segments.next(), segments.next(), segments.next())
        {
            other_bucket(path, bucket, facts, &mut found);
            if let Some(cwd) = &facts.cwd {
                buckets.entry(format!("{SESSIONS_DIR}/{bucket}")).or_default().push(cwd);
            }
        }
    }
    for paths in by_id.values().filter(|paths| paths.len() > 1) {
        for path in paths {
            let others: Vec<_> = paths.iter().filter(|other| *other != path).copied().collect();
            let detail = format!("its id is that of {} too", others.join(", "));
            let advice = "keep one of them, and move the others elsewhere or fork them";
            found.push(Finding::new(FindingCode::SharedId, *path, detail, Need::User(advice)));
        }
    }
    for (bucket, mut cwds) in buckets {
        cwds.sort_unstable();
        cwds.dedup();
        if cwds.len() > 1 {
            let detail =
                format!("it holds sessions of {}; headers tell them apart", cwds.join(", "));
            found.push(Finding::new(FindingCode::SharedBucket, bucket, detail, Need::Nothing));
        }
    }
    found
}

/// The name of a bucket that is none of this directory's under any home.
fn other_bucket(path: &str, bucket: &str, facts: &Facts, found: &mut Vec<Finding>) {
    let Some(cwd) = &facts.cwd else { return };
    let right = BucketScheme::Absolute.bucket_name(cwd, &BucketRoots::default());
    // A shortened name ends as the whole one does.
    let rest = bucket.strip_prefix("-tmp").unwrap_or(bucket);
    let is_shortened = !bucket.starts_with("--") && right.trim_end_matches('-').ends_with(rest);
    if bucket != right && !is_shortened && bucket != "-" {
        let detail =
            format!("it works in {cwd}, whose bucket is {right}; lists find it by its header");
        found.push(Finding::new(FindingCode::OtherBucket, path, detail, Need::Nothing));
    }
}
