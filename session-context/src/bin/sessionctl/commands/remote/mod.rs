//! `sessionctl remote`

mod claim;
mod list;
mod poison;
mod pull;
mod push;
mod status;
mod verify;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::storage::StorageKey;
use session_store_indexed::remote::{Skipped, SkippedRows};
use session_store_indexed::replica::SharedRow;

use crate::Context;
use crate::failure::Failure;
use crate::output::{count, say};

/// Share sessions with other hosts
///
/// The storage names the remote: --store 'indexed:///path?remote=rediss://user@host:6379/0'.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote list --store 'indexed:///home/me/.xcsh/agent?remote=redis://127.0.0.1/'
  sessionctl remote pull --all --store \"$STORE\"
  sessionctl remote claim 0198a7c2 --store \"$STORE\"")]
pub(crate) struct Remote {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Claim(claim::Claim),
    List(list::List),
    Poison(poison::Poison),
    Pull(pull::Pull),
    Push(push::Push),
    Release(claim::Release),
    Status(status::Status),
    Verify(verify::Verify),
}

impl Remote {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        if context.store.url().is_none() {
            let text =
                "name the storage and its remote: --store 'indexed:///path?remote=redis://host'";
            return Err(Failure::Usage(text.to_owned()));
        }
        match self.what {
            What::Claim(claim) => claim.run(context).await,
            What::List(list) => list.run(context).await,
            What::Poison(poison) => poison.run(context),
            What::Pull(pull) => pull.run(context).await,
            What::Push(push) => push.run(context).await,
            What::Release(release) => release.run(context).await,
            What::Status(status) => status.run(context).await,
            What::Verify(verify) => verify.run(context).await,
        }
    }
}

/// Says what the remote names and cannot be used; with `--json` the document does.
fn tell_skipped(skipped: &SkippedRows, context: &Context) {
    if context.json {
        return;
    }
    skipped.first.iter().for_each(|row| say("warning", &row.to_string()));
    let unnamed = skipped.count.saturating_sub(skipped.first.len() as u64);
    if unnamed > 0 {
        let unnamed = usize::try_from(unnamed).unwrap_or(usize::MAX);
        say("warning", &format!("{} left out as well", count(unnamed, "more is", "more are")));
    }
}

/// What the remote names and cannot be used; `None` if there is nothing.
fn skipped_json(skipped: &SkippedRows) -> Option<RawJson> {
    let row = |row: &Skipped| {
        ObjectBuilder::new().string("name", &row.name).string("reason", &row.reason).build()
    };
    let rows: Vec<_> = skipped.first.iter().map(row).collect();
    (skipped.count > 0).then(|| {
        ObjectBuilder::new()
            .raw("count", &to_raw_json(&skipped.count).unwrap_or_default())
            .raw("first", &RawJson::array(&rows))
            .build()
    })
}

/// Finds a session by its key, or by the beginning of its id.
fn find(rows: &[SharedRow], wanted: &str) -> Result<StorageKey, Failure> {
    if let Some(row) = rows.iter().find(|row| row.session.as_str() == wanted) {
        return Ok(row.session.clone());
    }
    let wanted_id = wanted.to_lowercase();
    let is_meant = |row: &&SharedRow| {
        let here = row.here.as_ref().and_then(|here| here.id.as_deref());
        let remote = row.remote.as_ref().and_then(|remote| remote.meta.id.as_deref());
        [here, remote].into_iter().flatten().any(|id| id.to_lowercase().starts_with(&wanted_id))
    };
    let found: Vec<_> = rows.iter().filter(is_meant).collect();
    match &found[..] {
        [row] => Ok(row.session.clone()),
        [] => Err(Failure::Refused(format!(
            "there is no session of the id {wanted}; `sessionctl remote list` shows those there are"
        ))),
        several => {
            let keys: Vec<_> = several.iter().map(|row| row.session.as_str()).collect();
            Err(Failure::Refused(format!("{wanted} can be any of {}", keys.join(", "))))
        }
    }
}
