//! Cases of kind `ops`: recorded calls, one after the other, each result compared.

use bytes::Bytes;
use session_context::{SessionError, SessionManager, SessionState};
use session_model::storage::{StorageErrorKind, StorageKey};

use crate::calls::{self, Arguments};
use crate::case::Case;
use crate::findings::Findings;
use crate::value::Value;
use crate::world::{Backend, PROJECT_DIR, World, here, key_of};
use crate::{Failure, compare, listing};

pub(crate) async fn replay(case: &Case, backend: Backend) -> Result<(), Failure> {
    let mut replay = Replay {
        case,
        world: World::new(backend)?,
        session: None,
        captured: None,
        key: None,
        key_before: None,
        found: Findings::default(),
    };
    replay.lay_out().await?;
    for step in case.json("ops.json")?.ok_or("no ops.json")?.items() {
        replay.step(step).await?;
    }
    replay.finish().await?;
    replay.found.into_result()
}

pub(crate) struct Replay<'a> {
    case: &'a Case,
    pub(crate) world: World,
    pub(crate) session: Option<SessionManager>,
    captured: Option<SessionState>,
    /// The file of the last session.
    pub(crate) key: Option<StorageKey>,
    /// The file it was in before it went on in another.
    pub(crate) key_before: Option<StorageKey>,
    found: Findings,
}

impl Replay<'_> {
    async fn lay_out(&mut self) -> Result<(), Failure> {
        let Some(input) = self.case.bytes("input.jsonl")? else { return Ok(()) };
        let source = self.case.flag("sourceFile")?;
        let path = source.or(self.case.flag("sessionFile")?).and_then(|path| path.as_text());
        self.world.put(&key_of(&path.ok_or("no place for the input")?)?, input).await?;
        for (key, file) in self.case.files_before()? {
            self.world.put(&StorageKey::new(key)?, file).await?;
        }
        Ok(())
    }

    async fn step(&mut self, step: &Value) -> Result<(), Failure> {
        if let Some(name) = step.get("checkpoint").and_then(Value::as_text) {
            return self.checkpoint(&name).await;
        }
        if let Some(note) = step.get("note").and_then(Value::as_text) {
            return self.note(&note).await;
        }
        let call = step.get("call").and_then(Value::as_text).ok_or("a step without a call")?;
        let n = step.get("n").and_then(Value::as_i64).unwrap_or(-1);
        let what = format!("op {n} {call}");
        self.world
            .set_time(step.get("now").and_then(Value::as_i64).ok_or("a step without a time")?);
        self.foretell_session(step)?;
        let taken = self.world.ids_taken();
        let arguments = Arguments::of(step.get("args").map_or(&[], Value::items));
        let result = calls::call(self, &call, &arguments).await;
        match (result, step.get("throws")) {
            (Ok(ours), None) => {
                let wrap =
                    |value: Option<&Value>| Value::Array(value.into_iter().cloned().collect());
                let right =
                    step.get("result").filter(|_| step.get("noAwait").is_none() || call != "close");
                self.found.values(&what, &wrap(ours.as_ref()), &wrap(right));
            }
            (Err(error), Some(throws)) => {
                let ours = match error.downcast_ref::<SessionError>() {
                    Some(SessionError::UnknownEntry { id }) => format!("Entry {id} not found"),
                    _ => format!("{error:?}"),
                };
                let right = throws.get("message").cloned().unwrap_or(Value::Null);
                self.found.values(&what, &Value::text(&ours), &right);
            }
            (Ok(_), Some(throws)) => {
                self.found.add(format!("{what}: should fail with {}", throws.to_json()));
            }
            (Err(error), None) => return Err(format!("{what}: {error:?}").into()),
        }
        let right = step.get("ids").cloned().unwrap_or(Value::Array(Vec::new()));
        self.found.values(
            &format!("{what} ids"),
            &Value::texts(self.world.ids_since(taken)),
            &right,
        );
        Ok(())
    }

    /// Has the session id ready that the recorded call used, if it made a session.
    fn foretell_session(&self, step: &Value) -> Result<(), Failure> {
        let result = step.get("result");
        let path = result.and_then(|result| {
            let named = result.get("$manager").or(result.get("newSessionFile"));
            named.unwrap_or(result).as_text()
        });
        let call = step.get("call").and_then(Value::as_text);
        let in_memory = result.and_then(|result| result.get("$manager")) == Some(&Value::Null)
            || result.is_none() && call.as_deref() == Some("createBranchedSession");
        if let Some((_, id)) =
            path.as_deref().and_then(|path| path.strip_suffix(".jsonl")?.rsplit_once('_'))
        {
            self.world.next_session_id(id);
        } else if in_memory {
            let state = self.case.json("expected-state.json")?;
            let id = state.and_then(|state| state.get("sessionId")?.as_text());
            self.world.next_session_id(&id.ok_or("no id of the session in memory")?);
        }
        Ok(())
    }

    async fn checkpoint(&mut self, name: &str) -> Result<(), Failure> {
        let old = name == "checkpoint-old-file.jsonl";
        let key = if old { &self.key_before } else { &self.key };
        let key = key.as_ref().ok_or("a checkpoint before any session")?;
        let right = self.case.bytes(name)?.map(|file| here(&file));
        let file = self.world.read_rooted(key).await?;
        self.found.files(name, file.as_ref(), right.as_ref());
        Ok(())
    }

    /// What the recorder did beside the calls.
    async fn note(&mut self, note: &str) -> Result<(), Failure> {
        let key = self.key.clone().ok_or("a note before any session")?;
        match note {
            "s = captureState()" => {
                self.captured = self.session.as_ref().map(|s| s.capture_state())
            }
            "restoreState(s)" => {
                let state = self.captured.take().ok_or("no state was captured")?;
                self.session.as_mut().ok_or("no session")?.restore_state(state);
            }
            "unlink(session file)" => self.world.remove_outside(&key)?,
            // Closing was waited for.
            "await close()" => {}
            // The line goes to an inode without a name, where nobody can find it.
            "B appends once more through its old descriptor (now an unlinked inode): line lost as well" =>
                {}
            _ if note.starts_with("second manager B") => self.second_writer(&key).await?,
            _ => return Err(format!("nobody knows how to do this: {note}").into()),
        }
        Ok(())
    }

    /// A second writer of ours is refused; one that knows nothing of claims writes all the same.
    async fn second_writer(&mut self, key: &StorageKey) -> Result<(), Failure> {
        let (storage, options) = (self.world.storage.clone(), self.world.options());
        match SessionManager::open(storage, key.clone(), PROJECT_DIR, options).await {
            Err(SessionError::Storage(error)) if error.kind() == StorageErrorKind::Busy => {}
            other => self.found.add(format!("a second writer is not refused: {other:?}")),
        }
        let line = self.line_of_second_writer().await?;
        let id = Value::parse(line.clone())?.get("id").and_then(Value::as_text);
        if self.world.take_id() != id.ok_or("the second writer's line has no id")? {
            self.found.add("the second writer's line has another id than the recording");
        }
        self.world.append_outside(key, &line).await
    }

    /// The recorder's second writer left a line in the next checkpoint or in the final file.
    async fn line_of_second_writer(&self) -> Result<Bytes, Failure> {
        let checkpoint = self.case.recorded("checkpoint-after-b.jsonl")?;
        let file = checkpoint.or(self.case.recorded("expected-file.jsonl")?).ok_or("no file")?;
        let mut lines = file.split_inclusive(|&byte| byte == b'\n');
        let line = lines.find(|line| line.windows(6).any(|text| text == b"from B"));
        Ok(Bytes::copy_from_slice(line.ok_or("no line of a second writer")?))
    }

    async fn finish(&mut self) -> Result<(), Failure> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.open_again().await?,
        };
        session.flush().await?;
        let key = session.key().clone();
        let file = self.world.read(&key).await?;
        if session.is_persistent() {
            let right = self.case.bytes("expected-file.jsonl")?.map(|file| here(&file));
            let rooted = self.world.read_rooted(&key).await?;
            self.found.files("at the end", rooted.as_ref(), right.as_ref());
        }
        compare::shown(&mut self.found, self.case, &self.world, ("", "expected-"), &mut session)?;
        let persistent = session.is_persistent();
        session.close().await?;
        let bucket = key.parent().ok_or("a session in no folder")?;
        listing::compare_in(&mut self.found, self.case, &self.world, bucket.as_str()).await?;
        compare::other_files(&mut self.found, self.case, &self.world, &key).await?;
        if persistent && file.is_some() {
            self.key = Some(key.clone());
            let mut session = self.open_again().await?;
            let how = ("again: ", "reopen-");
            compare::shown(&mut self.found, self.case, &self.world, how, &mut session)?;
            session.close().await?;
            if self.world.read(&key).await? != file {
                self.found.add("opening it again changed the file");
            }
        }
        Ok(())
    }

    async fn open_again(&self) -> Result<SessionManager, Failure> {
        let key = self.key.clone().ok_or("no session to open again")?;
        let (storage, options) = (self.world.storage.clone(), self.world.options());
        Ok(SessionManager::open(storage, key, PROJECT_DIR, options).await?)
    }
}
