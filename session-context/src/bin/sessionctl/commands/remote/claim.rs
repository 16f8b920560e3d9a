//! `sessionctl remote claim` and `sessionctl remote release`

use std::time::{Duration, Instant};

use session_model::json::{ObjectBuilder, to_raw_json};
use session_model::storage::StorageKey;
use session_store_indexed::replica::{Replica, ReplicaError, TakeOver};

use super::find;
use crate::Context;
use crate::failure::Failure;
use crate::output::say;

/// How often a host is looked for that is waited for.
const LOOK: Duration = Duration::from_millis(500);

/// Take a session over for this host, and bring it to the state of the remote
///
/// Refused while another host has it, unless forced: then what that host has not published yet
/// becomes a fork there. Opening a session for writing claims it, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote claim 0198a7c2
  sessionctl remote claim 0198a7c2 --force --lease 3600")]
pub(super) struct Claim {
    /// The session: its key or path, or its id or the beginning of that
    session: String,
    /// Even if another host has it
    #[arg(long)]
    force: bool,
    /// For how many seconds other hosts are kept from it, unless it is prolonged
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    lease: u64,
}

/// Give a session up, so that another host can take it at once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote release 0198a7c2 --store \"$STORE\"")]
pub(super) struct Release {
    /// The session: its key or path, or its id or the beginning of that
    session: String,
}

impl Claim {
    pub(super) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let replica = context.store.replica()?;
        let session = find(&replica, &replica.sessions().await?.rows, &self.session)?;
        match self.take_over(&replica, &session, context.store.wait).await? {
            TakeOver::Taken { fence, .. } => {
                if context.json {
                    let document = ObjectBuilder::new()
                        .string("key", session.as_str())
                        .raw("epoch", &to_raw_json(&fence.epoch).unwrap_or_default())
                        .string("owner", &fence.owner)
                        .build();
                    return Ok(context.out.json(document.as_str())?.end()?);
                }
                Ok(context.out.line(&format!("{session} is this host's"))?)
            }
            TakeOver::Held { by, left } => Err(Failure::Held(format!(
                "the host {} has {session}; its claim ends in {} s unless it is prolonged; --force takes it over",
                by.owner,
                left.as_secs() + 1
            ))),
            _ => Err(Failure::Refused(format!("the remote does not have {session}"))),
        }
    }
}

impl Claim {
    /// Takes the session over, and waits for its host as long as the command is to.
    async fn take_over(
        &self,
        replica: &Replica,
        session: &StorageKey,
        wait: Option<Duration>,
    ) -> Result<TakeOver, ReplicaError> {
        let (since, lease) = (Instant::now(), Duration::from_secs(self.lease));
        let mut is_told = false;
        loop {
            let mut taken = replica.take_over(session, lease, self.force).await?;
            if let TakeOver::Held { by, .. } = &taken
                && replica.is_own(&by.owner)?
            {
                taken = replica.take_over(session, lease, true).await?;
            }
            let left = wait.unwrap_or_default().saturating_sub(since.elapsed());
            let TakeOver::Held { by, .. } = &taken else { return Ok(taken) };
            if left.is_zero() {
                return Ok(taken);
            }
            if !std::mem::replace(&mut is_told, true) {
                let text = format!("waiting for {session}, which the host {} has", by.owner);
                say("note", &format!("{text}; ctrl+c gives up"));
            }
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }
}

impl Release {
    pub(super) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let replica = context.store.replica()?;
        let session = find(&replica, &replica.sessions().await?.rows, &self.session)?;
        let released = replica.release(&session).await?;
        if context.json {
            let document = ObjectBuilder::new()
                .string("key", session.as_str())
                .raw("released", &to_raw_json(&released).unwrap_or_default())
                .build();
            return Ok(context.out.json(document.as_str())?.end()?);
        }
        let told = if released { "is given up" } else { "was not this host's" };
        Ok(context.out.line(&format!("{session} {told}"))?)
    }
}
