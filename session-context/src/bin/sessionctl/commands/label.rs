//! `sessionctl label`

use session_model::json::{ObjectBuilder, RawJson};

use crate::Context;
use crate::failure::Failure;
use crate::target::close;

/// Label an entry, or take its label away
///
/// Prints the id of the new entry that holds the label. The old entry stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl label session.jsonl 3c6ef362 \"works\"
  sessionctl label session.jsonl 3c6ef362 --clear")]
pub(crate) struct Label {
    /// The session
    session: String,
    /// The id of the entry to label
    id: String,
    /// The label
    #[arg(required_unless_present = "clear", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    text: Option<String>,
    /// Take the label away
    #[arg(long, conflicts_with = "text")]
    clear: bool,
}

impl Label {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let mut manager = context.store.write(&self.session, Some(&self.id)).await?;
        let labelled = manager.append_label_change(&self.id, self.text.as_deref()).await;
        let id = close(manager, labelled).await?;
        if context.json {
            let label = self.text.as_deref().map(RawJson::string);
            let json = ObjectBuilder::new().string("id", &id).string("targetId", &self.id);
            let json = json.optional("label", label.as_ref()).build();
            context.out.json(json.as_str())?.end()?;
        } else {
            context.out.line(&id)?;
        }
        Ok(())
    }
}
