//! Objects: written part by part beside what is there, then named.

use bytes::Bytes;
use redis::{Pipeline, Value};
use session_model::storage::StorageKey;

use super::{
    RedisRemote,
    connection::call,
    error::{of_value, unexpected},
    scripts,
    session::{parse_digest, read},
};
use crate::remote::{Digest, Put, RemoteError, Result};

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
        let mut bytes = Vec::new();
        let numbers: Vec<_> = (0..size.div_ceil(PART)).collect();
        for some in numbers.chunks(PARTS_AT_ONCE) {
            let mut calls = Pipeline::with_capacity(some.len());
            for &number in some {
                let mut call = redis::cmd("GET");
                call.arg(self.keys.object_part(key, &digest, number));
                calls.add_command(call);
            }
            for answer in self.link.send(&calls).await? {
                match of_value(answer, key)? {
                    Value::BulkString(part) => bytes.extend_from_slice(&part),
                    Value::Nil => return Err(RemoteError::Damaged(key.clone())),
                    _ => return Err(unexpected("a part of an object")),
                }
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
        let what = "an object's hash";
        let digest = |(value, key)| match read::<Option<String>>(of_value(value, key)?, what)? {
            Some(hex) => parse_digest(&hex).map(Some).ok_or_else(|| unexpected(what)),
            None => Ok(None),
        };
        self.link.send(&calls).await?.into_iter().zip(keys).map(digest).collect()
    }

    pub(super) async fn unlink_object(&self, key: &StorageKey) -> Result<bool> {
        let mut call = call(&scripts::REMOVE_OBJECT, &[self.keys.object(key)]);
        call.arg(PART);
        let answer = self.link.run_one(&scripts::REMOVE_OBJECT, call, key).await?;
        let mut unlist = redis::cmd("ZREM");
        unlist.arg(self.keys.all("objects")).arg(key.as_str());
        self.link.command(unlist).await?;
        Ok(answer == Value::Int(1))
    }

    pub(super) async fn object_names(
        &self,
        prefix: &StorageKey,
        after: Option<&StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>> {
        // `0` follows `/`.
        let (first, end) = (format!("{prefix}/"), format!("({prefix}0"));
        let start = match after {
            Some(after) if after.as_str() > first.as_str() => format!("({after}"),
            _ => format!("[{first}"),
        };
        let mut call = redis::cmd("ZRANGEBYLEX");
        call.arg(self.keys.all("objects")).arg(start).arg(end).arg("LIMIT").arg(0).arg(limit);
        let names: Vec<String> = read(self.link.command(call).await?, "the objects")?;
        let keys = names.iter().map(|name| StorageKey::new(name.as_str()));
        keys.collect::<Result<_, _>>().map_err(|_| unexpected("the objects"))
    }

    /// Lists an object once it is stored: what is listed is there, also on a replica that lags.
    async fn list_object(&self, key: &StorageKey) -> Result<()> {
        let mut list = redis::cmd("ZADD");
        list.arg(self.keys.all("objects")).arg(0).arg(key.as_str());
        self.link.command(list).await.map(drop)
    }

    async fn object_meta(&self, key: &StorageKey) -> Result<Option<(String, usize)>> {
        let mut call = redis::cmd("HMGET");
        call.arg(self.keys.object(key)).arg(&["digest", "size"]);
        let fields = self.link.command(call).await?;
        match read::<(Option<String>, Option<usize>)>(fields, "an object's hash")? {
            (Some(digest), Some(size)) => Ok(Some((digest, size))),
            _ => Ok(None),
        }
    }
}
