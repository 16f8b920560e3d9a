//! `sessionctl context`

use session_context::{ContextOptions, LeafChoice, SessionContext, SessionError};

use crate::Context as Cx;
use crate::conversation::print_message;
use crate::failure::Failure;
use crate::findings::{beyond, report};
use crate::output::{Output, look};
use crate::target::Shown;

/// What stands for the place above all entries.
const NONE: &str = "none";

/// Print what a model sees: the messages in force, and models, thinking level and mode
///
/// By default the messages are shown as they are stored. --model mends them as it is done before
/// they are sent: tool calls without results get one, failed answers are left out. --llm also puts
/// them into the roles and words models know. --transcript shows everything on the way to the leaf,
/// also what a compaction has replaced.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl context session.jsonl
  sessionctl context session.jsonl --leaf 3c6ef362 --llm --json")]
pub(crate) struct Context {
    /// The session
    session: String,
    /// End with the entry of this id, or `none` for an empty context; default: the session's leaf
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    #[command(flatten)]
    form: Form,
    /// Where a parent is nowhere in the file, go on at the entry before in the file
    #[arg(long)]
    bridge_gaps: bool,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Form {
    /// Messages as they are stored; this is the default
    #[arg(long)]
    plain: bool,
    /// Messages mended so that a model's provider takes them
    #[arg(long)]
    model: bool,
    /// As --model, in the roles and words models know
    #[arg(long)]
    llm: bool,
    /// Everything on the way to the leaf, for people
    #[arg(long)]
    transcript: bool,
}

impl Context {
    pub(crate) async fn run(self, cx: &mut Cx) -> Result<(), Failure> {
        let shown = if cx.json { Shown::Whole } else { Shown::References };
        let manager = cx.store.read(&self.session, shown).await?;
        let leaf = match self.leaf.as_deref() {
            None => LeafChoice::Current,
            Some(NONE) => LeafChoice::Root,
            Some(id) if manager.entry(id).is_some() => LeafChoice::Id(id),
            Some(id) => return Err(SessionError::UnknownEntry { id: id.to_owned() }.into()),
        };
        let mut options = self.form.options();
        options.bridge_gaps = self.bridge_gaps;
        let mut context = manager.session_context(leaf, &options);
        report(&beyond(manager.diagnostics(), &mut context));
        if self.form.llm {
            context.messages = context.to_llm();
        }
        if cx.json { print_json(context, &mut cx.out) } else { print(&context, &mut cx.out) }
    }
}

impl Form {
    fn options(&self) -> ContextOptions {
        match self {
            Self { model: true, .. } | Self { llm: true, .. } => ContextOptions::default(),
            Self { transcript: true, .. } => ContextOptions::transcript(),
            _ => ContextOptions::plain(),
        }
    }
}

fn print(context: &SessionContext, out: &mut Output) -> Result<(), Failure> {
    let thinking = context.configured_thinking.as_ref().unwrap_or(&context.thinking_level);
    let models = context.models.iter().map(|(role, model)| format!("{role} {model}"));
    let tier = context.service_tier.as_ref().map(ToString::to_string);
    let rules = context.injected_ttsr_rules.join(", ");
    let tools = context.selected_mcp_tool_names.join(", ");
    let active = context.active_context.as_ref().map(|active| active.name.clone());
    for (name, value) in [
        ("models", models.collect::<Vec<_>>().join(", ")),
        ("thinking", thinking.clone()),
        ("mode", context.mode.clone()),
        ("service tier", tier.unwrap_or_default()),
        ("rules", rules),
        ("tools", tools),
        ("context", active.unwrap_or_default()),
    ] {
        if !value.is_empty() {
            out.text(look::DIM, &format!("{name:<13}"))?.line(&value)?;
        }
    }
    for message in &context.messages {
        out.end()?;
        print_message(out, &message.message(), message.entry_id())?;
    }
    Ok(())
}

/// Prints the context message by message, so that a long one is not copied.
fn print_json(mut context: SessionContext, out: &mut Output) -> Result<(), Failure> {
    let messages = std::mem::take(&mut context.messages);
    let state = context.to_json();
    let (before, after) = state.as_str().split_at("{\"messages\":[".len());
    out.json(before)?;
    out.json_list(messages.iter().map(|message| message.json().clone()))?;
    out.json(after)?.end()?;
    Ok(())
}
