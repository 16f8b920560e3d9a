//! `sessionctl remote status`

use std::time::Duration;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::time::to_iso;
use session_store_indexed::publish::{Held, PublishStatus, SessionLag};
use session_store_indexed::remote::{Check, RemoteError};

use super::poison;
use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, count, look, say};

/// Show whether the remote answers, and what is not published yet
///
/// What this command opens publishes as any program does that opens it.
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
        let check = replica.remote().check().await;
        let Some(status) = local.publish_status(self.limit)? else { return Ok(()) };
        if context.json {
            return Ok(context.out.json(json(&check, &status).as_str())?.end()?);
        }
        print(&check, &status, &mut context.out)
    }
}

fn print(
    check: &Result<Check, RemoteError>,
    status: &PublishStatus,
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
        0 => out.line("all is published")?,
        _ => out.line(&format!(
            "{} bytes wait, the oldest for {} s",
            status.bytes,
            status.age.as_secs()
        ))?,
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

fn json(check: &Result<Check, RemoteError>, status: &PublishStatus) -> RawJson {
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
        .raw("rows", &number(status.rows))
        .raw("bytes", &number(status.bytes))
        .raw("ageMs", &age(status.age))
        .raw("sessions", &list(status.sessions.iter().map(session).collect()))
        .raw("held", &list(status.held.iter().map(held).collect()))
        .raw("blocked", &list(status.blocked.iter().map(poison::json).collect()))
        .build()
}
