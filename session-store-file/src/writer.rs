//! Appending to an object.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::{
    AppendOptions, AppendWriter, Durability, ObjectMeta, Payload, PutOptions, Result, StorageError,
    StorageErrorKind, StorageKey,
};

use crate::dir::{self, Found};
use crate::error::{During, Fault};
use crate::lease::{self, Lease};
use crate::open::Open;
use crate::store::{Store, is_durable};
use crate::temp;

const OPERATION: &str = "append to";

/// A file open at its end.
#[derive(Debug)]
pub(crate) struct FileWriter {
    store: Arc<Store>,
    key: StorageKey,
    /// Where the object is found, for the look at it that precedes every append.
    path: CString,
    open: Open,
    /// Held by an exclusive writer.
    lease: Option<Lease>,
    error: Option<StorageError>,
}

impl FileWriter {
    pub(crate) fn open(
        store: &Arc<Store>,
        key: &StorageKey,
        options: &AppendOptions,
    ) -> Result<Self> {
        let operation = "open";
        let root = store.root().during(operation, key)?;
        let path = store.path_of(key).into_os_string().into_vec();
        let path = CString::new(path).map_err(io::Error::from).during(operation, key)?;

        let locked = store.lock_and_sweep(&root).during(operation, key)?;
        let found = store.admit(&root, key, &options.precondition, false)?;
        let (dir, grown) = dir::make_parent(&root, key).during(operation, key)?;
        let lease = match options.exclusive {
            true => Some(Lease::claim(&dir, key, options.owner.as_deref())?),
            false => None,
        };
        let open = Open::new(dir, key, found).during(operation, key)?;
        drop(locked);

        grown.sync().during(operation, key)?;
        Ok(Self { store: Arc::clone(store), key: key.clone(), path, open, lease, error: None })
    }

    /// Appends under the operation lock, wherever the object is by now.
    fn append_shared(&mut self, lines: &[u8]) -> Result<u64> {
        loop {
            let root = self.store.root().during(OPERATION, &self.key)?;
            let locked = self.store.lock(&root).during(OPERATION, &self.key)?;
            lease::ensure_free(&self.open.dir, &self.key)?;
            if let Ok(Found::Object(state)) = dir::find_at(&self.path)
                && state.glance().file == self.open.at.file
            {
                self.open.at = state.glance();
                return self.open.append(lines, Instant::now()).during(OPERATION, &self.key);
            }
            drop(locked);
            *self = Self::open(&self.store, &self.key, &AppendOptions::default())?;
        }
    }

    /// Appends under this writer's claim.
    fn append_claimed(&mut self, lines: &[u8]) -> Result<u64> {
        let now = Instant::now();
        let in_haste = self.open.is_in_haste(now);
        if !in_haste || !self.open.seems_unchanged().during("look at", &self.key)? {
            self.ensure_unchanged()?;
        }
        let start = self.open.append(lines, now).during(OPERATION, &self.key)?;
        if !in_haste {
            self.open.note_time();
        }
        Ok(start)
    }

    /// Makes sure that the object is as this writer left it.
    fn ensure_unchanged(&self) -> Result<()> {
        let at = self.open.at;
        let found = match dir::find_at(&self.path) {
            Err(Fault::Symlink | Fault::Special) => {
                let detail = "what is no file was put in its place".to_owned();
                return Err(StorageError::Conflict { key: self.key.clone(), detail });
            }
            found => found.during("look at", &self.key)?,
        };
        let detail = match found {
            Found::Object(now) if self.open.is_as_left(&now) => return Ok(()),
            Found::Object(now) if now.glance().file != at.file => {
                "something else was put in its place".to_owned()
            }
            Found::Object(now) if now.size == at.size => "it was edited in place".to_owned(),
            Found::Object(now) => format!("it has {} bytes, not the {} known", now.size, at.size),
            Found::Directory => "a directory was put in its place".to_owned(),
            Found::Nothing => "it was removed".to_owned(),
        };
        Err(StorageError::Conflict { key: self.key.clone(), detail })
    }

    /// Makes everything appended durable, and makes sure that it is where the object belongs.
    fn sync_now(&mut self) -> Result<()> {
        self.open.sync().during("make durable", &self.key)?;
        if self.lease.is_some() {
            self.ensure_unchanged()?;
            self.open.note_time();
        }
        Ok(())
    }

    /// Looks at the object under the operation lock, with the claim renewed where it must be.
    fn find_again(&mut self) -> Result<(Open, ObjectMeta)> {
        let (operation, key) = ("open", &self.key);
        let not_found = || StorageError::NotFound { key: key.clone() };
        let root = self.store.root().during(operation, key)?;
        let _locked = self.store.lock(&root).during(operation, key)?;
        let dir = dir::parent(&root, key).during(operation, key)?.ok_or_else(not_found)?;
        let found = dir::find(&dir, key.file_name()).during(operation, key)?;
        let Found::Object(_) = found else { return Err(not_found()) };
        if let Some(lease) = &mut self.lease {
            lease.renew(&dir, key)?;
        }
        let open = Open::new(dir, key, found).during(operation, key)?;
        let state = dir::state(&open.file).during(operation, key)?;
        Ok((open, state.meta(key)))
    }

    /// Makes sure that others look for the claim where this writer has it.
    fn renew_claim(&mut self) -> Result<()> {
        let (operation, key) = ("claim", &self.key);
        let Some(lease) = &mut self.lease else { return Ok(()) };
        let root = self.store.root().during(operation, key)?;
        let locked = self.store.lock(&root).during(operation, key)?;
        let (dir, grown) = dir::make_parent(&root, key).during(operation, key)?;
        lease.renew(&dir, key)?;
        drop(locked);
        grown.sync().during(operation, key)
    }

    fn truncate_now(&mut self, len: u64) -> Result<()> {
        let invalid = |detail| Err(StorageError::Invalid { detail });
        if self.lease.is_none() {
            return invalid(format!("only an exclusive writer can cut {}", self.key));
        }
        self.ensure_unchanged()?;
        let size = self.open.at.size;
        if len > size {
            return invalid(format!("cannot cut {} to {len} bytes: it has {size}", self.key));
        }
        self.open.truncate(len).during("cut", &self.key)
    }

    fn ensure_usable(&self) -> Result<()> {
        match &self.error {
            None => Ok(()),
            Some(error) => Err(StorageError::Closed {
                key: self.key.clone(),
                source: Some(Arc::new(error.clone())),
            }),
        }
    }

    /// Closes the writer if the call failed in a way that is not told to leave it open.
    fn settle<T>(&mut self, result: Result<T>, harmless: &[StorageErrorKind]) -> Result<T> {
        result.inspect_err(|error| {
            if !harmless.contains(&error.kind()) {
                self.error = Some(error.clone());
            }
        })
    }
}

#[async_trait]
impl AppendWriter for FileWriter {
    fn len(&self) -> u64 {
        self.open.at.size
    }

    async fn append(&mut self, lines: Bytes) -> Result<u64> {
        self.ensure_usable()?;
        if lines.is_empty() {
            return Ok(self.len());
        }
        let result = match &self.lease {
            Some(_) => self.append_claimed(&lines),
            None => self.append_shared(&lines),
        };
        self.settle(result, &[StorageErrorKind::Conflict, StorageErrorKind::Busy])
    }

    async fn truncate(&mut self, len: u64) -> Result<()> {
        self.ensure_usable()?;
        let result = self.truncate_now(len);
        self.settle(result, &[StorageErrorKind::Invalid, StorageErrorKind::Conflict])
    }

    async fn replace(&mut self, body: Payload, options: PutOptions) -> Result<ObjectMeta> {
        self.ensure_usable()?;
        self.renew_claim()?;
        let claimed = self.lease.is_some();
        let placed =
            self.store.replace(&self.key, &options, claimed, |file| temp::write(file, &body))?;
        let meta = placed.state.meta(&self.key);
        let open = Open::placed(placed, options.durability).during("replace", &self.key);
        self.open = self.settle(open, &[])?;
        Ok(meta)
    }

    async fn adopt(&mut self) -> Result<ObjectMeta> {
        self.ensure_usable()?;
        let found = self.find_again();
        let (open, meta) = self.settle(found, &[StorageErrorKind::NotFound])?;
        self.open = open;
        Ok(meta)
    }

    async fn sync(&mut self, level: Durability) -> Result<()> {
        self.ensure_usable()?;
        let result = is_durable(level).and_then(|durable| match durable {
            true => self.sync_now(),
            false => Ok(()),
        });
        self.settle(result, &[StorageErrorKind::Unsupported, StorageErrorKind::Conflict])
    }

    fn error(&self) -> Option<&StorageError> {
        self.error.as_ref()
    }

    async fn close(self: Box<Self>) -> Result<ObjectMeta> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let Found::Object(state) = dir::find_at(&self.path).during("close", &self.key)? else {
            return Err(StorageError::NotFound { key: self.key.clone() });
        };
        if self.lease.is_some() {
            self.ensure_unchanged()?;
        }
        Ok(state.meta(&self.key))
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use super::*;

    fn now<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("a call did not end within one poll"),
        }
    }

    #[test]
    fn a_failed_sync_is_final() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::new(dir.path().to_owned(), Duration::from_secs(1)));
        let key = StorageKey::new("s.jsonl").unwrap();
        let options = AppendOptions::exclusive("test");
        let mut writer = FileWriter::open(&store, &key, &options).unwrap();
        assert_eq!(now(writer.append(Bytes::from("one\n"))).unwrap(), 0);
        // A pipe cannot be synced, so this stands in for a file whose disk fails.
        let (_reader, pipe) = io::pipe().unwrap();
        writer.open.file = std::os::fd::OwnedFd::from(pipe).into();

        let failure = now(writer.sync(Durability::Durable)).unwrap_err();
        assert_eq!(failure.kind(), StorageErrorKind::Other);
        assert_eq!(
            failure.to_string(),
            "could not make durable s.jsonl: the system reported an error"
        );
        assert_eq!(writer.error().map(ToString::to_string), Some(failure.to_string()));
        for refused in [
            now(writer.append(Bytes::from("two\n"))).map(drop),
            now(writer.sync(Durability::Accepted)),
            now(writer.replace(Payload::from("x"), PutOptions::default())).map(drop),
        ] {
            assert_eq!(refused.unwrap_err().kind(), StorageErrorKind::Closed);
        }
        let last = now(Box::new(writer).close()).unwrap_err();
        assert_eq!(last.to_string(), failure.to_string());
        assert_eq!(std::fs::read_to_string(dir.path().join("s.jsonl")).unwrap(), "one\n");
    }
}
