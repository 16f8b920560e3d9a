//! One entry of the page.

use super::super::Export;
use super::super::item::{Item, Voice};
use super::super::part::{Argument, Part};
use super::image;
use super::prose::push_prose;
use super::write::{push_element, push_pre, push_text};

/// Results of more lines are folded at first.
const OPEN_LINES: usize = 12;

/// Appends an entry.
pub(super) fn push_entry(out: &mut String, export: &Export, item: &Item) {
    let parent = export.tree.parent_of(item.node).map_or(-1, |parent| parent.index() as i64);
    let failed = if item.failed { " failed" } else { "" };
    out.push_str(&format!(
        "<article id=\"e{}\" class=\"{}{failed}\" data-p=\"{parent}\">",
        item.node.index(),
        class_of(item.voice)
    ));
    push_head(out, item);
    item.parts.iter().for_each(|part| push_part(out, item, part));
    out.push_str("</article>\n");
}

pub(super) fn class_of(voice: Voice) -> &'static str {
    match voice {
        Voice::User => "user",
        Voice::Assistant => "assistant",
        Voice::Tool => "tool",
        Voice::Summary => "summary",
        Voice::Extension => "extension",
        Voice::Record => "record",
    }
}

fn push_head(out: &mut String, item: &Item) {
    out.push_str("<header>");
    push_element(out, "h2", "who", &item.heading);
    if item.failed {
        push_element(out, "span", "bad", "failed");
    }
    if let Some(label) = &item.label {
        push_element(out, "span", "label", label);
    }
    item.remarks.iter().for_each(|remark| push_element(out, "span", "remark", remark));
    if let Some(time) = &item.time {
        push_element(
            out,
            "time",
            "remark",
            time.get(..19).unwrap_or(time).replace('T', " ").as_str(),
        );
    }
    let id = item.id.as_deref().unwrap_or("#");
    out.push_str(&format!("<a class=\"id\" href=\"#e{}\">", item.node.index()));
    push_text(out, id);
    out.push_str("</a></header>");
}

fn push_part(out: &mut String, item: &Item, part: &Part) {
    match part {
        Part::Prose(text) => push_prose(out, text),
        Part::Verbatim { text, .. } => push_verbatim(out, item, text),
        Part::Thinking(text) => {
            out.push_str("<details class=\"think\"><summary>Thinking</summary>");
            push_prose(out, text);
            out.push_str("</details>");
        }
        Part::Call { name, arguments } => push_call(out, name, arguments),
        Part::Image { mime_type, data } => match image::url(data) {
            // The address holds only base64 and a type of ours.
            Some(url) => {
                out.push_str(&format!("<img alt=\"image\" loading=\"lazy\" src=\"{url}\">"))
            }
            None => {
                push_element(out, "p", "note", &format!("image of type {mime_type}, not shown"))
            }
        },
        Part::Note(note) => push_element(out, "p", "note", note),
    }
}

fn push_verbatim(out: &mut String, item: &Item, text: &str) {
    let lines = text.lines().count();
    if lines <= OPEN_LINES && text.len() <= 4_096 {
        return push_pre(out, text);
    }
    let kind = if item.voice == Voice::Record { "record" } else { "result" };
    out.push_str(&format!("<details class=\"{kind}\"><summary>{lines} lines <code>"));
    push_text(out, &beginning(text));
    out.push_str("</code></summary>");
    push_pre(out, text);
    out.push_str("</details>");
}

fn push_call(out: &mut String, name: &str, arguments: &[Argument]) {
    out.push_str("<details class=\"call\"><summary>");
    push_element(out, "b", "name", name);
    if let Some(first) = arguments.first() {
        out.push_str(" <code>");
        push_text(out, &beginning(&first.value));
        out.push_str("</code>");
    }
    out.push_str("</summary>");
    for argument in arguments {
        push_element(out, "div", "argument", &argument.name);
        push_pre(out, &argument.value);
    }
    out.push_str("</details>");
}

/// The first line that says something.
fn beginning(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    session_model::preview::one_line(line, 120)
}
