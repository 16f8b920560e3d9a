//! The examples of docs/sessionctl.md print what is written there.

use crate::support::Dir;

const PAGE: &str = include_str!("../../../docs/sessionctl.md");

/// Arguments are separated by spaces outside of double quotes.
fn arguments(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    parts
        .flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn examples_print_what_the_page_says() {
    let mut page = PAGE.lines().enumerate().peekable();
    let (mut wrong, mut count) = (String::new(), 0);
    while let Some((at, line)) = page.next() {
        if line != "```console" {
            continue;
        }
        let (_, line) = page.next().unwrap();
        let args = arguments(line.strip_prefix("$ sessionctl ").unwrap());
        let mut told = String::new();
        while let Some((_, line)) = page.next_if(|(_, line)| *line != "```") {
            told.push_str(line);
            told.push('\n');
        }
        let dir = Dir::with_examples();
        let output = dir.command("").args(&args).output().unwrap();
        let printed = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
        if printed != told {
            wrong += &format!("line {}: {args:?} prints\n{printed}\n", at + 2);
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(count, 12, "examples on the page");
}
