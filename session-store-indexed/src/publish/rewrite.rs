//! Replacing what the remote has of a session, at once for all readers.

use session_model::storage::StorageKey;
use sha2::{Digest as _, Sha256};

use super::live::Ready;
use super::publisher::{Publisher, Result};
use super::source::{Source, digest_of};
use crate::outbox::{self, Agreed};
use crate::remote::{AppendUnit, Applied, Fence, MAX_UNIT_BYTES, Position, RemoteError, Rewrite};

impl Publisher {
    /// Writes the whole file beside the remote's log and swaps the two.
    pub(super) async fn rewrite(
        &mut self,
        source: &Source<'_>,
        fence: Fence,
        generation: u64,
    ) -> Result<Ready> {
        let key = source.key;
        let begun = self.remote.begin_rewrite(key, &fence, generation).await;
        if !self.is_done(key, begun)? {
            return Ok(Ready::Again);
        }
        let meta = self.meta(key)?.to_bytes();
        let (mut at, mut hash) = (0, Sha256::new());
        while at < source.len() {
            let mut units = Vec::new();
            let mut bytes = 0;
            while at < source.len() && bytes < self.options.batch_bytes {
                let stop = source.len().min(at + MAX_UNIT_BYTES as u64);
                let Some(part) = source.read_part(at, stop).await? else {
                    return Ok(Ready::Changed);
                };
                if !self.put_blobs(key, &part.text).await? {
                    return Ok(Ready::Again);
                }
                hash.update(&part.bytes);
                bytes += part.bytes.len();
                units.push(AppendUnit {
                    session: key.clone(),
                    fence: fence.clone(),
                    start: Position { generation, length: at },
                    bytes: part.bytes,
                    digest: digest_of(&hash),
                    meta: meta.clone(),
                });
                at = stop;
            }
            for answer in self.remote.apply(&units).await {
                if !self.is_done(key, answer)? {
                    return Ok(Ready::Again);
                }
            }
        }
        let position = Position { generation, length: at };
        let digest = digest_of(&hash);
        let rewrite =
            Rewrite { session: key.clone(), fence: fence.clone(), position, digest, meta };
        let committed = self.remote.commit_rewrite(&rewrite).await;
        if !self.is_done(key, committed)? {
            return Ok(Ready::Again);
        }
        self.damaged.retain(|damaged| damaged != key);
        let agreed = Agreed { position, digest, epoch: fence.epoch };
        self.database.run(|connection| outbox::agree(connection, key, &agreed))?;
        self.finish_log(key, source.generation(), at)?;
        self.fulfil(key)?;
        self.keep(source, fence, position, hash);
        Ok(Ready::Live)
    }

    /// Whether a step went through; what stands in the way is dealt with.
    fn is_done(&mut self, key: &StorageKey, answer: Result<Applied, RemoteError>) -> Result<bool> {
        match answer {
            Ok(Applied::Ok | Applied::Dup) => Ok(true),
            Err(error) if error.is_temporary() => Err(error.into()),
            answer => {
                self.refused(key, answer)??;
                Ok(false)
            }
        }
    }
}
