//! An export as Markdown.

mod prose;

use super::details::{facts, redaction_note, title};
use super::item::{Item, Voice};
use super::part::Part;
use super::visible::visible;
use super::{Export, branch_point, reading_order};

pub(super) fn render(export: &Export) -> String {
    let mut out = format!("# {}\n\n", one_line(&title(export)));
    for (name, value) in facts(export) {
        out.push_str(&format!("- {name}: {}\n", code(&value)));
    }
    if let Some(note) = redaction_note(export) {
        out.push_str(&format!("\n> {note}\n"));
    }
    let mut last = None;
    for node in reading_order(export) {
        if let Some(from) = branch_point(export, node, last) {
            out.push_str(&format!("\n---\n\n*Another branch, from {}.*\n", code(&from)));
        }
        last = Some(node);
        write(&mut out, &Item::of(export, node));
    }
    out
}

fn write(out: &mut String, item: &Item) {
    let heading = one_line(&item.heading);
    let failed = if item.failed { " (failed)" } else { "" };
    let mut about: Vec<String> =
        item.label.iter().map(|label| format!("**[{}]**", one_line(label))).collect();
    about.extend(item.remarks.iter().map(|remark| one_line(remark)));
    about.extend(item.time.iter().map(|time| one_line(time)));
    about.extend(item.id.iter().map(|id| code(id)));
    let about = about.join(" · ");
    out.push('\n');
    match item.voice {
        Voice::Record => out.push_str(&format!("*{heading}* · {about}\n")),
        Voice::Tool => out.push_str(&format!("**Result of {heading}**{failed} · {about}\n")),
        _ => out.push_str(&format!("## {heading}{failed}\n\n{about}\n")),
    }
    for part in &item.parts {
        out.push('\n');
        write_part(out, part);
    }
}

fn write_part(out: &mut String, part: &Part) {
    match part {
        Part::Prose(text) => match prose::harmless(&visible(text)) {
            Some(text) => {
                out.push_str(&text);
                out.push('\n');
            }
            None => fenced(out, "", text),
        },
        Part::Verbatim { language, text } => fenced(out, language, text),
        Part::Thinking(text) => {
            out.push_str("<details><summary>Thinking</summary>\n\n");
            fenced(out, "", text);
            out.push_str("\n</details>\n");
        }
        Part::Call { name, arguments } => {
            out.push_str(&format!("**→ {}**\n", one_line(name)));
            for argument in arguments {
                let value = visible(&argument.value);
                if value.len() <= 80 && !value.contains('\n') {
                    out.push_str(&format!("\n- {}: {}\n", one_line(&argument.name), code(&value)));
                } else {
                    out.push_str(&format!("\n- {}:\n\n", one_line(&argument.name)));
                    fenced(out, "", &value);
                }
            }
        }
        Part::Image { mime_type, data } => {
            let mime_type = one_line(mime_type);
            out.push_str(&format!("*Image, {mime_type}, {} characters of base64*\n", data.len()));
        }
        Part::Note(note) => out.push_str(&format!("*{}*\n", one_line(note))),
    }
}

/// Text in one line that Markdown makes nothing of.
fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '&' | '~' => {
                out.extend(['\\', c]);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Text as code in a line.
fn code(text: &str) -> String {
    let text = visible(text).replace(['\n', '\t'], " ");
    let fence = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Text as code in lines of its own.
fn fenced(out: &mut String, language: &str, text: &str) {
    let text = visible(text);
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    out.push_str(&format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n')));
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
