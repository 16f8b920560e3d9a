//! What stands first in a bundle: what it holds, with sizes and digests.

use std::collections::BTreeSet;

use bytes::Bytes;
use session_model::BlobRef;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::layout::{BLOBS_DIR, SESSIONS_DIR, artifacts_key};
use session_model::storage::StorageKey;

use super::{Bundle, BundleError, BundleLimits, BundledSession};

/// What a manifest calls its format.
const FORMAT: &str = "session-bundle";

/// The version of the format.
pub(super) const VERSION: i64 = 1;

/// A file as the manifest describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) key: StorageKey,
    pub(super) bytes: u64,
    /// In hex.
    pub(super) sha256: String,
}

/// A manifest that was read and checked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) sessions: Vec<BundledSession>,
    pub(super) members: Vec<Listed>,
    pub(super) redacted: bool,
}

/// The SHA-256 of bytes, in hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    BlobRef::of(bytes).to_hex()
}

/// Writes the manifest of a bundle.
pub(super) fn write(bundle: &Bundle) -> String {
    let text = |text: &Option<String>| text.as_deref().map(RawJson::string).unwrap_or_default();
    let sessions = bundle.sessions.iter().map(|session| {
        ObjectBuilder::new()
            .string("key", session.key.as_str())
            .string("id", &session.id)
            .raw("title", &text(&session.title))
            .raw("cwd", &text(&session.cwd))
            .build()
    });
    let members = bundle.members.iter().map(|(key, bytes)| {
        ObjectBuilder::new()
            .string("key", key.as_str())
            .raw("bytes", &to_raw_json(&bytes.len()).unwrap_or_default())
            .string("sha256", &digest(bytes))
            .build()
    });
    let manifest = ObjectBuilder::new()
        .string("format", FORMAT)
        .raw("version", &VERSION.into())
        .raw("redacted", &bundle.redacted.into())
        .raw("sessions", &RawJson::array(&sessions.collect::<Vec<_>>()))
        .raw("members", &RawJson::array(&members.collect::<Vec<_>>()))
        .build();
    format!("{manifest}\n")
}

/// Reads a manifest of no more files than are allowed and checks every name in it.
pub(super) fn read(bytes: Bytes, limits: &BundleLimits) -> Result<Manifest, BundleError> {
    let json = RawJson::parse(bytes).map_err(BundleError::damaged)?;
    let fields = json.as_object().ok_or(BundleError::NotABundle)?;
    if fields.text("format").as_deref() != Some(FORMAT) {
        return Err(BundleError::NotABundle);
    }
    let incomplete = || BundleError::damaged("its manifest is not complete");
    let version = fields.get("version").and_then(RawJson::as_i64).ok_or_else(incomplete)?;
    if version > VERSION {
        return Err(BundleError::Newer { version });
    }
    let list = |name: &str| fields.get(name).and_then(RawJson::as_array).ok_or_else(incomplete);
    let mut manifest = Manifest {
        sessions: Vec::new(),
        members: Vec::new(),
        redacted: fields.get("redacted").and_then(RawJson::as_bool).ok_or_else(incomplete)?,
    };
    limits.admit(0, list("sessions")?.items().len().max(list("members")?.items().len()))?;
    for session in list("sessions")?.items() {
        let session = session.as_object().unwrap_or_default();
        let text = |name: &str| session.text(name).map(|text| text.into_owned());
        let key = key_of(&text("key").ok_or_else(incomplete)?)?;
        let id = text("id").ok_or_else(incomplete)?;
        manifest.sessions.push(BundledSession { key, id, title: text("title"), cwd: text("cwd") });
    }
    for member in list("members")?.items() {
        let member = member.as_object().unwrap_or_default();
        let text = |name: &str| member.text(name).map(|text| text.into_owned());
        let bytes = member.get("bytes").and_then(RawJson::as_i64);
        manifest.members.push(Listed {
            key: key_of(&text("key").ok_or_else(incomplete)?)?,
            bytes: bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(incomplete)?,
            sha256: text("sha256").ok_or_else(incomplete)?,
        });
    }
    manifest.check()?;
    Ok(manifest)
}

fn key_of(name: &str) -> Result<StorageKey, BundleError> {
    StorageKey::new(name).map_err(|_| BundleError::UnsafeName { name: name.to_owned() })
}

impl Manifest {
    /// Makes sure that every file is a session, belongs to one, or is a blob, and is there once.
    fn check(&self) -> Result<(), BundleError> {
        let unsafe_name = |key: &StorageKey| BundleError::UnsafeName { name: key.to_string() };
        let mut folders = BTreeSet::new();
        for session in &self.sessions {
            let is_place = session.key.segments().count() == 3
                && session.key.segments().next() == Some(SESSIONS_DIR);
            let folder = artifacts_key(&session.key).filter(|_| is_place);
            folders.insert(folder.ok_or_else(|| unsafe_name(&session.key))?);
        }
        // Sorted, they cannot be there twice.
        let in_order = self.sessions.is_sorted_by(|a, b| a.key < b.key)
            && self.members.is_sorted_by(|a, b| a.key < b.key);
        if !in_order {
            return Err(BundleError::damaged("its files are not in order"));
        }
        let sessions: BTreeSet<_> = self.sessions.iter().map(|session| &session.key).collect();
        let listed: BTreeSet<_> = self.members.iter().map(|member| &member.key).collect();
        for member in &self.members {
            let mut folder = member.key.parent();
            while let Some(above) = folder.as_ref() {
                if listed.contains(above) {
                    return Err(BundleError::damaged(format!("{above} is a file and a folder")));
                }
                if folders.contains(above) {
                    break;
                }
                folder = above.parent();
            }
            let is_blob = member.key.as_str() == format!("{BLOBS_DIR}/{}", member.sha256)
                && BlobRef::from_hex(&member.sha256).is_ok();
            if folder.is_none() && !is_blob && !sessions.contains(&member.key) {
                return Err(unsafe_name(&member.key));
            }
        }
        match self.sessions.iter().find(|session| !listed.contains(&session.key)) {
            Some(session) => Err(BundleError::damaged(format!("{} is not in it", session.key))),
            None if self.sessions.is_empty() => Err(BundleError::damaged("it holds no session")),
            None => Ok(()),
        }
    }
}
