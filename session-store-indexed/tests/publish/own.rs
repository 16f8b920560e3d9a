//! Sessions, blobs and artifacts that one host alone writes, and what the remote must have of them.

use std::collections::{BTreeMap, BTreeSet};

use pollster::block_on;
use session_model::BlobRef;
use session_model::storage::StorageKey;
use session_store_indexed::remote::{FakeRemote, Remote};

use super::dice::Dice;
use super::host::Host;
use super::support::{header, key, log, message};

/// What a host should have: its sessions and artifacts, and the keys it has removed.
pub struct Own {
    folder: String,
    sessions: BTreeMap<StorageKey, String>,
    artifacts: BTreeMap<StorageKey, String>,
    removed: BTreeSet<StorageKey>,
}

impl Own {
    pub fn new(host: u64) -> Self {
        Self {
            folder: format!("sessions/host-{host}"),
            sessions: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            removed: BTreeSet::new(),
        }
    }

    pub fn write(&mut self, host: &Host, dice: &mut Dice, made: u64) {
        let (choice, pick) = (dice.below(12), dice.below(4));
        let wanted = self;
        let folder = &wanted.folder;
        let session = key(&format!("{folder}/s{pick}.jsonl"));
        let exists = wanted.sessions.contains_key(&session);
        let id = made.to_string();
        match choice {
            0 if exists => {
                host.remove(&session);
                wanted.sessions.remove(&session);
                wanted.removed.insert(session);
            }
            1 if exists => {
                let to = key(&format!("{folder}/s{}.jsonl", pick + 4));
                if wanted.sessions.contains_key(&to) {
                    return;
                }
                host.rename(&session, &to);
                let lines = wanted.sessions.remove(&session).unwrap();
                wanted.sessions.insert(to.clone(), lines);
                wanted.removed.remove(&to);
                wanted.removed.insert(session);
            }
            2 if exists => {
                let lines = header(&id) + &message(&id, "anew");
                host.put(&session, &lines);
                wanted.sessions.insert(session, lines);
            }
            3 => {
                let artifact = key(&format!("{folder}/s{pick}/{}.x.log", made % 3));
                host.put(&artifact, &id);
                wanted.artifacts.insert(artifact, id);
            }
            4 => {
                let Some((artifact, _)) = wanted.artifacts.pop_first() else { return };
                host.remove(&artifact);
            }
            _ => {
                let mut line = message(&id, "text");
                if choice == 5 {
                    let blob = BlobRef::of(id.as_bytes());
                    host.put(&key(&format!("blobs/{}", blob.to_hex())), &id);
                    line = message(&id, &blob.to_string());
                }
                let lines = if exists { line } else { header(&id) + &line };
                host.append(&session, &lines);
                wanted.removed.remove(&session);
                wanted.sessions.entry(session).or_default().push_str(&lines);
            }
        }
    }

    /// The remote has what the host has, byte for byte, and nothing it removed.
    pub fn check(&self, remote: &FakeRemote, host: &Host) {
        let wanted = self;
        assert_eq!(host.storage().blocked().unwrap(), []);
        for (key, lines) in &wanted.sessions {
            assert_eq!(host.read(key), lines.as_bytes(), "{key}");
            let there = block_on(log(remote, key));
            assert_eq!(there.as_deref(), Some(lines.as_bytes()), "{key}");
            for blob in lines.split("blob:sha256:").skip(1) {
                let blob = StorageKey::new(format!("blobs/{}", &blob[..64])).unwrap();
                assert!(block_on(remote.get_object(&blob)).unwrap().is_some(), "{blob}");
            }
        }
        for key in &wanted.removed {
            assert_eq!(block_on(log(remote, key)), None, "{key}");
        }
        for (key, text) in &wanted.artifacts {
            let there = block_on(remote.get_object(key)).unwrap();
            assert_eq!(there.as_deref(), Some(text.as_bytes()), "{key}");
        }
    }
}
