//! What state the entries of a path leave behind.

use std::collections::{HashMap, HashSet};

use session_model::Entry;
use session_model::body::EntryBody;
use session_model::json::RawJson;

use super::models::{DEFAULT_ROLE, ModelRoles};
use super::path::Path;
use super::{ActiveContext, SessionContext};

/// Reads the state at the end of a path into a context without messages.
pub(super) fn along(path: &Path<'_>) -> SessionContext {
    let mut context = SessionContext::default();
    let marks = &path.marks;
    for at in [marks.thinking, marks.mode, marks.tools, marks.context].into_iter().flatten() {
        set(&mut context, path.entry(at).body());
    }
    let tier = marks.tier.and_then(|at| path.entry(at).json().field("serviceTier"));
    context.service_tier = tier.filter(|tier| !tier.is_null());
    context.models = models(path);
    context.injected_ttsr_rules = rules(path);
    context
}

fn set(context: &mut SessionContext, body: EntryBody) {
    match body {
        EntryBody::ThinkingLevelChange(change) => {
            change.level().clone_into(&mut context.thinking_level);
            context.configured_thinking = change.configured.value().cloned();
        }
        EntryBody::ModeChange(change) => {
            change.mode_or_none().clone_into(&mut context.mode);
            context.mode_data = change.data;
        }
        EntryBody::McpToolSelection(selection) => {
            context.selected_mcp_tool_names = selection.selected_tool_names;
            context.has_persisted_mcp_tool_selection = true;
        }
        EntryBody::ContextChange(change) => {
            context.active_context = Some(ActiveContext {
                name: change.context_name,
                tenant: change.tenant,
                namespace: change.namespace,
            });
        }
        _ => {}
    }
}

fn rules(path: &Path<'_>) -> Vec<String> {
    let (mut rules, mut seen) = (Vec::new(), HashSet::new());
    for &at in &path.marks.rules {
        let injected = path.entry(at).json().field("injectedRules").and_then(|raw| raw.as_array());
        for rule in injected.unwrap_or_default().items().iter().filter_map(RawJson::as_text) {
            if !seen.contains(&*rule) {
                seen.insert(rule.clone().into_owned());
                rules.push(rule.into_owned());
            }
        }
    }
    rules
}

/// Models as they were chosen; the model of the last answer serves the role `default` for as long
/// as nobody chose one.
fn models(path: &Path<'_>) -> ModelRoles {
    let mut models: Vec<(String, String)> = Vec::new();
    let mut first_set = Vec::new();
    let mut places = HashMap::new();
    for &at in &path.marks.models {
        let EntryBody::ModelChange(change) = path.entry(at).body() else { continue };
        let Some(model) = change.model_ref() else { continue };
        let role = change.role_or_default();
        match places.get(role) {
            Some(&place) => models[place] = (role.to_owned(), model),
            None => {
                places.insert(role.to_owned(), models.len());
                models.push((role.to_owned(), model));
                first_set.push(at);
            }
        }
    }
    let chosen = places.get(DEFAULT_ROLE).copied();
    let default = match chosen {
        Some(place) => Some(models.remove(place)),
        None => {
            let last = (0..path.len()).rev().find_map(|at| answering_model(path.entry(at)));
            last.map(|model| (DEFAULT_ROLE.to_owned(), model))
        }
    };
    if let Some(default) = default {
        let place = place_of_default(path, &first_set[..chosen.unwrap_or(first_set.len())]);
        models.insert(place, default);
    }
    ModelRoles(models)
}

/// Where the role `default` stands among roles that were chosen before it: an answer may have
/// brought it up before them.
fn place_of_default(path: &Path<'_>, others: &[usize]) -> usize {
    let end = others.last().copied().unwrap_or(0);
    match (0..end).find(|&at| answering_model(path.entry(at)).is_some()) {
        Some(first) => others.partition_point(|&other| other < first),
        None => others.len(),
    }
}

/// Returns `provider/model` of an assistant's message.
fn answering_model(entry: &Entry) -> Option<String> {
    let message = entry.message()?.as_object()?;
    if message.text("role")? != "assistant" {
        return None;
    }
    let (provider, model) = (message.text("provider")?, message.text("model")?);
    (!provider.is_empty() && !model.is_empty()).then(|| format!("{provider}/{model}"))
}
