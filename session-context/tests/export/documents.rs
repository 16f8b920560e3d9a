//! Documents of hostile sessions, as those read them who show Markdown or print text.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use session_context::export::{Export, ExportOptions, Format, Scope};
use session_model::document::{LoadOptions, SessionDocument};

use crate::page::{hostile, payloads};

fn export(file: String) -> Export {
    let loaded = SessionDocument::load(file.into(), &LoadOptions::default()).unwrap();
    let options = ExportOptions::default().scope(Scope::All).without_redaction();
    Export::new(&loaded.document, &options).unwrap()
}

#[test]
fn markdown_of_a_hostile_session_runs_and_loads_nothing() {
    let document = export(hostile()).render(Format::Markdown);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let parser = Parser::new_ext(&document, options);
    assert_eq!(parser.reference_definitions().iter().count(), 0);
    let mut entries = 0;
    for event in parser {
        match event {
            Event::Html(html) => {
                let ours = ["<details><summary>Thinking</summary>\n", "</details>\n"];
                assert!(ours.contains(&&*html), "{html}");
            }
            Event::InlineHtml(html) => panic!("{html}"),
            Event::Start(Tag::Image { dest_url, .. }) => panic!("{dest_url} is loaded"),
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(dest_url.starts_with("http://leak.example"), "{dest_url}");
            }
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) => entries += 1,
            _ => {}
        }
    }
    // What a person, a model, a summary or an extension says has a heading, and nothing else has.
    let short = payloads().iter().filter(|payload| payload.len() < 10_000).count();
    assert_eq!(entries, payloads().len() * 2 + short * 6);
}

#[test]
fn documents_hold_nothing_a_terminal_acts_on() {
    let export = export(hostile());
    for format in [Format::Text, Format::Markdown, Format::Html] {
        let out = export.render(format);
        let acts = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\t'))
                || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        };
        assert_eq!(out.chars().find(|c| acts(*c)), None, "{format}");
    }
}
