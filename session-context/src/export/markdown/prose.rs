//! Markdown of others that runs nothing, loads nothing, and stays within its entry.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::super::visible::visible;

/// Longer texts are shown as they are, in bytes.
const MAX_MARKDOWN: usize = 256 * 1024;

/// How often a text is gone through: what was HTML is Markdown afterwards.
const MAX_ROUNDS: usize = 8;

/// Returns Markdown of the same words: HTML is text, images are links, links lead only to the web
/// or to files, headings lie below those of entries, code ends, and no address is given a name that
/// other entries would use. `None` if the text is better shown as it is.
pub(super) fn harmless(text: &str) -> Option<String> {
    if text.len() > MAX_MARKDOWN {
        return None;
    }
    let mut text = text.trim_end().to_owned();
    for _ in 0..MAX_ROUNDS {
        let edits = edits_of(&text);
        if edits.is_empty() {
            return Some(text);
        }
        text = edited(&text, edits);
    }
    None
}

/// What takes the place of a part of the text.
type Edit = (Range<usize>, String);

fn edits_of(text: &str) -> Vec<Edit> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let parser = Parser::new_ext(text, options);
    let escape = |at: usize| (at..at, "\\".to_owned());
    let definitions = parser.reference_definitions().iter();
    let mut edits: Vec<Edit> = definitions.map(|(_, found)| escape(found.span.start)).collect();
    // How many lists and quotations are open.
    let mut depth = 0;
    for (event, range) in parser.into_offset_iter() {
        let source = &text[range.clone()];
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                edits.push((range, source.replace('<', "&lt;")));
            }
            // What was written as `&#8238;` comes to light only here.
            Event::Text(said) if *visible(&said) != *said => {
                edits.push((range, visible(&said).into_owned()));
            }
            Event::Start(Tag::Image { .. }) => edits.push(escape(range.start)),
            Event::Start(Tag::Link { dest_url, .. }) if !leads_to_the_web(&dest_url) => {
                edits.push(match source.starts_with('<') {
                    true => (range.start..range.start + 1, "&lt;".to_owned()),
                    false => escape(range.start),
                });
            }
            Event::Start(Tag::Heading { level, .. }) => {
                edits.extend(heading(source, level, range.start));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) if depth == 0 => {
                edits.extend(open_fence(source).map(|fence| (text.len()..text.len(), fence)));
            }
            Event::Start(Tag::List(_) | Tag::BlockQuote(_)) => depth += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_)) => depth -= 1,
            _ => {}
        }
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    edits
}

/// Writes a text anew; of edits that overlap the first is made, and the others in another round.
fn edited(text: &str, edits: Vec<Edit>) -> String {
    let (mut out, mut clean) = (String::with_capacity(text.len() + edits.len()), 0);
    for (range, new) in edits {
        if range.start >= clean {
            out.push_str(&text[clean..range.start]);
            out.push_str(&new);
            clean = range.end;
        }
    }
    out.push_str(&text[clean..]);
    out
}

/// Tells whether an address has no scheme, or one of the web. Browsers pass over white space in it.
fn leads_to_the_web(address: &str) -> bool {
    let address: String =
        address.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    let Some((scheme, _)) = address.split_once(':') else { return true };
    let is_path = scheme.contains(['/', '?', '#']);
    is_path || ["http", "https", "mailto"].iter().any(|web| scheme.eq_ignore_ascii_case(web))
}

/// Makes a heading smaller than those of entries; one that is underlined becomes text.
fn heading(source: &str, level: HeadingLevel, start: usize) -> Option<Edit> {
    if source.starts_with('#') {
        let is_large = matches!(level, HeadingLevel::H1 | HeadingLevel::H2);
        return is_large.then(|| (start..start, "##".to_owned()));
    }
    let line = source.trim_end().rfind('\n')? + 1;
    let mark = line + source[line..].find(['=', '-'])?;
    Some((start + mark..start + mark, "\\".to_owned()))
}

/// What ends code whose end was forgotten.
fn open_fence(source: &str) -> Option<String> {
    let mark = source.trim_start().chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let run = |line: &str| line.trim_start().chars().take_while(|c| *c == mark).count();
    let opening = run(source);
    let last = source.trim_end().lines().skip(1).last().unwrap_or_default();
    let is_end = run(last) >= opening && last.trim().chars().all(|c| c == mark);
    (!is_end).then(|| format!("\n{}", mark.to_string().repeat(opening)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn is(text: &str, want: &str) {
        assert_eq!(harmless(text).as_deref(), Some(want), "{text}");
    }

    #[test]
    fn html_is_text() {
        is("a <b onclick=x>c</b> 1 < 2", "a &lt;b onclick=x>c&lt;/b> 1 < 2");
        is("<script>\nx\n</script>", "&lt;script>\nx\n&lt;/script>");
        is("<!-- to the end\n\n## User", "&lt;!-- to the end\n\n#### User");
        is(
            "<div>\n![i](http://e.com)\n# h\n</div>",
            "&lt;div>\n\\![i](http://e.com)\n### h\n&lt;/div>",
        );
        is("`<b>`\n\n    <b>\n\n```\n<b>\n```", "`<b>`\n\n    <b>\n\n```\n<b>\n```");
        is("a&#8238;b&#27;[31m", "a⟨U+202E⟩b␛[31m");
    }

    #[test]
    fn nothing_is_loaded_and_links_lead_to_the_web() {
        is("![i](http://e.com/i.png \"t\")", "\\![i](http://e.com/i.png \"t\")");
        is(
            "[a](https://e.com) <http://e.com> [b](src/a.rs#L1)",
            "[a](https://e.com) <http://e.com> [b](src/a.rs#L1)",
        );
        for bad in
            ["javascript:x", "&#106;avascript:x", "JaVaScRiPt:x", "data:text/html,x", "file:///etc"]
        {
            is(&format!("[a]({bad})"), &format!("\\[a]({bad})"));
        }
        is("[a](<java\tscript:x>)", "\\[a](&lt;java\tscript:x>)");
        is("<javascript:x>", "&lt;javascript:x>");
        is("[k]\n\n[k]: http://e.com", "[k]\n\n\\[k]: http://e.com");
    }

    #[test]
    fn nothing_reaches_beyond_its_entry() {
        is("# a\n## b\n### c", "### a\n#### b\n### c");
        is("User\n====\n\nb\n---\nc\n\n---", "User\n\\====\n\nb\n\\---\nc\n\n---");
        is("```sh\nx", "```sh\nx\n```");
        is("~~~~\n~~~\nx", "~~~~\n~~~\nx\n~~~~");
        is("```\nx\n``` y", "```\nx\n``` y\n```");
        is("- a\n  ```\n  x", "- a\n  ```\n  x");
        is("```\nx\n```\n", "```\nx\n```");
        assert_eq!(harmless(&"a".repeat(MAX_MARKDOWN + 1)), None);
    }

    proptest! {
        #[test]
        fn what_is_written_stays_harmless_in_its_place(
            text in r#"([a-z \n]|[-\[\]!()<>#=`~*_"':/&;\\|]|javascript:|<script>|<!--|\n\n|```|&#x3c;|\[k\]: x){0,60}"#
        ) {
            let Some(text) = harmless(&text) else { return Ok(()) };
            let all = format!("## Entry\n\n{text}\n\n## Entry\n");
            let mut headings = 0;
            let parser = Parser::new(&all);
            prop_assert_eq!(parser.reference_definitions().iter().count(), 0);
            for event in parser {
                match event {
                    Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. }) => {
                        prop_assert!(false, "{:?} in {:?}", event, text);
                    }
                    Event::Start(Tag::Link { dest_url, .. }) => {
                        prop_assert!(leads_to_the_web(&dest_url), "{:?}", text);
                    }
                    Event::Start(Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. }) => {
                        headings += 1;
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(headings, 2, "{:?}", text);
        }
    }
}
