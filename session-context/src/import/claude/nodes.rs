//! The records that hang from each other, and what each hangs from.

use std::collections::HashMap;

use session_model::BlobRef;
use session_model::json::ObjectView;
use session_model::message::Content;
use session_model::time;

use crate::import::builder::stem_of;
use crate::import::{ConversionReport, Note};

/// Whose words a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    /// Words of a person that waited for a turn.
    Queued,
}

/// A record with a place in the tree.
pub(super) struct Node {
    pub(super) uuid: String,
    pub(super) fields: ObjectView,
    /// Whose words it holds; none if it is left out.
    pub(super) role: Option<Role>,
}

/// All records of a source with a place in the tree, in file order.
#[derive(Default)]
pub(super) struct Nodes {
    list: Vec<Node>,
    /// The records of each id, in file order.
    by_uuid: HashMap<String, Vec<usize>>,
}

impl Nodes {
    /// Adds a record; one that nothing can hang from counts only if it says something.
    pub(super) fn push(&mut self, fields: ObjectView, role: Option<Role>) {
        let uuid = fields.text("uuid").unwrap_or_default().into_owned();
        if !uuid.is_empty() {
            self.by_uuid.entry(uuid.clone()).or_default().push(self.list.len());
        } else if role.is_none() {
            return;
        }
        self.list.push(Node { uuid, fields, role });
    }

    pub(super) fn get(&self, at: usize) -> &Node {
        &self.list[at]
    }

    pub(super) fn has(&self, uuid: &str) -> bool {
        self.by_uuid.contains_key(uuid)
    }

    /// The first record of an id.
    pub(super) fn find(&self, uuid: &str) -> Option<usize> {
        self.by_uuid.get(uuid)?.first().copied()
    }

    /// Tells whether the very same record was there before.
    pub(super) fn has_same(&self, fields: &ObjectView) -> bool {
        let Some(uuid) = fields.text("uuid") else { return false };
        let same = self.by_uuid.get(&*uuid).into_iter().flatten();
        same.rev().take(MAX_COPIES).any(|at| self.list[*at].fields == *fields)
    }

    /// The session's id: the file's name if that is one, for a file may begin with records that
    /// were copied from another session.
    pub(super) fn source_id(&self, path: &str) -> Option<String> {
        let stem = stem_of(path);
        if uuid::Uuid::try_parse(stem).is_ok() {
            return Some(stem.to_owned());
        }
        self.texts("sessionId").next()
    }

    pub(super) fn cwd(&self) -> Option<String> {
        self.texts("cwd").next()
    }

    /// A command of the tool, if that is what a person said first.
    pub(super) fn first_command(&self) -> Option<String> {
        let said = |node: &Node| {
            let message = node.fields.get("message")?.as_object()?;
            let text = Content::from_json(message.get("content")?).text().trim().to_owned();
            (node.role == Some(Role::User) && !text.is_empty()).then_some(text)
        };
        let first = self.list.iter().find_map(said)?;
        if !first.starts_with("<command-") {
            return None;
        }
        let part = |name: &str| {
            let (_, rest) = first.split_once(&format!("<{name}>"))?;
            Some(rest.split_once(&format!("</{name}>"))?.0.trim())
        };
        let name = part("command-name").filter(|name| !name.is_empty())?;
        let arguments = part("command-args").unwrap_or_default();
        Some(format!("{name} {arguments}").trim_end().to_owned())
    }

    fn texts<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        let all = self.list.iter().filter_map(move |node| node.fields.text(name));
        all.filter(|text| !text.is_empty()).map(|text| text.into_owned())
    }

    pub(super) fn first_time(&self) -> Option<i64> {
        self.list.iter().find_map(Node::time)
    }

    /// What each record that says something hangs from: the nearest such record before it.
    pub(super) fn parents(&self, report: &mut ConversionReport) -> Vec<Option<usize>> {
        let mut parents = self.direct_parents(report);
        cut_cycles(&mut parents, report);
        for at in in_walking_order(&parents) {
            // What `at` hangs from comes before it in this order, and is settled.
            let Some(parent) = parents[at] else { continue };
            if self.list[parent].role.is_none() {
                parents[at] = parents[parent];
            }
        }
        parents
    }

    fn direct_parents(&self, report: &mut ConversionReport) -> Vec<Option<usize>> {
        let mut parents = Vec::with_capacity(self.list.len());
        for (at, node) in self.list.iter().enumerate() {
            let named = |name| node.fields.text(name).filter(|uuid| !uuid.is_empty());
            let parent = match named("parentUuid").or_else(|| named("logicalParentUuid")) {
                Some(uuid) => {
                    let found = self.nearest(&uuid, at);
                    if found.is_none() && node.role.is_some() {
                        report.note(Note::ParentMissing);
                    }
                    found
                }
                // Before records named their parents they came one behind the other.
                None if node.fields.get("parentUuid").is_none() && node.role.is_some() => {
                    (0..at).rev().take(MAX_COPIES).find(|before| self.list[*before].role.is_some())
                }
                None => None,
            };
            parents.push(parent);
        }
        parents
    }

    /// The latest record of an id before a place, else the first behind it.
    fn nearest(&self, uuid: &str, at: usize) -> Option<usize> {
        let all = self.by_uuid.get(uuid)?;
        let before = all.partition_point(|other| *other < at);
        match before.checked_sub(1) {
            Some(last) => Some(all[last]),
            None => all.iter().copied().find(|other| *other > at),
        }
    }
}

/// How many records of one id are compared with a new one, and how far a record without a parent
/// looks back.
const MAX_COPIES: usize = 64;

impl Node {
    pub(super) fn time(&self) -> Option<i64> {
        self.fields.get("timestamp").and_then(time::from_json)
    }

    /// What tells the record from others: its id, else what it says.
    pub(super) fn key(&self) -> String {
        if !self.uuid.is_empty() {
            return self.uuid.clone();
        }
        let text = self.fields.get("message").map(|message| message.as_bytes().clone());
        BlobRef::of(&text.unwrap_or_default()).to_hex()
    }
}

/// Makes the first record of every circle hang from nothing.
fn cut_cycles(parents: &mut [Option<usize>], report: &mut ConversionReport) {
    const UNSEEN: usize = usize::MAX;
    let mut walk_of = vec![UNSEEN; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while walk_of[at] == UNSEEN {
            walk_of[at] = start;
            match parents[at] {
                Some(parent) if walk_of[parent] == start => {
                    let first = first_of_circle(parents, parent);
                    parents[first] = None;
                    report.note(Note::CycleCut);
                }
                Some(parent) => at = parent,
                None => {}
            }
        }
    }
}

fn first_of_circle(parents: &[Option<usize>], member: usize) -> usize {
    let (mut first, mut at) = (member, parents[member]);
    while let Some(other) = at.filter(|other| *other != member) {
        first = first.min(other);
        at = parents[other];
    }
    first
}

/// The places so that each comes behind what it hangs from.
fn in_walking_order(parents: &[Option<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(parents.len());
    let mut is_done = vec![false; parents.len()];
    let mut way = Vec::new();
    for start in 0..parents.len() {
        let mut next = Some(start);
        while let Some(at) = next.filter(|at| !is_done[*at]) {
            is_done[at] = true;
            way.push(at);
            next = parents[at];
        }
        order.extend(way.drain(..).rev());
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_circle_is_cut_once() {
        let mut report = ConversionReport::default();
        // 0 hangs from itself, 1-2-3 from each other, 4 and 5 from there.
        let mut parents = vec![Some(0), Some(3), Some(1), Some(2), Some(2), Some(4), None];
        cut_cycles(&mut parents, &mut report);
        assert_eq!(parents, [None, None, Some(1), Some(2), Some(2), Some(4), None]);
        assert_eq!(report.notes().get(&Note::CycleCut), Some(&2));
        assert_eq!(in_walking_order(&parents), [0, 1, 2, 3, 4, 5, 6]);
    }
}
