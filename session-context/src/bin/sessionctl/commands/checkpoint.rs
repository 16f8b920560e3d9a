//! `sessionctl checkpoint`

use session_context::checkpoint::{CheckpointState, CompletedRewind, OpenCheckpoint};
use session_model::json::{ObjectBuilder, RawJson};

use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, look};
use crate::target::{Shown, close};

/// The call a checkpoint answers that no model asked for.
const CALL: &str = "sessionctl";

/// Tell which checkpoint is open, or open one
///
/// What is done after it can be replaced by a report with `rewind`. With a goal, the id of the
/// entry that opens the checkpoint is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl checkpoint session.jsonl
  sessionctl checkpoint session.jsonl --goal \"Is the clock to blame?\"")]
pub(crate) struct Checkpoint {
    /// The session
    session: String,
    /// Open a checkpoint to find this out
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,
}

impl Checkpoint {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let Some(goal) = &self.goal else {
            let session = context.store.read(&self.session, Shown::References).await?;
            let state = session.checkpoint_state();
            return print(&state, context.json, &mut context.out);
        };
        let mut manager = context.store.write(&self.session, None).await?;
        let opened = manager.open_checkpoint(CALL, goal).await;
        let id = close(manager, opened).await?;
        if context.json {
            let json = ObjectBuilder::new().string("id", &id).string("goal", goal).build();
            context.out.json(json.as_str())?.end()?;
        } else {
            context.out.line(&id)?;
        }
        Ok(())
    }
}

fn print(state: &CheckpointState, json: bool, out: &mut Output) -> Result<(), Failure> {
    if json {
        out.json(to_json(state).as_str())?.end()?;
        return Ok(());
    }
    match &state.open {
        Some(OpenCheckpoint { entry_id, goal, started_at }) => {
            out.text(look::ID, entry_id)?;
            out.text(look::PLAIN, &format!("  open since {started_at}"))?.end()?;
            out.block(goal)?;
        }
        None => out.line("no checkpoint is open")?,
    }
    if let Some(CompletedRewind { report, started_at, rewound_at }) = &state.last_rewind {
        out.line(&format!("the last one was open from {started_at} to {rewound_at}"))?;
        out.block(report)?;
    }
    Ok(())
}

fn to_json(state: &CheckpointState) -> RawJson {
    let open = state.open.as_ref().map(|open| {
        ObjectBuilder::new()
            .string("entryId", &open.entry_id)
            .string("goal", &open.goal)
            .string("startedAt", &open.started_at)
            .build()
    });
    let last = state.last_rewind.as_ref().map(|rewind| {
        ObjectBuilder::new()
            .string("report", &rewind.report)
            .string("startedAt", &rewind.started_at)
            .string("rewoundAt", &rewind.rewound_at)
            .build()
    });
    let json = ObjectBuilder::new().optional("open", open.as_ref());
    json.optional("lastRewind", last.as_ref()).build()
}
