//! Short forms for sessions, claims and units.

use std::time::Duration;

use bytes::Bytes;
use session_model::storage::StorageKey;
use session_store_indexed::remote::{
    AppendUnit, Applied, Claim, Claimed, Digest, Fence, Position, Remote, Rewrite,
};

pub(crate) fn key(name: &str) -> StorageKey {
    StorageKey::new(name).unwrap()
}

pub(crate) fn claim(owner: &str) -> Claim {
    Claim { owner: owner.to_owned(), lease: Duration::from_secs(600), force: false, seen_epoch: 0 }
}

pub(crate) async fn claimed(remote: &dyn Remote, session: &StorageKey, owner: &str) -> Fence {
    let claim = Claim { force: true, ..claim(owner) };
    match remote.claim(session, &claim).await.unwrap() {
        Claimed::Granted(fence) => fence,
        held => panic!("{held:?}"),
    }
}

pub(crate) fn at(generation: u64, length: u64) -> Position {
    Position { generation, length }
}

/// The bytes of `log` from an offset on, as a unit.
pub(crate) fn unit(
    session: &StorageKey,
    fence: &Fence,
    generation: u64,
    log: &[u8],
    from: usize,
) -> AppendUnit {
    AppendUnit {
        session: session.clone(),
        fence: fence.clone(),
        start: at(generation, from as u64),
        bytes: Bytes::copy_from_slice(&log[from..]),
        digest: Digest::of(log),
        meta: Bytes::from(format!("meta of {}", log.len())),
    }
}

pub(crate) async fn apply(remote: &dyn Remote, unit: AppendUnit) -> Applied {
    let mut answers = remote.apply(&[unit]).await;
    assert_eq!(answers.len(), 1);
    answers.remove(0).unwrap()
}

pub(crate) fn rewrite(session: &StorageKey, fence: &Fence, generation: u64, log: &[u8]) -> Rewrite {
    Rewrite {
        session: session.clone(),
        fence: fence.clone(),
        position: at(generation, log.len() as u64),
        digest: Digest::of(log),
        meta: Bytes::from_static(b"rewritten"),
    }
}

/// The whole log, read piece by piece.
pub(crate) async fn whole(remote: &dyn Remote, session: &StorageKey) -> Vec<u8> {
    let mut log = Vec::new();
    loop {
        let part = remote.read(session, log.len() as u64, 1 << 20).await.unwrap().unwrap();
        if part.bytes.is_empty() {
            return log;
        }
        log.extend_from_slice(&part.bytes);
    }
}

/// Bytes that differ from place to place.
pub(crate) fn text(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8 ^ (at / 65_521) as u8).collect()
}
