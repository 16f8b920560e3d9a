//! `sessionctl mv`

use std::path::PathBuf;

use session_model::json::ObjectBuilder;

use crate::Context;
use crate::failure::Failure;
use crate::findings::report;
use crate::place::{bucket_like, canonical_dir, location};
use crate::target::close;

/// Take a session to another project directory
///
/// Its file and artifacts move to the folder of that directory in the agent directory, and the
/// session tells that it works there. Prints the new path.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl mv 019bc10e ~/renamed-project
  sessionctl mv 019bc10e .")]
pub(crate) struct Mv {
    /// The session
    session: String,
    /// The directory it is to work in
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Mv {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let target = context.store.existing(&self.session).await?.in_agent_dir(&context.store)?;
        if target.key.parent().is_none() {
            return Err(target.no_bucket("moved"));
        }
        let cwd = canonical_dir(&self.directory)?;
        target.check(None).await?;
        let bucket = bucket_like(&target, &cwd)?;
        let mut manager = target.write().await?;
        let (known, old) = (manager.diagnostics().len(), location(&manager));
        let moved = manager.move_to_bucket(&cwd, bucket).await;
        report(&manager.diagnostics()[known..]);
        let (path, id) = (location(&manager), manager.session_id());
        close(manager, moved).await?;
        if context.json {
            let json = ObjectBuilder::new().string("path", &path).string("id", &id);
            let json = json.string("previousPath", &old).string("cwd", &cwd).build();
            context.out.json(json.as_str())?.end()?;
        } else {
            context.out.line(&path)?;
        }
        Ok(())
    }
}
