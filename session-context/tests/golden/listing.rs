//! Lists of sessions, compared with the recorded ones.

use session_context::listing::{ListingOptions, Scope, SessionRow, list_sessions};
use session_model::storage::StorageKey;
use session_model::summary::TitleOrigin;
use session_model::time::to_iso;

use crate::Failure;
use crate::case::Case;
use crate::findings::Findings;
use crate::value::Value;
use crate::world::{World, path_of};

/// Compares the lists of all sessions.
pub(crate) async fn compare(
    found: &mut Findings,
    case: &Case,
    world: &World,
) -> Result<(), Failure> {
    compare_in(found, case, world, "sessions").await
}

/// Compares the lists of all sessions in a folder.
pub(crate) async fn compare_in(
    found: &mut Findings,
    case: &Case,
    world: &World,
    folder: &str,
) -> Result<(), Failure> {
    let rows = rows(world, folder, ListingOptions::default()).await?;
    list(found, case, world, "expected-list.json", &rows)?;
    recent(found, case, "expected-recent.json", &rows)
}

/// Lists the sessions of a folder.
pub(crate) async fn rows(
    world: &World,
    folder: &str,
    options: ListingOptions<'_>,
) -> Result<Vec<SessionRow>, Failure> {
    let scope = Scope::Bucket(StorageKey::new(folder)?);
    Ok(list_sessions(&*world.storage, &scope, options).await?)
}

/// Compares with a recorded list; times of files and whole texts are the recorder's alone.
pub(crate) fn list(
    found: &mut Findings,
    case: &Case,
    world: &World,
    name: &str,
    rows: &[SessionRow],
) -> Result<(), Failure> {
    let Some(recorded) = case.json(name)? else { return Ok(()) };
    let right = recorded.items().iter().map(|row| without(row, &["modified", "allMessagesText"]));
    let ours = Value::Array(rows.iter().map(listed).collect());
    let ours = Value::parse(world.rooted(ours.to_json().as_str()))?;
    found.values(name, &ours, &Value::Array(right.collect()));
    Ok(())
}

/// Compares with a list of the newest; times of files and shortened names are the recorder's alone.
pub(crate) fn recent(
    found: &mut Findings,
    case: &Case,
    name: &str,
    rows: &[SessionRow],
) -> Result<(), Failure> {
    let Some(recorded) = case.json(name)? else { return Ok(()) };
    let right = recorded.items().iter().map(|row| without(row, &["mtime", "name", "timeAgo"]));
    let ours = Value::Array(rows.iter().filter_map(called).collect());
    found.values(name, &ours, &Value::Array(right.collect()));
    Ok(())
}

fn without(row: &Value, names: &[&str]) -> Value {
    let Value::Object(members) = row else { return row.clone() };
    let kept = members.iter().filter(|(name, _)| !names.contains(&name.as_str()));
    Value::Object(kept.cloned().collect())
}

/// A row as the recorder listed it; of what is no session only that.
fn listed(row: &SessionRow) -> Value {
    let mut out = Value::object([("path", Value::text(&path_of(&row.key)))]);
    let Ok(summary) = &row.summary else {
        out.set("error", Value::Bool(true));
        return out;
    };
    out.set("id", Value::text(&summary.id));
    let first = summary.first_message.as_deref().unwrap_or("(no messages)");
    out.set("firstMessage", Value::text(first));
    out.set("messageCount", Value::Number(summary.message_count as f64));
    let title = summary.title.as_ref().filter(|title| title.origin != TitleOrigin::FirstMessage);
    let created = summary.created_ms.map(|ms| Value::text(&to_iso(ms)));
    out.set("created", created.unwrap_or(Value::Null));
    for (name, text) in [
        ("cwd", summary.cwd.as_deref()),
        ("title", title.map(|title| title.text.as_str())),
        ("parentSessionPath", summary.parent_session.as_deref()),
    ] {
        if let Some(text) = text {
            out.set(name, Value::text(text));
        }
    }
    out
}

/// A session under the name it is shown by: its id if nobody said anything.
fn called(row: &SessionRow) -> Option<Value> {
    let summary = row.summary.as_ref().ok()?;
    let title = summary.title.as_ref().map_or(&summary.id, |title| &title.text);
    let path = ("path", Value::text(&path_of(&row.key)));
    Some(Value::object([path, ("fullName", Value::text(title))]))
}
