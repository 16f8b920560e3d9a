//! `sessionctl artifacts`

use session_context::artifacts::{Artifacts, artifact_number, child_sessions};
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};

use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::{look, say};

/// List what belongs to a session beside its file, or print one artifact
///
/// Artifacts are outputs of tools that were too large for the session. Sessions of child agents
/// lie among them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl artifacts session.jsonl
  sessionctl artifacts session.jsonl --get 3")]
pub(crate) struct ArtifactsArgs {
    /// The session
    session: String,
    /// Print the artifact of this number, byte for byte unless on a terminal
    #[arg(long, value_name = "ID", conflicts_with = "json")]
    get: Option<String>,
}

impl ArtifactsArgs {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let target = context.store.existing(&self.session).await?;
        let artifacts = Artifacts::of(target.storage.clone(), &target.key)?;
        if let Some(id) = &self.get {
            let Some(bytes) = artifacts.get(id).await? else {
                return Err(Failure::Refused(format!(
                    "there is no artifact {id}; `sessionctl artifacts {}` lists those there are",
                    self.session
                )));
            };
            return Ok(context.out.bytes(&bytes)?);
        }
        let found = artifacts.list().await?;
        let children = child_sessions(&*target.storage, &target.key).await?;
        for stray in artifacts.strays().await {
            say("warning", &format!("left out: {}", chain(&stray)));
        }
        if context.json {
            let number = |n: u64| to_raw_json(&n).unwrap_or_default();
            let files: Vec<RawJson> = found
                .iter()
                .map(|meta| {
                    let id = artifact_number(meta.key.file_name())
                        .map(|n| RawJson::string(&n.to_string()));
                    ObjectBuilder::new()
                        .optional("id", id.as_ref())
                        .string("name", meta.key.file_name())
                        .raw("size", &number(meta.size))
                        .build()
                })
                .collect();
            let sessions: Vec<RawJson> = children
                .iter()
                .map(|child| {
                    ObjectBuilder::new()
                        .string("agent", &child.agent)
                        .string("session", child.key.as_str())
                        .string("parent", child.parent.as_str())
                        .raw("depth", &number(child.depth as u64))
                        .build()
                })
                .collect();
            let all = ObjectBuilder::new()
                .raw("artifacts", &RawJson::array(&files))
                .raw("sessions", &RawJson::array(&sessions))
                .build();
            context.out.json(all.as_str())?.end()?;
            return Ok(());
        }
        for meta in &found {
            let size = format!("{:>12}  ", meta.size);
            context.out.text(look::DIM, &size)?.text(look::PLAIN, meta.key.file_name())?.end()?;
        }
        for child in &children {
            let indent = "  ".repeat(child.depth - 1);
            context.out.text(look::DIM, "     session  ")?;
            context.out.text(look::PLAIN, &format!("{indent}{}", child.agent))?.end()?;
        }
        Ok(())
    }
}
