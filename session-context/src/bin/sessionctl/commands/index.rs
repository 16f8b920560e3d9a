//! `sessionctl index`

use indicatif::{ProgressBar, ProgressDrawTarget};
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_store_indexed::index::{IndexDifference, IndexStats, IndexStatus};
use session_store_indexed::storage::IndexedStorage;

use crate::Context;
use crate::failure::Failure;
use crate::output::{count, say};

/// Make, check or describe the index of an agent directory
///
/// The index is a database beside the sessions, with which lists and single paths are read without
/// reading whole files. It is made from the sessions and can be removed at any time; no session is
/// changed by it. Programs use it if they open the directory as indexed:///path.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl index build
  sessionctl index check --json
  sessionctl index stats --agent-dir ~/.omp/agent")]
pub(crate) struct Index {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Make the index, or bring it up to date with the files
    Build,
    /// Compare the index with all that is in the files; exit code 3 if they differ
    Check,
    /// Show how much is indexed
    Stats,
}

impl Index {
    pub(crate) fn run(self, context: &mut Context) -> Result<(), Failure> {
        let storage = context.store.indexed()?;
        for diagnostic in storage.diagnostics() {
            say("warning", &diagnostic.to_string());
        }
        match self.what {
            What::Build => {
                with_bar(|progress| storage.compare(progress))?;
                print_stats(&storage, context)
            }
            What::Check => {
                let found = with_bar(|progress| storage.check(progress))?;
                print_differences(&found, context)
            }
            What::Stats => print_stats(&storage, context),
        }
    }
}

fn with_bar<T>(work: impl FnOnce(&mut dyn FnMut(IndexStatus)) -> T) -> T {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let done = work(&mut |status| {
        bar.set_length(status.done + status.waiting);
        bar.set_position(status.done);
    });
    bar.finish_and_clear();
    done
}

fn print_stats(storage: &IndexedStorage, context: &mut Context) -> Result<(), Failure> {
    let stats = storage.stats()?;
    if context.json {
        return Ok(context.out.json(json(&stats).as_str())?.end()?);
    }
    let IndexStats { problems, entries, messages, size, indexed, .. } = stats;
    let sessions = count(stats.sessions as usize, "session", "sessions");
    context.out.line(&format!(
        "{sessions} with {entries} entries, {messages} of them messages; {indexed} of {size} bytes are indexed"
    ))?;
    if problems > 0 {
        let files = count(problems as usize, "file is", "files are");
        context.out.line(&format!("{files} no session; `sessionctl doctor` tells more"))?;
    }
    Ok(())
}

fn json(stats: &IndexStats) -> RawJson {
    let number = |n: u64| to_raw_json(&n).unwrap_or_default();
    ObjectBuilder::new()
        .raw("sessions", &number(stats.sessions))
        .raw("problems", &number(stats.problems))
        .raw("entries", &number(stats.entries))
        .raw("messages", &number(stats.messages))
        .raw("bytes", &number(stats.size))
        .raw("indexed", &number(stats.indexed))
        .build()
}

fn print_differences(found: &[IndexDifference], context: &mut Context) -> Result<(), Failure> {
    if context.json {
        let differences = found.iter().map(|found| {
            ObjectBuilder::new().string("key", &found.key).string("what", found.what).build()
        });
        let differences = RawJson::array(&differences.collect::<Vec<_>>());
        let document = ObjectBuilder::new().raw("differences", &differences).build();
        context.out.json(document.as_str())?.end()?;
    } else {
        for IndexDifference { key, what, .. } in found {
            context.out.line(&format!("{key}: {what}"))?;
        }
    }
    match found.len() {
        0 if context.json => Ok(()),
        0 => Ok(context.out.line("the index says what the files hold")?),
        n => Err(Failure::ProblemsFound(format!(
            "{} from the index; remove its database to have it made again",
            count(n, "session differs", "sessions differ")
        ))),
    }
}
