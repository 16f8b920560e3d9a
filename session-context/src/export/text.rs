//! An export as plain text.

use super::details::{facts, redaction_note, title};
use super::item::{Item, Voice};
use super::part::Part;
use super::visible::visible;
use super::{Export, branch_point, reading_order};

pub(super) fn render(export: &Export) -> String {
    let mut out = String::new();
    let name = title(export);
    line(&mut out, &name);
    line(&mut out, &"=".repeat(name.chars().count().min(80)));
    for (name, value) in facts(export) {
        line(&mut out, &format!("{:<11}{value}", format!("{name}:")));
    }
    if let Some(note) = redaction_note(export) {
        line(&mut out, &note);
    }
    let mut last = None;
    for node in reading_order(export) {
        let item = Item::of(export, node);
        if let Some(from) = branch_point(export, node, last) {
            line(&mut out, &format!("\n---- another branch, from {from} ----"));
        }
        last = Some(node);
        write(&mut out, &item);
    }
    out
}

fn write(out: &mut String, item: &Item) {
    let mut head = match item.voice {
        Voice::Tool => format!("Result of {}", item.heading),
        Voice::Record => format!("({})", item.heading),
        _ => item.heading.clone(),
    };
    if item.failed {
        head.push_str(" (failed)");
    }
    if let Some(label) = &item.label {
        head.push_str(&format!(" [{label}]"));
    }
    let more = item.remarks.iter().chain(&item.time).chain(&item.id);
    more.for_each(|more| head.push_str(&format!("  {more}")));
    out.push('\n');
    line(out, &head);
    for part in &item.parts {
        match part {
            Part::Prose(text) | Part::Verbatim { text, .. } => block(out, text),
            Part::Thinking(text) => {
                line(out, "  [thinking]");
                block(out, text);
            }
            Part::Call { name, arguments } => {
                line(out, &format!("  -> {name}"));
                for argument in arguments {
                    block(out, &format!("  {}: {}", argument.name, argument.value));
                }
            }
            Part::Image { mime_type, data } => {
                line(out, &format!("  [image {mime_type}, {} characters of base64]", data.len()));
            }
            Part::Note(note) => line(out, &format!("  [{note}]")),
        }
    }
}

/// Writes one line.
fn line(out: &mut String, text: &str) {
    out.push_str(visible(text).replace('\n', " ").trim_end());
    out.push('\n');
}

/// Writes lines, indented by two.
fn block(out: &mut String, text: &str) {
    for text in visible(text).lines() {
        out.push_str(if text.is_empty() { "" } else { "  " });
        out.push_str(text);
        out.push('\n');
    }
}
