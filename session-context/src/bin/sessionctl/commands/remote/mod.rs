//! `sessionctl remote`

mod claim;
mod list;
mod poison;
mod pull;
mod push;
mod repair;
mod status;
mod verify;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::storage::{SessionStorage, StorageKey};
use session_store_indexed::remote::{Skipped, SkippedRows};
use session_store_indexed::replica::{Replica, SharedRow};

use crate::Context;
use crate::failure::Failure;
use crate::output::{count, say};
use crate::wait::Waiting;

/// Share sessions with other hosts
///
/// The storage names the remote: --store 'indexed:///path?remote=rediss://user@host:6379/0'.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote list --store 'indexed:///home/me/.xcsh/agent?remote=redis://127.0.0.1/'
  sessionctl remote pull --all --store \"$STORE\"
  sessionctl remote claim 0198a7c2 --store \"$STORE\"
  sessionctl remote verify --store \"$STORE\"
  sessionctl remote push --repair --store \"$STORE\"")]
pub(crate) struct Remote {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Claim(Waiting<claim::Claim>),
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
            What::Claim(claim) => claim.ready(context).run(context).await,
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

/// Finds a session as every command does: by its key, its file on this host, its id, or the beginning
/// of that, of the present directory if there is one.
fn find(replica: &Replica, rows: &[SharedRow], wanted: &str) -> Result<StorageKey, Failure> {
    let is_file = |row: &&SharedRow| {
        let path = replica.local().local_path(&row.session);
        path.is_some_and(|path| std::path::absolute(wanted).is_ok_and(|wanted| wanted == path))
    };
    if let Some(row) =
        rows.iter().find(|row| row.session.as_str() == wanted).or(rows.iter().find(is_file))
    {
        return Ok(row.session.clone());
    }
    let wanted_id = wanted.to_lowercase();
    let is_meant = |row: &SharedRow, is_it: &dyn Fn(&str) -> bool| {
        let here = row.here.as_ref().and_then(|here| here.id.as_deref());
        let remote = row.remote.as_ref().and_then(|remote| remote.meta.id.as_deref());
        [here, remote].into_iter().flatten().any(|id| is_it(&id.to_lowercase()))
    };
    let here = std::env::current_dir().unwrap_or_default();
    let is_local = |row: &&SharedRow| {
        let cwd = row.here.as_ref().and_then(|here| here.cwd.as_deref());
        let remote = row.remote.as_ref().and_then(|remote| remote.meta.cwd.as_deref());
        cwd.or(remote).is_some_and(|cwd| std::path::Path::new(cwd) == here)
    };
    let whole: Vec<_> = rows.iter().filter(|row| is_meant(row, &|id| id == wanted_id)).collect();
    let found = match whole.is_empty() {
        false => whole,
        true => rows.iter().filter(|row| is_meant(row, &|id| id.starts_with(&wanted_id))).collect(),
    };
    let local: Vec<_> = found.iter().copied().filter(is_local).collect();
    match (&found[..], &local[..]) {
        ([row], _) | (_, [row]) => Ok(row.session.clone()),
        ([], _) => Err(Failure::Refused(format!(
            "there is no session of the id {wanted}; `sessionctl remote list` shows those there are"
        ))),
        (several, _) => {
            let keys: Vec<_> = several.iter().map(|row| row.session.as_str()).collect();
            Err(Failure::Refused(format!("{wanted} can be any of {}", keys.join(", "))))
        }
    }
}
