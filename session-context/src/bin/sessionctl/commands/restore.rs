//! `sessionctl restore`

use std::path::Path;

use session_context::operations::{Trashed, list_trash, restore_session};
use session_context::{OpenStorageError, SessionError, open_existing_storage};
use session_model::json::{ObjectBuilder, RawJson};
use session_model::layout::SessionFileName;
use session_model::storage::{SessionStorage, StorageErrorKind};

use crate::Context;
use crate::failure::Failure;
use crate::output::{look, say};
use crate::place::{path_or_key, tell_left_behind};

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
    /// The session: how its id or the name of its file begins, or its path in a trash
    session: Option<String>,
}

impl Restore {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let named = self.session.as_deref();
        let path = named.filter(|_| context.store.url().is_none()).map(Path::new);
        let path = path.filter(|path| path.is_file()).and_then(|path| path.canonicalize().ok());
        let root = path.as_deref().and_then(|path| path.ancestors().nth(3)).and_then(Path::to_str);
        let storage = match root {
            Some(root) => open_existing_storage(root)?,
            None => match context.store.storage() {
                Err(OpenStorageError::Missing { path }) if context.store.url().is_none() => {
                    let text = format!("there is no agent directory {}", path.display());
                    return Err(Failure::Refused(text));
                }
                opened => opened?,
            },
        };
        let trash = list_trash(&*storage).await?;
        let Some(named) = named else { return list(&trash, &*storage, context) };
        let is_meant = |trashed: &&Trashed| match &path {
            Some(path) => storage.local_path(&trashed.key).is_some_and(|at| &at == path),
            None => begins_with(trashed, named),
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

fn begins_with(trashed: &Trashed, named: &str) -> bool {
    let Some(name) = SessionFileName::parse(trashed.from.file_name()) else {
        return trashed.from.file_name() == named;
    };
    [name.id, name.stem, trashed.key.as_str()]
        .iter()
        .any(|text| text.get(..named.len()).is_some_and(|start| start.eq_ignore_ascii_case(named)))
}

fn list(
    trash: &[Trashed],
    storage: &dyn SessionStorage,
    context: &mut Context,
) -> Result<(), Failure> {
    let place = |key| path_or_key(storage, key);
    if context.json {
        let objects = trash.iter().map(|trashed| -> RawJson {
            ObjectBuilder::new()
                .string("path", &place(&trashed.key))
                .string("from", &place(&trashed.from))
                .string("deletedAt", &trashed.deleted_at)
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
        context.out.line(&place(&trashed.from))?;
    }
    Ok(())
}
