//! What repairs put aside.

use super::finding::{Finding, FindingCode, Need};
use super::survey::Survey;

pub(super) fn check(survey: &Survey) -> Vec<Finding> {
    let tell = |aside: &super::survey::Aside| {
        let detail = format!(
            "{} bytes were put aside; of {} records with an id in them {} are in the session",
            aside.size, aside.records, aside.known
        );
        Finding::new(FindingCode::SetAside, aside.key.as_str(), detail, Need::Nothing)
    };
    survey.asides.iter().map(tell).collect()
}
