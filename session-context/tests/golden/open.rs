//! Cases of kind `open`: a file is opened, one message is appended, and it is opened again.

use session_context::{LeafChoice, SessionManager, SessionOptions};
use session_model::storage::StorageKey;

use crate::case::Case;
use crate::findings::Findings;
use crate::value::Value;
use crate::world::{Backend, PROJECT_DIR, World, here, key_of};
use crate::{Failure, compare, listing, state};

pub(crate) async fn replay(case: &Case, backend: Backend) -> Result<(), Failure> {
    let path = case.flag("sessionFile")?.and_then(|path| path.as_text());
    let key = key_of(&path.ok_or("case.json names no session file")?)?;
    let world = World::new(backend)?;
    let input = case.bytes("input.jsonl")?;
    if let Some(input) = &input {
        world.put(&key, input.clone()).await?;
    }
    for (key, file) in case.files_before()? {
        world.put(&StorageKey::new(key)?, file).await?;
    }
    world.set_time(case.flag("openNow")?.and_then(|now| now.as_i64()).ok_or("no openNow")?);
    if let Some(id) = case.json("expected-state.json")?.and_then(|s| s.get("sessionId")?.as_text())
    {
        world.next_session_id(&id);
    }
    let mut replay = Replay { case, world, key, found: Findings::default() };
    listing::compare(&mut replay.found, case, &replay.world).await?;
    replay.read_only().await?;
    let session = replay.open().await?;
    replay.append(session).await?;
    replay.found.into_result()
}

struct Replay<'a> {
    case: &'a Case,
    world: World,
    key: StorageKey,
    found: Findings,
}

impl Replay<'_> {
    /// Reading alone shows the same and changes nothing.
    async fn read_only(&mut self) -> Result<(), Failure> {
        let before = self.world.files().await?;
        let options = self.world.options();
        let opened =
            SessionManager::open_read_only(self.world.storage.clone(), self.key.clone(), options)
                .await;
        // What opening for writing replaces by a new session is no session to a reader.
        let replaced = match self.case.bytes("expected-file-after-open.jsonl")? {
            Some(after) => {
                let header = after.split(|&byte| byte == b'\n').next().unwrap_or_default();
                !self.case.bytes("input.jsonl")?.is_some_and(|input| input.starts_with(header))
            }
            None => false,
        };
        match opened {
            Ok(_) if replaced => self.found.add("reading: it opens, though it is no session"),
            Err(error) if !replaced => self.found.add(format!("reading: {error:?}")),
            Err(_) => {}
            Ok(mut session) => {
                let names = ("reading: ", "expected-");
                compare::shown(&mut self.found, self.case, &self.world, names, &mut session)?;
            }
        }
        self.world.give_back_ids(0);
        if self.world.files().await? != before {
            self.found.add("reading: a file was changed");
        }
        Ok(())
    }

    async fn open(&mut self) -> Result<SessionManager, Failure> {
        let mut session = self.open_for_writing(self.world.options()).await?;
        compare::shown(&mut self.found, self.case, &self.world, ("", "expected-"), &mut session)?;
        if let Some(ids) = self.case.flag("idsConsumedByOpen")? {
            let ours = Value::texts(self.world.ids_since(0));
            self.found.values("idsConsumedByOpen", &ours, &ids);
        }
        session.flush().await?;
        let file = self.world.read(&self.key).await?;
        let right = self.file_after_open()?;
        self.found.files("after open", file.as_ref(), right.as_ref());
        Ok(session)
    }

    async fn open_for_writing(&self, options: SessionOptions) -> Result<SessionManager, Failure> {
        let storage = self.world.storage.clone();
        Ok(SessionManager::open(storage, self.key.clone(), PROJECT_DIR, options).await?)
    }

    /// The file as it should be once it is open.
    ///
    /// The recorder migrated in memory and wrote the result with the next append; we write it at
    /// once, so that it is what was recorded after the append without the appended line.
    fn file_after_open(&self) -> Result<Option<bytes::Bytes>, Failure> {
        if let Some(right) = self.case.bytes("expected-file-after-open.jsonl")? {
            return Ok(Some(here(&right)));
        }
        let appended_only = self.case.flag("appendWasPureAppend")? != Some(Value::Bool(false));
        if appended_only {
            return self.case.bytes("input.jsonl");
        }
        let file = self.case.bytes("expected-file.jsonl")?.ok_or("no expected file")?;
        let lines: Vec<_> = file.split_inclusive(|&byte| byte == b'\n').collect();
        Ok(Some(lines[..lines.len() - 1].concat().into()))
    }

    async fn append(&mut self, mut session: SessionManager) -> Result<(), Failure> {
        let Some(append) = self.case.json("append.json")? else {
            session.close().await?;
            return compare::other_files(&mut self.found, self.case, &self.world, &self.key).await;
        };
        let now = append.get("now").and_then(Value::as_i64).ok_or("append.json: no time")?;
        self.world.set_time(now);
        let taken = self.world.ids_taken();
        let message = append.get("message").ok_or("append.json: no message")?;
        let id = session.append_message_json(&message.to_json()).await?;
        session.flush().await?;
        let ours = Value::object([
            ("now", Value::Number(now as f64)),
            ("message", message.clone()),
            ("id", Value::text(&id)),
            ("ids", Value::texts(self.world.ids_since(taken))),
        ]);
        self.found.values("append.json", &ours, &append);
        let file = self.world.read(&self.key).await?;
        let right = self.case.bytes("expected-file.jsonl")?.map(|file| here(&file));
        self.found.files("after append", file.as_ref(), right.as_ref());
        session.close().await?;
        compare::other_files(&mut self.found, self.case, &self.world, &self.key).await?;
        self.reopen(&id).await
    }

    async fn reopen(&mut self, appended: &str) -> Result<(), Failure> {
        let session = self.open_for_writing(self.world.options()).await?;
        let ids = session
            .entries()
            .iter()
            .map(|entry| entry.id().map_or(Value::Null, |id| Value::text(&id)));
        let context = state::context(&session, LeafChoice::Current);
        let messages = context.get("messages").map_or(0, |messages| messages.items().len());
        let ours = Value::object([
            ("entryIds", Value::Array(ids.collect())),
            ("leafId", session.leaf_id().map_or(Value::Null, |id| Value::text(&id))),
            ("appendedEntryPresent", Value::Bool(session.entry(appended).is_some())),
            ("contextMessages", Value::Number(messages as f64)),
        ]);
        let right = self.case.json("reopen.json")?.ok_or("no reopen.json")?;
        self.found.values("reopen.json", &ours, &right);
        session.close().await?;
        Ok(())
    }
}
