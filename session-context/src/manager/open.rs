//! Making and opening sessions.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use session_model::document::{LoadError, Loaded};
use session_model::entry::NewEntries;
use session_model::env::IdSource;
use session_model::layout::{BucketRoots, BucketScheme, SESSIONS_DIR, session_file_name};
use session_model::migrate::migrate;
#[cfg(feature = "memory")]
use session_model::persisted::{ImagePolicy, OversizePolicy};
use session_model::storage::{
    AppendOptions, AppendWriter, ObjectMeta, Precondition, PutOptions, SessionStorage,
    SessionStorageExt, StorageErrorKind, StorageKey,
};
use session_model::time::to_iso;
use session_model::{Diagnostic, DiagnosticCode, NewHeader, SessionDocument, SessionHeader};

use super::aside::{self, Aside};
use super::growth::{LOOKS, PAUSE};
use super::persist::read_if_there;
use super::{FileState, NewSession, SessionManager, SessionOptions};
use crate::error::{Result, SessionError};
use crate::waiting::Pause;

impl SessionManager {
    /// Makes a new session.
    ///
    /// # Errors
    ///
    /// [`SessionError::InvalidName`] if the session's id can be no part of a file's name; with
    /// [`SessionOptions::eager`] also whatever keeps the file from being written.
    pub async fn create(
        storage: Arc<dyn SessionStorage>,
        new: NewSession,
        options: SessionOptions,
    ) -> Result<Self> {
        let mut manager = Self::new_unwritten(storage, new, options)?;
        if manager.eager {
            manager.ensure_on_disk().await?;
        }
        Ok(manager)
    }

    /// Makes a new session that is kept in memory only.
    ///
    /// # Errors
    ///
    /// None in ordinary use; see [`create`](Self::create).
    #[cfg(feature = "memory")]
    pub fn in_memory(cwd: impl Into<String>, options: SessionOptions) -> Result<Self> {
        let storage = Arc::new(session_store_memory::MemoryStorage::new());
        let mut manager = Self::new_unwritten(storage, NewSession::in_cwd(cwd), options)?;
        manager.persistent = false;
        manager.persist.images = ImagePolicy::Inline;
        manager.persist.oversize = OversizePolicy::Cut;
        Ok(manager)
    }

    fn new_unwritten(
        storage: Arc<dyn SessionStorage>,
        new: NewSession,
        mut options: SessionOptions,
    ) -> Result<Self> {
        let storage = options.patient(storage);
        let (key, document) = new_document(new, options.clock.now_ms(), &mut *options.ids)?;
        Ok(Self::assemble(storage, key, document, FileState::Pending(None), options))
    }

    /// Ends the present session and makes a new one in its place, in the same storage.
    ///
    /// What is in the old file is flushed and the claim on it given up; a session nothing was
    /// written of yet is forgotten. A read-only manager
    /// can write the new session.
    ///
    /// # Errors
    ///
    /// [`SessionError::InvalidName`] and [`SessionError::Unsaved`]: the present session stays as
    /// it is. With [`SessionOptions::eager`] also whatever keeps the new file from being written.
    pub async fn new_session(&mut self, new: NewSession) -> Result<()> {
        let (key, document) = new_document(new, self.clock.now_ms(), &mut *self.ids)?;
        self.flush().await?;
        if let FileState::Open(writer) | FileState::Pending(Some(writer)) =
            std::mem::replace(&mut self.file, FileState::Pending(None))
        {
            // All of it is on disk, and the claim is given up whatever closing says.
            drop(writer.close().await);
        }
        (self.key, self.document) = (key, Arc::new(document));
        self.diagnostics.clear();
        self.usage = None;
        self.provider_identity = None;
        if self.eager { self.ensure_on_disk().await } else { Ok(()) }
    }

    /// Opens a session for writing, or makes a new one at this very key if there is none; its
    /// file is written at once.
    ///
    /// Old formats are brought up to date and the file is rewritten at once. A torn end is moved
    /// into a file of its own, and so is a file that is no session: a new session takes its place.
    /// [`diagnostics`](Self::diagnostics) tells what was done. A session of a newer format opens
    /// read-only.
    ///
    /// # Errors
    ///
    /// [`SessionError::Storage`] of kind `Busy`, naming the holder, if another writer has it open,
    /// and still has after [`SessionOptions::wait`].
    pub async fn open(
        storage: Arc<dyn SessionStorage>,
        key: StorageKey,
        cwd: &str,
        mut options: SessionOptions,
    ) -> Result<Self> {
        let storage = options.patient(storage);
        match storage.head(&key).await {
            Err(error) if error.kind() == StorageErrorKind::NotFound => {}
            head => {
                head?;
                return Self::claim_and_open(storage, key, cwd, options).await;
            }
        }
        let absent = AppendOptions::exclusive(&options.owner).when(Precondition::Absent);
        match storage.open_append(&key, absent).await {
            // Another program made it just now.
            Err(error) if error.kind() == StorageErrorKind::AlreadyExists => {
                Self::claim_and_open(storage, key, cwd, options).await
            }
            writer => Self::new_at(storage, key, cwd, Some(writer?), options).await,
        }
    }

    /// As [`open`](Self::open), of a session that is there; none is made.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and [`SessionError::NotFound`], also if the session was removed or
    /// moved while it was waited for.
    pub async fn open_existing(
        storage: Arc<dyn SessionStorage>,
        key: StorageKey,
        cwd: &str,
        mut options: SessionOptions,
    ) -> Result<Self> {
        let storage = options.patient(storage);
        Self::claim_and_open(storage, key, cwd, options).await
    }

    async fn claim_and_open(
        storage: Arc<dyn SessionStorage>,
        key: StorageKey,
        cwd: &str,
        options: SessionOptions,
    ) -> Result<Self> {
        let mut writer = claim_existing(&*storage, &key, &options.owner).await?;
        let (mut meta, mut bytes) = storage.read_all(&key).await?;
        let mut read = SessionDocument::load(bytes.clone(), &options.load);
        // A program that knows nothing of claims may be in the middle of a record.
        for _ in 0..LOOKS {
            if !matches!(&read, Ok(loaded) if !loaded.document.torn_tail().is_empty()) {
                break;
            }
            Pause::of(PAUSE).await;
            if storage.head(&key).await?.version == meta.version {
                break;
            }
            writer.adopt().await?;
            (meta, bytes) = storage.read_all(&key).await?;
            read = SessionDocument::load(bytes.clone(), &options.load);
        }
        match read {
            Ok(loaded) => Self::take_up(storage, meta, loaded, writer, options).await,
            Err(LoadError::Empty) => Self::new_at(storage, key, cwd, Some(writer), options).await,
            Err(error) => {
                Self::replace_damaged(storage, key, cwd, (bytes, error), writer, options).await
            }
        }
    }

    /// Opens a session for reading; nothing on disk is changed.
    ///
    /// An old format is brought up to date in memory.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`], or [`SessionError::NotASession`] with the reason.
    pub async fn open_read_only(
        storage: Arc<dyn SessionStorage>,
        key: StorageKey,
        mut options: SessionOptions,
    ) -> Result<Self> {
        let Some((_, bytes)) = read_if_there(&*storage, &key).await? else {
            return Err(SessionError::NotFound { key });
        };
        let Loaded { mut document, mut diagnostics, .. } =
            SessionDocument::load(bytes, &options.load)
                .map_err(|source| SessionError::NotASession { key: key.clone(), source })?;
        if let Some(migration) = migrate(&mut document, &mut *options.ids) {
            diagnostics.push(migration.diagnostic());
        }
        let resolve = options.resolve;
        let file = FileState::ReadOnly("it was opened for reading".to_owned());
        let mut manager = Self::assemble(storage, key, document, file, options);
        manager.diagnostics = diagnostics;
        manager.resolve_all_if(resolve).await;
        Ok(manager)
    }

    /// A new session where there was none, or nothing.
    async fn new_at(
        storage: Arc<dyn SessionStorage>,
        key: StorageKey,
        cwd: &str,
        writer: Option<Box<dyn AppendWriter>>,
        mut options: SessionOptions,
    ) -> Result<Self> {
        let header = SessionHeader::new(&NewHeader {
            id: options.ids.session_id(),
            timestamp: to_iso(options.clock.now_ms()),
            cwd: cwd.to_owned(),
            ..NewHeader::default()
        });
        let file = FileState::Pending(writer);
        let mut manager = Self::assemble(storage, key, SessionDocument::new(header), file, options);
        // Whoever names a path counts on finding the session there again.
        manager.ensure_on_disk().await?;
        Ok(manager)
    }

    async fn replace_damaged(
        storage: Arc<dyn SessionStorage>,
        key: StorageKey,
        cwd: &str,
        (bytes, why): (Bytes, LoadError),
        mut writer: Box<dyn AppendWriter>,
        options: SessionOptions,
    ) -> Result<Self> {
        let time = options.clock.now_ms();
        let moved = aside::save(&*storage, &key, Aside::Damaged, time, bytes).await?;
        writer.truncate(0).await?;
        let mut manager = Self::new_at(storage, key, cwd, Some(writer), options).await?;
        let detail = format!("{why}; it is now {moved}, and a new session takes its place");
        manager.note(Diagnostic::new(DiagnosticCode::FileMovedAside, detail));
        Ok(manager)
    }

    pub(super) async fn take_up(
        storage: Arc<dyn SessionStorage>,
        ObjectMeta { key, version, .. }: ObjectMeta,
        loaded: Loaded,
        mut writer: Box<dyn AppendWriter>,
        mut options: SessionOptions,
    ) -> Result<Self> {
        let Loaded { mut document, mut diagnostics, .. } = loaded;
        let resolve = options.resolve;
        if document.header().is_newer() {
            writer.close().await?;
            let reason = format!(
                "its format version {} is newer than this program's {}; update the program to write it",
                document.header().version(),
                session_model::CURRENT_VERSION
            );
            let mut manager =
                Self::assemble(storage, key, document, FileState::ReadOnly(reason), options);
            manager.diagnostics = diagnostics;
            manager.resolve_all_if(resolve).await;
            return Ok(manager);
        }
        let tail = document.torn_tail().clone();
        if !tail.is_empty() {
            let time = options.clock.now_ms();
            let moved = aside::save(&*storage, &key, Aside::Torn, time, tail.clone()).await?;
            document.forget_torn_tail();
            diagnostics.push(aside::torn_diagnostic(&moved, tail.len()));
        }
        if let Some(migration) = migrate(&mut document, &mut *options.ids) {
            let unchanged = PutOptions::when(Precondition::Version(version));
            document.drop_byte_order_mark();
            writer.replace(document.to_payload(), unchanged).await?;
            diagnostics.push(migration.diagnostic());
        } else if !tail.is_empty() {
            writer.truncate(writer.len() - tail.len() as u64).await?;
        }
        let mut manager = Self::assemble(storage, key, document, FileState::Open(writer), options);
        diagnostics.into_iter().for_each(|diagnostic| manager.note(diagnostic));
        manager.finish_move().await;
        manager.resolve_all_if(resolve).await;
        Ok(manager)
    }

    pub(super) fn assemble(
        storage: Arc<dyn SessionStorage>,
        key: StorageKey,
        document: SessionDocument,
        file: FileState,
        options: SessionOptions,
    ) -> Self {
        let SessionOptions {
            clock,
            ids,
            owner,
            eager,
            durability,
            observers,
            load,
            persist,
            filter,
            blobs,
            resolve,
            wait: _,
        } = options;
        Self {
            storage,
            key,
            document: Arc::new(document),
            file,
            clock,
            ids,
            owner,
            eager,
            durability,
            observers,
            persistent: true,
            load,
            persist,
            filter,
            blobs,
            resolve,
            saved_blobs: HashSet::new(),
            failure: None,
            diagnostics: Vec::new(),
            usage: None,
            made: NewEntries::default(),
            provider_identity: None,
        }
    }
}

/// Claims a session that is there.
///
/// # Errors
///
/// [`SessionError::NotFound`], or `Busy` naming the holder.
pub(crate) async fn claim_existing(
    storage: &dyn SessionStorage,
    key: &StorageKey,
    owner: &str,
) -> Result<Box<dyn AppendWriter>> {
    let claim = AppendOptions::exclusive(owner).when(Precondition::Present);
    match storage.open_append(key, claim).await {
        Err(error) if error.kind() == StorageErrorKind::NotFound => {
            Err(SessionError::NotFound { key: key.clone() })
        }
        claimed => Ok(claimed?),
    }
}

/// A session nothing was appended to yet, and where its file goes.
fn new_document(
    new: NewSession,
    now_ms: i64,
    ids: &mut dyn IdSource,
) -> Result<(StorageKey, SessionDocument)> {
    let time = to_iso(now_ms);
    let id = new.id.unwrap_or_else(|| ids.session_id());
    let bucket = match new.bucket {
        Some(bucket) => bucket,
        None => bucket_of(&new.cwd)?,
    };
    let name = match new.file_name {
        Some(name) => name,
        None => session_file_name(&time, &id)?,
    };
    let key = bucket.join(name)?;
    let header = SessionHeader::new(&NewHeader {
        id,
        timestamp: time,
        cwd: new.cwd,
        parent_session: new.parent_session,
        provider_prompt_cache_key: new.provider_prompt_cache_key,
        ..NewHeader::default()
    });
    Ok((key, SessionDocument::new(header)))
}

/// The bucket of a directory's sessions, below the folder of all.
pub(crate) fn bucket_of(cwd: &str) -> Result<StorageKey> {
    let name = BucketScheme::Absolute.bucket_name(cwd, &BucketRoots::default());
    Ok(StorageKey::new(SESSIONS_DIR)?.join(name)?)
}
