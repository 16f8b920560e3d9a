//! Names of keys; those of one session share a hash tag.

use session_model::storage::StorageKey;

use crate::remote::Digest;

#[derive(Debug)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    pub(super) fn new(prefix: String) -> Self {
        Self { prefix }
    }

    /// The hash of a session; the scripts put `log:…` in the place of `meta`.
    pub(super) fn session(&self, session: &StorageKey) -> String {
        format!("{}s:{{{}}}:meta", self.prefix, tag(session))
    }

    /// The hash of an object; parts are `<digest>:<number>` in the place of `meta`.
    pub(super) fn object(&self, object: &StorageKey) -> String {
        format!("{}o:{{{}}}:meta", self.prefix, tag(object))
    }

    pub(super) fn object_part(&self, object: &StorageKey, digest: &str, number: usize) -> String {
        format!("{}o:{{{}}}:{digest}:{number}", self.prefix, tag(object))
    }

    /// One of the keys that speak of all sessions.
    pub(super) fn all(&self, name: &str) -> String {
        format!("{}{{all}}:{name}", self.prefix)
    }
}

/// Half a SHA-256: no two keys that exist share it.
fn tag(key: &StorageKey) -> String {
    let mut digest = Digest::of(key.as_str().as_bytes()).to_string();
    digest.truncate(32);
    digest
}
