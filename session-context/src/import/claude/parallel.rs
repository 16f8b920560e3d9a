//! Parallel tool calls in one line.
//!
//! An answer with several tool calls is written as several records, each hanging from the one
//! before, and a call's result hangs from the record of the call. So every result but the last
//! stands on a branch of its own, and whoever goes from the leaf to the root misses it. The tool
//! puts them back when it loads a session; here they are put into the order they were written in.

use std::collections::{HashMap, HashSet};

use session_model::json::{ObjectView, RawJson};

use super::nodes::{Nodes, Role};
use crate::import::{ConversionReport, Note};

/// The records of one answer and of the results of its calls.
struct Answer {
    last: usize,
    open_calls: HashSet<String>,
}

/// Moves the records of parallel calls from branches into line; all other branches stay.
pub(super) fn joined(
    nodes: &Nodes,
    parents: Vec<Option<usize>>,
    report: &mut ConversionReport,
) -> Vec<Option<usize>> {
    if !has_branched_answer(nodes, &parents) {
        return parents;
    }
    let mut joining = Joining {
        answers: Vec::new(),
        by_message: HashMap::new(),
        answer_of: HashMap::new(),
        behind: HashMap::new(),
    };
    let place = |(at, parent): (usize, Option<usize>)| joining.place(nodes, at, parent, report);
    parents.into_iter().enumerate().map(place).collect()
}

fn has_branched_answer(nodes: &Nodes, parents: &[Option<usize>]) -> bool {
    let mut seen = HashSet::new();
    parents.iter().enumerate().any(|(at, parent)| {
        let says_something = nodes.get(at).role.is_some();
        parent.is_some_and(|parent| {
            says_something
                && nodes.get(parent).role == Some(Role::Assistant)
                && !seen.insert(parent)
        })
    })
}

struct Joining {
    answers: Vec<Answer>,
    by_message: HashMap<String, usize>,
    /// Which answer a record is part of.
    answer_of: HashMap<usize, usize>,
    /// What was put behind a record that it did not hang from.
    behind: HashMap<usize, usize>,
}

impl Joining {
    fn place(
        &mut self,
        nodes: &Nodes,
        at: usize,
        parent: Option<usize>,
        report: &mut ConversionReport,
    ) -> Option<usize> {
        let node = nodes.get(at);
        let answer = parent.and_then(|parent| self.answer_of.get(&parent).copied());
        let message = node.fields.get("message").and_then(RawJson::as_object);
        let (Some(role), Some(message)) = (node.role, message) else {
            return parent.map(|parent| self.last_behind(parent));
        };
        let part_of = match role {
            Role::Assistant => {
                let id = message.text("id").filter(|id| !id.is_empty());
                let known = id.as_ref().and_then(|id| self.by_message.get(&**id).copied());
                let part_of = answer.filter(|answer| known == Some(*answer));
                if part_of.is_none() {
                    let own = self.answers.len();
                    self.answers.push(Answer { last: at, open_calls: calls(&message) });
                    self.by_message.extend(id.map(|id| (id.into_owned(), own)));
                    self.answer_of.insert(at, own);
                    return parent.map(|parent| self.last_behind(parent));
                }
                part_of
            }
            _ => answer.filter(|answer| self.takes_results(*answer, &message)),
        };
        let natural = parent.map(|parent| self.last_behind(parent));
        let Some(part_of) = part_of else { return natural };
        self.answer_of.insert(at, part_of);
        let answer = &mut self.answers[part_of];
        if role == Role::Assistant {
            answer.open_calls.extend(calls(&message));
        }
        let last = std::mem::replace(&mut answer.last, at);
        if natural != Some(last) {
            self.behind.insert(last, at);
            report.note(Note::ParallelJoined);
        }
        Some(last)
    }

    /// Tells whether a message holds nothing but results that this answer's calls still wait for.
    fn takes_results(&mut self, answer: usize, message: &ObjectView) -> bool {
        let Some(results) = results(message) else { return false };
        let open = &mut self.answers[answer].open_calls;
        let fits = !results.is_empty() && results.iter().all(|id| open.contains(id));
        if fits {
            open.retain(|id| !results.contains(id));
        }
        fits
    }

    /// Where the line goes on that a record is in.
    fn last_behind(&mut self, at: usize) -> usize {
        let mut last = at;
        while let Some(next) = self.behind.get(&last) {
            last = *next;
        }
        if last != at {
            // The way is short the next time.
            self.behind.insert(at, last);
        }
        last
    }
}

fn blocks(message: &ObjectView) -> Vec<ObjectView> {
    let content = message.get("content").and_then(RawJson::as_array).unwrap_or_default();
    content.items().iter().filter_map(RawJson::as_object).collect()
}

fn calls(message: &ObjectView) -> HashSet<String> {
    let is_call = |block: &ObjectView| block.text("type").is_some_and(|kind| kind == "tool_use");
    let calls = blocks(message).into_iter().filter(is_call);
    calls.filter_map(|call| call.text("id").map(|id| id.into_owned())).collect()
}

/// The calls that a message's results name, if it holds nothing else.
fn results(message: &ObjectView) -> Option<Vec<String>> {
    let result = |block: ObjectView| {
        block.text("type").filter(|kind| kind == "tool_result")?;
        block.text("tool_use_id").map(|id| id.into_owned())
    };
    blocks(message).into_iter().map(result).collect()
}
