//! Ordinary texts stay as they are.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::surroundings::saying;
use crate::ways_out::Agent;

const TEXTS: [(&str, &str); 3] = [
    ("code.txt", include_str!("ordinary/code.txt")),
    ("logs.txt", include_str!("ordinary/logs.txt")),
    ("prose.txt", include_str!("ordinary/prose.txt")),
];

/// Files of other people's sessions, where they are at hand.
const REAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");

/// What a JSON export has of each text of a session of `saying`.
fn exported(agent: &Agent, session: &Path) -> Vec<String> {
    let told: Value = serde_json::from_slice(&agent.exported_json(session)).unwrap();
    let texts = told["entries"].as_array().unwrap().iter().skip(1);
    texts.map(|entry| entry["message"]["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn nothing_ordinary_is_hidden() {
    let agent = Agent::new();
    let mut changed = String::new();
    for (name, text) in TEXTS {
        // A certificate is one by its first line; all else must be ordinary by itself.
        let alone = text.split("-----BEGIN").next().unwrap().lines();
        let whole: Vec<_> = alone.chain([text]).collect();
        let session = agent.put(&format!("{name}.jsonl"), saying(whole.iter().copied()));
        for (said, shown) in whole.iter().zip(exported(&agent, &session)) {
            for (was, is) in said.lines().zip(shown.lines()).filter(|(was, is)| was != is) {
                changed += &format!("{name}: {was}\n  became {is}\n");
            }
            if said.lines().count() != shown.lines().count() {
                changed += &format!("{name}: lines are gone\n");
            }
        }
    }
    assert!(changed.is_empty(), "\n{changed}");
}

#[test]
#[allow(clippy::print_stderr, reason = "says what was hidden, for a person to judge")]
fn real_sessions_keep_all_but_one_text_in_a_megabyte() {
    let mut files = Vec::new();
    sessions_below(Path::new(REAL), &mut files);
    let (agent, mut bytes, mut hidden) = (Agent::new(), 0, 0);
    for file in &files {
        let exported: Value = serde_json::from_slice(&agent.exported_json(file)).unwrap();
        bytes += fs::metadata(file).unwrap().len();
        for kind in exported["redacted"].as_array().unwrap() {
            hidden += kind["count"].as_u64().unwrap();
            eprintln!("{}: {kind}", file.display());
        }
    }
    eprintln!("{hidden} hidden in {} files of {bytes} bytes", files.len());
    assert!(hidden <= bytes.div_ceil(1 << 20), "{hidden} hidden in {bytes} bytes");
}

/// The sessions below a folder; none where there is no folder.
fn sessions_below(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let header = br#"{"type":"session""#;
        if path.is_dir() {
            sessions_below(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "jsonl")
            && fs::read(&path).unwrap().starts_with(header)
        {
            files.push(path);
        }
    }
    files.sort();
}
