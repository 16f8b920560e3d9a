//! The recorded calls, by the names the recorder had for them.

use session_context::{LeafChoice, NameSource, NewSession, SessionManager};
use session_model::body::{Compaction, CustomMessageEntry, EntryBody, ServiceTierChange};
use session_model::json::{ObjectBuilder, RawJson};
use session_model::message::Content;

use crate::ops::Replay;
use crate::value::Value;
use crate::world::{PROJECT_DIR, key_of, path_of};
use crate::{Failure, state};

/// The arguments of a recorded call; what was shortened is written out.
pub(crate) struct Arguments(Vec<Option<Value>>);

impl Arguments {
    pub(crate) fn of(recorded: &[Value]) -> Self {
        let given = |value: &Value| value.get("$undefined").is_none().then(|| written_out(value));
        Self(recorded.iter().map(given).collect())
    }

    fn get(&self, at: usize) -> Option<&Value> {
        self.0.get(at)?.as_ref()
    }

    fn json(&self, at: usize) -> Option<RawJson> {
        self.get(at).map(Value::to_json)
    }

    fn text(&self, at: usize) -> Option<String> {
        self.get(at)?.as_text()
    }

    fn needed_text(&self, at: usize) -> Result<String, Failure> {
        self.text(at).ok_or_else(|| format!("argument {at} is no text").into())
    }

    fn needed_json(&self, at: usize) -> Result<RawJson, Failure> {
        self.json(at).ok_or_else(|| format!("there is no argument {at}").into())
    }

    fn texts(&self, at: usize) -> Vec<String> {
        self.get(at).map_or(&[][..], Value::items).iter().filter_map(Value::as_text).collect()
    }

    fn bool(&self, at: usize) -> Option<bool> {
        match self.get(at) {
            Some(Value::Bool(value)) => Some(*value),
            _ => None,
        }
    }
}

/// Writes out `{"$repeat": [text, count]}` and `{"$concat": [...]}`.
fn written_out(value: &Value) -> Value {
    if let Some([Value::String(text), Value::Number(count)]) =
        value.get("$repeat").map(Value::items)
    {
        return Value::String(text.repeat(*count as usize));
    }
    if let Some(parts) = value.get("$concat") {
        let parts = parts.items().iter().map(written_out);
        let texts = parts.map(|part| match part {
            Value::String(text) => text,
            _ => String::new(),
        });
        return Value::String(texts.collect());
    }
    match value {
        Value::Array(items) => Value::Array(items.iter().map(written_out).collect()),
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (name.clone(), written_out(value))).collect(),
        ),
        other => other.clone(),
    }
}

/// Does what a recorded call did; `None` is the recorder's `undefined`.
pub(crate) async fn call(
    replay: &mut Replay<'_>,
    name: &str,
    arguments: &Arguments,
) -> Result<Option<Value>, Failure> {
    match name.strip_prefix("static.") {
        Some(name) => {
            if let Some(earlier) = replay.session.take() {
                earlier.close().await?;
            }
            let session = make(replay, name, arguments).await?;
            let path = session.is_persistent().then(|| path_of(session.key()));
            let path = path.map_or(Value::Null, |path| Value::text(&path));
            replay.key = Some(session.key().clone());
            replay.session = Some(session);
            Ok(Some(Value::object([("$manager", path)])))
        }
        None if name == "close" => {
            replay.session.take().ok_or("no session")?.close().await?;
            Ok(None)
        }
        // Nothing is left to write once a session is closed.
        None if name == "flush" && replay.session.is_none() => Ok(None),
        None => {
            let session = replay.session.as_mut().ok_or("no session")?;
            if let Some(id) = append(session, name, arguments).await? {
                return Ok(Some(Value::text(&id)));
            }
            act(session, name, arguments).await
        }
    }
}

async fn make(
    replay: &Replay<'_>,
    name: &str,
    args: &Arguments,
) -> Result<SessionManager, Failure> {
    let (storage, options) = (replay.world.storage.clone(), replay.world.options());
    let session = match name {
        "create" => {
            let bucket = key_of(&args.needed_text(1)?)?;
            let new = NewSession::in_cwd(args.needed_text(0)?).bucket(bucket);
            SessionManager::create(storage, new, options).await?
        }
        "open" => {
            SessionManager::open(storage, key_of(&args.needed_text(0)?)?, PROJECT_DIR, options)
                .await?
        }
        "inMemory" => SessionManager::in_memory(args.needed_text(0)?, options)?,
        _ => return Err(format!("static.{name} is not there yet").into()),
    };
    Ok(session)
}

/// The calls that append an entry and answer with its id.
async fn append(
    session: &mut SessionManager,
    name: &str,
    args: &Arguments,
) -> Result<Option<String>, Failure> {
    let id = match name {
        "appendMessage" => session.append_message_json(&args.needed_json(0)?).await?,
        "appendModelChange" => {
            session.append_model_change(&args.needed_text(0)?, args.text(1).as_deref()).await?
        }
        "appendThinkingLevelChange" => {
            session.append_thinking_level_change(args.text(0).as_deref()).await?
        }
        "appendServiceTierChange" => {
            let tier = ObjectBuilder::new()
                .string("type", "service_tier_change")
                .raw("serviceTier", &args.needed_json(0)?);
            let EntryBody::ServiceTierChange(tier) = EntryBody::from_json(&tier.build()) else {
                return Ok(None);
            };
            let tier: ServiceTierChange = tier;
            session.append_service_tier_change(tier).await?
        }
        "appendSessionInit" => {
            let mut init = args.get(0).cloned().ok_or("no argument")?;
            init.set("type", Value::text("session_init"));
            session.append(EntryBody::from_json(&init.to_json())).await?
        }
        "appendModeChange" => {
            session.append_mode_change(&args.needed_text(0)?, args.json(1)).await?
        }
        "appendTtsrInjection" => session.append_ttsr_injection(args.texts(0)).await?,
        "appendMCPToolSelection" => session.append_mcp_tool_selection(args.texts(0)).await?,
        "appendContextChange" => {
            let [name, tenant, namespace] = [0, 1, 2].map(|at| args.needed_text(at));
            session.append_context_change(&name?, &tenant?, &namespace?).await?
        }
        "appendLabelChange" => {
            session.append_label_change(&args.needed_text(0)?, args.text(1).as_deref()).await?
        }
        "appendCustomEntry" => {
            session.append_custom_entry(&args.needed_text(0)?, args.json(1)).await?
        }
        "appendCustomMessageEntry" => {
            let content = Content::from_json(&args.needed_json(1)?);
            let display = args.bool(2).ok_or("no bool")?;
            let message =
                CustomMessageEntry::new(args.needed_text(0)?, content, display, args.json(3));
            session.append_custom_message(message).await?
        }
        "appendCompaction" => {
            let compaction = Compaction {
                summary: args.needed_text(0)?,
                short_summary: args.text(1),
                first_kept_entry_id: args.needed_text(2)?,
                tokens_before: args.get(3).and_then(Value::as_i64).ok_or("no tokens")? as u64,
                details: args.json(4),
                from_extension: args.bool(5),
                preserve_data: args.json(6),
                ..Default::default()
            };
            session.append_compaction(compaction).await?
        }
        "branchWithSummary" => {
            let (target, summary) = (args.text(0), args.needed_text(1)?);
            session
                .branch_with_summary(target.as_deref(), &summary, args.json(2), args.bool(3))
                .await?
        }
        _ => return Ok(None),
    };
    Ok(Some(id))
}

/// All other calls.
async fn act(
    session: &mut SessionManager,
    name: &str,
    args: &Arguments,
) -> Result<Option<Value>, Failure> {
    let entry = |entry: Option<&session_model::Entry>| entry.map(|entry| Value::of(&entry.json()));
    Ok(match name {
        "flush" => {
            session.flush().await?;
            None
        }
        "ensureOnDisk" => {
            session.ensure_on_disk().await?;
            None
        }
        "branch" => {
            session.branch(&args.needed_text(0)?)?;
            None
        }
        "resetLeaf" => {
            session.reset_leaf();
            None
        }
        "setSessionName" => {
            let source = match args.text(1).as_deref() {
                Some("user") => NameSource::User,
                _ => NameSource::Auto,
            };
            let taken = session.set_session_name(&args.needed_text(0)?, source).await?;
            Some(Value::Bool(taken))
        }
        "getSessionName" => session.session_name().map(|name| Value::text(&name)),
        "getLeafId" => Some(session.leaf_id().map_or(Value::Null, |id| Value::text(&id))),
        "getLeafEntry" => entry(session.leaf_entry()),
        "getEntry" => entry(session.entry(&args.needed_text(0)?)),
        "getLabel" => session.label(&args.needed_text(0)?).map(Value::text),
        "getChildren" => Some(state::entries(session.children(&args.needed_text(0)?)?)),
        "getBranch" => Some(match args.text(0) {
            None => state::entries(session.branch_entries()),
            Some(id) => {
                let tree = session.tree();
                let path = tree.path_to(tree.find(&id).ok_or("no such entry")?);
                state::entries(path.into_iter().map(|node| tree.entry(node)))
            }
        }),
        "getInjectedTtsrRules" => Some(Value::texts(session.injected_ttsr_rules())),
        "getLastModelChangeRole" => session.last_model_change_role().map(|role| Value::text(&role)),
        "buildSessionContext" => Some(state::context(session, LeafChoice::Current)),
        "saveArtifact" => {
            let artifacts = session.artifacts()?;
            let saved = artifacts.save(&args.needed_text(1)?, args.needed_text(0)?).await?;
            Some(Value::text(&saved.number.to_string()))
        }
        "allocateArtifactPath" => {
            let made = session.artifacts()?.allocate(&args.needed_text(0)?).await?;
            let id = Value::text(&made.number.to_string());
            Some(Value::object([("id", id), ("path", Value::text(&path_of(&made.key)))]))
        }
        "getArtifactPath" => {
            let key = session.artifacts()?.find(&args.needed_text(0)?).await?;
            Some(key.map_or(Value::Null, |key| Value::text(&path_of(&key))))
        }
        "getArtifactsDir" => Some(Value::text(&path_of(session.artifacts()?.prefix()))),
        "getUsageStatistics" => Some(state::usage(session)?),
        _ => return Err(format!("{name} is not there yet").into()),
    })
}
