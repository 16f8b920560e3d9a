//! Collecting sessions with what belongs to them.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use session_model::document::LoadOptions;
use session_model::layout::{BLOBS_DIR, BucketRoots, BucketScheme, SESSIONS_DIR, artifacts_key};
use session_model::storage::{
    ListOptions, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};
use session_model::{BlobRef, Diagnostic, DiagnosticCode, SessionDocument};

use super::references::blobs_in;
use super::{Bundle, BundleError, BundleLimits, BundledSession};
use crate::blobs::{BlobError, BlobStore};
use crate::error::SessionError;

/// A session to be packed.
#[derive(Clone, Debug)]
pub struct BundleSource {
    /// Where it is.
    pub storage: Arc<dyn SessionStorage>,
    /// Its key there.
    pub key: StorageKey,
    /// Where its blobs are.
    pub blobs: BlobStore,
    /// The folder of its project in an agent directory; `None` for the one its directory has by
    /// the default scheme, or that its key names.
    pub bucket: Option<String>,
}

impl Bundle {
    /// Collects sessions with their artifacts, the sessions of their child agents, and all blobs
    /// that any of them names, as far as `limits` allow.
    ///
    /// A session that is written meanwhile is packed as it was at one moment. Blobs that are not
    /// there are [told](Self::missing_blobs), and so is what lies among artifacts and is no file
    /// ([`left_out`](Self::left_out)); neither is a reason to fail.
    ///
    /// # Errors
    ///
    /// [`BundleError::Session`] if one is no session, [`BundleError::Storage`],
    /// [`BundleError::TooLarge`] and [`BundleError::TooManyFiles`] before more than that is read.
    pub async fn gather(
        sources: &[BundleSource],
        limits: &BundleLimits,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Self, BundleError> {
        let mut gathering = Gathering { bundle: Self::default(), limits, bytes: 0 };
        for (at, source) in sources.iter().enumerate() {
            progress(at as u64, sources.len() as u64);
            gathering.add(source).await?;
        }
        let mut bundle = gathering.bundle;
        bundle.sessions.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(bundle)
    }
}

/// A bundle that grows.
struct Gathering<'a> {
    bundle: Bundle,
    limits: &'a BundleLimits,
    /// The size of everything in it.
    bytes: u64,
}

impl Gathering<'_> {
    async fn add(&mut self, source: &BundleSource) -> Result<(), BundleError> {
        let BundleSource { storage, key, blobs, .. } = source;
        let bytes = match storage.head(key).await {
            Err(error) if error.kind() == StorageErrorKind::NotFound => {
                return Err(SessionError::NotFound { key: key.clone() }.into());
            }
            head => {
                self.admit(head?.size)?;
                storage.read_all(key).await?.1
            }
        };
        let document = SessionDocument::load(bytes.clone(), &LoadOptions::default())
            .map_err(|source| SessionError::NotASession { key: key.clone(), source })?
            .document;
        let place = source.place(&document)?;
        if self.bundle.members.contains_key(&place) {
            return Ok(());
        }
        let mut named: BTreeSet<BlobRef> = blobs_in(&bytes).collect();
        let folders = artifacts_key(key).zip(artifacts_key(&place));
        if let Some((from, to)) = folders {
            let (found, errors) = storage.list_all(Some(&from), ListOptions::default()).await;
            for error in errors {
                if !error.is_no_object() {
                    return Err(error.into());
                }
                let detail = format!("not packed: {error}");
                let left_out = Diagnostic::new(DiagnosticCode::ArtifactLeftBehind, detail);
                self.bundle.left_out.push(left_out);
            }
            for meta in found {
                self.admit(meta.size)?;
                let (_, artifact) = storage.read_all(&meta.key).await?;
                named.extend(blobs_in(&artifact));
                let rest = meta.key.as_str()[from.as_str().len()..].trim_start_matches('/');
                self.insert(to.join(rest).map_err(SessionError::from)?, artifact)?;
            }
        }
        for blob in named {
            self.add_blob(blobs, blob).await?;
        }
        let header = document.header();
        self.bundle.sessions.push(BundledSession {
            key: place.clone(),
            id: header.id(),
            title: document.title(),
            cwd: header.cwd(),
        });
        self.insert(place, bytes)
    }

    async fn add_blob(&mut self, blobs: &BlobStore, blob: BlobRef) -> Result<(), BundleError> {
        let key = blob_key(blob)?;
        if self.bundle.members.contains_key(&key) {
            return Ok(());
        }
        match blobs.get(blob).await {
            Ok(bytes) => return self.insert(key, bytes),
            Err(BlobError::Storage(error)) if !error.is_no_object() => return Err(error.into()),
            Err(_) => {}
        }
        self.bundle.missing.insert(blob);
        Ok(())
    }

    /// Makes sure that there is room for another file before it is read.
    fn admit(&self, bytes: u64) -> Result<(), BundleError> {
        self.limits.admit(self.bytes.saturating_add(bytes), self.bundle.members.len() + 1)
    }

    fn insert(&mut self, key: StorageKey, bytes: Bytes) -> Result<(), BundleError> {
        self.admit(bytes.len() as u64)?;
        self.bytes += bytes.len() as u64;
        self.bundle.members.insert(key, bytes);
        Ok(())
    }
}

/// The key of a blob in an agent directory.
pub(super) fn blob_key(blob: BlobRef) -> Result<StorageKey, BundleError> {
    let key = StorageKey::new(format!("{BLOBS_DIR}/{}", blob.to_hex()));
    Ok(key.map_err(SessionError::from)?)
}

impl BundleSource {
    /// Where the session is to lie in an agent directory.
    fn place(&self, document: &SessionDocument) -> Result<StorageKey, BundleError> {
        let mut segments = self.key.segments();
        if self.bucket.is_none() && segments.next() == Some(SESSIONS_DIR) && segments.count() == 2 {
            return Ok(self.key.clone());
        }
        let bucket = self.bucket.clone().unwrap_or_else(|| {
            let cwd = document.header().cwd().unwrap_or_default();
            BucketScheme::Absolute.bucket_name(&cwd, &BucketRoots::default())
        });
        let name = self.key.file_name();
        let name = match name.ends_with(".jsonl") {
            true => name.to_owned(),
            false => format!("{name}.jsonl"),
        };
        let place = StorageKey::new(format!("{SESSIONS_DIR}/{bucket}/{name}"));
        Ok(place.map_err(SessionError::from)?)
    }
}
