//! `sessionctl remote push`

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};
use session_model::json::{ObjectBuilder, to_raw_json};

use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::count;

/// How often the progress is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Publish what is not published yet, and wait until the remote has it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote push --store \"$STORE\"
  sessionctl remote push --wait 300 --json --store \"$STORE\"")]
pub(super) struct Push {
    /// Give up when nothing got on for so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    wait: u64,
}

impl Push {
    pub(super) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let replica = context.store.replica()?;
        let local = replica.local();
        local.compare(|_| {})?;
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let mut last = None;
        let mut since = Instant::now();
        let status = loop {
            let Some(status) = local.publish_status(0)? else { return Ok(()) };
            bar.set_length(status.published_bytes + status.bytes);
            bar.set_position(status.published_bytes);
            let now = (status.rows, status.bytes, status.published_bytes);
            if last.replace(now) != Some(now) {
                since = Instant::now();
            }
            if status.rows == 0 || since.elapsed() > Duration::from_secs(self.wait) {
                break status;
            }
            tokio::time::sleep(LOOK).await;
        };
        bar.finish_and_clear();
        if status.rows > 0 {
            let held =
                status.held.first().map(|held| format!("the host {} has {}", held.owner, held.key));
            let why = status.last_error.as_ref().map(|error| chain(error)).or(held);
            let why = why.unwrap_or_else(|| "it takes long; wait with --wait".to_owned());
            return Err(Failure::Refused(format!("{} bytes still wait: {why}", status.bytes)));
        }
        if context.json {
            let document = ObjectBuilder::new()
                .raw("publishedBytes", &to_raw_json(&status.published_bytes).unwrap_or_default())
                .raw("blocked", &to_raw_json(&status.blocked.len()).unwrap_or_default())
                .build();
            context.out.json(document.as_str())?.end()?;
        } else {
            context.out.line("all is published")?;
        }
        match status.blocked.len() {
            0 => Ok(()),
            n => Err(Failure::ProblemsFound(format!(
                "{} not published; `sessionctl remote poison list` tells why",
                count(n, "session or object is", "sessions or objects are")
            ))),
        }
    }
}
