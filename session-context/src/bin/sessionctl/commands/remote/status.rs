//! `sessionctl remote status`

use std::time::Duration;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::storage::StorageKey;
use session_model::time::to_iso;
use session_store_indexed::publish::{Held, PublishStatus, SessionLag};
use session_store_indexed::remote::{Check, RemoteError};
use session_store_indexed::replica::{ReplicaError, Standing};

use super::{poison, skipped_json, tell_skipped};
use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, count, look, say};

/// Show whether the remote answers, and what is not published yet
///
/// What this command opens publishes as any program does that opens it. Exit code 0 if this host and
/// the remote are in step, 3 if somebody has to do something (the remote cannot be used, or something
/// is blocked), 5 if one is behind the other.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote status --store 'indexed:///home/me/.xcsh/agent?remote=redis://127.0.0.1/'
  sessionctl remote status --json --store \"$STORE\"")]
pub(super) struct Status {
    /// Show so many sessions that wait, the longest waiting first
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

impl Status {
    pub(super) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let replica = context.store.replica()?;
        let local = replica.local();
        local.compare(|_| {})?;
        let mut check = replica.remote().check().await;
        let mut standing = Standing::default();
        if check.is_ok() {
            match replica.standing().await {
                Ok(found) => standing = found,
                Err(ReplicaError::Remote(error)) => check = Err(error),
                Err(error) => return Err(error.into()),
            }
        }
        let Some(status) = local.publish_status(self.limit)? else { return Ok(()) };
        if context.json {
            context.out.json(json(&check, &status, &standing).as_str())?.end()?;
        } else {
            tell_skipped(&standing.skipped, context);
            print(&check, &status, &standing, &mut context.out)?;
        }
        judged(&check, &status, &standing)
    }
}

/// The exit code: whether somebody has to do something, or waiting does it.
fn judged(
    check: &Result<Check, RemoteError>,
    status: &PublishStatus,
    standing: &Standing,
) -> Result<(), Failure> {
    let needs_you = match check {
        Err(_) => Some("the remote cannot be used".to_owned()),
        Ok(check) if !check.writable => Some("the remote is read only".to_owned()),
        Ok(_) if !status.blocked.is_empty() => {
            let what = "session or object waits for a decision";
            Some(count(status.blocked.len(), what, "sessions or objects wait for a decision"))
        }
        Ok(_) if standing.skipped.count > 0 => {
            Some("the remote names what cannot be used".to_owned())
        }
        Ok(_) => None,
    };
    if let Some(needs_you) = needs_you {
        return Err(Failure::ProblemsFound(needs_you));
    }
    let behind = standing.lacking.len() + standing.ahead.len();
    match status.rows == 0 && behind == 0 {
        true => Ok(()),
        false => Err(Failure::Behind("this host and the remote are not in step yet".to_owned())),
    }
}

fn print(
    check: &Result<Check, RemoteError>,
    status: &PublishStatus,
    standing: &Standing,
    out: &mut Output,
) -> Result<(), Failure> {
    match check {
        Ok(check) => {
            check.warnings.iter().for_each(|warning| say("warning", warning));
            out.line(&format!("the remote answers, version {}", check.version))?;
        }
        Err(error) => out.text(look::BAD, &error.to_string())?.end()?,
    }
    match status.rows {
        0 if check.is_err() => out.line("nothing waits here to be published")?,
        0 if standing.lacking.is_empty() => out.line("all is published")?,
        0 => {}
        _ => out.line(&format!(
            "{} bytes wait, the oldest for {} s",
            status.bytes,
            status.age.as_secs()
        ))?,
    }
    for (sessions, what) in [
        (&standing.lacking, "the remote does not have all of it"),
        (&standing.ahead, "the remote has other lines; `sessionctl remote pull` fetches them"),
    ] {
        for key in sessions {
            out.line(&format!("  {key}: {what}"))?;
        }
    }
    for SessionLag { key, entries, bytes, age, .. } in &status.sessions {
        let entries = count(*entries as usize, "entry", "entries");
        out.line(&format!("  {key}: {entries}, {bytes} bytes, {} s", age.as_secs()))?;
    }
    for Held { key, owner, until_ms, .. } in &status.held {
        let until = to_iso(*until_ms);
        out.text(look::WARNING, &format!("  {key}: the host {owner} has it until {until}"))?
            .end()?;
    }
    poison::print(&status.blocked, out)
}

fn json(
    check: &Result<Check, RemoteError>,
    status: &PublishStatus,
    standing: &Standing,
) -> RawJson {
    let keys = |keys: &[StorageKey]| {
        RawJson::array(&keys.iter().map(|key| RawJson::string(key.as_str())).collect::<Vec<_>>())
    };
    let number = |n: u64| to_raw_json(&n).unwrap_or_default();
    let age = |age: Duration| number(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
    let session = |lag: &SessionLag| {
        ObjectBuilder::new()
            .string("key", &lag.key)
            .raw("entries", &number(lag.entries))
            .raw("bytes", &number(lag.bytes))
            .raw("ageMs", &age(lag.age))
            .build()
    };
    let held = |held: &Held| {
        ObjectBuilder::new()
            .string("key", held.key.as_str())
            .string("owner", &held.owner)
            .string("until", &to_iso(held.until_ms))
            .build()
    };
    let list = |rows: Vec<RawJson>| RawJson::array(&rows);
    let warnings = check.iter().flat_map(|check| &check.warnings);
    let version = check.as_ref().ok().map(|check| RawJson::string(&check.version));
    let error = check.as_ref().err().map(|error| RawJson::string(&error.to_string()));
    ObjectBuilder::new()
        .raw("connected", &to_raw_json(&check.is_ok()).unwrap_or_default())
        .optional("version", version.as_ref())
        .optional("error", error.as_ref())
        .raw("warnings", &list(warnings.map(|text| RawJson::string(text)).collect()))
        .raw("confirmed", &number(standing.confirmed))
        .raw("lacking", &keys(&standing.lacking))
        .raw("ahead", &keys(&standing.ahead))
        .optional("skipped", skipped_json(&standing.skipped).as_ref())
        .raw("rows", &number(status.rows))
        .raw("bytes", &number(status.bytes))
        .raw("ageMs", &age(status.age))
        .raw("sessions", &list(status.sessions.iter().map(session).collect()))
        .raw("held", &list(status.held.iter().map(held).collect()))
        .raw("blocked", &list(status.blocked.iter().map(poison::json).collect()))
        .build()
}
