//! The page as a whole.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::super::Export;
use super::super::details::{facts, redaction_note, title};
use super::super::item::Item;
use super::entry::push_entry;
use super::rows::{MAX_INDENT, push_rows};
use super::write::{push_element, push_text};

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

pub(in super::super) fn render(export: &Export) -> String {
    let items: Vec<_> = export.tree.nodes().map(|node| Item::of(export, node)).collect();
    let mut out = String::with_capacity(1 << 16);
    let style = format!("{STYLE}{}", indents());
    push_head(&mut out, export, &style);
    out.push_str("<header class=\"top\">");
    push_element(&mut out, "h1", "title", &title(export));
    if let Some(note) = redaction_note(export) {
        let class = if export.hidden().is_some() { "hidden" } else { "hidden bad" };
        push_element(&mut out, "p", class, &note);
    }
    out.push_str("<dl>");
    for (name, value) in facts(export) {
        push_element(&mut out, "dt", "fact", name);
        push_element(&mut out, "dd", "fact", &value);
    }
    out.push_str("</dl></header>\n");
    out.push_str(TOOLS);
    out.push_str("<nav id=\"tree\" aria-label=\"Entries\">\n");
    push_rows(&mut out, export, &items);
    out.push_str("</nav>\n<main id=\"entries\">\n");
    items.iter().for_each(|item| push_entry(&mut out, export, item));
    out.push_str(&format!("</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"));
    out
}

fn push_head(out: &mut String, export: &Export, style: &str) {
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        digest(SCRIPT),
        digest(style)
    );
    out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n"));
    out.push_str(
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>",
    );
    push_text(out, &title(export));
    let leaf = export.tree.leaf().map_or(-1, |leaf| leaf.index() as i64);
    out.push_str(&format!(
        "</title>\n<style>{style}</style>\n</head>\n<body data-leaf=\"{leaf}\">\n"
    ));
}

/// The policy lets no style stand at an element, so each depth has a class.
fn indents() -> String {
    (0..=MAX_INDENT).map(|n| format!("#tree .i{n}{{padding-left:{}px}}\n", 10 + n * 12)).collect()
}

/// What works only with the script is shown only by it.
const TOOLS: &str = "\
<div class=\"tools\" role=\"toolbar\">\
<input id=\"search\" type=\"search\" placeholder=\"Search (press /)\" aria-label=\"Search\">\
<output id=\"found\"></output>\
<select id=\"filter\" aria-label=\"Entries in the tree\">\
<option value=\"default\">Conversation</option>\
<option value=\"no-tools\">Without tool results</option>\
<option value=\"user-only\">User only</option>\
<option value=\"labeled-only\">Labelled only</option>\
<option value=\"all\">Everything</option></select>\
<button id=\"whole\" type=\"button\" aria-pressed=\"false\">All branches</button>\
<button id=\"open\" type=\"button\">Open all</button>\
<button id=\"close\" type=\"button\">Close all</button>\
<button id=\"theme\" type=\"button\">Light / dark</button></div>\n";
