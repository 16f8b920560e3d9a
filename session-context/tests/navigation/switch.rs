//! Switching sessions, and failing to.

use async_trait::async_trait;
use session_context::manager::OtherCopy;
use session_context::navigation::{BeforeSwitch, HostError, MissingCwd, SessionHooks};
use session_context::{SessionError, SessionManager};
use session_model::json::RawJson;
use session_model::storage::{AppendOptions, SessionStorage, StorageErrorKind, StorageKey};
use session_store_memory::{MemoryStorage, Operation, When};

use crate::support::store::{A, B, HEADER, content, ids, key, open, put, user};
use crate::support::{block_on, options, shared};

const OLD_FORMAT: &str = "{\"type\":\"session\",\"id\":\"o\",\"cwd\":\"/gone\"}\n\
    {\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"old\"}}\n{\"torn";

fn other() -> StorageKey {
    StorageKey::new("sessions/--gone--/o.jsonl").unwrap()
}

fn two() -> MemoryStorage {
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}\n{B}\n"));
    let body = OLD_FORMAT.to_owned().into();
    block_on(storage.put(&other(), body, Default::default())).unwrap();
    storage
}

fn is_busy(storage: &MemoryStorage, key: &StorageKey) -> bool {
    match block_on(storage.open_append(key, AppendOptions::exclusive("probe"))) {
        Ok(writer) => {
            block_on(writer.close()).unwrap();
            false
        }
        Err(error) => {
            assert_eq!(error.kind(), StorageErrorKind::Busy, "{error}");
            true
        }
    }
}

/// What the tests compare of a session.
fn view(session: &SessionManager) -> (StorageKey, String, Vec<String>, Option<String>, String) {
    (
        session.key().clone(),
        session.session_id(),
        ids(session),
        session.leaf_id(),
        format!("{:?} {:?}", session.provider_identity(), session.diagnostics()),
    )
}

/// Makes sure that a session can be used and saved, and that nobody else can write it.
fn usable(storage: &MemoryStorage, session: &mut SessionManager, what: &str) {
    block_on(async {
        if session.persistence_error().is_some() {
            session.save_again().await.unwrap();
        }
        assert!(is_busy(storage, session.key()), "{what}");
        let id = session.append_message(user("still here")).await.unwrap();
        assert!(id.starts_with("00000"), "{what}: the ids are no longer the host's: {id}");
        session.flush().await.unwrap();
        let file = content(storage, session.key()).unwrap();
        let (start, line) = file.trim_end().rsplit_once('\n').unwrap();
        assert!(line.contains(&format!("\"id\":\"{id}\"")), "{what}: {line}");
        assert!(start.contains(A) && start.contains(B), "{what}: {start}");
    });
}

#[derive(Default)]
struct Hooks {
    cancel: bool,
    refuse: bool,
    here: bool,
    fail_before: bool,
    fail_after: bool,
}

#[async_trait]
impl SessionHooks for Hooks {
    async fn before_switch(
        &self,
        from: &StorageKey,
        to: &StorageKey,
    ) -> Result<BeforeSwitch, HostError> {
        assert_eq!((from, to), (&key(), &other()));
        match self {
            Self { fail_before: true, .. } => Err("no".into()),
            Self { cancel: true, .. } => Ok(BeforeSwitch::Cancel),
            _ => Ok(BeforeSwitch::Proceed),
        }
    }

    async fn cwd_exists(&self, cwd: &str) -> Result<bool, HostError> {
        assert_eq!(cwd, "/gone");
        Ok(self.here)
    }

    async fn missing_cwd(&self, session: &StorageKey, cwd: &str) -> Result<MissingCwd, HostError> {
        assert_eq!((session, cwd), (&other(), "/gone"));
        assert!(!self.here, "asked about a directory that is there");
        Ok(if self.refuse { MissingCwd::Refuse } else { MissingCwd::OpenAnyway })
    }

    async fn after_switch(
        &self,
        session: &mut SessionManager,
        from: &StorageKey,
    ) -> Result<(), HostError> {
        assert_eq!((session.key(), from), (&other(), &key()));
        session.append_mode_change("plan", None).await?;
        if self.fail_after { Err("no".into()) } else { Ok(()) }
    }
}

#[test]
fn the_other_session_is_up_to_date_and_the_old_one_free() {
    for here in [false, true] {
        let storage = two();
        block_on(async {
            let mut session = open(&storage, options("")).await;
            let last = session.append_message(user("last")).await.unwrap();
            session.fresh();
            let hooks = Hooks { here, ..Hooks::default() };
            assert!(session.switch_session(&other(), &hooks).await.unwrap());
            assert_eq!(session.key(), &other());
            assert_eq!(ids(&session), ["00000002", "00000003"]);
            assert_eq!(session.provider_identity(), "o");
            assert!(!is_busy(&storage, &key()) && is_busy(&storage, &other()));
            assert!(content(&storage, &key()).unwrap().contains(&last));
            session.append_message(user("new")).await.unwrap();
            session.close().await.unwrap();
            let file = content(&storage, &other()).unwrap();
            let versions: Vec<_> =
                file.lines().map(|l| RawJson::parse(l.to_owned()).unwrap()).collect();
            assert_eq!(versions.len(), 4, "{file}");
        });
    }
}

struct ReRoot;

#[async_trait]
impl SessionHooks for ReRoot {
    async fn missing_cwd(&self, _: &StorageKey, cwd: &str) -> Result<MissingCwd, HostError> {
        assert_eq!(cwd, "/gone");
        Ok(MissingCwd::ReRoot("/new".to_owned()))
    }
}

fn re_rooted() -> StorageKey {
    StorageKey::new(format!("sessions/--new--/{}", other().file_name())).unwrap()
}

#[test]
fn a_session_without_its_directory_can_be_taken_to_another() {
    let storage = two();
    block_on(async {
        let mut session = open(&storage, options("")).await;
        assert!(session.switch_session(&other(), &ReRoot).await.unwrap());
        assert_eq!((session.key(), session.cwd().as_deref()), (&re_rooted(), Some("/new")));
        assert_eq!(content(&storage, &other()), None);
        assert!(is_busy(&storage, &re_rooted()) && !is_busy(&storage, &key()));
        session.close().await.unwrap();
    });
}

#[test]
fn a_failed_move_on_switching_leaves_both_sessions_whole() {
    for n in 0.. {
        let storage = two();
        let mut session = block_on(open(&storage, options("")));
        let before = view(&session);
        storage.faults().fail_at(n, When::Before, StorageErrorKind::Full);
        let switched = block_on(session.switch_session(&other(), &ReRoot));
        let fired = storage.faults().fired();
        storage.faults().clear();
        let what = format!("at {n}: {switched:?}");
        if switched.is_err() {
            assert_eq!(view(&session), before, "{what}");
            usable(&storage, &mut session, &what);
            let there = [content(&storage, &other()), content(&storage, &re_rooted())];
            assert_eq!(there.iter().flatten().count(), 1, "{what}: {there:?}");
            assert!(!is_busy(&storage, &other()) && !is_busy(&storage, &re_rooted()), "{what}");
        }
        if !fired {
            break;
        }
    }
}

#[test]
fn whatever_fails_the_old_session_is_as_it_was() {
    for when in [When::Before, When::Partway(3), When::After] {
        for n in 0.. {
            let storage = two();
            let mut session = block_on(open(&storage, options("")));
            session.branch("a").unwrap();
            let before = view(&session);
            storage.faults().fail_at(n, when, StorageErrorKind::Full);
            let switched = block_on(session.switch_session(&other(), &()));
            let fired = storage.faults().fired();
            storage.faults().clear();
            let what = format!("{when:?} at {n}: {switched:?}");
            match switched {
                Ok(switched) => {
                    assert!(switched && session.key() == &other(), "{what}");
                    assert!(!is_busy(&storage, &key()), "{what}");
                }
                Err(_) => {
                    assert_eq!(view(&session), before, "{what}");
                    assert!(!is_busy(&storage, &other()), "{what}");
                    usable(&storage, &mut session, &what);
                    assert_eq!(session.branch_ids()[0], "a", "{what}");
                    // The other session has lost nothing either.
                    assert!(block_on(session.switch_session(&other(), &())).unwrap(), "{what}");
                    assert_eq!(ids(&session).len(), 1, "{what}");
                }
            }
            if !fired {
                break;
            }
        }
    }
}

#[test]
fn a_hook_that_says_no_or_fails_keeps_the_old_session() {
    let failed = |what: &str| format!("the hook {what} switching failed");
    for (hooks, expected) in [
        (Hooks { cancel: true, ..Hooks::default() }, Ok(false)),
        (Hooks { fail_before: true, ..Hooks::default() }, Err(failed("before"))),
        (Hooks { fail_after: true, ..Hooks::default() }, Err(failed("after"))),
        (
            Hooks { refuse: true, ..Hooks::default() },
            Err("sessions/--gone--/o.jsonl works in /gone, which is not there; bring it back or move the session".to_owned()),
        ),
    ] {
        let storage = two();
        let mut session = block_on(open(&storage, options("")));
        let before = view(&session);
        let switched = block_on(session.switch_session(&other(), &hooks));
        assert_eq!(switched.map_err(|error| error.to_string()), expected);
        assert_eq!(view(&session), before);
        assert!(!is_busy(&storage, &other()));
        usable(&storage, &mut session, "after a hook");
    }
}

#[test]
fn what_is_no_session_or_in_use_is_not_switched_to() {
    block_on(async {
        let storage = two();
        let mut session = open(&storage, options("")).await;
        let before = view(&session);
        let missing = StorageKey::new("sessions/none.jsonl").unwrap();
        let error = session.switch_session(&missing, &()).await.unwrap_err();
        assert!(matches!(error, SessionError::NotFound { .. }), "{error:?}");
        assert_eq!(content(&storage, &missing), None);
        for text in ["", "no session\n"] {
            let damaged = StorageKey::new("sessions/damaged.jsonl").unwrap();
            storage.put(&damaged, text.to_owned().into(), Default::default()).await.unwrap();
            let error = session.switch_session(&damaged, &()).await.unwrap_err();
            assert!(matches!(error, SessionError::NotASession { .. }), "{error:?}");
            assert_eq!(content(&storage, &damaged).as_deref(), Some(text));
            assert!(!is_busy(&storage, &damaged));
        }
        let busy =
            SessionManager::open(shared(&storage), other(), "/w", options("9")).await.unwrap();
        let error = session.switch_session(&other(), &()).await.unwrap_err();
        assert_eq!(error.storage_error().unwrap().kind(), StorageErrorKind::Busy);
        assert_eq!(view(&session), before);
        usable(&storage, &mut session, "after refusals");
        busy.close().await.unwrap();
    });
}

#[test]
fn a_session_that_is_not_wholly_saved_is_not_left() {
    let storage = two();
    let mut session = block_on(open(&storage, options("")));
    let full = StorageErrorKind::Full;
    storage.faults().fail_nth(Operation::Append, 0, When::Before, full);
    block_on(session.append_message(user("unsaved"))).unwrap_err();
    let before = view(&session);
    let error = block_on(session.switch_session(&other(), &())).unwrap_err();
    assert!(matches!(error, SessionError::Unsaved { .. }), "{error:?}");
    assert_eq!(view(&session), before);
    usable(&storage, &mut session, "after a failure to save");
}

#[test]
fn switching_to_the_present_session_saves_it() {
    let storage = two();
    let mut session = block_on(open(&storage, options("")));
    assert!(block_on(session.switch_session(&key(), &())).unwrap());
    usable(&storage, &mut session, "after staying");
}

#[test]
fn sessions_can_be_moved_about_by_any_runtime() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let storage = two();
    let opening = SessionManager::open(shared(&storage), key(), "/w", options(""));
    let mut session = block_on(sent(opening)).unwrap();
    block_on(sent(session.append_message(user("sent")))).unwrap();
    let copy = OtherCopy::new("no session", "copy");
    assert!(block_on(sent(session.merge(copy))).is_err());
    assert!(block_on(sent(session.switch_session(&other(), &()))).unwrap());
    let leaf = session.leaf_id().unwrap();
    drop(block_on(sent(session.navigate_tree(&leaf, Default::default()))).unwrap());
    block_on(sent(session.move_to("/elsewhere"))).unwrap();
    block_on(sent(session.create_branched_session(&leaf))).unwrap();
    block_on(sent(session.fork())).unwrap();
    block_on(sent(session.close())).unwrap();
}
