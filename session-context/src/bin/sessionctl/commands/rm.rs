//! `sessionctl rm`

use session_context::env::SystemClock;
use session_context::operations::{delete_session, delete_session_forever};
use session_model::json::{ObjectBuilder, RawJson};

use crate::Context;
use crate::failure::Failure;
use crate::place::{path_or_key, tell_left_behind};

/// Move a session and its artifacts to the trash
///
/// Prints where it is now; `sessionctl restore` brings it back. A session that is in use is refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl rm 019bc10e
  sessionctl rm session.jsonl --forever")]
pub(crate) struct Rm {
    /// The session
    session: String,
    /// Delete it for good; nothing brings it back
    #[arg(long)]
    forever: bool,
}

impl Rm {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let target = context.store.existing(&self.session).await?.in_agent_dir(&context.store)?;
        if self.forever && target.shares_id {
            let list = "`sessionctl list --all --json` shows where they are";
            return Err(Failure::Refused(format!(
                "name the file that is meant by its path; {list}"
            )));
        }
        let deleted = if self.forever {
            delete_session_forever(&target.storage, &target.key).await?
        } else {
            delete_session(&target.storage, &target.key, &SystemClock).await?
        };
        tell_left_behind(&deleted.left_behind);
        let from = path_or_key(&*target.storage, &target.key);
        let path = (!self.forever).then(|| path_or_key(&*target.storage, &deleted.key));
        if context.json {
            let path = path.as_deref().map_or_else(RawJson::null, RawJson::string);
            let json = ObjectBuilder::new().raw("path", &path).string("from", &from).build();
            context.out.json(json.as_str())?.end()?;
        } else if let Some(path) = path {
            context.out.line(&path)?;
        }
        Ok(())
    }
}
