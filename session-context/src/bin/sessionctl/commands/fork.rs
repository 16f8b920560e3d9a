//! `sessionctl fork`

use std::path::PathBuf;

use session_context::{ForkFrom, SessionManager};
use session_model::json::ObjectBuilder;

use crate::Context;
use crate::failure::Failure;
use crate::findings::report;
use crate::place::{canonical_dir, location};
use crate::target::{close, options};

/// Copy a session, with all branches and artifacts, to go on in the copy
///
/// Prints the path of the copy. The session itself is only read, and may be in use.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl fork session.jsonl
  sessionctl fork 019bc10e --cwd ~/other-project")]
pub(crate) struct Fork {
    /// The session
    session: String,
    /// Let the copy work in this directory, and lie in its folder; default: those of the session
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What the provider's prompt cache is keyed by; default: what it is for the session
    #[arg(long, value_name = "KEY")]
    cache_key: Option<String>,
}

impl Fork {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let target = context.store.existing(&self.session).await?.in_agent_dir()?;
        let loaded = target.load().await?;
        let cwd = match &self.cwd {
            Some(cwd) => canonical_dir(cwd)?,
            None => loaded.document.header().cwd().unwrap_or_default(),
        };
        if self.cwd.is_some() && target.key.parent().is_none() {
            return Err(target.no_bucket("copied to another directory's"));
        }
        let target = target.with_bucket()?;
        let mut fork = ForkFrom::new(target.key.clone(), cwd);
        if let Some(bucket) = target.key.parent().filter(|_| self.cwd.is_none()) {
            fork = fork.bucket(bucket);
        }
        if let Some(key) = self.cache_key {
            fork = fork.provider_prompt_cache_key(key);
        }
        let manager =
            SessionManager::fork_from(target.storage, fork, options().blobs(target.blobs)).await?;
        report(manager.diagnostics());
        let (path, id) = (location(&manager), manager.session_id());
        let parent = manager.header().parent_session().unwrap_or_default();
        close(manager, Ok(())).await?;
        if context.json {
            let json = ObjectBuilder::new().string("path", &path).string("id", &id);
            let json = json.string("parentSession", &parent).build();
            context.out.json(json.as_str())?.end()?;
        } else {
            context.out.line(&path)?;
        }
        Ok(())
    }
}
