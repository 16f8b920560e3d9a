//! No path of the machine something was written on, and no host of its package registry.

use super::{
    Finding,
    project::{Project, numbered},
};

/// Written in parts, so that this file does not break its own rule.
const PATHS: [&str; 7] = [
    concat!("/work", "/main"),
    concat!("/work", "/shared"),
    concat!("/work", "/steering"),
    concat!("/work", "/.library"),
    concat!("/ro", "ot/"),
    concat!("/tmp", "/w/"),
    concat!("/fa", "rm/"),
];
const HOSTS: [&str; 2] = [concat!("pkg-", "containers"), concat!("arti", "factory")];

/// Recorded sessions keep the paths of wherever they were recorded.
const FIXTURES: [&str; 4] = ["data", "fixtures", "golden", "snapshots"];

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in project.files.iter().filter(|file| !is_fixture(&file.path)) {
        for (line, text) in numbered(&file.text) {
            let paths = PATHS.iter().filter(|path| has_path(text, path));
            for found in paths.chain(HOSTS.iter().filter(|host| text.contains(**host))) {
                let message = format!("`{found}` belongs to a machine, not to the project");
                findings.push(Finding::new(&file.path, line, message));
            }
        }
    }
    findings
}

fn is_fixture(path: &str) -> bool {
    path.ends_with(".jsonl") || path.split('/').any(|part| FIXTURES.contains(&part))
}

/// Whether an absolute path stands here, and not the end of a longer one.
fn has_path(text: &str, path: &str) -> bool {
    let starts = |at: usize| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.)}>~$".contains(c))
    };
    text.match_indices(path).any(|(at, _)| starts(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::found;

    #[test]
    fn paths_and_hosts_are_found_outside_fixtures() {
        let [main, .., temp, _] = PATHS;
        let text = format!("/work/project\ncd {main}\nsee a{main} ${{x}}{temp}\n\"{temp}x\"\n");
        let lock = format!("source = \"https://{}.example.org\"\n", HOSTS[1]);
        let files = [
            ("a.sh", text.as_str()),
            ("Cargo.lock", &lock),
            ("s/tests/golden/a.json", &text),
            ("s/tests/a.jsonl", &text),
        ];
        assert_eq!(
            found(check, &files),
            [
                format!("Cargo.lock:1: `{}` belongs to a machine, not to the project", HOSTS[1]),
                format!("a.sh:2: `{main}` belongs to a machine, not to the project"),
                format!("a.sh:4: `{temp}` belongs to a machine, not to the project"),
            ]
        );
    }
}
