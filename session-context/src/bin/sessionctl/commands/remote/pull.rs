//! `sessionctl remote pull`

use std::pin::pin;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};
use session_model::json::{ObjectBuilder, RawJson};
use session_model::storage::StorageKey;
use session_store_indexed::remote::SkippedRows;
use session_store_indexed::replica::{Cursor, Outcome, Pulled, Replica, ReplicaError};

use super::{find, skipped_json, tell_skipped};
use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::{count, say};

/// Bring sessions of this host to the state of the remote, and fetch those that are missing
///
/// Lines only this host has are never overwritten: where the remote went on without them they become
/// a session of their own. Sessions that are as they were are told of only if they are named.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote pull 0198a7c2
  sessionctl remote pull --all --follow --json")]
pub(super) struct Pull {
    /// The sessions: keys, paths, ids or beginnings of those; default: those this host has
    #[arg(conflicts_with = "all")]
    sessions: Vec<String>,
    /// All sessions of the remote
    #[arg(long)]
    all: bool,
    /// Go on with what changes, until interrupted
    #[arg(long)]
    follow: bool,
    /// With --follow, ask for changes every so many milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    interval: u64,
}

impl Pull {
    pub(super) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let replica = context.store.replica()?;
        let mut cursor = if self.all {
            Cursor::all()
        } else if self.sessions.is_empty() {
            Cursor::here()
        } else {
            Cursor::only(self.named(&replica).await?)
        };
        let mut failed = self.first(&replica, &mut cursor, context).await?;
        failed += usize::try_from(told(&cursor.take_skipped(), context)?).unwrap_or(usize::MAX);
        if self.follow {
            return self.go_on(&replica, cursor, context).await;
        }
        match failed {
            0 => Ok(()),
            n => Err(Failure::ProblemsFound(format!(
                "{} not brought up to date",
                count(n, "session was", "sessions were")
            ))),
        }
    }

    /// The sessions that were named; those that were removed here are wanted again.
    async fn named(&self, replica: &Replica) -> Result<Vec<StorageKey>, Failure> {
        let rows = replica.sessions().await?.rows;
        let keys = self.sessions.iter().map(|session| find(replica, &rows, session));
        keys.collect()
    }

    /// Pulls each session once; returns how many could not be.
    async fn first(
        &self,
        replica: &Replica,
        cursor: &mut Cursor,
        context: &mut Context,
    ) -> Result<usize, Failure> {
        let target = match context.json {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let wanted = replica.begin(cursor).await?;
        bar.set_length(wanted.len() as u64);
        let mut failed = 0;
        for session in wanted {
            let pulled = match self.sessions.is_empty() {
                true => replica.pull(&session).await,
                false => replica.restore(&session).await,
            };
            bar.inc(1);
            // What is as it was is told to whoever asked for that session.
            let only_news = self.sessions.is_empty();
            bar.suspend(|| report(&session, &pulled, only_news, context))?;
            failed += usize::from(is_open(&pulled));
            if is_open(&pulled) {
                cursor.try_again(session);
            }
        }
        bar.finish_and_clear();
        Ok(failed)
    }

    async fn go_on(
        &self,
        replica: &Replica,
        mut cursor: Cursor,
        context: &mut Context,
    ) -> Result<(), Failure> {
        let mut interrupted = pin!(tokio::signal::ctrl_c());
        loop {
            context.out.flush()?;
            let step = tokio::select! {
                biased;
                _ = &mut interrupted => return Ok(()),
                step = replica.follow(&mut cursor) => step,
            };
            let more = match step {
                Ok(followed) => {
                    for (session, pulled) in &followed.sessions {
                        report(session, pulled, true, context)?;
                    }
                    told(&followed.skipped, context)?;
                    followed.more
                }
                Err(error) => {
                    say("warning", &format!("{}; it is tried again", chain(&error)));
                    false
                }
            };
            context.out.flush()?;
            let pause = Duration::from_millis(if more { 0 } else { self.interval });
            tokio::select! {
                biased;
                _ = &mut interrupted => return Ok(()),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }
}

/// Says what was left out of the list of sessions, and returns how much that is.
fn told(skipped: &SkippedRows, context: &mut Context) -> Result<u64, Failure> {
    tell_skipped(skipped, context);
    if let Some(skipped) = skipped_json(skipped).filter(|_| context.json) {
        let line = ObjectBuilder::new().raw("skipped", &skipped).build();
        context.out.json(line.as_str())?.end()?;
    }
    Ok(skipped.count)
}

/// Tells whether something is left to be done.
fn is_open(pulled: &Result<Pulled, ReplicaError>) -> bool {
    match pulled {
        Ok(pulled) => {
            matches!(pulled.outcome, Outcome::InUse(_))
                || !pulled.missing.is_empty()
                || pulled.refused.count > 0
        }
        Err(_) => true,
    }
}

/// The word for what became of a session, and what is to be known besides.
fn word(outcome: &Outcome) -> (&'static str, Option<String>) {
    let forked = |fork: &Option<StorageKey>| {
        fork.as_ref().map(|fork| format!("lines only this host had are in {fork}"))
    };
    match outcome {
        Outcome::Unknown => ("unknown", Some("the remote has no such session".to_owned())),
        Outcome::Same => ("same", None),
        Outcome::Ahead => ("ahead", Some("this host has what is not published yet".to_owned())),
        Outcome::Installed => ("installed", None),
        Outcome::Grown { bytes } => ("grown", Some(format!("by {bytes} bytes"))),
        Outcome::Replaced => ("replaced", Some("it was rewritten elsewhere".to_owned())),
        Outcome::Forked { to } => ("forked", Some(format!("lines only this host had are in {to}"))),
        Outcome::Removed { trashed, fork } => (
            "removed",
            forked(fork).or_else(|| trashed.as_ref().map(|key| format!("it is now {key}"))),
        ),
        Outcome::Moved { to, fork } => {
            ("moved", forked(fork).or_else(|| Some(format!("it is now {to}"))))
        }
        Outcome::RemovedHere => ("removed-here", Some("name it to fetch it again".to_owned())),
        Outcome::InUse(holder) => ("in-use", Some(format!("by {holder}; pull again later"))),
        _ => ("done", None),
    }
}

fn report(
    session: &StorageKey,
    pulled: &Result<Pulled, ReplicaError>,
    only_news: bool,
    context: &mut Context,
) -> Result<(), Failure> {
    let (word, detail) = match pulled {
        Ok(pulled) => word(&pulled.outcome),
        Err(error) => ("failed", Some(chain(error))),
    };
    let missing = pulled.as_ref().map_or(&[][..], |pulled| &pulled.missing);
    if only_news && matches!(word, "same" | "ahead") && missing.is_empty() {
        return Ok(());
    }
    if context.json {
        let mut object =
            ObjectBuilder::new().string("key", session.as_str()).string("outcome", word);
        if let Some(detail) = &detail {
            object = object.string("detail", detail);
        }
        if let Ok(Pulled {
            outcome:
                Outcome::Forked { to: fork }
                | Outcome::Removed { fork: Some(fork), .. }
                | Outcome::Moved { fork: Some(fork), .. },
            ..
        }) = pulled
        {
            object = object.string("fork", fork.as_str());
        }
        let names: Vec<_> = missing.iter().map(|key| RawJson::string(key.as_str())).collect();
        let refused = pulled.as_ref().ok().and_then(|pulled| skipped_json(&pulled.refused));
        let object = object.raw("missing", &RawJson::array(&names));
        let line = object.optional("skipped", refused.as_ref()).build();
        context.out.json(line.as_str())?.end()?;
        return Ok(());
    }
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    context.out.line(&format!("{session}: {word}{detail}"))?;
    for key in missing {
        say("warning", &format!("the remote does not have {key}, which {session} names"));
    }
    if let Ok(pulled) = pulled {
        tell_skipped(&pulled.refused, context);
    }
    Ok(())
}
