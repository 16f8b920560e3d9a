//! `sessionctl fork`

use std::path::PathBuf;

use session_context::ForkFrom;
use session_context::operations::{copy_session, session_header};
use session_model::json::ObjectBuilder;

use crate::Context;
use crate::failure::Failure;
use crate::findings::report;
use crate::place::{bucket_like, canonical_dir, path_or_key};
use crate::target::options;

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
        let target = context.store.existing(&self.session).await?.in_agent_dir(&context.store)?;
        let cwd = match &self.cwd {
            Some(cwd) => canonical_dir(cwd)?,
            None => {
                let header = session_header(&*target.storage, &target.key).await?;
                header.cwd().unwrap_or_default()
            }
        };
        if self.cwd.is_some() && target.key.parent().is_none() {
            return Err(target.no_bucket("copied to another directory's"));
        }
        let target = target.with_bucket(&context.store)?;
        let bucket = match (&self.cwd, target.key.parent()) {
            (None, Some(bucket)) => bucket,
            _ => bucket_like(&target, &cwd)?,
        };
        let mut fork = ForkFrom::new(target.key.clone(), cwd).bucket(bucket);
        if let Some(key) = self.cache_key {
            fork = fork.provider_prompt_cache_key(key);
        }
        let copied = copy_session(&target.storage, fork, options().blobs(target.blobs)).await?;
        report(&copied.diagnostics);
        let (path, id) = (path_or_key(&*target.storage, &copied.key), copied.header.id());
        let parent = copied.header.parent_session().unwrap_or_default();
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
