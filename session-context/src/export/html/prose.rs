//! Markdown as HTML that does nothing.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};

use super::super::visible::visible;
use super::write::{push_escaped, push_pre};

/// Longer texts are shown as they are, in bytes.
const MAX_MARKDOWN: usize = 256 * 1024;

/// Appends Markdown: HTML in it is shown as text, links lead only to `http`, `https` and `mailto`,
/// images become links.
pub(super) fn push_prose(out: &mut String, text: &str) {
    if text.len() > MAX_MARKDOWN {
        return push_pre(out, text);
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let text = visible(text);
    out.push_str("<div class=\"md\" dir=\"auto\">");
    push_html(out, Parser::new_ext(&text, options).map(harmless));
    out.push_str("</div>");
}

fn harmless(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::SoftBreak => Event::HardBreak,
        Event::Start(Tag::Link { dest_url, .. }) => link(&dest_url, ""),
        Event::Start(Tag::Image { dest_url, .. }) => link(&dest_url, "image: "),
        Event::End(TagEnd::Link | TagEnd::Image) => Event::InlineHtml("</a>".into()),
        // Only ours are left: those with a class taken from the text would meet our style.
        Event::Start(Tag::Heading { level, .. }) => {
            Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() })
        }
        other => other,
    }
}

/// The beginning of a link; without an address where it should not lead.
fn link(address: &str, word: &str) -> Event<'static> {
    let mut out = String::from("<a");
    let scheme = address.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if matches!(&*scheme, "http" | "https" | "mailto") && address.len() > scheme.len() {
        out.push_str(" rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"");
        push_escaped(&mut out, address);
        out.push('"');
    } else {
        out.push_str(" class=\"dead\" title=\"");
        push_escaped(&mut out, address);
        out.push('"');
    }
    out.push('>');
    out.push_str(word);
    Event::InlineHtml(CowStr::from(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(text: &str) -> String {
        let mut out = String::new();
        push_prose(&mut out, text);
        let inside = out.strip_prefix("<div class=\"md\" dir=\"auto\">").unwrap();
        inside.strip_suffix("</div>").unwrap().trim_end().to_owned()
    }

    #[test]
    fn html_is_text() {
        assert_eq!(prose("a <b onclick=x>c</b>"), "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>");
        assert_eq!(prose("<script>x</script>"), "&lt;script&gt;x&lt;/script&gt;");
        assert_eq!(prose("`<i>`"), "<p><code>&lt;i&gt;</code></p>");
        let code = "```\"><script>\n</pre><script>\n```";
        assert_eq!(
            prose(code),
            "<pre><code class=\"language-&quot;&gt;&lt;script&gt;\">&lt;/pre&gt;&lt;script&gt;\n</code></pre>"
        );
    }

    #[test]
    fn links_lead_to_the_web_only() {
        let rel = "rel=\"noopener noreferrer nofollow\" target=\"_blank\"";
        assert_eq!(
            prose("[a](https://e.com/?a=1&b=\"2\" 't')"),
            format!("<p><a {rel} href=\"https://e.com/?a=1&amp;b=&quot;2&quot;\">a</a></p>")
        );
        for bad in [
            "javascript:x",
            "JaVaScRiPt:x",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc",
            "#x",
            "//e.com",
        ] {
            assert_eq!(
                prose(&format!("[a]({bad})")),
                format!("<p><a class=\"dead\" title=\"{bad}\">a</a></p>")
            );
        }
        assert_eq!(
            prose("![alt](http://e.com/x.png)"),
            format!("<p><a {rel} href=\"http://e.com/x.png\">image: alt</a></p>")
        );
    }
}
