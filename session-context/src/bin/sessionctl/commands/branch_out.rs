//! `sessionctl branch-out`

use session_context::SessionManager;
use session_model::json::ObjectBuilder;

use crate::Context;
use crate::failure::Failure;
use crate::findings::report;
use crate::place::location;
use crate::target::{close, options};

/// Make a new session of the way from the root to one entry
///
/// Prints the path of the new session, which has the labels in force and a copy of the artifacts.
/// The session itself is only read, and may be in use.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl branch-out session.jsonl 3c6ef362")]
pub(crate) struct BranchOut {
    /// The session
    session: String,
    /// The id of the entry the new session ends with
    id: String,
}

impl BranchOut {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let target = context.store.existing(&self.session).await?.in_agent_dir(&context.store)?;
        target.check(Some(&self.id)).await?;
        let mut manager = SessionManager::open_read_only(
            target.storage,
            target.key,
            options().blobs(target.blobs),
        )
        .await?;
        let known = manager.diagnostics().len();
        let made = manager.create_branched_session(&self.id).await;
        report(&manager.diagnostics()[known..]);
        let (path, id) = (location(&manager), manager.session_id());
        close(manager, made).await?;
        if context.json {
            let json = ObjectBuilder::new().string("path", &path).string("id", &id).build();
            context.out.json(json.as_str())?.end()?;
        } else {
            context.out.line(&path)?;
        }
        Ok(())
    }
}
