//! Calls about one session, and reading their answers.

use bytes::Bytes;
use redis::{Cmd, FromRedisValue, Pipeline, Script, Value};
use session_model::storage::StorageKey;

use super::{
    RedisRemote,
    connection::call,
    error::{of_value, unexpected},
    scripts,
};
use crate::remote::{
    AppendUnit, Applied, Digest, Fence, MAX_META_BYTES, Position, RemoteError, Result,
    SessionState, Tombstone, shown,
};

/// What the feed is told of a session.
pub(super) type News<'a> = (&'a StorageKey, Option<Position>);

/// How often chunks are removed after a change, up to 16 GiB; the next change goes on.
const MAX_SWEEPS: usize = 1024;

const FIELDS: [&str; 8] = ["epoch", "owner", "gen", "len", "digest", "meta", "gone", "moved"];

impl RedisRemote {
    /// A script's call for a session, begun with its claim.
    pub(super) fn fenced(&self, script: &Script, session: &StorageKey, fence: &Fence) -> Cmd {
        let mut call = call(script, &[self.keys.session(session)]);
        call.arg(fence.epoch).arg(&fence.owner);
        call
    }

    pub(super) async fn apply_valid(&self, units: &[&AppendUnit]) -> Result<Vec<Result<Applied>>> {
        let mut calls = Pipeline::with_capacity(units.len());
        for unit in units {
            let mut call = self.fenced(&scripts::APPLY, &unit.session, &unit.fence);
            call.arg(unit.start.generation).arg(unit.start.length).arg(&unit.bytes[..]);
            call.arg(unit.digest.to_string()).arg(&unit.meta[..]);
            calls.add_command(call);
        }
        let answers = self.link.run(&scripts::APPLY, &calls).await?;
        let mut news: Vec<News<'_>> = Vec::new();
        let answers: Vec<_> = answers
            .into_iter()
            .zip(units)
            .map(|(answer, unit)| {
                let (applied, position) = applied(of_value(answer, &unit.session)?)?;
                if let Some(position) = position {
                    news.retain(|(session, _)| **session != unit.session);
                    news.push((&unit.session, Some(position)));
                }
                Ok(applied)
            })
            .collect();
        self.tell(&news).await?;
        Ok(answers)
    }

    /// Tells the feed and the listing what can be seen by now.
    pub(super) async fn tell(&self, news: &[News<'_>]) -> Result<()> {
        let Some(&(about, _)) = news.first() else { return Ok(()) };
        let keys = ["info", "feed", "sessions"].map(|name| self.keys.all(name));
        let mut call = call(&scripts::NOTIFY, &keys);
        call.arg(self.feed);
        for (session, position) in news {
            call.arg(session.as_str());
            match position {
                Some(at) => call.arg(format!("{} {}", at.generation, at.length)),
                None => call.arg("-"),
            };
        }
        self.link.run_one(&scripts::NOTIFY, call, about).await.map(drop)
    }

    /// Removes chunks that no log has any more; what an interruption leaves, the next call takes.
    pub(super) async fn sweep(&self, session: &StorageKey) -> Result<()> {
        for _ in 0..MAX_SWEEPS {
            let call = call(&scripts::SWEEP, &[self.keys.session(session)]);
            if self.link.run_one(&scripts::SWEEP, call, session).await? == Value::Int(0) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The states of sessions, in order; one that cannot be read is an error of its own.
    pub(super) async fn states(
        &self,
        sessions: &[StorageKey],
    ) -> Result<Vec<Result<Option<SessionState>>>> {
        let mut calls = Pipeline::with_capacity(sessions.len());
        for session in sessions {
            let mut call = call(&scripts::STATE, &[self.keys.session(session)]);
            call.arg(MAX_META_BYTES).arg(&FIELDS);
            calls.add_command(call);
        }
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let answers = self.link.run(&scripts::STATE, &calls).await?;
        let state = |(value, session)| state(of_value(value, session)?, session);
        Ok(answers.into_iter().zip(sessions).map(state).collect())
    }
}

/// Reads an answer whose shape is known.
pub(super) fn read<T: FromRedisValue>(value: Value, what: &str) -> Result<T> {
    T::from_redis_value(value).map_err(|_| unexpected(what))
}

/// What a change came to, and where the session's log ends if anybody sees a change.
pub(super) fn applied(value: Value) -> Result<(Applied, Option<Position>)> {
    let what = "a script's answer";
    let words: Vec<String> = read(value, what)?;
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<u64>().map_err(|_| unexpected(what));
    let position = |generation, length| {
        Ok::<_, RemoteError>(Position { generation: number(generation)?, length: number(length)? })
    };
    Ok(match words[..] {
        ["O"] => (Applied::Ok, None),
        ["D"] => (Applied::Dup, None),
        ["O", generation, length] => (Applied::Ok, Some(position(generation, length)?)),
        ["D", generation, length] => (Applied::Dup, Some(position(generation, length)?)),
        ["G", generation, length] => (Applied::Gap { have: position(generation, length)? }, None),
        ["C", at] => (Applied::Conflict { at: number(at)? }, None),
        ["F", epoch, owner] => {
            (Applied::Fenced(Fence { epoch: number(epoch)?, owner: owner.to_owned() }), None)
        }
        _ => return Err(unexpected(what)),
    })
}

fn state(value: Value, session: &StorageKey) -> Result<Option<SessionState>> {
    let malformed = |reason: String| RemoteError::Malformed { key: session.clone(), reason };
    let fields = <Vec<Option<Vec<u8>>>>::from_redis_value(value)
        .ok()
        .and_then(|fields| <[Option<Vec<u8>>; FIELDS.len()]>::try_from(fields).ok())
        .ok_or_else(|| malformed("its hash has an unknown shape".to_owned()))?;
    let text = |name: &str, field: Option<Vec<u8>>| {
        let utf8 = |_| malformed(format!("its field `{name}` is no text"));
        field.map(|field| String::from_utf8(field).map_err(utf8)).transpose()
    };
    let number = |name: &str, field: Option<Vec<u8>>| {
        let invalid = |_| malformed(format!("its field `{name}` is no number"));
        text(name, field)?.map(|field| field.parse::<u64>().map_err(invalid)).transpose()
    };
    let [epoch, owner, generation, length, digest, meta, gone, moved] = fields;
    let Some(epoch) = number("epoch", epoch)? else { return Ok(None) };
    let moved_to = match text("moved", moved)?.as_deref() {
        None | Some("") => None,
        Some(to) => Some(StorageKey::new(to).map_err(|error| {
            malformed(format!("it was moved to {}: {}", shown(to), error.reason()))
        })?),
    };
    let tombstone = match text("gone", gone)? {
        None => None,
        Some(by) => {
            let by = by.split_once(' ').and_then(|(epoch, owner)| {
                Some(Fence { epoch: epoch.parse().ok()?, owner: owner.to_owned() })
            });
            let by = by.ok_or_else(|| malformed("its field `gone` names no claim".to_owned()))?;
            Some(Tombstone { by, moved_to })
        }
    };
    let digest = text("digest", digest)?
        .map(|hex| {
            parse_digest(&hex)
                .ok_or_else(|| malformed("its field `digest` is no SHA-256".to_owned()))
        })
        .transpose()?;
    Ok(Some(SessionState {
        position: Position {
            generation: number("gen", generation)?.unwrap_or_default(),
            length: number("len", length)?.unwrap_or_default(),
        },
        digest,
        fence: Fence { epoch, owner: text("owner", owner)?.unwrap_or_default() },
        meta: Bytes::from(meta.unwrap_or_default()),
        tombstone,
    }))
}

pub(super) fn parse_digest(hex: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (byte, number) in digest.iter_mut().zip(0..) {
        *byte = u8::from_str_radix(&hex[2 * number..2 * number + 2], 16).ok()?;
    }
    Some(Digest(digest))
}
