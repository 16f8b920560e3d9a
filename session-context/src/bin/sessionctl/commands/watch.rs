//! `sessionctl watch`

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::time::Duration;

use futures_core::Stream;
use session_context::reader::Follow;
use session_context::{FollowEvent, FollowOptions, SessionReader};
use session_model::json::{ObjectBuilder, RawJson};

use super::show::print_entry;
use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, say};

/// Print entries as they are written to a session, until interrupted
///
/// Never writes, and is no hindrance to whoever does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl watch session.jsonl
  sessionctl watch session.jsonl --from-start --json
  sessionctl watch session.jsonl --count 1")]
pub(crate) struct Watch {
    /// The session
    session: String,
    /// Begin with the entries that are there already
    #[arg(long)]
    from_start: bool,
    /// End after so many entries
    #[arg(long, value_name = "NUMBER")]
    count: Option<u64>,
    /// End when nothing has happened for so many milliseconds
    #[arg(long, value_name = "MS")]
    until_idle: Option<u64>,
    /// Look at the file every so many milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    interval: u64,
}

impl Watch {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let target = context.store.existing(&self.session).await?;
        let mut options = FollowOptions::default().interval(Duration::from_millis(self.interval));
        options.from_start = self.from_start;
        let mut follow = SessionReader::new(target.storage, target.key).follow(options);
        // Listening begins with the first poll, before anything is printed.
        let mut interrupted = pin!(tokio::signal::ctrl_c());
        let mut left = self.count;
        while left != Some(0) {
            let next = tokio::select! {
                biased;
                _ = &mut interrupted => None,
                next = next(&mut follow, self.until_idle) => next,
            };
            let Some(event) = next else { break };
            let event = event?;
            if let (FollowEvent::Entry(_), Some(left)) = (&event, &mut left) {
                *left -= 1;
            }
            print(&event, context.json, &mut context.out)?;
            context.out.flush()?;
        }
        Ok(())
    }
}

/// The next event; `None` if there is none for too long.
async fn next(
    follow: &mut Follow,
    until_idle: Option<u64>,
) -> Option<session_context::Result<FollowEvent>> {
    let event = poll_fn(|cx| Pin::new(&mut *follow).poll_next(cx));
    match until_idle {
        None => event.await,
        Some(ms) => tokio::time::timeout(Duration::from_millis(ms), event).await.ok().flatten(),
    }
}

fn print(event: &FollowEvent, json: bool, out: &mut Output) -> Result<(), Failure> {
    if json {
        let (name, field): (_, Option<(_, RawJson)>) = match event {
            FollowEvent::Entry(entry) => ("entry", Some(("entry", entry.json().clone()))),
            FollowEvent::Diagnostic(found) => ("diagnostic", Some(("diagnostic", found.to_json()))),
            FollowEvent::Removed => ("removed", None),
            _ => ("reloaded", None),
        };
        let mut object = ObjectBuilder::new().string("event", name);
        if let Some((name, value)) = &field {
            object = object.raw(name, value);
        }
        out.json(object.build().as_str())?.end()?;
        return Ok(());
    }
    match event {
        FollowEvent::Entry(entry) => print_entry(entry, None, out)?,
        FollowEvent::Diagnostic(found) => say("warning", &found.to_string()),
        FollowEvent::Removed => say("note", "the file was removed; watching for it to come back"),
        _ => say("note", "the file was replaced; only what is new is shown"),
    }
    Ok(())
}
