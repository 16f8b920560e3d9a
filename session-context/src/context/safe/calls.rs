//! Every tool call with its result behind it.

use std::collections::{HashMap, HashSet};

use session_model::json::{ObjectEdit, RawJson};
use session_model::message::{Content, ContentBlock, Message, ToolResultMessage};
use session_model::{Diagnostic, DiagnosticCode};

use crate::context::llm::INTERRUPTED;
use crate::context::{ContextMessage, PendingCalls, about};

/// A message, and the calls it makes.
struct Turn {
    message: ContextMessage,
    timestamp: Option<i64>,
    calls: Vec<Call>,
}

struct Call {
    id: String,
    tool: String,
    result: Option<ContextMessage>,
}

/// Where the result of a call goes.
#[derive(Clone, Copy)]
enum Place {
    Call {
        turn: usize,
        call: usize,
    },
    /// The assistant was left out, and its results are too.
    Nowhere,
}

/// Puts results behind their calls; see [`model_safe`](super::model_safe).
pub(super) fn paired<'a>(
    messages: impl Iterator<Item = &'a ContextMessage>,
    pending: PendingCalls,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ContextMessage> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut places: HashMap<String, Place> = HashMap::new();
    let mut may_be_running = None;
    for message in messages {
        if message.role() == "toolResult" {
            take_result(message, &places, &mut turns, diagnostics);
            continue;
        }
        may_be_running = None;
        let Some(assistant) = assistant_of(message) else {
            turns.push(Turn { message: message.clone(), timestamp: None, calls: Vec::new() });
            continue;
        };
        if assistant.failed {
            let ids = assistant.calls.into_iter().flatten().map(|call| call.id);
            places.extend(ids.filter(|id| !id.is_empty()).map(|id| (id, Place::Nowhere)));
        } else if let Some(new) = turn_of(message, assistant, diagnostics) {
            let turn = turns.len();
            let ids = new.calls.iter().enumerate().map(|(call, of)| (of.id.clone(), call));
            places.extend(ids.map(|(id, call)| (id, Place::Call { turn, call })));
            turns.push(new);
            may_be_running = Some(turn).filter(|_| pending == PendingCalls::Keep);
        }
    }
    let mut paired = Vec::with_capacity(turns.len());
    for (at, turn) in turns.into_iter().enumerate() {
        push_turn(turn, may_be_running == Some(at), &mut paired, diagnostics);
    }
    paired
}

/// What there is to know of an assistant's message; the rest of it is not decoded.
struct Assistant {
    content: RawJson,
    /// For each block the call it is, if it is one.
    calls: Vec<Option<Call>>,
    failed: bool,
    timestamp: Option<i64>,
}

fn assistant_of(message: &ContextMessage) -> Option<Assistant> {
    if message.role() != "assistant" {
        return None;
    }
    let [content, reason, timestamp] =
        message.json().some_fields(["content", "stopReason", "timestamp"]);
    let content = content.unwrap_or_default();
    let blocks = content.as_array().unwrap_or_default();
    Some(Assistant {
        calls: blocks.items().iter().map(call_of).collect(),
        content,
        failed: reason.is_some_and(|reason| {
            reason.as_text().is_some_and(|reason| matches!(&*reason, "error" | "aborted"))
        }),
        timestamp: timestamp.as_ref().and_then(RawJson::as_i64),
    })
}

fn call_of(block: &RawJson) -> Option<Call> {
    let [kind, id, tool] = block.some_fields(["type", "id", "name"]);
    let text = |field: Option<RawJson>| {
        field.as_ref().and_then(RawJson::as_text).unwrap_or_default().into_owned()
    };
    (text(kind) == "toolCall").then(|| Call { id: text(id), tool: text(tool), result: None })
}

fn take_result(
    message: &ContextMessage,
    places: &HashMap<String, Place>,
    turns: &mut [Turn],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let id = message.json().field("toolCallId");
    let id = id.as_ref().and_then(|id| id.as_text()).unwrap_or_default();
    let why = match places.get(&*id) {
        Some(Place::Nowhere) => return,
        Some(&Place::Call { turn, call }) => match &mut turns[turn].calls[call].result {
            Some(_) => "a second result",
            none => {
                *none = Some(message.clone());
                return;
            }
        },
        None => "a result without a call before it",
    };
    let detail = format!("{why}, of call {id:?}; it is left out");
    diagnostics.push(about(message.entry_id(), DiagnosticCode::OrphanToolResult, detail));
}

/// An assistant's message with the calls that can be answered; none if nothing is left of it.
fn turn_of(
    message: &ContextMessage,
    assistant: Assistant,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Turn> {
    let Assistant { content, calls: blocks, timestamp, .. } = assistant;
    let (mut calls, mut ids, mut kept) = (Vec::new(), HashSet::new(), Vec::new());
    for call in blocks {
        let can_stay =
            call.as_ref().is_none_or(|call| !call.id.is_empty() && ids.insert(call.id.clone()));
        kept.push(can_stay);
        match call {
            Some(call) if can_stay => calls.push(call),
            Some(Call { id, tool, .. }) => {
                let detail =
                    format!("a call of {tool:?} with the id {id:?} cannot be answered; removed");
                let code = DiagnosticCode::DanglingToolCall;
                diagnostics.push(about(message.entry_id(), code, detail));
            }
            None => {}
        }
    }
    if !kept.contains(&false) {
        return Some(Turn { message: message.clone(), timestamp, calls });
    }
    let Content::Blocks(mut blocks) = Content::from_json(&content) else { return None };
    let mut kept = kept.into_iter();
    blocks.retain(|_| kept.next().unwrap_or(true));
    remove_signatures(&mut blocks);
    if blocks.is_empty() {
        return None;
    }
    let content = Content::Blocks(blocks).to_json();
    let edited = ObjectEdit::new().set("content", &content).apply(message.json())?;
    let message = message.replaced(edited);
    Some(Turn { message, timestamp, calls })
}

/// A provider refuses the signatures of a message that was changed.
fn remove_signatures(blocks: &mut Vec<ContentBlock>) {
    blocks.retain_mut(|block| {
        match block {
            ContentBlock::Text(text) => text.text_signature = None,
            ContentBlock::Thinking(thinking) => thinking.thinking_signature = None,
            ContentBlock::ToolCall(call) => call.thought_signature = None,
            _ => {}
        }
        !matches!(block, ContentBlock::RedactedThinking(_))
    });
}

fn push_turn(
    turn: Turn,
    may_be_running: bool,
    paired: &mut Vec<ContextMessage>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Turn { message, timestamp, calls } = turn;
    paired.push(message.clone());
    for Call { id, tool, result } in calls {
        if let Some(result) = result {
            paired.push(result);
        } else if !may_be_running {
            let detail = format!("call {id:?} of {tool:?} has no result; it counts as interrupted");
            diagnostics.push(about(message.entry_id(), DiagnosticCode::DanglingToolCall, detail));
            paired.push(interrupted(id, tool, timestamp));
        }
    }
}

fn interrupted(id: String, tool: String, timestamp: Option<i64>) -> ContextMessage {
    let result = ToolResultMessage {
        tool_call_id: id,
        tool_name: tool,
        content: vec![ContentBlock::text(INTERRUPTED)].into(),
        is_error: true,
        timestamp,
        ..Default::default()
    };
    Message::ToolResult(result).into()
}
