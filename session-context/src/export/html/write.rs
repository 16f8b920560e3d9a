//! Text as HTML.

use super::super::visible::visible;

/// Appends text that may stand between tags and in quoted attributes.
pub(super) fn push_text(out: &mut String, text: &str) {
    push_escaped(out, &visible(text));
}

/// As [`push_text`], of text in which every character is to be seen as it is.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    let mut clean = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        out.push_str(&text[clean..at]);
        out.push_str(escape);
        clean = at + 1;
    }
    out.push_str(&text[clean..]);
}

/// Appends `<tag class="class">text</tag>`.
pub(super) fn push_element(out: &mut String, tag: &str, class: &str, text: &str) {
    out.push_str(&format!("<{tag} class=\"{class}\">"));
    push_text(out, text);
    out.push_str(&format!("</{tag}>"));
}

/// Appends text as it is, with its lines.
pub(super) fn push_pre(out: &mut String, text: &str) {
    // The first line end behind the tag is not shown.
    out.push_str("<pre dir=\"auto\">\n");
    push_text(out, text.trim_end_matches('\n'));
    out.push_str("</pre>");
}
