//! The committed inputs of the fuzz targets, replayed through what the targets check.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, unreachable_pub, reason = "tests")]

#[path = "../../session-model/fuzz/src/properties.rs"]
mod properties;

use std::fs;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../session-model/fuzz/corpus");

type Property = fn(&[u8]);

#[test]
fn every_committed_input_holds() {
    let properties: [(&str, Property); 12] = [
        ("breadcrumb", properties::breadcrumb),
        ("context", properties::context),
        ("file", properties::file),
        ("import_claude", properties::import_claude),
        ("import_codex", properties::import_codex),
        ("line", properties::line),
        ("migration", properties::migration),
        ("persisted", properties::persisted),
        ("query", properties::query),
        ("title_slot", properties::title_slot),
        ("tree", properties::tree),
        ("unpack", properties::unpack),
    ];
    let mut folders: Vec<_> = fs::read_dir(CORPUS)
        .unwrap()
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    // Those of a remote are replayed where there is one.
    folders.retain(|name| !name.starts_with("remote_"));
    assert_eq!(folders, properties.map(|(name, _)| name));
    for (name, property) in properties {
        let inputs: Vec<_> = fs::read_dir(format!("{CORPUS}/{name}")).unwrap().collect();
        assert!(!inputs.is_empty(), "{name} has no inputs");
        for input in inputs {
            let path = input.unwrap().path();
            eprintln!("{}", path.display());
            property(&fs::read(path).unwrap());
        }
    }
}
