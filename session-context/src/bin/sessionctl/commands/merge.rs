//! `sessionctl merge`

use session_context::manager::{Merged, OtherCopy};
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::storage::SessionStorageExt;

use crate::Context;
use crate::failure::Failure;
use crate::findings::report;
use crate::target::close;

/// Bring the entries of another copy of a session into it
///
/// For copies that were worked on apart: on two machines, by a sync service, or one from a
/// backup. What only the other copy has is written behind the session's last entry; work that
/// went on in both becomes two branches. The other copy is only read. Entries that both have in
/// different words stay as the session has them, and the other wording is kept beside it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl merge session.jsonl \"session (conflicted copy).jsonl\"
  sessionctl merge 019bc10e /mnt/laptop/.xcsh/agent/sessions/--w-app--/2026-01-15T09-00-00-000Z_019bc10e.jsonl")]
pub(crate) struct Merge {
    /// The session
    session: String,
    /// The other copy of it
    other: String,
}

impl Merge {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let other = context.store.existing(&self.other).await?;
        let (_, bytes) = other
            .storage
            .read_all(&other.key)
            .await
            .map_err(session_context::SessionError::from)?;
        let copy = OtherCopy::new(bytes, &self.other).blobs(other.blobs);
        let mut session = context.store.write(&self.session, None).await?;
        let merged = session.merge(copy).await;
        let leaf = session.leaf_id();
        let merged = close(session, merged).await?;
        report(&merged.left);
        if context.json {
            let json = to_json(&merged, leaf.as_deref());
            context.out.json(json.as_str())?.end()?;
            return Ok(());
        }
        let Merged { added, only_here, reworded, kept_in, .. } = &merged;
        context.out.line(&format!("{added} entries brought in, {only_here} were only here"))?;
        if let Some(kept_in) = kept_in {
            let count = reworded.len();
            let text = format!("{count} entries are worded otherwise there; see {kept_in}");
            context.out.line(&text)?;
        }
        Ok(())
    }
}

fn to_json(merged: &Merged, leaf: Option<&str>) -> RawJson {
    let left: Vec<_> = merged.left.iter().map(ToString::to_string).collect();
    let kept_in = merged.kept_in.as_ref().map(|key| key.as_str());
    ObjectBuilder::new()
        .raw("added", &to_raw_json(&merged.added).unwrap_or_default())
        .raw("onlyHere", &to_raw_json(&merged.only_here).unwrap_or_default())
        .raw("reworded", &to_raw_json(&merged.reworded).unwrap_or_default())
        .raw("keptIn", &to_raw_json(&kept_in).unwrap_or_default())
        .raw("left", &to_raw_json(&left).unwrap_or_default())
        .raw("leaf", &to_raw_json(&leaf).unwrap_or_default())
        .build()
}
