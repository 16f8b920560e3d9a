//! Links between the project's documents lead somewhere.

use super::{
    Finding,
    project::{Project, line_at},
};

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in project.files.iter().filter(|file| file.path.ends_with(".md")) {
        let text = without_code(&file.text);
        for (offset, target) in targets(&text) {
            let Some(path) = local_path(&file.path, target) else { continue };
            if project.file(&path).is_none() && !project.has_folder(&path) {
                let message = format!("link to `{target}`, which does not exist");
                findings.push(Finding::new(&file.path, line_at(&text, offset), message));
            }
        }
    }
    findings
}

/// The text with fenced blocks and inline code blanked.
fn without_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        let mut in_code = fenced || is_fence;
        for c in line.chars() {
            in_code ^= c == '`' && !fenced && !is_fence;
            out.push(if in_code && c != '\n' { ' ' } else { c });
        }
    }
    out
}

/// Targets of `[text](target)` and of `[name]: target` lines, with their offsets.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("](").chain(text.match_indices("]: ")) {
        let rest = &text[at + mark.len()..];
        let end = rest.find([')', '\n', ' ']).unwrap_or(rest.len());
        let target = rest[..end].trim_matches(['<', '>']);
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        if mark == "](" || line.starts_with('[') {
            found.push((at, target));
        }
    }
    found
}

/// Where a link leads inside the project, from its root; none for a link to elsewhere or into the
/// same file.
fn local_path(from: &str, target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().filter(|path| !path.is_empty())?;
    if path.contains(':') {
        return None;
    }
    let mut parts: Vec<_> = match path.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from.split('/').collect(),
    };
    parts.pop();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::found;

    #[test]
    fn only_links_to_nothing_are_found() {
        let page = "See [a](../README.md), [b](b.md#part), [c](gone.md) and ![d](img/d.png \"D\").\n\
                    [e](https://example.org/x) [f](#part) [g](mailto:a@b.c) [h](/docs/b.md)\n\
                    `[i](code.md)` and [j](img)\n```\n[k](fenced.md)\n```\n\
                    [ref]: ../session-model/\n[ref2]: lost.md\n[l](../../outside.md)\n";
        let files = [
            ("README.md", "[docs](docs/)"),
            ("docs/a.md", page),
            ("docs/b.md", "[self](b.md)"),
            ("docs/img/d.png", ""),
            ("session-model/Cargo.toml", ""),
        ];
        assert_eq!(
            found(check, &files),
            [
                "docs/a.md:1: link to `gone.md`, which does not exist",
                "docs/a.md:9: link to `../../outside.md`, which does not exist",
                "docs/a.md:8: link to `lost.md`, which does not exist",
            ]
        );
    }
}
