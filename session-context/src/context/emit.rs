//! Which entries of a path become messages, and in which order.

use std::ops::Range;

use session_model::entry::EntryKind;
use session_model::json::{ObjectView, RawJson};
use session_model::{Diagnostic, DiagnosticCode};

use super::built::{branch_summary, compaction_summary, custom, provider_history};
use super::path::Path;
use super::{ContextMessage, about};

/// Collects the messages of a path.
pub(super) struct Emitter<'a> {
    path: &'a Path<'a>,
    messages: Vec<ContextMessage>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(path: &'a Path<'a>) -> Self {
        Self { path, messages: Vec::new(), diagnostics: Vec::new() }
    }

    pub(super) fn finish(self) -> (Vec<ContextMessage>, Vec<Diagnostic>) {
        (self.messages, self.diagnostics)
    }

    /// The whole path, compactions in their places.
    pub(super) fn everything(&mut self) {
        for at in 0..self.path.len() {
            let entry = self.path.entry(at);
            if entry.kind() == EntryKind::Compaction {
                self.push(at, compaction_summary(entry, &entry.fields(), None));
            } else {
                self.entry(at);
            }
        }
    }

    /// What the last reset and the last compaction leave in force; of the two the later decides.
    pub(super) fn what_is_in_force(&mut self) {
        let marks = &self.path.marks;
        let end = self.path.len();
        match (marks.compaction, marks.reset) {
            (compaction, Some(reset)) if compaction < Some(reset) => self.entries(reset + 1..end),
            (Some(compaction), _) => {
                self.summary_and_kept(compaction);
                self.entries(compaction + 1..end);
            }
            (None, _) => self.entries(0..end),
        }
    }

    fn summary_and_kept(&mut self, at: usize) {
        let entry = self.path.entry(at);
        let fields = entry.fields();
        let history = provider_history(&fields);
        let kept = match history {
            Some(_) => self.kept_behind_history(at, &fields),
            None => self.kept(at, &fields),
        };
        self.push(at, compaction_summary(entry, &fields, history.as_ref()));
        self.entries(kept..at);
    }

    /// The first place that a compaction keeps; its own if it keeps nothing.
    fn kept(&mut self, at: usize, fields: &ObjectView) -> usize {
        let first = fields.text("firstKeptEntryId");
        let own_id = self.path.entry(at).id();
        // An empty id and the compaction's own are how programs say that they keep nothing.
        if first.as_deref() == Some("") || (first.is_some() && first == own_id) {
            return at;
        }
        let found = first.as_deref().and_then(|id| self.path.find_before(at, id));
        found.unwrap_or_else(|| self.nothing_kept(at, "firstKeptEntryId", first.as_deref()))
    }

    /// The same where the provider's own history stands for what came before.
    fn kept_behind_history(&mut self, at: usize, fields: &ObjectView) -> usize {
        let last = fields.text("providerReplayThroughEntryId").filter(|id| !id.is_empty());
        let Some(last) = last else { return at };
        match self.path.find_before(at, &last) {
            Some(found) => found + 1,
            None => self.nothing_kept(at, "providerReplayThroughEntryId", Some(&last)),
        }
    }

    fn nothing_kept(&mut self, at: usize, field: &str, id: Option<&str>) -> usize {
        let named = id.map_or_else(|| "missing".to_owned(), |id| format!("{id:?}"));
        let detail = format!(
            "{field} is {named}, which is no entry before the compaction on its path; nothing \
             before it is kept"
        );
        self.report(DiagnosticCode::FirstKeptMissing, at, detail);
        at
    }

    fn entries(&mut self, places: Range<usize>) {
        places.for_each(|at| self.entry(at));
    }

    fn entry(&mut self, at: usize) {
        let entry = self.path.entry(at);
        match entry.kind() {
            EntryKind::Message => match entry.message() {
                Some(message) => self.push(at, message),
                None => {
                    let detail = "the entry has no message object; it is left out".to_owned();
                    self.report(DiagnosticCode::UnreadableMessage, at, detail);
                }
            },
            EntryKind::CustomMessage => self.push(at, custom(entry)),
            EntryKind::BranchSummary => {
                if let Some(summary) = branch_summary(entry) {
                    self.push(at, summary);
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, at: usize, raw: RawJson) {
        let message = ContextMessage::of_entry(raw, self.path.node(at), self.path.entry(at));
        self.messages.push(message);
    }

    fn report(&mut self, code: DiagnosticCode, at: usize, detail: String) {
        self.diagnostics.push(about(self.path.entry(at).id().as_deref(), code, detail));
    }
}
