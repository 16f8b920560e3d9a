//! What an open session shows, in the form of the recordings.

use session_context::{ContextOptions, LeafChoice, SessionManager, build_session_context};
use session_model::Entry;
use session_model::json::to_raw_json;
use session_model::layout::artifacts_key;
use session_model::tree::TreeOptions;

use crate::Failure;
use crate::value::Value;
use crate::world::path_of;

/// What `expected-state.json` and `reopen-state.json` hold.
pub(crate) fn state(session: &mut SessionManager) -> Result<Value, Failure> {
    let key = session.key().clone();
    let usage = usage(session)?;
    let labels = session.tree().labels();
    let labels = Value::object(labels.iter().map(|&(id, label)| (id, Value::text(label))));
    let ids =
        session.entries().iter().map(|entry| entry.id().map_or(Value::Null, |id| Value::text(&id)));
    let mut state = Value::object([
        ("sessionId", Value::text(&session.session_id())),
        ("cwd", session.cwd().map_or(Value::Null, |cwd| Value::text(&cwd))),
        ("persisted", Value::Bool(session.is_persistent())),
        ("header", Value::of(&session.header().folded_json())),
        ("entryCount", Value::Number(session.entries().len() as f64)),
        ("entryIds", Value::Array(ids.collect())),
        ("labels", labels),
        ("usage", usage),
        ("injectedTtsrRules", Value::texts(session.injected_ttsr_rules())),
        ("sessionDir", Value::text("")),
        ("artifactsDir", Value::Null),
    ]);
    if session.is_persistent() {
        let bucket = key.parent().map(|parent| path_of(&parent)).unwrap_or_default();
        state.set("sessionDir", Value::text(&bucket));
        state.set("sessionFile", Value::text(&path_of(&key)));
        let artifacts = artifacts_key(&key).map(|key| Value::text(&path_of(&key)));
        state.set("artifactsDir", artifacts.unwrap_or(Value::Null));
    }
    match (session.leaf_entry(), session.leaf_id()) {
        (Some(_), None) => {}
        (_, id) => state.set("leafId", id.map_or(Value::Null, |id| Value::text(&id))),
    }
    if let Some(name) = session.session_name() {
        state.set("sessionName", Value::text(&name));
    }
    if let Some(source) = session.header().title_source() {
        state.set("titleSource", Value::text(&source));
    }
    if let Some(role) = session.last_model_change_role() {
        state.set("lastModelChangeRole", Value::text(&role));
    }
    Ok(state)
}

/// What `getUsageStatistics` gave.
pub(crate) fn usage(session: &mut SessionManager) -> Result<Value, Failure> {
    Ok(Value::of(&to_raw_json(&session.usage_statistics())?))
}

/// What `expected-entries.json` holds.
pub(crate) fn entries<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Value {
    Value::Array(entries.into_iter().map(|entry| Value::of(&entry.json())).collect())
}

/// What `expected-tree.json` holds: nodes with their children.
pub(crate) fn tree(session: &SessionManager) -> Value {
    let tree = session.tree();
    // Children come before their parent this way, and wait one level down.
    let mut waiting: Vec<Vec<Value>> = vec![Vec::new()];
    for row in tree.rows(TreeOptions::default()).iter().rev() {
        let depth = row.depth as usize;
        waiting.resize_with(waiting.len().max(depth + 2), Vec::new);
        let mut children = std::mem::take(&mut waiting[depth + 1]);
        children.reverse();
        let entry = tree.entry(row.node);
        let mut node = Value::object([
            ("entry", Value::of(&entry.json())),
            ("children", Value::Array(children)),
        ]);
        if let Some(label) = entry.id().and_then(|id| tree.label_for(&id)) {
            node.set("label", Value::text(label));
        }
        waiting[depth].push(node);
    }
    let mut roots = waiting.swap_remove(0);
    roots.reverse();
    Value::Array(roots)
}

/// The context of one leaf, as `expected-context.json` has it.
pub(crate) fn context(session: &SessionManager, leaf: LeafChoice<'_>) -> Value {
    let context = build_session_context(session.tree(), leaf, &ContextOptions::plain());
    Value::of(&context.to_json())
}

/// The contexts of the leaves that were recorded; the first is the session's own.
pub(crate) fn contexts(session: &SessionManager, recorded: &Value) -> Value {
    let mut contexts = Vec::new();
    for (at, recorded) in recorded.items().iter().enumerate() {
        let id = recorded.get("leaf").and_then(Value::as_text);
        let leaf = match &id {
            _ if at == 0 => LeafChoice::Current,
            Some(id) => LeafChoice::Id(id),
            None => LeafChoice::Root,
        };
        let mut ours = recorded.clone();
        ours.set("context", context(session, leaf));
        contexts.push(ours);
    }
    Value::Array(contexts)
}
