//! `sessionctl remote list`

use std::collections::HashMap;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::preview::one_line;
use session_model::time::to_iso;
use session_store_indexed::replica::{Origin, SharedRow, SharedRows};

use super::{skipped_json, tell_skipped};
use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, TITLE_CHARS, look};

/// List the sessions of this host and of the remote
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Only those this host does not have
    #[arg(long)]
    missing: bool,
}

impl List {
    pub(super) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let replica = context.store.replica()?;
        replica.local().compare(|_| {})?;
        let SharedRows { mut rows, skipped, .. } = replica.sessions().await?;
        tell_skipped(&skipped, context);
        rows.retain(|row| !self.missing || row.origin() == Origin::Remote);
        let mut own = HashMap::new();
        for remote in rows.iter().filter_map(|row| row.remote.as_ref()) {
            let owner = &remote.fence.owner;
            own.insert(owner.clone(), replica.is_own(owner)?);
        }
        let is_own = |owner: &str| own.get(owner).copied().unwrap_or_default();
        let owner = |row: &SharedRow| {
            let owner = row.remote.as_ref().map(|remote| remote.fence.owner.clone());
            let owner = owner.filter(|owner| !owner.is_empty());
            owner.map(|owner| if is_own(&owner) { "this host".to_owned() } else { owner })
        };
        if context.json {
            let rows: Vec<_> = rows.iter().map(|row| json(row, owner(row).as_deref())).collect();
            let document = ObjectBuilder::new()
                .raw("sessions", &RawJson::array(&rows))
                .optional("skipped", skipped_json(&skipped).as_ref())
                .build();
            return Ok(context.out.json(document.as_str())?.end()?);
        }
        rows.iter().try_for_each(|row| print(row, owner(row).as_deref(), &mut context.out))
    }
}

/// The word for where a session is.
fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Here => "here",
        Origin::Remote => "remote",
        Origin::Both => "both",
    }
}

/// What this host says, or else the remote.
fn said<'a>(here: Option<&'a String>, remote: Option<&'a String>) -> Option<&'a str> {
    here.or(remote).map(String::as_str)
}

fn title(row: &SharedRow) -> Option<&str> {
    let (here, remote) = (row.here.as_ref(), row.remote.as_ref());
    said(
        here.and_then(|here| here.title.as_ref()),
        remote.and_then(|remote| remote.meta.title.as_ref()),
    )
}

fn id(row: &SharedRow) -> Option<&str> {
    let (here, remote) = (row.here.as_ref(), row.remote.as_ref());
    said(here.and_then(|here| here.id.as_ref()), remote.and_then(|remote| remote.meta.id.as_ref()))
}

fn json(row: &SharedRow, owner: Option<&str>) -> RawJson {
    let (here, remote) = (row.here.as_ref(), row.remote.as_ref());
    let cwd = said(
        here.and_then(|here| here.cwd.as_ref()),
        remote.and_then(|remote| remote.meta.cwd.as_ref()),
    );
    let string = |text: Option<&str>| text.map(RawJson::string);
    let number = |n: Option<u64>| n.and_then(|n| to_raw_json(&n).ok());
    let activity = row.activity_ms().map(to_iso);
    ObjectBuilder::new()
        .string("key", row.session.as_str())
        .string("origin", word(row.origin()))
        .optional("id", string(id(row)).as_ref())
        .optional("title", string(title(row)).as_ref())
        .optional("cwd", string(cwd).as_ref())
        .optional("lastActivity", string(activity.as_deref()).as_ref())
        .optional("bytesHere", number(here.map(|here| here.size)).as_ref())
        .optional("bytesRemote", number(remote.map(|remote| remote.position.length)).as_ref())
        .optional("owner", string(owner).as_ref())
        .build()
}

fn print(row: &SharedRow, owner: Option<&str>, out: &mut Output) -> Result<(), Failure> {
    let time = row.activity_ms().map(to_iso).unwrap_or_default();
    let time = time.get(..16).unwrap_or(&time).replace('T', " ");
    let title = one_line(title(row).unwrap_or("(no title)"), TITLE_CHARS);
    out.text(look::ID, &format!("{:<36}", id(row).unwrap_or(row.session.as_str())))?;
    out.text(look::DIM, &format!("  {time:<16}  {:<6}", word(row.origin())))?;
    out.text(look::PLAIN, &format!("  {title}"))?;
    if let Some(owner) = owner {
        out.text(look::WARNING, &format!("  (claimed by {owner})"))?;
    }
    Ok(out.end()?)
}
