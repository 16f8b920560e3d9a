//! `sessionctl remote push`

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};
use session_model::json::{ObjectBuilder, to_raw_json};
use session_store_indexed::publish::{PublishError, PublishStatus};
use session_store_indexed::remote::RemoteError;
use session_store_indexed::replica::{Replica, ReplicaError, Standing};

use super::repair::{Repaired, repair};
use super::{skipped_json, tell_skipped};
use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::count;

/// How often the progress is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Publish what is not published yet, and wait until the remote says that it has it
///
/// Fails with the reason if the remote cannot be asked, or does not have all of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote push --store \"$STORE\"
  sessionctl remote push --wait 300 --json --store \"$STORE\"
  sessionctl remote push --repair --store \"$STORE\"")]
pub(super) struct Push {
    /// Write sessions anew of which the remote has lost bytes, if this host's copy has them: all are
    /// read back first
    #[arg(long)]
    repair: bool,
    /// Give up when nothing got on for so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    wait: u64,
}

impl Push {
    pub(super) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let replica = context.store.replica()?;
        let local = replica.local();
        local.compare(|_| {})?;
        let repaired = match self.repair {
            true => repair(&replica, context).await?,
            false => Repaired::default(),
        };
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let mut last = None;
        let mut since = Instant::now();
        let (status, standing) = loop {
            let Some(status) = local.publish_status(0)? else { return Ok(()) };
            bar.set_length(status.published_bytes + status.bytes);
            bar.set_position(status.published_bytes);
            let now = (status.rows, status.bytes, status.published_bytes);
            if last.replace(now) != Some(now) {
                since = Instant::now();
            }
            let is_late = since.elapsed() > Duration::from_secs(self.wait);
            if status.rows > 0 {
                if is_late || status.last_error.as_ref().is_some_and(needs_someone) {
                    bar.finish_and_clear();
                    return Err(waiting(&status));
                }
            } else {
                // What was published once is not there for that: the remote says what it has.
                match confirmed(&replica).await {
                    Ok(standing) if standing.lacking.is_empty() || is_late => {
                        break (status, standing);
                    }
                    Err(error) if is_late || !may_pass(&error) => {
                        bar.finish_and_clear();
                        return Err(Failure::Replica(error));
                    }
                    _ => {}
                }
            }
            tokio::time::sleep(LOOK).await;
        };
        bar.finish_and_clear();
        tell_skipped(&standing.skipped, context);
        if let Some(lacking) = standing.lacking.first() {
            let lack = count(standing.lacking.len(), "session", "sessions");
            return Err(Failure::Refused(format!(
                "the remote does not have all of {lack}, such as {lacking}; `sessionctl remote \
                 verify` compares them"
            )));
        }
        if context.json {
            let number = |n: u64| to_raw_json(&n).unwrap_or_default();
            let document = ObjectBuilder::new()
                .raw("publishedBytes", &number(status.published_bytes))
                .raw("confirmed", &number(standing.confirmed))
                .raw("blocked", &number(status.blocked.len() as u64))
                .optional("skipped", skipped_json(&standing.skipped).as_ref())
                .optional("repaired", self.repair.then(|| Repaired::json(&repaired.begun)).as_ref())
                .optional(
                    "notHere",
                    self.repair.then(|| Repaired::json(&repaired.not_here)).as_ref(),
                )
                .build();
            context.out.json(document.as_str())?.end()?;
        } else {
            context.out.line("all is published")?;
        }
        repaired.check()?;
        match status.blocked.len() {
            0 => Ok(()),
            n => Err(Failure::ProblemsFound(format!(
                "{} not published; `sessionctl remote poison list` tells why",
                count(n, "session or object is", "sessions or objects are")
            ))),
        }
    }
}

/// Asks the remote whether it can be written, and what it has.
async fn confirmed(replica: &Replica) -> Result<Standing, ReplicaError> {
    if !replica.remote().check().await?.writable {
        let reason = "the server says so of itself".to_owned();
        return Err(RemoteError::ReadOnly(reason).into());
    }
    let standing = replica.standing().await?;
    if !standing.lacking.is_empty() {
        replica.push().await?;
    }
    Ok(standing)
}

/// Returns whether waiting may be all that is needed.
fn may_pass(error: &ReplicaError) -> bool {
    matches!(
        error,
        ReplicaError::Remote(
            RemoteError::Unavailable(_) | RemoteError::NotReady(_) | RemoteError::Full(_)
        )
    )
}

/// Returns whether somebody has to change something before anything can be published.
fn needs_someone(error: &PublishError) -> bool {
    matches!(error, PublishError::Remote(error) if !may_pass(&error.clone().into()))
}

fn waiting(status: &PublishStatus) -> Failure {
    let held = status.held.first().map(|held| format!("the host {} has {}", held.owner, held.key));
    let why = status.last_error.as_ref().map(|error| chain(error)).or(held);
    let why = why.unwrap_or_else(|| "it takes long; wait with --wait".to_owned());
    Failure::Refused(format!("{} bytes still wait: {why}", status.bytes))
}
