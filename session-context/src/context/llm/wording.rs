//! The words models are given. Changing one makes providers' caches of old sessions useless.

use session_model::json::RawJson;
use session_model::message::{BashExecutionMessage, MentionedFile, PythonExecutionMessage};

/// The result of a call that never got one.
pub(crate) const INTERRUPTED: &str = "The tool call was interrupted and gave no result.";

/// The result of a call whose output was pruned and held nothing but images.
pub(super) const PRUNED: &str = "The output was removed to save space.";

/// The note in the place of an attachment over the limit.
pub(crate) fn too_large(mime_type: &str, bytes: usize, limit: usize) -> String {
    format!("[{mime_type} left out: {bytes} bytes, more than the limit of {limit}]")
}

/// The note in the place of an image whose blob is missing or damaged.
pub(crate) fn missing(mime_type: &str) -> String {
    format!("[{mime_type} left out: it is no longer stored]")
}

pub(super) fn branch_summary(summary: &str) -> String {
    let intro = "The conversation came back from another branch. A summary of that branch:";
    format!("{intro}\n\n<summary>\n{summary}\n</summary>")
}

pub(super) fn compaction_summary(summary: &str) -> String {
    let intro = "The conversation up to here was replaced by this summary of it:";
    format!("{intro}\n\n<summary>\n{summary}\n</summary>")
}

pub(super) fn bash(run: &BashExecutionMessage) -> String {
    let mut text = format!("The user ran a shell command:\n\n{}", fenced("sh", &run.command));
    push_outcome(&mut text, &run.output, run.cancelled, run.exit_code);
    push_cut(&mut text, run.truncated, run.full_output_path.as_deref());
    text
}

pub(super) fn python(run: &PythonExecutionMessage) -> String {
    let mut text = format!("The user ran Python code:\n\n{}", fenced("python", &run.code));
    push_outcome(&mut text, &run.output, run.cancelled, run.exit_code);
    push_cut(&mut text, run.truncated, run.full_output_path.as_deref());
    text
}

fn push_outcome(text: &mut String, output: &str, cancelled: bool, exit_code: Option<i64>) {
    if output.is_empty() {
        text.push_str("\n\nIt printed nothing.");
    } else {
        text.push_str(&format!("\n\nOutput:\n\n{}", fenced("", output)));
    }
    match exit_code {
        _ if cancelled => text.push_str("\n\nIt was cancelled."),
        None | Some(0) => {}
        Some(code) => text.push_str(&format!("\n\nIt ended with exit code {code}.")),
    }
}

fn push_cut(text: &mut String, truncated: bool, full_output: Option<&str>) {
    if truncated {
        text.push_str("\n\nThe output is cut.");
        if let Some(path) = full_output {
            text.push_str(&format!(" All of it is in {}.", quoted(path)));
        }
    }
}

pub(super) fn files(files: &[MentionedFile]) -> String {
    let mut text = "The user mentioned these files:".to_owned();
    for file in files {
        text.push_str(&format!("\n\n{}", quoted(&file.path)));
        if let Some(reason) = &file.skipped_reason {
            text.push_str(&format!(" was left out: {reason}"));
        } else if file.image.is_some() {
            text.push_str(" is an image, attached below.");
        } else if file.content.is_empty() {
            text.push_str(" is empty.");
        } else {
            text.push_str(&format!(":\n\n{}", fenced("", &file.content)));
        }
    }
    text
}

/// Text between fences longer than any run of backticks in it, so that it cannot end them.
fn fenced(language: &str, text: &str) -> String {
    let (mut longest, mut run) = (2, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// A path in quotes, on one line whatever it holds.
fn quoted(path: &str) -> String {
    RawJson::string(path).to_string()
}
