//! The calls of a [`Remote`](crate::remote::Remote), as commands.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use redis::Value;
use session_model::storage::{MAX_KEY_BYTES, StorageKey};

use super::{
    RedisRemote, check,
    connection::call,
    error::{of_server, unexpected},
    scripts,
    session::{applied, read},
};
use crate::remote::{
    AppendUnit, Applied, Change, Check, Claim, Claimed, Digest, Event, Feed, Fence, Listed,
    MAX_NUMBER, MAX_OBJECT_BYTES, MAX_READ_BYTES, Names, Page, Part, Position, Put, Remote,
    RemoteError, RemoteLimits, Result, Rewrite, SessionState, Skipped,
};

#[async_trait]
impl Remote for RedisRemote {
    fn limits(&self) -> RemoteLimits {
        self.limits
    }

    async fn check(&self) -> Result<Check> {
        let info: String = read(self.link.command(redis::cmd("INFO")).await?, "INFO")?;
        check::of_info(&info)
    }

    async fn claim(&self, session: &StorageKey, claim: &Claim) -> Result<Claimed> {
        claim.validate(session)?;
        let mut call = call(&scripts::CLAIM, &[self.keys.session(session)]);
        call.arg(session.as_str()).arg(&claim.owner).arg(millis(claim.lease));
        call.arg(u8::from(claim.force)).arg(claim.seen_epoch);
        let answer = self.link.run_one(&scripts::CLAIM, call, session).await?;
        let words: Vec<String> = read(answer, "a claim's answer")?;
        let number = |word: &str| word.parse().map_err(|_| unexpected("a claim's answer"));
        match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["O", epoch] => {
                Ok(Claimed::Granted(Fence { epoch: number(epoch)?, owner: claim.owner.clone() }))
            }
            ["H", epoch, owner, left] => Ok(Claimed::Held {
                by: Fence { epoch: number(epoch)?, owner: (*owner).to_owned() },
                left: Duration::from_millis(number(left)?),
            }),
            _ => Err(unexpected("a claim's answer")),
        }
    }

    async fn release(&self, session: &StorageKey, fence: &Fence) -> Result<()> {
        let call = self.fenced(&scripts::RELEASE, session, fence);
        self.link.run_one(&scripts::RELEASE, call, session).await.map(drop)
    }

    async fn apply(&self, units: &[AppendUnit]) -> Vec<Result<Applied>> {
        let mut answers: Vec<_> =
            units.iter().map(|unit| unit.validate().map(|()| Applied::Ok)).collect();
        let sent: Vec<_> =
            units.iter().zip(&answers).filter(|(_, valid)| valid.is_ok()).map(|(u, _)| u).collect();
        if sent.is_empty() {
            return answers;
        }
        let places = answers.iter_mut().filter(|valid| valid.is_ok());
        match self.apply_valid(&sent).await {
            Ok(done) => places.zip(done).for_each(|(place, answer)| *place = answer),
            Err(error) => places.for_each(|place| *place = Err(error.clone())),
        }
        answers
    }

    async fn begin_rewrite(
        &self,
        session: &StorageKey,
        fence: &Fence,
        generation: u64,
    ) -> Result<Applied> {
        let mut call = self.fenced(&scripts::BEGIN, session, fence);
        call.arg(generation);
        let (applied, _) = applied(self.link.run_one(&scripts::BEGIN, call, session).await?)?;
        self.sweep(session).await?;
        Ok(applied)
    }

    async fn commit_rewrite(&self, rewrite: &Rewrite) -> Result<Applied> {
        rewrite.validate()?;
        let session = &rewrite.session;
        let mut call = self.fenced(&scripts::COMMIT, session, &rewrite.fence);
        call.arg(rewrite.position.generation).arg(rewrite.position.length);
        call.arg(rewrite.digest.to_string()).arg(&rewrite.meta[..]);
        let (applied, _) = applied(self.link.run_one(&scripts::COMMIT, call, session).await?)?;
        if matches!(applied, Applied::Ok | Applied::Dup) {
            self.tell(&[(session, Some(rewrite.position))]).await?;
            self.sweep(session).await?;
        }
        Ok(applied)
    }

    async fn remove(
        &self,
        session: &StorageKey,
        fence: &Fence,
        moved_to: Option<&StorageKey>,
    ) -> Result<Applied> {
        let mut call = self.fenced(&scripts::REMOVE, session, fence);
        call.arg(moved_to.map_or("", StorageKey::as_str));
        let (applied, _) = applied(self.link.run_one(&scripts::REMOVE, call, session).await?)?;
        if matches!(applied, Applied::Ok | Applied::Dup) {
            self.tell(&[(session, None)]).await?;
            self.sweep(session).await?;
        }
        Ok(applied)
    }

    async fn state(&self, session: &StorageKey) -> Result<Option<SessionState>> {
        let mut states = self.states(std::slice::from_ref(session)).await?;
        states.pop().unwrap_or(Ok(None))
    }

    async fn read(&self, session: &StorageKey, from: u64, limit: usize) -> Result<Option<Part>> {
        let mut call = call(&scripts::READ, &[self.keys.session(session)]);
        call.arg(from).arg(limit.min(MAX_READ_BYTES));
        let answer = self.link.run_one(&scripts::READ, call, session).await?;
        if answer == Value::Nil {
            return Ok(None);
        }
        let (generation, length, bytes): (u64, u64, Vec<u8>) = read(answer, "bytes of a session")?;
        Ok(Some(Part { position: Position { generation, length }, bytes: bytes.into() }))
    }

    async fn list(&self, before: Option<u64>, limit: usize) -> Result<Page> {
        let end = before.map_or("+inf".to_owned(), |before| format!("({before}"));
        let mut call = call(&scripts::LIST, &[self.keys.all("sessions")]);
        call.arg(end).arg(limit.saturating_add(1)).arg(MAX_KEY_BYTES);
        let mut pipeline = redis::Pipeline::with_capacity(1);
        pipeline.add_command(call);
        let answer = self.link.run(&scripts::LIST, &pipeline).await?.pop().unwrap_or_default();
        if let Value::ServerError(error) = &answer {
            return Err(of_server(error));
        }
        let mut rows: Vec<(Vec<u8>, f64)> = read(answer, "the listing")?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        // Microseconds are below 2^53, so that a score holds them exactly; below 0 there are none.
        let last = rows.last().map(|&(_, score)| score).filter(|&score| more && score > 0.0);
        let next = last.map(|score| score as u64);
        let (mut skipped, mut keys, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for (name, score) in rows {
            match key_of(&name) {
                Err(reason) => skipped.push(left_out(&name, reason)),
                Ok(key) if !(0.0..=MAX_NUMBER as f64).contains(&score) => {
                    skipped.push(Skipped::new(key.as_str(), format!("its time is {score}")));
                }
                Ok(key) => {
                    keys.push(key);
                    times.push(score as u64);
                }
            }
        }
        let mut sessions = Vec::new();
        for ((session, activity), state) in keys.iter().zip(times).zip(self.states(&keys).await?) {
            match state {
                Ok(Some(state)) => {
                    sessions.push(Listed { session: session.clone(), activity, state });
                }
                // It is listed before it is there, and after it was removed by hand.
                Ok(None) => {}
                Err(RemoteError::Malformed { reason, .. }) => {
                    skipped.push(Skipped::new(session.as_str(), reason));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Page { sessions, skipped, next })
    }

    async fn feed(&self, after: u64, limit: usize) -> Result<Feed> {
        let keys = ["info", "feed"].map(|name| self.keys.all(name));
        let mut call = call(&scripts::FEED, &keys);
        call.arg(after).arg(limit).arg(MAX_KEY_BYTES);
        let mut pipeline = redis::Pipeline::with_capacity(1);
        pipeline.add_command(call);
        let answer = self.link.run(&scripts::FEED, &pipeline).await?.pop().unwrap_or_default();
        if let Value::ServerError(error) = &answer {
            return Err(of_server(error));
        }
        type Row = (String, Vec<Vec<u8>>);
        let (floor, last, rows): (u64, u64, Vec<Row>) = read(answer, "the feed")?;
        let more = rows.len() == limit;
        let (mut events, mut skipped, mut next) = (Vec::new(), Vec::new(), after);
        for (id, fields) in rows {
            let at = id.split_once('-').and_then(|(at, _)| at.parse().ok());
            let at = at.ok_or_else(|| unexpected("the feed"))?;
            next = at;
            match event(at, &fields) {
                Ok(event) => events.push(event),
                Err(reason) => {
                    skipped.push(left_out(fields.get(1).map_or(&[], |name| name), reason));
                }
            }
        }
        Ok(Feed { events, skipped, more, next, complete: after >= floor && after <= last })
    }

    async fn put_object(&self, key: &StorageKey, bytes: Bytes) -> Result<Put> {
        if bytes.len() > MAX_OBJECT_BYTES {
            return Err(RemoteError::Invalid { key: key.clone(), reason: "object above 256 MiB" });
        }
        self.write_object(key, &bytes).await
    }

    async fn get_object(&self, key: &StorageKey) -> Result<Option<Bytes>> {
        self.read_object(key).await
    }

    async fn list_objects(
        &self,
        prefix: &StorageKey,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Names> {
        self.object_names(prefix, after, limit).await
    }

    async fn object_digests(&self, keys: &[StorageKey]) -> Result<Vec<Option<Digest>>> {
        self.digests(keys).await
    }

    async fn remove_object(&self, key: &StorageKey) -> Result<bool> {
        self.unlink_object(key).await
    }

    async fn wait(&self, replicas: u32, timeout: Duration) -> Result<u32> {
        let start = Instant::now();
        loop {
            let left = timeout.saturating_sub(start.elapsed());
            // An answer must come before the connection is taken for dead.
            let step = left.min(self.link.timeout() / 2);
            let mut calls = redis::Pipeline::with_capacity(2);
            // WAIT is about what its own connection wrote. A connection made since the last change
            // wrote nothing; with this, everything before it is waited for, whoever wrote it.
            calls.cmd("HSET").arg(self.keys.all("info")).arg("wait").arg(replicas);
            // To Redis, 0 means for ever.
            calls.cmd("WAIT").arg(replicas).arg(millis(step).max(1));
            let answers = self.link.send(&calls).await?;
            let mut reached = 0;
            for answer in answers {
                if let Value::ServerError(error) = &answer {
                    return Err(of_server(error));
                }
                reached = read(answer, "WAIT")?;
            }
            if reached >= replicas || left == step {
                return Ok(reached);
            }
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Reads a key that the server names.
pub(super) fn key_of(name: &[u8]) -> Result<StorageKey, &'static str> {
    let name = std::str::from_utf8(name).map_err(|_| "its name is no UTF-8")?;
    StorageKey::new(name).map_err(|error| error.reason())
}

pub(super) fn left_out(name: &[u8], reason: &str) -> Skipped {
    Skipped::new(&String::from_utf8_lossy(name), reason)
}

fn event(at: u64, fields: &[Vec<u8>]) -> Result<Event, &'static str> {
    let unknown = "an event of an unknown shape";
    let [_, session, _, change] = fields else { return Err(unknown) };
    let session = key_of(session)?;
    let change = match std::str::from_utf8(change).map_err(|_| unknown)? {
        "-" => Change::Removed,
        written => {
            let (generation, length) = written.split_once(' ').ok_or(unknown)?;
            let number = |text: &str| text.parse().map_err(|_| unknown);
            let position = Position { generation: number(generation)?, length: number(length)? };
            Change::Written(position)
        }
    };
    Ok(Event { at, session, change })
}
