//! Objects: written part by part beside what is there, then named.

use bytes::Bytes;
use redis::{FromRedisValue, Pipeline, Value};
use session_model::storage::{MAX_KEY_BYTES, StorageKey};

use super::{
    RedisRemote,
    connection::call,
    error::{of_value, unexpected},
    remote::{key_of, left_out},
    scripts,
    session::{parse_digest, read},
};
use crate::remote::{Digest, MAX_OBJECT_BYTES, Names, Put, RemoteError, Result};

/// Bytes in one part.
const PART: usize = 256 << 10;
/// Parts sent or read in one go.
const PARTS_AT_ONCE: usize = 16;

impl RedisRemote {
    pub(super) async fn write_object(&self, key: &StorageKey, bytes: &Bytes) -> Result<Put> {
        let digest = Digest::of(bytes).to_string();
        if let Some((there, _)) = self.object_meta(key).await? {
            if there != digest {
                return Ok(Put::Differs);
            }
            // The call that stored it may have been cut off before this.
            self.list_object(key).await?;
            return Ok(Put::Same);
        }
        // Two hosts that write the same bytes write the same parts; other bytes have other keys.
        let parts: Vec<_> = bytes.chunks(PART).enumerate().collect();
        for some in parts.chunks(PARTS_AT_ONCE) {
            let mut calls = Pipeline::with_capacity(some.len());
            for &(number, part) in some {
                let mut call = redis::cmd("SET");
                call.arg(self.keys.object_part(key, &digest, number)).arg(part);
                calls.add_command(call);
            }
            for answer in self.link.send(&calls).await? {
                of_value(answer, key)?;
            }
        }
        let mut name = call(&scripts::PUT_OBJECT, &[self.keys.object(key)]);
        name.arg(key.as_str()).arg(bytes.len()).arg(&digest).arg(PART);
        let answer = self.link.run_one(&scripts::PUT_OBJECT, name, key).await?;
        match read::<String>(answer, "an object's answer")?.as_str() {
            "O" => self.list_object(key).await.map(|()| Put::Created),
            "D" => self.list_object(key).await.map(|()| Put::Same),
            "X" => {
                let parts = (0..parts.len()).map(|n| self.keys.object_part(key, &digest, n));
                let mut unlink = redis::cmd("UNLINK");
                unlink.arg(parts.collect::<Vec<_>>());
                if !bytes.is_empty() {
                    self.link.command(unlink).await?;
                }
                Ok(Put::Differs)
            }
            "M" => Err(RemoteError::Unavailable("parts were removed meanwhile".to_owned())),
            _ => Err(unexpected("an object's answer")),
        }
    }

    pub(super) async fn read_object(&self, key: &StorageKey) -> Result<Option<Bytes>> {
        let Some((digest, size)) = self.object_meta(key).await? else { return Ok(None) };
        let malformed = |reason| RemoteError::Malformed { key: key.clone(), reason };
        let limit = self.limits.object_bytes;
        let size =
            usize::try_from(size).ok().filter(|&size| size as u64 <= limit).ok_or_else(|| {
                malformed(format!("it has {size} bytes; this host takes at most {limit}"))
            })?;
        if parse_digest(&digest).is_none() {
            return Err(malformed("its field `digest` is no SHA-256".to_owned()));
        }
        let mut bytes = Vec::new();
        while bytes.len() < size {
            let first = bytes.len() / PART;
            let numbers = first..size.div_ceil(PART).min(first + PARTS_AT_ONCE);
            let mut calls = Pipeline::with_capacity(numbers.len());
            for number in numbers {
                let mut call = redis::cmd("GETRANGE");
                call.arg(self.keys.object_part(key, &digest, number)).arg(0).arg(PART - 1);
                calls.add_command(call);
            }
            for answer in self.link.send(&calls).await? {
                let Value::BulkString(part) = of_value(answer, key)? else {
                    return Err(malformed("a part of it has another type".to_owned()));
                };
                if part.len() != PART.min(size - bytes.len()) {
                    return Err(RemoteError::Damaged(key.clone()));
                }
                bytes.extend_from_slice(&part);
            }
        }
        if Digest::of(&bytes).to_string() != digest {
            return Err(RemoteError::Damaged(key.clone()));
        }
        Ok(Some(bytes.into()))
    }

    pub(super) async fn digests(&self, keys: &[StorageKey]) -> Result<Vec<Option<Digest>>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut calls = Pipeline::with_capacity(keys.len());
        for key in keys {
            let mut call = redis::cmd("HGET");
            call.arg(self.keys.object(key)).arg("digest");
            calls.add_command(call);
        }
        // One that cannot be read is the digest of nothing that can be here.
        let none = Digest([0; 32]);
        let digest = |(value, key)| match of_value(value, key) {
            Ok(value) => Ok(match <Option<Vec<u8>>>::from_redis_value(value) {
                Ok(None) => None,
                Ok(Some(hex)) => {
                    let hex = std::str::from_utf8(&hex).ok().and_then(parse_digest);
                    Some(hex.unwrap_or(none))
                }
                Err(_) => Some(none),
            }),
            Err(RemoteError::Malformed { .. }) => Ok(Some(none)),
            Err(error) => Err(error),
        };
        self.link.send(&calls).await?.into_iter().zip(keys).map(digest).collect()
    }

    pub(super) async fn unlink_object(&self, key: &StorageKey) -> Result<bool> {
        let mut call = call(&scripts::REMOVE_OBJECT, &[self.keys.object(key)]);
        call.arg(PART).arg(MAX_OBJECT_BYTES);
        let answer = self.link.run_one(&scripts::REMOVE_OBJECT, call, key).await?;
        let mut unlist = redis::cmd("ZREM");
        unlist.arg(self.keys.all("objects")).arg(key.as_str());
        self.link.command(unlist).await?;
        Ok(answer == Value::Int(1))
    }

    pub(super) async fn object_names(
        &self,
        prefix: &StorageKey,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Names> {
        // `0` follows `/`.
        let (first, end) = (format!("{prefix}/"), format!("({prefix}0"));
        let start = match after {
            Some(after) if after > first.as_str() => format!("({after}"),
            _ => format!("[{first}"),
        };
        let mut call = call(&scripts::NAMES, &[self.keys.all("objects")]);
        call.arg(start).arg(end).arg(limit).arg(MAX_KEY_BYTES);
        let answer = self.link.run_one(&scripts::NAMES, call, prefix).await?;
        let names: Vec<Vec<u8>> = read(answer, "the objects")?;
        let more = names.len() == limit;
        let mut found = Names::default();
        for name in names {
            match key_of(&name) {
                Ok(key) => found.keys.push(key),
                Err(reason) => found.skipped.push(left_out(&name, reason)),
            }
            found.next = more.then(|| String::from_utf8_lossy(&name).into_owned());
        }
        Ok(found)
    }

    /// Lists an object once it is stored: what is listed is there, also on a replica that lags.
    async fn list_object(&self, key: &StorageKey) -> Result<()> {
        let mut list = redis::cmd("ZADD");
        list.arg(self.keys.all("objects")).arg(0).arg(key.as_str());
        self.link.command(list).await.map(drop)
    }

    async fn object_meta(&self, key: &StorageKey) -> Result<Option<(String, u64)>> {
        let mut call = redis::cmd("HMGET");
        call.arg(self.keys.object(key)).arg(&["digest", "size"]);
        let mut calls = Pipeline::with_capacity(1);
        calls.add_command(call);
        let fields = of_value(self.link.send(&calls).await?.pop().unwrap_or_default(), key)?;
        match <(Option<String>, Option<u64>)>::from_redis_value(fields) {
            Ok((Some(digest), Some(size))) => Ok(Some((digest, size))),
            Ok(_) => Ok(None),
            Err(_) => {
                let reason = "its hash has an unknown shape".to_owned();
                Err(RemoteError::Malformed { key: key.clone(), reason })
            }
        }
    }
}
