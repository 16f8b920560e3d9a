//! An open session and its storage, compared with the recording.

use session_context::SessionManager;
use session_model::storage::StorageKey;
use sha2::{Digest, Sha256};

use crate::case::Case;
use crate::findings::Findings;
use crate::value::Value;
use crate::world::{World, local, path_of};
use crate::{Failure, state};

/// Compares what a session shows with `PREFIXstate.json`, `PREFIXentries.json`, `PREFIXtree.json`
/// and `PREFIXcontext.json`; a session opened again has no entries and tree recorded.
pub(crate) fn shown(
    found: &mut Findings,
    case: &Case,
    world: &World,
    (how, prefix): (&str, &str),
    session: &mut SessionManager,
) -> Result<(), Failure> {
    let right = |what: &str| -> Result<(String, Option<Value>), Failure> {
        let name = format!("{prefix}{what}.json");
        Ok((format!("{how}{name}"), case.json(&name)?))
    };
    let needed = |(name, value): (String, Option<Value>)| match value {
        Some(value) => Ok((name, value)),
        None => Err(format!("there is no {name}")),
    };
    let (name, recorded) = needed(right("state")?)?;
    let state = Value::parse(world.rooted(state::state(session)?.to_json().as_str()))?;
    found.values(&name, &state, &local(&recorded)?);
    if prefix == "expected-" {
        let (name, recorded) = needed(right("entries")?)?;
        found.values(&name, &state::entries(session.entries()), &recorded);
        let (name, recorded) = needed(right("tree")?)?;
        found.values(&name, &state::tree(session), &recorded);
    }
    let (name, recorded) = needed(right("context")?)?;
    found.values(&name, &state::contexts(session, &recorded), &recorded);
    Ok(())
}

/// Compares which files there are, and the content of all but the session's own.
pub(crate) async fn other_files(
    found: &mut Findings,
    case: &Case,
    world: &World,
    session: &StorageKey,
) -> Result<(), Failure> {
    let Some(right) = case.json("expected-files.json")? else { return Ok(()) };
    let mut ours = Vec::new();
    for (key, bytes) in world.files().await? {
        let mut file = Value::object([("path", Value::text(&path_of(&key)))]);
        if &key != session {
            file.set("size", Value::Number(bytes.len() as f64));
            let digest = Sha256::digest(&bytes);
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            file.set("sha256", Value::text(&digest));
        }
        ours.push(file);
    }
    let mut right: Vec<(String, Value)> =
        right.items().iter().map(|file| in_one_root(file, session)).collect();
    right.sort_by(|(a, _), (b, _)| a.cmp(b));
    let right = right.into_iter().map(|(_, file)| file).collect();
    found.values("expected-files.json", &Value::Array(ours), &Value::Array(right));
    Ok(())
}

/// A recorded file with its path; of the session's own only that.
///
/// The recorder had sessions beside the agent directory, we have them in it.
fn in_one_root(recorded: &Value, session: &StorageKey) -> (String, Value) {
    let path = recorded.get("path").and_then(Value::as_text).unwrap_or_default();
    let path = path.replacen("{ROOT}/agent/", "{ROOT}/", 1);
    let mut file = Value::object([("path", Value::text(&path))]);
    if path != path_of(session) {
        for name in ["size", "sha256"] {
            file.set(name, recorded.get(name).cloned().unwrap_or(Value::Null));
        }
    }
    (path, file)
}
