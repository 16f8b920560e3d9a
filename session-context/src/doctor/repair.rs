//! Putting right what can be.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;
use session_model::document::{LoadOptions, Loaded};
use session_model::storage::{
    AppendOptions, Precondition, PutOptions, SessionStorage, SessionStorageExt, StorageKey,
};
use session_model::{DiagnosticCode, SessionDocument};

use super::DoctorOptions;
use super::finding::{Finding, Need, Outcome, Remedy};
use super::records::{is_cut, is_mended};
use super::survey::Survey;
use crate::error::Result;
use crate::manager::aside::{self, Aside};
use crate::operations::unfinished::Finish;

/// How often a file is gone through: what a cut leaves on a line may be odd again.
const MAX_ROUNDS: usize = 100;

/// What a user is told of the remains of a session that is gone.
const LOST: &str = "the session is at neither place, and something that belongs to it is; bring the \
                    session back from a backup, or move that elsewhere";

/// Makes all repairs and notes in the findings what came of them.
pub(super) async fn all(
    storage: &dyn SessionStorage,
    survey: &Survey,
    options: &DoctorOptions,
    findings: &mut [Finding],
) {
    let mut rewritten: HashMap<String, Outcome> = HashMap::new();
    // What is closed and moved is closed first, for it is found by where it was.
    let (first, then): (Vec<_>, Vec<_>) =
        findings.iter_mut().partition(|finding| finding.need == Need::Repair(Remedy::Tighten));
    for finding in first.into_iter().chain(then) {
        let Need::Repair(remedy) = finding.need else { continue };
        finding.outcome = match remedy {
            // One rewrite mends all that is odd in a file.
            Remedy::Rewrite => match rewritten.get(&finding.path) {
                Some(outcome) => outcome.clone(),
                None => {
                    let done = rewrite(storage, &finding.path, options).await;
                    let outcome = done.unwrap_or_else(|error| Outcome::Failed(error.to_string()));
                    rewritten.insert(finding.path.clone(), outcome.clone());
                    outcome
                }
            },
            Remedy::Finish => finish(storage, survey, &finding.path).await,
            Remedy::Tighten | Remedy::Retire => on_disk(survey, remedy, &finding.path, options),
        };
    }
}

/// Finishes what was cut off, by its note.
async fn finish(storage: &dyn SessionStorage, survey: &Survey, note: &str) -> Outcome {
    let mut all = survey.unfinished.iter();
    let Some(unfinished) = all.find(|unfinished| unfinished.note.as_str() == note) else {
        return Outcome::Found;
    };
    match unfinished.finish(storage).await {
        Ok(Finish::Done(left)) => match left.iter().find(|error| !error.is_no_object()) {
            None => Outcome::Repaired("all of the session is at one place".to_owned()),
            Some(error) => Outcome::Failed(error.to_string()),
        },
        Ok(Finish::Gone) => match unfinished.forget(storage).await {
            Ok(true) => {
                Outcome::Repaired("nothing of the session is left; its note is gone".into())
            }
            Ok(false) => Outcome::Failed(LOST.to_owned()),
            Err(error) => Outcome::Failed(error.to_string()),
        },
        Ok(Finish::Unclear(why)) => Outcome::Failed(why.to_owned()),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

#[cfg(feature = "file")]
fn on_disk(survey: &Survey, remedy: Remedy, path: &str, options: &DoctorOptions) -> Outcome {
    let Some(root) = survey.root.as_deref() else { return Outcome::Found };
    let repair = || match remedy {
        Remedy::Retire => {
            let time = session_model::time::to_iso(options.clock.now_ms()).replace([':', '.'], "-");
            let to = format!("{}/doctor-{time}/{}", super::TRASH_DIR, path.replace(".~", ""));
            let upkeep = session_store_file::Upkeep::open(root).map_err(|e| e.to_string())?;
            upkeep.retire(path.as_ref(), to.as_ref()).map(|moved| match moved {
                true => Outcome::Repaired(format!("moved to {to}")),
                // It is in use or gone by now.
                false => Outcome::Found,
            })
        }
        _ => {
            let upkeep = session_store_file::Upkeep::open(root).map_err(|e| e.to_string())?;
            let closed = upkeep.tighten(path.as_ref());
            closed.map(|is_there| match is_there {
                true => Outcome::Repaired("it is private now".to_owned()),
                false => Outcome::Found,
            })
        }
    };
    repair().unwrap_or_else(Outcome::Failed)
}

#[cfg(not(feature = "file"))]
fn on_disk(_: &Survey, _: Remedy, _: &str, _: &DoctorOptions) -> Outcome {
    Outcome::Found
}

/// Gives every record of a session a line of its own and moves what is none aside.
async fn rewrite(
    storage: &dyn SessionStorage,
    path: &str,
    options: &DoctorOptions,
) -> Result<Outcome> {
    let key = StorageKey::new(path)?;
    let claim = AppendOptions::exclusive(&options.owner).when(Precondition::None);
    let mut writer = storage.open_append(&key, claim).await?;
    let (_, before) = storage.read_all(&key).await?;
    let Mended { bytes, damaged, torn } = mend(&before);
    let left = odd_places(&bytes);
    let time = options.clock.now_ms();
    let mut kept = Vec::new();
    for (why, cut) in [(Aside::Damaged, damaged), (Aside::Torn, torn)] {
        if !cut.is_empty() {
            let size = cut.len();
            let moved = aside::save(storage, &key, why, time, cut.into()).await?;
            kept.push(format!("{size} bytes moved to {moved}"));
        }
    }
    if bytes != before {
        let unchanged = PutOptions::when(Precondition::Length(before.len() as u64));
        writer.replace(bytes.into(), unchanged).await?;
    }
    writer.close().await?;
    kept.push("the file has a line for each record".to_owned());
    let done = kept.join("; ");
    Ok(match left {
        0 => Outcome::Repaired(done),
        left => {
            let again = "keep a copy, and mend the file by hand";
            Outcome::Failed(format!("{left} odd places stay as they are ({done}); {again}"))
        }
    })
}

/// A file made good, and what was cut out of it.
struct Mended {
    bytes: Bytes,
    damaged: Vec<u8>,
    torn: Vec<u8>,
}

fn mend(before: &Bytes) -> Mended {
    let mut mended = Mended { bytes: before.clone(), damaged: Vec::new(), torn: Vec::new() };
    for _ in 0..MAX_ROUNDS {
        let Ok(loaded) = SessionDocument::load(mended.bytes.clone(), &LoadOptions::default())
        else {
            break;
        };
        let mut edits: Vec<(Range<usize>, DiagnosticCode)> = Vec::new();
        for diagnostic in &loaded.diagnostics {
            let Some(range) = &diagnostic.bytes else { continue };
            let range = range.start as usize..range.end as usize;
            match diagnostic.code {
                DiagnosticCode::JoinedRecords => {
                    let starts = record_starts(&loaded, &mended.bytes);
                    let inside = starts.filter(|at| range.contains(at));
                    edits.extend(inside.map(|at| (at..at, diagnostic.code)));
                }
                code if is_cut(code) => edits.push((range, code)),
                _ => {}
            }
        }
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        edits.dedup();
        if edits.is_empty() {
            break;
        }
        mended.apply(&edits);
    }
    mended
}

/// How many places of a file a repair would still have to mend.
fn odd_places(bytes: &Bytes) -> usize {
    match SessionDocument::load(bytes.clone(), &LoadOptions::default()) {
        Ok(loaded) => loaded.diagnostics.iter().filter(|odd| is_mended(odd.code)).count(),
        Err(_) => 1,
    }
}

/// Where in a file its records begin, further headers and objects of no type among them.
fn record_starts(loaded: &Loaded, file: &Bytes) -> impl Iterator<Item = usize> {
    let file = file.as_ptr().addr();
    let entries = loaded.document.tree().entries().iter();
    // A record shares the memory of the file it was read from.
    let entries = entries.map(move |entry| entry.line().as_ptr().addr().wrapping_sub(file));
    let others = loaded.diagnostics.iter().filter_map(|diagnostic| match diagnostic.code {
        DiagnosticCode::ExtraHeader | DiagnosticCode::NotAnEntry => {
            Some(diagnostic.bytes.as_ref()?.start as usize)
        }
        _ => None,
    });
    entries.chain(others)
}

impl Mended {
    fn apply(&mut self, edits: &[(Range<usize>, DiagnosticCode)]) {
        let old = self.bytes.clone();
        let mut new = Vec::with_capacity(old.len() + edits.len());
        let mut at = 0;
        for (range, code) in edits {
            let range = range.start.max(at)..range.end.max(at);
            new.extend_from_slice(&old[at..range.start]);
            at = range.end;
            let cut = &old[range];
            match code {
                DiagnosticCode::JoinedRecords => new.push(b'\n'),
                DiagnosticCode::ByteOrderMark => {}
                DiagnosticCode::TornTail => self.torn.extend_from_slice(cut),
                _ => {
                    let is_line = new.last().is_none_or(|&byte| byte == b'\n');
                    let (line_end, cut) = match cut.strip_suffix(b"\n") {
                        Some(cut) => (!is_line, cut),
                        None => (false, cut),
                    };
                    self.damaged.extend_from_slice(cut);
                    self.damaged.push(b'\n');
                    if line_end {
                        new.push(b'\n');
                    }
                }
            }
        }
        new.extend_from_slice(&old[at..]);
        self.bytes = new.into();
    }
}
