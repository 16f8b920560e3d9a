//! What is no secret is left alone: texts of this repository, and real sessions where there are some.

use std::path::{Path, PathBuf};

use session_context::redact::{RedactionReport, Redactor};
use session_model::json::RawJson;

/// Returns what is hidden in a file, read as lines of JSON where they are such, and its length.
fn hidden_in(path: &Path) -> (RedactionReport, usize) {
    let bytes = std::fs::read(path).unwrap();
    let mut redactor = Redactor::new().unwrap();
    for line in bytes.split(|byte| *byte == b'\n') {
        match RawJson::parse(line.to_vec()) {
            Ok(json) => _ = redactor.hide("x", &json),
            Err(_) => _ = redactor.hide_in_text("x", &String::from_utf8_lossy(line)),
        }
    }
    (redactor.into_report(), bytes.len())
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match path.extension().and_then(|end| end.to_str()) {
            _ if entry.file_type().unwrap().is_dir() => files(&path, found),
            Some("jsonl" | "json" | "md" | "txt" | "log") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn nothing_is_hidden_in_plain_texts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let plain = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/format.md"];
    let plain = plain.into_iter().chain([
        "docs/context.md",
        "docs/durability.md",
        "docs/import.md",
        "session-context/examples/data/demo.jsonl",
        "session-context/src/redact/words.txt",
    ]);
    // A list of all words holds phrases of twelve.
    let hidden =
        plain.map(|name| (name, hidden_in(&root.join(name)).0.total())).filter(|(_, n)| *n > 0);
    assert_eq!(hidden.collect::<Vec<_>>(), [("session-context/src/redact/words.txt", 121)]);
}

/// Real sessions lie beside the repository, or where `SESSION_TEST_REAL` says.
#[test]
fn at_most_one_secret_for_each_megabyte_is_hidden_in_real_sessions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let named = std::env::var_os("SESSION_TEST_REAL").map(PathBuf::from);
    let mut real = Vec::new();
    files(&named.unwrap_or_else(|| root.join("../shared/data")), &mut real);
    let (mut hidden, mut told, mut length) = (0, Vec::new(), 0);
    for path in &real {
        let (report, bytes) = hidden_in(path);
        hidden += report.total();
        length += bytes as u64;
        if report.total() > 0 {
            told.push(format!("{}: {report}", path.display()));
        }
    }
    assert!(hidden <= length / 1_000_000, "{hidden} in {length} bytes:\n{}", told.join("\n"));
}
