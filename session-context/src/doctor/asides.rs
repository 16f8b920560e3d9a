//! What repairs put aside, and what was cut off.

use super::finding::{Finding, FindingCode, Need, Remedy};
use super::survey::Survey;

pub(super) fn check(survey: &Survey) -> Vec<Finding> {
    let tell = |aside: &super::survey::Aside| {
        let detail = format!(
            "{} bytes were put aside; of {} records with an id in them {} are in the session",
            aside.size, aside.records, aside.known
        );
        Finding::new(FindingCode::SetAside, aside.key.as_str(), detail, Need::Nothing)
    };
    let cut_off = survey.unfinished.iter().map(|unfinished| {
        let (path, from) = (unfinished.note.as_str(), &unfinished.trashed.from);
        let detail = format!("taking {from} to the trash or back was cut off");
        Finding::new(FindingCode::CutOff, path, detail, Need::Repair(Remedy::Finish))
    });
    survey.asides.iter().map(tell).chain(cut_off).collect()
}
