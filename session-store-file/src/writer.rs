//! Appending to an object.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use rustix::fs::OFlags;
use rustix::io::Errno;
use session_model::storage::{
    AppendOptions, AppendWriter, Durability, ObjectMeta, Payload, PutOptions, Result, StorageError,
    StorageErrorKind, StorageKey,
};

use crate::dir::{self, FILE_MODE, Found};
use crate::error::{During, Fault};
use crate::lease::{self, Lease};
use crate::lock::Courtesy;
use crate::replace::Placed;
use crate::state::{self, Glance};
use crate::store::{Store, is_durable};
use crate::{remove, temp};

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

/// The object a writer is at.
#[derive(Debug)]
struct Open {
    dir: File,
    file: File,
    /// The file and its size as this writer knows them.
    at: Glance,
    /// Whether the entry in the directory is known to be durable.
    entry_is_durable: bool,
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

        let locked = store.lock(&root).during(operation, key)?;
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
            if let Ok(Some(glance)) = state::glance(&self.path)
                && glance.file == self.open.at.file
            {
                self.open.at = glance;
                return self.open.append(lines).during(OPERATION, &self.key);
            }
            drop(locked);
            *self = Self::open(&self.store, &self.key, &AppendOptions::default())?;
        }
    }

    /// Makes sure that the object is as this writer left it.
    fn ensure_unchanged(&self) -> Result<()> {
        let at = self.open.at;
        let detail = match state::glance(&self.path).during("look at", &self.key)? {
            Some(now) if now == at => return Ok(()),
            Some(now) if now.file == at.file => {
                format!("it has {} bytes, not the {} known", now.size, at.size)
            }
            Some(_) => "something else was put in its place".to_owned(),
            None => "it was removed".to_owned(),
        };
        Err(StorageError::Conflict { key: self.key.clone(), detail })
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
            Some(_) => self
                .ensure_unchanged()
                .and_then(|()| self.open.append(&lines).during(OPERATION, &self.key)),
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
            true => self.open.sync().during("make durable", &self.key),
            false => Ok(()),
        });
        self.settle(result, &[StorageErrorKind::Unsupported])
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

impl Open {
    /// Opens what was found, or creates it; the operation lock must be held.
    fn new(dir: File, key: &StorageKey, found: Found) -> Result<Self, Fault> {
        let (name, flags) = (key.file_name(), OFlags::WRONLY | OFlags::APPEND);
        let file = match found {
            Found::Object(_) => dir::open(&dir, name, flags)?.ok_or(Errno::NOENT)?,
            Found::Nothing => dir::create(&dir, name, flags, FILE_MODE)?,
            Found::Directory => {
                remove::prune(&dir, name)?;
                dir::create(&dir, name, flags, FILE_MODE)?
            }
        };
        let at = dir::state(&file)?.glance();
        Ok(Self { dir, file, at, entry_is_durable: false })
    }

    /// Goes on in a file that has just become the object.
    fn placed(placed: Placed, durability: Durability) -> Result<Self, Fault> {
        let Placed { file, dir, state } = placed;
        rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
        let entry_is_durable = durability >= Durability::Durable;
        if entry_is_durable {
            dir.sync_all()?;
        }
        Ok(Self { dir, file, at: state.glance(), entry_is_durable })
    }

    /// Writes at the end, all or nothing, and returns where.
    fn append(&mut self, bytes: &[u8]) -> Result<u64, Fault> {
        let _courtesy = Courtesy::of_writer(&self.file);
        let start = self.at.size;
        let mut written = 0;
        while written < bytes.len() {
            match (&self.file).write(&bytes[written..]) {
                Ok(0) => {
                    return Err(self.cut_back(start, written, io::ErrorKind::WriteZero.into()));
                }
                Ok(n) => written += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.cut_back(start, written, error)),
            }
        }
        self.at.size += bytes.len() as u64;
        Ok(start)
    }

    /// Takes away what a failed append wrote and returns why it failed.
    fn cut_back(&self, start: u64, written: usize, write: io::Error) -> Fault {
        let cut = || {
            let size = self.file.metadata()?.len();
            match size.checked_sub(written as u64) {
                _ if written == 0 => Ok(()),
                Some(rest) if rest == start => self.file.set_len(start),
                // Cutting would take what somebody else wrote behind.
                _ => Err(io::Error::other("the object was changed meanwhile")),
            }
        };
        match cut() {
            Ok(()) => write.into(),
            Err(cut) => Fault::Torn { write, cut },
        }
    }

    fn truncate(&mut self, len: u64) -> Result<(), Fault> {
        if len < self.at.size {
            dir::state(&self.file)?.outlive();
            let _courtesy = Courtesy::of_writer(&self.file);
            self.file.set_len(len)?;
            self.at.size = len;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.file.sync_data()?;
        if !self.entry_is_durable {
            self.dir.sync_all()?;
            self.entry_is_durable = true;
        }
        Ok(())
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
        writer.open.file = File::from(std::os::fd::OwnedFd::from(pipe));

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
