//! Bringing sessions of older formats up to date.
//!
//! - 1 → 2: every entry gets a fresh `id` and, as `parentId`, the entry before it in the file; a
//!   numeric `firstKeptEntryIndex` of a compaction, which counts the header as 0, becomes
//!   `firstKeptEntryId`.
//! - 2 → 3: messages of role `hookMessage` become `custom`.
//!
//! Only those fields change. A session of a current or newer format is left alone, so that doing
//! it twice is doing it once.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::document::SessionDocument;
use crate::entry::{Entry, EntryKind};
use crate::env::{IdSource, fresh_entry_id};
use crate::json::{ObjectEdit, RawJson};
use crate::{Diagnostic, DiagnosticCode};

/// What a migration did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Migration {
    /// The version the file had.
    pub from: f64,
    /// How many entries were changed.
    pub changed: usize,
}

impl Migration {
    /// Returns it as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        let detail = format!(
            "format version {} was brought up to {}; {} entries changed",
            self.from,
            crate::CURRENT_VERSION,
            self.changed
        );
        Diagnostic::new(DiagnosticCode::Migrated, detail)
    }
}

/// Brings a session up to the current format; `None` if it already is.
pub fn migrate(document: &mut SessionDocument, ids: &mut dyn IdSource) -> Option<Migration> {
    let from = document.header().version();
    let old: Vec<Entry> = document.tree().entries().to_vec();
    let mut entries = old.clone();
    if from < 2.0 {
        entries = link_in_file_order(&entries, ids);
    }
    if from < 3.0 {
        for entry in &mut entries {
            if let Some(edited) = rename_hook_message(entry) {
                *entry = edited;
            }
        }
        let changed = old.iter().zip(&entries).filter(|(a, b)| a.line() != b.line()).count();
        document.replace_entries(entries);
        document.set_leaf(document.tree().nodes().next_back());
        document.header_mut().set_current_version();
        return Some(Migration { from, changed });
    }
    None
}

fn link_in_file_order(entries: &[Entry], ids: &mut dyn IdSource) -> Vec<Entry> {
    let mut taken = HashSet::new();
    let fresh: Vec<String> = entries
        .iter()
        .map(|_| {
            let id = fresh_entry_id(ids, |id| taken.contains(id));
            taken.insert(id.clone());
            id
        })
        .collect();
    let mut parent = RawJson::null();
    let mut linked = Vec::with_capacity(entries.len());
    for (entry, id) in entries.iter().zip(&fresh) {
        let id = RawJson::string(id);
        let mut edit = ObjectEdit::new().set("id", &id).set("parentId", &parent);
        if entry.kind() == EntryKind::Compaction {
            edit = first_kept_by_id(entry, edit, &fresh);
        }
        linked.push(entry.edited(&edit).unwrap_or_else(|| entry.clone()));
        parent = id;
    }
    linked
}

fn first_kept_by_id(compaction: &Entry, edit: ObjectEdit, ids: &[String]) -> ObjectEdit {
    let fields = compaction.fields();
    let Some(index) = fields.get("firstKeptEntryIndex").and_then(RawJson::as_f64) else {
        return edit;
    };
    let edit = edit.remove("firstKeptEntryIndex");
    // Index 0 is the header, which is never kept from.
    let whole = index.fract() == 0.0 && index >= 1.0 && index <= ids.len() as f64;
    if whole {
        edit.set("firstKeptEntryId", &RawJson::string(&ids[index as usize - 1]))
    } else {
        edit
    }
}

fn rename_hook_message(entry: &Entry) -> Option<Entry> {
    let message = entry.message()?;
    let role = message.as_object()?.text("role").map(Cow::into_owned)?;
    if role != "hookMessage" {
        return None;
    }
    let renamed = ObjectEdit::new().set("role", &RawJson::string("custom")).apply(&message)?;
    entry.edited(&ObjectEdit::new().set("message", &renamed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::LoadOptions;

    /// Ids `00000001`, `00000002`, …
    #[derive(Debug, Default)]
    struct Counting(u32);

    impl IdSource for Counting {
        fn entry_id(&mut self) -> String {
            self.0 += 1;
            format!("{:08x}", self.0)
        }
        fn session_id(&mut self) -> String {
            "s".into()
        }
    }

    fn migrated(file: &str) -> (String, Option<(f64, usize)>) {
        let loaded = SessionDocument::load(file.to_owned().into(), &LoadOptions::default());
        let mut document = loaded.unwrap().document;
        let done = migrate(&mut document, &mut Counting::default());
        assert_eq!(migrate(&mut document, &mut Counting::default()), None);
        let leaf = document.tree().leaf();
        assert_eq!(leaf, document.tree().nodes().next_back());
        let file = String::from_utf8(document.to_payload().to_bytes().to_vec()).unwrap();
        (file, done.map(|done| (done.from, done.changed)))
    }

    #[test]
    fn version_1_is_linked_in_file_order() {
        let (file, done) = migrated(concat!(
            r#"{"type":"session","id":"s","n":1.0}"#,
            "\nbad line\n",
            r#"{"type":"message","message":{"role":"hookMessage", "x":1e2}, "t":"\ud800"}"#,
            "\n",
            r#"{"id":"old","type":"custom","parentId":"gone","data":[1.50]}"#,
            "\n",
        ));
        let want = concat!(
            r#"{"type":"session","id":"s","n":1.0,"version":3}"#,
            "\nbad line\n",
            r#"{"type":"message","message":{"role":"custom", "x":1e2}, "t":"\ud800","id":"00000001","parentId":null}"#,
            "\n",
            r#"{"id":"00000002","type":"custom","parentId":"00000001","data":[1.50]}"#,
            "\n",
        );
        assert_eq!((file.as_str(), done), (want, Some((1.0, 2))));
    }

    #[test]
    fn a_kept_index_becomes_an_id_if_it_means_an_entry() {
        let compaction = |index: &str| {
            let file = format!(
                "{}\n{}\n{{\"type\":\"compaction\",\"firstKeptEntryIndex\":{index},\"k\":1}}\n",
                r#"{"type":"session","version":1,"id":"s"}"#, r#"{"type":"custom"}"#
            );
            migrated(&file).0.lines().last().unwrap().to_owned()
        };
        let linked = r#""k":1,"id":"00000002","parentId":"00000001""#;
        let with = |more: &str| format!(r#"{{"type":"compaction",{linked}{more}}}"#);
        assert_eq!(compaction("1"), with(r#","firstKeptEntryId":"00000001""#));
        assert_eq!(compaction("2"), with(r#","firstKeptEntryId":"00000002""#));
        assert_eq!(compaction("1.0"), with(r#","firstKeptEntryId":"00000001""#));
        for index in ["0", "3", "99", "-1", "1.5", "1e400"] {
            assert_eq!(compaction(index), with(""), "{index}");
        }
        let text = format!(r#"{{"type":"compaction","firstKeptEntryIndex":"1",{linked}}}"#);
        assert_eq!(compaction("\"1\""), text);
    }

    #[test]
    fn version_2_keeps_ids_and_newer_files_stay() {
        let entry = r#"{"type":"message","id":"a","message":{"role":"hookMessage"}}"#;
        for version in ["2", "2.5"] {
            let (file, done) = migrated(&format!(
                "{{\"type\":\"session\",\"version\":{version},\"id\":\"s\"}}\n{entry}\n"
            ));
            let custom = entry.replace("hookMessage", "custom");
            assert_eq!(
                file,
                format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{custom}\n")
            );
            assert_eq!(done, Some((version.parse().unwrap(), 1)));
        }
        for version in ["3", "\"3\"", "99", "\"x\""] {
            let file =
                format!("{{\"type\":\"session\",\"version\":{version},\"id\":\"s\"}}\n{entry}\n");
            assert_eq!(migrated(&file), (file, None));
        }
    }

    #[test]
    fn odd_entries_never_stop_a_migration() {
        let (file, done) = migrated(concat!(
            r#"{"type":"session","version":0,"id":"s"}"#,
            "\n",
            r#"{"type":"message"}"#,
            "\n",
            r#"{"type":"message","message":"hookMessage"}"#,
            "\n",
            r#"{"type":"compaction","firstKeptEntryIndex":null}"#,
            "\n",
        ));
        assert_eq!(file.lines().count(), 4);
        assert_eq!(done, Some((0.0, 3)));
    }
}
