//! Which session is gone on with, compared with the recorded choices.

use std::sync::Arc;

use session_context::listing::{CwdFilter, Place, Scope, SessionCatalog};
use session_context::{NewSession, SessionError, SessionManager};
use session_model::layout::TerminalId;
use session_model::storage::StorageKey;

use crate::case::Case;
use crate::dirs::put_files;
use crate::findings::Findings;
use crate::value::Value;
use crate::world::{World, path_of};
use crate::{Failure, listing};

const CWD: &str = "/work/project";

/// Goes on in a directory, as the recorder did in a terminal of the program kitty.
pub(crate) async fn continue_recent(case: &Case, world: World) -> Result<(), Failure> {
    put_files(case, &world).await?;
    let terminal = TerminalId::new(None, |name| (name == "KITTY_WINDOW_ID").then(|| "7".into()))
        .ok_or("no terminal")?;
    let go_on = async |cwd: &str, terminal: Option<&TerminalId>| {
        world.next_session_id("made");
        let agent_dir = Arc::clone(&world.storage);
        SessionManager::continue_recent(
            agent_dir,
            NewSession::in_cwd(cwd),
            terminal,
            world.options(),
        )
        .await
    };
    let mut ours = Value::object([]);
    let newest = go_on(CWD, None).await?;
    ours.set("newest", Value::text(&path_of(newest.key())));
    newest.close().await?;

    // The recorder opened the other one in this terminal.
    let key = StorageKey::new("sessions/b.jsonl")?;
    let mut opened =
        SessionManager::open(Arc::clone(&world.storage), key, CWD, world.options()).await?;
    opened.leave_breadcrumb(&*world.storage, &terminal, CWD).await;
    opened.close().await?;
    let crumb = terminal.key().ok_or("a terminal without a key")?;
    let text = world.read(&crumb).await?.ok_or("no breadcrumb")?;
    let root = world.storage.local_path(&StorageKey::new("sessions")?);
    let root = root.and_then(|path| path.parent().map(|root| format!("{}/", root.display())));
    let text = String::from_utf8(text.to_vec())?.replace(&root.unwrap_or_default(), "");
    ours.set("breadcrumb", Value::text(&text.replace("sessions/", "{ROOT}/sessions/")));
    let again = go_on(CWD, Some(&terminal)).await?;
    ours.set("withBreadcrumb", Value::text(&path_of(again.key())));
    again.close().await?;

    let other = go_on("/other/cwd", Some(&terminal)).await?;
    let is_new = !other.is_on_disk() && other.entries().is_empty();
    ours.set(
        "otherCwd",
        if is_new { Value::text("new") } else { Value::text(&path_of(other.key())) },
    );
    ours.set("otherCwdManagerCwd", Value::text("/other/cwd"));
    ours.set("otherCwdHeaderCwd", Value::text(&other.cwd().unwrap_or_default()));
    other.close().await?;

    let empty = go_on("/empty", None).await?;
    ours.set("emptyDirNewFileExists", Value::Bool(empty.is_on_disk()));
    ours.set("emptyDirEntries", Value::Number(empty.entries().len() as f64));
    empty.close().await?;
    let mut found = Findings::default();
    let right = case.json("expected-continue.json")?.ok_or("no recorded choices")?;
    found.values("expected-continue.json", &ours, &right);
    found.into_result()
}

/// Finds sessions by how their names begin.
pub(crate) async fn resolve(case: &Case, world: World) -> Result<(), Failure> {
    put_files(case, &world).await?;
    let place = |scope| Place { storage: Arc::clone(&world.storage), scope };
    let all = SessionCatalog::new(vec![place(Scope::All(StorageKey::new("agent/sessions")?))]);
    let bucket = StorageKey::new("agent/sessions/--work-project--")?;
    let local = SessionCatalog::new(vec![place(Scope::Bucket(bucket))]);
    let mut found = Findings::default();
    listing::list(
        &mut found,
        case,
        &world,
        "expected-list-all.json",
        &all.list_all(Default::default()).await?,
    )?;
    let of_cwd = all.list(CwdFilter::named(CWD)).await?;
    listing::list(&mut found, case, &world, "expected-list-cwd.json", &of_cwd)?;

    let right = case.json("expected-resolve.json")?.ok_or("nothing was recorded")?;
    let mut ours = Vec::new();
    for recorded in right.items() {
        let wanted = recorded.get("arg").and_then(Value::as_text).ok_or("no argument")?;
        let in_bucket = recorded.get("sessionDir");
        let catalog = if in_bucket.is_some() { &local } else { &all };
        let result = match catalog.find(&wanted, CwdFilter::named(CWD)).await {
            Ok(row) => {
                let scope = if row.summary.as_ref().is_ok_and(|s| s.cwd.as_deref() == Some(CWD)) {
                    "local"
                } else {
                    "global"
                };
                let mut result = Value::object([("scope", Value::text(scope))]);
                result.set("id", Value::text(&row.summary.as_ref().map_err(Clone::clone)?.id));
                if in_bucket.is_none() {
                    result.set("path", Value::text(&path_of(&row.key)));
                }
                result
            }
            Err(SessionError::NoMatch { .. }) => Value::Null,
            Err(SessionError::Ambiguous { candidates, .. }) => {
                let names = candidates.iter().filter_map(|path| path.rsplit('/').next());
                Value::object([("ambiguous", Value::texts(names))])
            }
            Err(error) => return Err(error.into()),
        };
        let mut item = Value::object([("arg", Value::text(&wanted))]);
        if let Some(folder) = in_bucket {
            item.set("sessionDir", folder.clone());
        }
        item.set("result", result);
        ours.push(item);
    }
    found.values("expected-resolve.json", &Value::Array(ours), &right);
    found.into_result()
}
