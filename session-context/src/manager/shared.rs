//! One session for several tasks.

use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::task::Poll;

use session_model::SessionDocument;
use session_model::body::EntryBody;
use session_model::message::Message;
use tokio::sync::{Mutex, MutexGuard};

use super::{NewEntry, SessionManager};
use crate::error::Result;

/// A handle to one open session, cheap to clone, for several tasks that write to it.
///
/// Tasks take turns. If the session is
/// [`Durable`](session_model::storage::Durability::Durable), those that append at the same time
/// share one sync: each writes its lines, and the first to get its turn after the others syncs for
/// all.
#[derive(Clone, Debug)]
pub struct SharedSession {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    session: SessionManager,
    /// How many appends have been written.
    written: u64,
    /// How many of them are known to be on disk.
    synced: u64,
}

/// A session that one task has to itself until this is dropped.
#[derive(Debug)]
pub struct SessionGuard<'a>(MutexGuard<'a, Inner>);

impl Deref for SessionGuard<'_> {
    type Target = SessionManager;

    fn deref(&self) -> &SessionManager {
        &self.0.session
    }
}

impl DerefMut for SessionGuard<'_> {
    fn deref_mut(&mut self) -> &mut SessionManager {
        &mut self.0.session
    }
}

impl From<SessionManager> for SharedSession {
    fn from(session: SessionManager) -> Self {
        let inner = Inner { session, written: 0, synced: 0 };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }
}

impl SharedSession {
    /// Waits for the session and keeps it until the guard is dropped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn lock(&self) -> SessionGuard<'_> {
        SessionGuard(self.inner.lock().await)
    }

    /// Returns the session as it is now; the snapshot does not change any more.
    ///
    /// Nothing is copied, but the first change while a snapshot is held copies the index.
    pub async fn snapshot(&self) -> Arc<SessionDocument> {
        self.lock().await.snapshot()
    }

    /// As [`SessionManager::append`].
    ///
    /// # Errors
    ///
    /// As [`SessionManager::append`].
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits for its turn, nothing is appended. Later, the entry is appended and
    /// may not be durable yet.
    pub async fn append(&self, body: impl Into<EntryBody>) -> Result<String> {
        let ids = self.append_batch([NewEntry::from(body.into())]).await?;
        Ok(ids.into_iter().next().unwrap_or_default())
    }

    /// As [`SessionManager::append_message`].
    ///
    /// # Errors
    ///
    /// As [`SessionManager::append`].
    ///
    /// # Cancel safety
    ///
    /// As [`append`](Self::append).
    pub async fn append_message(&self, message: impl Into<Message>) -> Result<String> {
        self.append(message.into()).await
    }

    /// As [`SessionManager::append_batch`].
    ///
    /// # Errors
    ///
    /// As [`SessionManager::append_batch`].
    ///
    /// # Cancel safety
    ///
    /// As [`append`](Self::append).
    pub async fn append_batch(
        &self,
        entries: impl IntoIterator<Item = NewEntry>,
    ) -> Result<Vec<String>> {
        let entries: Vec<_> = entries.into_iter().collect();
        let (ids, mine) = {
            let mut inner = self.inner.lock().await;
            let ids = inner.session.write_batch(entries).await?;
            inner.written += 1;
            (ids, inner.written)
        };
        // Other tasks that are ready to append get in line before this one syncs for all.
        let_others_run().await;
        let mut inner = self.inner.lock().await;
        if inner.synced < mine
            && let Some(first) = ids.first()
        {
            inner.session.settle_durability(first).await?;
            inner.synced = inner.written;
        }
        Ok(ids)
    }

    /// As [`SessionManager::flush`].
    ///
    /// # Errors
    ///
    /// As [`SessionManager::flush`].
    pub async fn flush(&self) -> Result<()> {
        self.lock().await.flush().await
    }

    /// Gives the session back if this is the last handle, to close it.
    ///
    /// # Errors
    ///
    /// This handle, while there are others.
    pub fn into_manager(self) -> Result<SessionManager, Self> {
        match Arc::try_unwrap(self.inner) {
            Ok(inner) => Ok(inner.into_inner().session),
            Err(inner) => Err(Self { inner }),
        }
    }
}

/// Goes to the end of the line once.
async fn let_others_run() {
    let mut waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
