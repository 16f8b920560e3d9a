//! Which session a terminal goes on with.

use std::path::Path;
use std::sync::Arc;

use session_model::layout::{Breadcrumb, SESSIONS_DIR, TerminalId};
use session_model::storage::{SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey};

use super::cwd::cwd_stat;
use super::look::look;
use super::{CwdFilter, Place, SessionCatalog};
use crate::Result;

/// Where a session is.
#[derive(Clone, Debug)]
pub struct SessionLocation {
    /// The storage.
    pub storage: Arc<dyn SessionStorage>,
    /// The file's key in it.
    pub key: StorageKey,
}

/// Returns the session to go on with in a directory; `None` if a new one is to be made.
///
/// What this terminal worked in last in this directory comes first, if it is still there and can be
/// read, wherever it lies; then the session of this directory somebody last said something in. If
/// the terminal had begun a new session and nothing was written of it, a new one is to be made.
///
/// The trace of a terminal that worked in another directory is not followed: names of terminals
/// are used again.
///
/// # Errors
///
/// As [`list_sessions`](super::list_sessions). A trace that cannot be read is as none.
///
/// # Cancel safety
///
/// Cancel safe: it only reads.
pub async fn session_to_continue(
    agent_dir: &Arc<dyn SessionStorage>,
    cwd: &str,
    terminal: Option<&TerminalId>,
) -> Result<Option<SessionLocation>> {
    let catalog = SessionCatalog::new(vec![Place::agent_dir(Arc::clone(agent_dir))?]);
    catalog.to_continue(cwd, terminal).await
}

impl SessionCatalog {
    /// As [`session_to_continue`], in the first of the places: an agent directory.
    ///
    /// # Errors
    ///
    /// As [`session_to_continue`].
    pub async fn to_continue(
        &self,
        cwd: &str,
        terminal: Option<&TerminalId>,
    ) -> Result<Option<SessionLocation>> {
        let Some(Place { storage: agent_dir, .. }) = self.places().first() else { return Ok(None) };
        if let Some(crumb) = trusted_breadcrumb(&**agent_dir, cwd, terminal).await {
            let location = located(agent_dir, &crumb.session_file);
            match &location {
                Some(place) if is_session(place).await => return Ok(location),
                _ if crumb.fresh && is_gone(location.as_ref()).await => return Ok(None),
                _ => {}
            }
        }
        let newest = self.most_recent(CwdFilter::local(cwd)).await?;
        Ok(newest
            .filter(|row| row.place == 0)
            .map(|row| SessionLocation { storage: Arc::clone(agent_dir), key: row.key }))
    }
}

/// What the terminal left, if it was in this directory then.
async fn trusted_breadcrumb(
    agent_dir: &dyn SessionStorage,
    cwd: &str,
    terminal: Option<&TerminalId>,
) -> Option<Breadcrumb> {
    let read = agent_dir.read_all(&terminal?.key()?).await;
    let crumb = match read {
        Ok((_, bytes)) => Breadcrumb::parse(std::str::from_utf8(&bytes).ok()?)?,
        Err(error) => {
            if error.kind() != StorageErrorKind::NotFound {
                tracing::warn!(%error, "the trace of this terminal cannot be read");
            }
            return None;
        }
    };
    let is_here = CwdFilter::local(cwd).admits(&crumb.cwd)
        || crumb.cwd_stat.is_some_and(|stat| cwd_stat(cwd) == Some(stat));
    is_here.then_some(crumb)
}

/// Where a file lies that a breadcrumb names: a path, or a key where a storage keeps no files.
fn located(agent_dir: &Arc<dyn SessionStorage>, file: &str) -> Option<SessionLocation> {
    let sessions = StorageKey::new(SESSIONS_DIR).ok()?;
    let storage = Arc::clone(agent_dir);
    let Some(folder) = agent_dir.local_path(&sessions) else {
        return Some(SessionLocation { storage, key: StorageKey::new(file).ok()? });
    };
    let path = Path::new(file);
    if let Ok(inside) = path.strip_prefix(&folder) {
        return Some(SessionLocation { storage, key: sessions.join(inside.to_str()?).ok()? });
    }
    if !path.is_absolute() {
        return None;
    }
    let storage = crate::open_existing_storage(path.parent()?.to_str()?).ok()?;
    Some(SessionLocation { storage, key: StorageKey::new(path.file_name()?.to_str()?).ok()? })
}

async fn is_session(place: &SessionLocation) -> bool {
    let SessionLocation { storage, key } = place;
    let Ok(meta) = storage.head(key).await else { return false };
    let row = look(&**storage, &[meta]).await.pop().flatten();
    row.is_some_and(|row| row.summary.is_ok())
}

async fn is_gone(place: Option<&SessionLocation>) -> bool {
    match place {
        None => true,
        Some(place) => matches!(place.storage.exists(&place.key).await, Ok(false)),
    }
}
