//! Sources, and what they become.

use std::fs;
use std::path::{Path, PathBuf};

use session_context::import::{Conversion, ImportLimits, Tool, convert};
use session_model::Entry;
use session_model::document::{LoadOptions, SessionDocument};
use session_model::json::RawJson;
use session_model::{NewHeader, SessionHeader};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/import/fixtures");

/// Real sources beside the repository.
const REAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/real");

/// The folder of more sources: that in `$SESSION_IMPORT_DIR`, else the one beside the repository if
/// it is there.
pub fn more_sources() -> Option<PathBuf> {
    let named = std::env::var_os("SESSION_IMPORT_DIR").map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(REAL)).filter(|folder| folder.is_dir()))
}

/// The sources of a tool: the committed ones, and more if there are.
pub fn sources(tool: Tool) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(FIXTURES).join(tool.as_str())];
    folders.extend(more_sources().map(|folder| folder.join(tool.as_str())));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

pub fn fixture(name: &str) -> PathBuf {
    Path::new(FIXTURES).join(name)
}

pub fn converted(tool: Tool, source: &[u8]) -> Conversion {
    convert(tool, source.to_vec().into(), "s.jsonl", &ImportLimits::default())
}

pub fn records(source: &[u8]) -> Vec<RawJson> {
    let lines = source.split(|byte| *byte == b'\n');
    let records = lines.filter_map(|line| RawJson::parse(line.to_vec()).ok());
    records.filter(|record| record.as_object().is_some()).collect()
}

pub fn text(json: &RawJson, name: &str) -> Option<String> {
    json.field(name)?.as_text().map(|text| text.into_owned())
}

pub fn is(json: &RawJson, name: &str) -> bool {
    json.field(name).and_then(|value| value.as_bool()) == Some(true)
}

pub fn items(json: Option<RawJson>) -> Vec<RawJson> {
    json.and_then(|json| json.as_array()).map(|list| list.items().to_vec()).unwrap_or_default()
}

/// The conversion as a session in memory.
pub fn document(conversion: &Conversion) -> SessionDocument {
    let header = NewHeader { id: conversion.session_id.clone(), ..NewHeader::default() };
    let mut document = SessionDocument::new(SessionHeader::new(&header));
    for entry in &conversion.entries {
        document.push(Entry::from_json(entry).unwrap());
    }
    document
}

/// The session as it is after it was written and read again, with nothing to report.
pub fn reread(document: &SessionDocument) -> SessionDocument {
    let bytes = document.to_payload().to_bytes();
    let loaded = SessionDocument::load(bytes, &LoadOptions::default()).unwrap();
    assert_eq!(loaded.diagnostics, []);
    loaded.document
}
