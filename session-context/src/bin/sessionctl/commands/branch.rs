//! `sessionctl branch`

use session_model::json::ObjectBuilder;

use crate::Context;
use crate::failure::Failure;
use crate::target::close;

/// What stands for the place above all entries.
const ROOT: &str = "root";

/// Continue the session from an earlier entry
///
/// What came after that entry stays in the file as a branch. The move is written as an entry, so
/// that it lasts; its id, the session's new leaf, is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl branch session.jsonl 3c6ef362
  sessionctl branch session.jsonl 3c6ef362 --summary \"The other way was too slow.\"
  sessionctl branch session.jsonl root")]
pub(crate) struct Branch {
    /// The session
    session: String,
    /// The id of the entry to continue from, or `root` to begin anew above all
    id: String,
    /// What the model is told of the branch that is left
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    summary: String,
}

impl Branch {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let target = (self.id != ROOT).then_some(&*self.id);
        let mut manager = context.store.write(&self.session, target).await?;
        let branched = manager.branch_with_summary(target, &self.summary, None, None).await;
        let id = close(manager, branched).await?;
        if context.json {
            let json = ObjectBuilder::new().string("id", &id).string("fromId", &self.id).build();
            context.out.json(json.as_str())?.end()?;
        } else {
            context.out.line(&id)?;
        }
        Ok(())
    }
}
