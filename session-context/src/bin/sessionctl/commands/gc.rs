//! `sessionctl gc`

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};
use session_context::blobs::{BlobStore, GcOptions, GcOutcome, GcPlan};
use session_context::{SessionError, open_existing_storage};
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};

use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::{Output, count, say};

const DAY: u64 = 24 * 60 * 60;

/// Find blobs that nothing refers to, and with --apply move them to the trash
///
/// Every file of the agent directory is looked through: sessions, damaged ones, what was put aside,
/// artifacts, the trash. A blob whose hash stands anywhere in one of them stays. Nothing is
/// deleted: what is moved lies in trash/blobs and can be moved back. If any file cannot be read,
/// nothing is moved.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl gc
  sessionctl gc --also ~/other/sessions --apply
  sessionctl gc --agent-dir ~/.omp/agent --grace 30 --json")]
pub(crate) struct Gc {
    /// Move unused blobs to the trash; by default they are only shown
    #[arg(long)]
    apply: bool,
    /// Leave blobs alone that were written in the last so many days
    #[arg(long, value_name = "DAYS", default_value_t = 7,
        value_parser = clap::value_parser!(u64).range(1..=36_500))]
    grace: u64,
    /// Look for references in this directory too; can be given more than once
    #[arg(long, value_name = "DIR")]
    also: Vec<String>,
}

impl Gc {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let storage = context.store.storage()?;
        let blobs = BlobStore::new(storage).map_err(SessionError::from)?;
        let mut options = GcOptions::default().grace(Duration::from_secs(self.grace * DAY));
        for directory in &self.also {
            options = options.also(open_existing_storage(directory)?);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let plan = blobs
            .gc_plan(&options, |done, total| {
                bar.set_length(total);
                bar.set_position(done);
            })
            .await;
        bar.finish_and_clear();
        let apply = self.apply && plan.is_complete();
        let outcome = if apply { Some(blobs.gc_apply(&plan).await) } else { None };
        if context.json {
            context.out.json(json(&plan, outcome.as_ref()).as_str())?.end()?;
        } else {
            print(&plan, outcome.as_ref(), &mut context.out)?;
        }
        let moved = outcome.iter().flat_map(|outcome| &outcome.problems);
        let problems: Vec<_> = plan.problems.iter().chain(moved).collect();
        for problem in &problems {
            say("warning", &chain(*problem));
        }
        match &problems[..] {
            [] => Ok(()),
            _ if plan.is_complete() => {
                Err(Failure::Refused("not all unused blobs could be moved".into()))
            }
            _ => Err(Failure::Refused(
                "not everything could be looked through, so nothing was moved".into(),
            )),
        }
    }
}

fn print(plan: &GcPlan, outcome: Option<&GcOutcome>, out: &mut Output) -> Result<(), Failure> {
    match outcome {
        None => {
            for unused in &plan.unused {
                out.line(&format!("unused {} ({} bytes)", unused.id.to_hex(), unused.meta.size))?;
            }
        }
        Some(outcome) => {
            for (id, key) in &outcome.moved {
                out.line(&format!("moved {} to {key}", id.to_hex()))?;
            }
        }
    }
    let unused = count(plan.unused.len(), "unused blob", "unused blobs");
    let files = count(plan.files as usize, "file", "files");
    let (bytes, used, young) = (plan.unused_bytes(), plan.used, plan.young);
    out.line(&format!(
        "{unused} of {bytes} bytes, {used} in use, {young} too young to tell; {files} looked through"
    ))?;
    if outcome.is_none() && plan.is_complete() && !plan.unused.is_empty() {
        say("note", "nothing was changed; --apply moves unused blobs to the trash");
    }
    Ok(())
}

fn json(plan: &GcPlan, outcome: Option<&GcOutcome>) -> RawJson {
    let number = |n: u64| to_raw_json(&n).unwrap_or_default();
    let unused = plan.unused.iter().map(|unused| {
        ObjectBuilder::new()
            .string("blob", &unused.id.to_hex())
            .raw("bytes", &number(unused.meta.size))
            .build()
    });
    let moved = outcome.iter().flat_map(|outcome| &outcome.moved).map(|(id, key)| {
        ObjectBuilder::new().string("blob", &id.to_hex()).string("to", key.as_str()).build()
    });
    ObjectBuilder::new()
        .raw("applied", &outcome.is_some().into())
        .raw("complete", &plan.is_complete().into())
        .raw("files", &number(plan.files))
        .raw("used", &number(plan.used))
        .raw("young", &number(plan.young))
        .raw("unused", &RawJson::array(&unused.collect::<Vec<_>>()))
        .raw("moved", &RawJson::array(&moved.collect::<Vec<_>>()))
        .build()
}
