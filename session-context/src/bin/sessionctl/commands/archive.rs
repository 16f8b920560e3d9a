//! `sessionctl archive`

use session_model::json::ObjectBuilder;

use crate::Context;
use crate::failure::Failure;
use crate::target::close;

/// Hide a branch from `tree`, or show it again
///
/// Nothing is deleted. The branch in use cannot be hidden. Prints the id of the new entry that says
/// so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl archive session.jsonl 3c6ef362
  sessionctl archive session.jsonl 3c6ef362 --undo")]
pub(crate) struct Archive {
    /// The session
    session: String,
    /// The id of the entry the branch begins at
    id: String,
    /// Show the branch again
    #[arg(long)]
    undo: bool,
}

impl Archive {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let mut manager = context.store.write(&self.session, Some(&self.id)).await?;
        let archived = manager.append_archive(&self.id, !self.undo).await;
        let id = close(manager, archived).await?;
        if context.json {
            let archived = session_model::json::to_raw_json(&!self.undo).unwrap_or_default();
            let json = ObjectBuilder::new().string("id", &id).string("targetId", &self.id);
            context.out.json(json.raw("archived", &archived).build().as_str())?.end()?;
        } else {
            context.out.line(&id)?;
        }
        Ok(())
    }
}
