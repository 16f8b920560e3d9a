//! `sessionctl restore`

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use session_context::listing::{ListingOptions, Place, Scope, SessionCatalog};
use session_context::operations::{TRASH_DIR, Trashed, list_trash, restore_session};
use session_context::{OpenStorageError, SessionError};
use session_model::json::{ObjectBuilder, RawJson};
use session_model::layout::SessionFileName;
use session_model::preview::one_line;
use session_model::storage::{SessionStorage, StorageErrorKind, StorageKey};
use session_model::summary::SessionSummary;

use crate::Context;
use crate::failure::Failure;
use crate::output::{TITLE_CHARS, look, say};
use crate::place::{path_or_key, tell_left_behind};
use crate::store::{expand_home, tell_of_index};

/// Bring a session back from the trash to where it was, or list what is in the trash
///
/// Prints the path it is at again. What is there now is never overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl restore
  sessionctl restore 019bc10e
  sessionctl restore trash/2026-01-15T09-30-00-000Z_session/session.jsonl")]
pub(crate) struct Restore {
    /// The session: how its id, the name of its file or its title begins, or its path in a trash
    session: Option<String>,
}

impl Restore {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let named = self.session.as_deref();
        let path = named.map(expand_home);
        let path = path.as_deref().map(Path::new);
        let path = path.filter(|path| path.is_file()).and_then(|path| path.canonicalize().ok());
        let root = path.as_deref().and_then(|path| path.ancestors().nth(3)).and_then(Path::to_str);
        let storage = match root {
            Some(root) => context.store.open(root)?,
            None => match context.store.storage() {
                Err(OpenStorageError::Missing { path }) if context.store.url().is_none() => {
                    let text = format!("there is no agent directory {}", path.display());
                    return Err(Failure::Refused(text));
                }
                opened => opened?,
            },
        };
        let trash = list_trash(&*storage).await?;
        let about = summaries(Arc::clone(&storage)).await?;
        let Some(named) = named else { return list(&trash, &about, &*storage, context) };
        let is_meant = |trashed: &&Trashed| match &path {
            Some(path) => storage.local_path(&trashed.key).is_some_and(|at| &at == path),
            None => begins_with(trashed, about.get(&trashed.key), named),
        };
        let trashed = match trash.iter().filter(is_meant).collect::<Vec<_>>()[..] {
            [trashed] => trashed,
            [] => {
                let list = "`sessionctl restore` lists those there are";
                return Err(Failure::Refused(format!("{named} is not in the trash; {list}")));
            }
            ref several => {
                let paths: Vec<_> =
                    several.iter().map(|trashed| path_or_key(&*storage, &trashed.key)).collect();
                return Err(Failure::Refused(format!(
                    "{named} may mean {} sessions in the trash; name one by its path: {}",
                    several.len(),
                    paths.join(", ")
                )));
            }
        };
        let restored = match restore_session(&storage, trashed).await {
            Err(SessionError::Storage(error))
                if error.kind() == StorageErrorKind::AlreadyExists =>
            {
                let there = path_or_key(&*storage, &trashed.from);
                return Err(Failure::Refused(format!(
                    "{there} is there again; move that away to restore the one that was deleted"
                )));
            }
            restored => restored?,
        };
        tell_left_behind(&restored.left_behind);
        let path = path_or_key(&*storage, &restored.key);
        if context.json {
            let json = ObjectBuilder::new().string("path", &path).build();
            context.out.json(json.as_str())?.end()?;
        } else {
            context.out.line(&path)?;
        }
        Ok(())
    }
}

/// What is known of the sessions in the trash.
type Summaries = HashMap<StorageKey, SessionSummary>;

async fn summaries(storage: Arc<dyn SessionStorage>) -> Result<Summaries, Failure> {
    let scope = Scope::All(TRASH_DIR.parse()?);
    let catalog = SessionCatalog::new(vec![Place { storage, scope }]);
    let rows = catalog.list_all(ListingOptions::default()).await;
    tell_of_index(&catalog);
    let rows = rows?;
    Ok(rows.into_iter().filter_map(|row| Some((row.key, row.summary.ok()?))).collect())
}

fn begins_with(trashed: &Trashed, about: Option<&SessionSummary>, named: &str) -> bool {
    let name = SessionFileName::parse(trashed.from.file_name());
    let title = about.and_then(|about| about.title.as_ref());
    let names = [
        name.as_ref().map(|name| name.id),
        name.as_ref().map(|name| name.stem),
        Some(trashed.key.as_str()),
        Some(trashed.from.file_name()),
        about.map(|about| &*about.id),
        title.map(|title| &*title.text),
    ];
    let named = named.to_lowercase();
    names.into_iter().flatten().any(|text| text.to_lowercase().starts_with(&named))
}

fn list(
    trash: &[Trashed],
    about: &Summaries,
    storage: &dyn SessionStorage,
    context: &mut Context,
) -> Result<(), Failure> {
    let place = |key| path_or_key(storage, key);
    let title =
        |trashed: &Trashed| about.get(&trashed.key)?.title.as_ref().map(|title| &*title.text);
    if context.json {
        let objects = trash.iter().map(|trashed| -> RawJson {
            let string = |text: &str| RawJson::string(text);
            let id = about.get(&trashed.key).map(|about| string(&about.id));
            ObjectBuilder::new()
                .string("path", &place(&trashed.key))
                .string("from", &place(&trashed.from))
                .string("deletedAt", &trashed.deleted_at)
                .optional("id", id.as_ref())
                .optional("title", title(trashed).map(string).as_ref())
                .build()
        });
        context.out.json("[")?.json_list(objects)?.json("]")?.end()?;
        return Ok(());
    }
    if trash.is_empty() {
        say("note", "the trash is empty");
    }
    for trashed in trash {
        context.out.text(look::DIM, &format!("{}  ", trashed.deleted_at))?;
        let title = one_line(title(trashed).unwrap_or("(no title)"), TITLE_CHARS);
        context.out.line(&format!("{}  {title}", place(&trashed.from)))?;
    }
    Ok(())
}
