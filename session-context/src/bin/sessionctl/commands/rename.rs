//! `sessionctl rename`

use session_context::NameSource;
use session_model::json::ObjectBuilder;

use crate::Context;
use crate::failure::Failure;
use crate::target::close;

/// Give a session a title
///
/// Prints the title as it was taken: on one line, without control characters.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl rename session.jsonl \"Retry failed downloads\"")]
pub(crate) struct Rename {
    /// The session
    session: String,
    /// The title
    title: String,
}

impl Rename {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        if self.title.chars().all(|c| c.is_control() || c.is_whitespace()) {
            return Err(Failure::Usage("a title needs some text".to_owned()));
        }
        let mut manager = context.store.write(&self.session, None).await?;
        let named = manager.set_session_name(&self.title, NameSource::User).await;
        let (title, id) = (manager.session_name().unwrap_or_default(), manager.session_id());
        close(manager, named).await?;
        if context.json {
            let json = ObjectBuilder::new().string("id", &id).string("title", &title).build();
            context.out.json(json.as_str())?.end()?;
        } else {
            context.out.line(&title)?;
        }
        Ok(())
    }
}
