//! `sessionctl show`

use session_context::{SessionError, SessionManager};
use session_model::body::EntryBody;
use session_model::json::{ObjectBuilder, RawJson};
use session_model::preview::{DEFAULT_PREVIEW_CHARS, Preview, one_line};
use session_model::{Diagnostic, Entry, EntryKind, Parent};

use crate::Context;
use crate::conversation::{print_message, style_of};
use crate::failure::Failure;
use crate::findings::report;
use crate::output::{Output, count, look};
use crate::target::Shown;

/// Print a session's header and its entries in the order they were written
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl show session.jsonl
  sessionctl show session.jsonl --entry 3c6ef362
  sessionctl show session.jsonl --json")]
pub(crate) struct Show {
    /// The session
    session: String,
    /// Print this entry alone, and whole
    #[arg(long, value_name = "ID")]
    entry: Option<String>,
}

impl Show {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let all = context.json && self.entry.is_none();
        let shown = if all { Shown::Whole } else { Shown::References };
        let mut manager = context.store.read(&self.session, shown).await?;
        let (json, out) = (context.json, &mut context.out);
        let Some(id) = self.entry else {
            return if json { print_json(&manager, out) } else { print(&mut manager, out) };
        };
        let Some(entry) = manager.entry(&id) else {
            return Err(SessionError::UnknownEntry { id }.into());
        };
        let (entry, found) = manager.resolved(entry).await;
        report(&found);
        if json {
            out.json(entry.json().as_str())?.end()?;
            return Ok(());
        }
        print_whole(&entry, manager.label(&id), out)
    }
}

fn print(manager: &mut SessionManager, out: &mut Output) -> Result<(), Failure> {
    let usage = manager.usage_statistics();
    let header = manager.header();
    let title = manager.session_name().unwrap_or_else(|| "(no title)".to_owned());
    out.text(look::STRONG, &title)?.end()?;
    let entries = count(manager.entries().len(), "entry", "entries");
    let tokens = format!("{} tokens in, {} out, ${:.4}", usage.input, usage.output, usage.cost);
    for (name, value) in [
        ("session", Some(manager.session_id())),
        ("version", Some(header.version().to_string())),
        ("cwd", header.cwd()),
        ("created", header.timestamp()),
        ("parent", header.parent_session()),
        ("leaf", manager.leaf_id()),
        ("size", Some(entries)),
        ("usage", Some(tokens)),
    ] {
        if let Some(value) = value {
            out.text(look::DIM, &format!("{name:<9}"))?.line(&value)?;
        }
    }
    out.end()?;
    for entry in manager.entries() {
        let label = entry.id().and_then(|id| manager.label(&id).map(str::to_owned));
        print_entry(entry, label.as_deref(), out)?;
    }
    Ok(())
}

/// Prints an entry in one line.
pub(super) fn print_entry(
    entry: &Entry,
    label: Option<&str>,
    out: &mut Output,
) -> Result<(), Failure> {
    let id = format!("{:<8}", entry.id().unwrap_or_default());
    let time = format!("  {:<24}  ", entry.timestamp().unwrap_or_default());
    let label = label.map(|label| format!("[{label}] ")).unwrap_or_default();
    out.text(look::ID, &id)?.text(look::DIM, &time)?.text(look::LABEL, &label)?;
    let before = [id, time, label];
    let room = out.room_behind(before.iter().map(|part| part.chars().count()).sum());
    print_preview(&Preview::of(entry, DEFAULT_PREVIEW_CHARS), room, out)?;
    out.end()?;
    Ok(())
}

/// Prints who says what in at most so many characters, as part of a line.
pub(super) fn print_preview(
    preview: &Preview,
    room: usize,
    out: &mut Output,
) -> Result<(), Failure> {
    if preview.kind == EntryKind::Message {
        let room = room.saturating_sub(preview.role.chars().count() + 2);
        out.text(style_of(&preview.role), &preview.role)?.text(look::PLAIN, ": ")?;
        out.text(look::PLAIN, &one_line(&preview.text, room))?;
    } else {
        out.text(look::DIM, &one_line(&preview.to_string(), room))?;
    }
    Ok(())
}

fn print_whole(entry: &Entry, label: Option<&str>, out: &mut Output) -> Result<(), Failure> {
    let parent = match entry.parent() {
        Parent::Id(id) => id.into_owned(),
        Parent::None => "none".to_owned(),
    };
    for (name, value) in [
        ("entry", entry.id().map(Into::into)),
        ("type", Some(entry.entry_type().into_owned())),
        ("parent", Some(parent)),
        ("time", entry.timestamp().map(Into::into)),
        ("label", label.map(str::to_owned)),
    ] {
        if let Some(value) = value {
            out.text(look::DIM, &format!("{name:<9}"))?.line(&value)?;
        }
    }
    out.end()?;
    match entry.body() {
        EntryBody::Message(body) if entry.message().is_some() => {
            print_message(out, &body.message, None)?;
        }
        _ => out.block(&entry.json().pretty())?,
    }
    Ok(())
}

fn print_json(manager: &SessionManager, out: &mut Output) -> Result<(), Failure> {
    let found: Vec<_> = manager.diagnostics().iter().map(Diagnostic::to_json).collect();
    let text = |text: Option<String>| text.map(|text| RawJson::string(&text));
    let head = ObjectBuilder::new()
        .raw("header", &manager.header().json())
        .optional("title", text(manager.session_name()).as_ref())
        .optional("leafId", text(manager.leaf_id()).as_ref())
        .raw("diagnostics", &RawJson::array(&found))
        .build();
    let head = head.as_str().strip_suffix('}').unwrap_or_default();
    out.json(head)?.json(",\"entries\":[")?;
    out.json_list(manager.entries().iter().map(Entry::json))?.json("]}")?.end()?;
    Ok(())
}
