//! `sessionctl navigate`

use session_context::navigation::{
    AskAnswer, EditorPrefill, NavigateOptions, NavigateOutcome, Navigation, SummarySource,
};
use session_model::env::Clock;
use session_model::json::{ObjectBuilder, RawJson};

use crate::Context;
use crate::failure::Failure;
use crate::output::{look, say};
use crate::target::close;

/// Go to an entry as an agent's tree view does
///
/// A message of the user leads to the place before it, and is printed to be said again in other
/// words. Anything else leads to the entry itself. The move is written as an entry, so that it
/// lasts; the id of the new leaf is printed. See `branch` to go on from the very entry that is
/// named.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl navigate session.jsonl 3c6ef362
  sessionctl navigate session.jsonl 3c6ef362 --summary \"The other way was too slow.\"
  sessionctl navigate session.jsonl 3c6ef362 --answer \"The second one, please.\"")]
pub(crate) struct Navigate {
    /// The session
    session: String,
    /// The id of the entry to go to
    id: String,
    /// What the model is told of the branch that is left; the files it read and modified are
    /// noted beside it
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Answer the question that the entry answers anew; the old answer stays on its branch
    #[arg(long, value_name = "TEXT")]
    answer: Option<String>,
}

impl Navigate {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let mut options = NavigateOptions::default().durable();
        if let Some(summary) = self.summary {
            options = options.summary(SummarySource::Given(summary));
        }
        if let Some(answer) = self.answer {
            let timestamp = Some(session_context::env::SystemClock.now_ms());
            let content = answer.into();
            options = options.answer(AskAnswer { content, timestamp, ..Default::default() });
        }
        let mut manager = context.store.write(&self.session, Some(&self.id)).await?;
        let outcome = manager.navigate_tree(&self.id, options).await;
        // Without a hook and a summariser nobody can say no.
        let NavigateOutcome::Done(done) = close(manager, outcome).await? else { return Ok(()) };
        report(&done, context)
    }
}

/// Tells where the session is now.
pub(super) fn report(done: &Navigation, context: &mut Context) -> Result<(), Failure> {
    if context.json {
        context.out.json(to_json(done).as_str())?.end()?;
        return Ok(());
    }
    if done.answer_entry.is_none() && done.summary_entry.is_none() {
        say("note", "the session is there already");
    }
    context.out.line(done.new_leaf.as_deref().unwrap_or_default())?;
    if let Some(EditorPrefill { text, images }) = &done.editor {
        context.out.text(look::DIM, "to be said again")?.end()?;
        context.out.block(text)?;
        for image in images {
            context.out.block(&format!("[{}]", image.mime_type))?;
        }
    }
    Ok(())
}

pub(super) fn to_json(done: &Navigation) -> RawJson {
    let string = |id: &Option<String>| id.as_deref().map(RawJson::string);
    let ids = done.abandoned.iter().filter_map(|entry| entry.id());
    let abandoned: Vec<_> = ids.map(|id| RawJson::string(&id)).collect();
    let mut json = ObjectBuilder::new()
        .optional("id", string(&done.new_leaf).as_ref())
        .optional("oldLeafId", string(&done.old_leaf).as_ref())
        .optional("answerId", string(&done.answer_entry).as_ref())
        .optional("summaryId", string(&done.summary_entry).as_ref())
        .raw("abandoned", &RawJson::array(&abandoned));
    if let Some(EditorPrefill { text, images }) = &done.editor {
        let image = |image: &session_model::message::ImageBlock| {
            let object = ObjectBuilder::new().string("data", &image.data);
            object.string("mimeType", &image.mime_type).build()
        };
        let images: Vec<_> = images.iter().map(image).collect();
        let editor = ObjectBuilder::new().string("text", text);
        json = json.raw("editor", &editor.raw("images", &RawJson::array(&images)).build());
    }
    json.build()
}
