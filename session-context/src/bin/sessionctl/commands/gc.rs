//! `sessionctl gc`

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};
use session_context::SessionError;
use session_context::blobs::{BlobStore, GcOptions, GcPlan};
use session_model::BlobRef;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::storage::{StorageError, StorageKey};

use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::{Output, count, say};

const DAY: u64 = 24 * 60 * 60;

/// Find blobs that nothing refers to, and with --apply move them to the trash
///
/// Every file of the agent directory is looked through: sessions, damaged ones, what was put aside,
/// artifacts, the trash. A blob whose hash stands anywhere in one of them stays. Nothing is
/// deleted: what is moved lies in trash/blobs and can be moved back. Only --purge with --apply
/// deletes, and only there. If any file cannot be read, nothing is done.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl gc
  sessionctl gc --also ~/other/sessions --apply
  sessionctl gc --agent-dir ~/.omp/agent --grace 30 --json
  sessionctl gc --purge --older-than 90 --apply")]
pub(crate) struct Gc {
    /// Do what is shown; by default nothing is changed
    #[arg(long)]
    apply: bool,
    /// Leave blobs alone that were written in the last so many days
    #[arg(long, value_name = "DAYS", default_value_t = 7,
        value_parser = clap::value_parser!(u64).range(1..=36_500))]
    grace: u64,
    /// Look for references in this directory too; can be given more than once
    #[arg(long, value_name = "DIR")]
    also: Vec<String>,
    /// Delete for good what lies in the trash and nothing refers to, in place of looking for more
    #[arg(long, conflicts_with = "grace")]
    purge: bool,
    /// With --purge, leave alone what was moved to the trash in the last so many days
    #[arg(long, value_name = "DAYS", default_value_t = 30, requires = "purge",
        value_parser = clap::value_parser!(u64).range(..=36_500))]
    older_than: u64,
}

/// What was moved away and where to, or what was deleted.
struct Done {
    blobs: Vec<(BlobRef, StorageKey)>,
    problems: Vec<StorageError>,
}

impl Gc {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let storage = context.store.storage()?;
        let blobs = BlobStore::new(storage).map_err(SessionError::from)?;
        let days = if self.purge { self.older_than } else { self.grace };
        let mut options = GcOptions::default().grace(Duration::from_secs(days * DAY));
        for directory in &self.also {
            options = options.also(context.store.open(directory)?);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let progress = |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        };
        let plan = if self.purge {
            blobs.purge_plan(&options, progress).await.map_err(SessionError::from)?
        } else {
            blobs.gc_plan(&options, progress).await
        };
        bar.finish_and_clear();
        let done = match self.apply && plan.is_complete() {
            true => Some(self.apply(&blobs, &plan).await),
            false => None,
        };
        if context.json {
            context.out.json(self.json(&plan, done.as_ref()).as_str())?.end()?;
        } else {
            self.print(&plan, done.as_ref(), &mut context.out)?;
        }
        for passed_over in &plan.passed_over {
            say("warning", &chain(passed_over));
        }
        let failed = done.iter().flat_map(|done| &done.problems);
        let problems: Vec<_> = plan.problems.iter().chain(failed).collect();
        for problem in &problems {
            say("warning", &chain(*problem));
        }
        let done = if self.purge { "deleted" } else { "moved" };
        match &problems[..] {
            [] => Ok(()),
            _ if plan.is_complete() => {
                Err(Failure::Refused(format!("not all unused blobs could be {done}")))
            }
            _ => Err(Failure::Refused(format!(
                "not everything could be looked through, so nothing was {done}"
            ))),
        }
    }

    async fn apply(&self, blobs: &BlobStore, plan: &GcPlan) -> Done {
        if self.purge {
            let outcome = blobs.purge_apply(plan).await;
            let removed = outcome.removed.into_iter().map(|blob| (blob.id, blob.meta.key));
            return Done { blobs: removed.collect(), problems: outcome.problems };
        }
        let outcome = blobs.gc_apply(plan).await;
        Done { blobs: outcome.moved, problems: outcome.problems }
    }

    fn print(&self, plan: &GcPlan, done: Option<&Done>, out: &mut Output) -> Result<(), Failure> {
        for unused in plan.unused.iter().filter(|_| done.is_none()) {
            out.line(&format!("unused {} ({} bytes)", unused.id.to_hex(), unused.meta.size))?;
        }
        for (id, key) in done.iter().flat_map(|done| &done.blobs) {
            out.line(&match self.purge {
                true => format!("deleted {key}"),
                false => format!("moved {} to {key}", id.to_hex()),
            })?;
        }
        let unused = count(plan.unused.len(), "unused blob", "unused blobs");
        let files = count(plan.files as usize, "file", "files");
        let (bytes, used, young) = (plan.unused_bytes(), plan.used, plan.young);
        let young = match self.purge {
            true => format!("{young} not long enough in the trash"),
            false => format!("{young} too young to tell"),
        };
        out.line(&format!(
            "{unused} of {bytes} bytes, {used} in use, {young}; {files} looked through"
        ))?;
        if done.is_none() && plan.is_complete() && !plan.unused.is_empty() {
            let what = match self.purge {
                true => "deletes unused blobs from the trash for good",
                false => "moves unused blobs to the trash",
            };
            say("note", &format!("nothing was changed; --apply {what}"));
        }
        Ok(())
    }

    fn json(&self, plan: &GcPlan, done: Option<&Done>) -> RawJson {
        let number = |n: u64| to_raw_json(&n).unwrap_or_default();
        let unused = plan.unused.iter().map(|unused| {
            ObjectBuilder::new()
                .string("blob", &unused.id.to_hex())
                .raw("bytes", &number(unused.meta.size))
                .build()
        });
        let (list, place) = if self.purge { ("deleted", "from") } else { ("moved", "to") };
        let blobs = done.iter().flat_map(|done| &done.blobs).map(|(id, key)| {
            ObjectBuilder::new().string("blob", &id.to_hex()).string(place, key.as_str()).build()
        });
        ObjectBuilder::new()
            .raw("applied", &done.is_some().into())
            .raw("complete", &plan.is_complete().into())
            .raw("files", &number(plan.files))
            .raw("used", &number(plan.used))
            .raw("young", &number(plan.young))
            .raw("unused", &RawJson::array(&unused.collect::<Vec<_>>()))
            .raw(list, &RawJson::array(&blobs.collect::<Vec<_>>()))
            .build()
    }
}
