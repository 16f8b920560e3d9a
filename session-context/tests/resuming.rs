//! Lists and resumption: inputs that broke other tools, and what is right for each.
#![cfg(all(feature = "file", unix))]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use pollster::block_on;
use session_context::listing::{
    CwdFilter, CwdState, Kinship, LineageNode, ListingOptions, Place, SessionCatalog, SessionRow,
    lineage,
};
use session_context::{NewSession, SessionError, SessionManager, SessionOptions};
use session_model::DiagnosticCode;
use session_model::layout::TerminalId;
use session_model::storage::SessionStorage;
use session_model::summary::SessionStatus;
use session_store_file::FileStorage;
use tempfile::TempDir;

/// An agent directory.
struct Agent {
    dir: TempDir,
    storage: Arc<dyn SessionStorage>,
}

impl Agent {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("agent");
        Self { storage: Arc::new(FileStorage::open(root).unwrap()), dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text_path(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a session below `sessions`.
    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path("agent/sessions").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn catalog(&self) -> SessionCatalog {
        SessionCatalog::new(vec![Place::agent_dir(Arc::clone(&self.storage)).unwrap()])
    }

    fn find(&self, wanted: &str, cwd: &str) -> Result<String, SessionError> {
        block_on(self.catalog().find(wanted, CwdFilter::local(cwd))).map(|row| name(&row))
    }

    fn go_on(&self, cwd: &str, terminal: Option<&TerminalId>) -> SessionManager {
        let agent = Arc::clone(&self.storage);
        let new = NewSession::in_cwd(cwd).id("made");
        let opened =
            SessionManager::continue_recent(agent, new, terminal, SessionOptions::default());
        block_on(opened).unwrap()
    }

    /// The id of the session that is gone on with.
    fn goes_on_with(&self, cwd: &str, terminal: Option<&TerminalId>) -> String {
        let session = self.go_on(cwd, terminal);
        let id = session.session_id();
        block_on(session.close()).unwrap();
        id
    }

    fn breadcrumb(&self, terminal: &TerminalId) -> String {
        let key = terminal.key().unwrap();
        fs::read_to_string(self.path("agent").join(key.as_str())).unwrap()
    }
}

/// A session whose one message was said on this day of March 2026.
fn session(id: &str, cwd: &str, day: u32) -> String {
    format!(
        "{}{{\"type\":\"message\",\"id\":\"a0000001\",\"parentId\":null,\"timestamp\":\"2026-03-{day:02}T09:00:01Z\",\
         \"message\":{{\"role\":\"user\",\"content\":\"task {id}\"}}}}\n",
        header(id, cwd)
    )
}

fn header(id: &str, cwd: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-03-01T09:00:00Z\",\"cwd\":{cwd:?}}}\n"
    )
}

fn name(row: &SessionRow) -> String {
    row.key.as_str().trim_start_matches("sessions/").to_owned()
}

fn ids(rows: &[SessionRow]) -> Vec<String> {
    rows.iter()
        .map(|row| row.summary.as_ref().map_or("unreadable".into(), |s| s.id.clone()))
        .collect()
}

fn of(cwd: &str, agent: &Agent) -> Vec<String> {
    ids(&block_on(agent.catalog().list(CwdFilter::local(cwd))).unwrap())
}

fn all(agent: &Agent) -> Vec<String> {
    ids(&block_on(agent.catalog().list_all(ListingOptions::default())).unwrap())
}

fn date(path: &PathBuf, seconds: u64) {
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

fn terminal() -> TerminalId {
    TerminalId::new(Some("/dev/pts/3"), |_| None).unwrap()
}

#[test]
fn an_index_beside_the_sessions_decides_nothing() {
    let agent = Agent::new();
    for n in 1..=3 {
        agent.put(&format!("p/s-{n}.jsonl"), &session(&format!("s-{n}"), "/w/app", n));
    }
    let index = r#"{"version":1,"entries":[{"sessionId":"s-1"},{"sessionId":"s-gone"}]}"#;
    agent.put("p/sessions-index.json", index);
    assert_eq!(all(&agent), ["s-3", "s-2", "s-1"]);
}

#[test]
fn directories_that_share_a_bucket_keep_apart() {
    let agent = Agent::new();
    agent.put("--w-my-app--/a.jsonl", &session("dash", "/w/my-app", 1));
    agent.put("--w-my-app--/b.jsonl", &session("deep", "/w/my/app", 2));
    assert_eq!(
        (of("/w/my-app", &agent), of("/w/my/app", &agent)),
        (vec!["dash".into()], vec!["deep".into()])
    );
    assert_eq!(agent.goes_on_with("/w/my-app", None), "dash");
    assert_eq!(agent.goes_on_with("/w/my_app", None), "made");
}

#[test]
fn time_of_files_neither_orders_nor_removes() {
    let agent = Agent::new();
    let texts = [session("old", "/w", 1), session("new", "/w", 2)];
    let paths = [agent.put("w/1.jsonl", &texts[0]), agent.put("w/2.jsonl", &texts[1])];
    date(&paths[0], 1_773_000_000);
    date(&paths[1], 1_000_000_000);
    assert_eq!(all(&agent), ["new", "old"]);
    assert_eq!(agent.goes_on_with("/w", None), "new");
    assert_eq!(paths.map(|path| fs::read_to_string(path).unwrap()), texts);
}

#[test]
fn clocks_that_differ_change_no_order_within_a_session() {
    let agent = Agent::new();
    let line = |id: &str, parent: &str, minute: u32, message: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-03-01T09:{minute:02}:00Z\",\"message\":{{{message}}}}}\n"
        )
    };
    let text = header("s", "/w")
        + &line("a1", "null", 10, r#""role":"user","content":"q1""#)
        + &line("a2", "\"a1\"", 1, r#""role":"assistant","content":[],"stopReason":"stop""#)
        + &line("a3", "\"a2\"", 9, r#""role":"user","content":"q2""#)
        + &line("a4", "\"a3\"", 2, r#""role":"assistant","content":[],"stopReason":"error""#);
    agent.put("w/s.jsonl", &text);
    let rows = block_on(agent.catalog().recent(1)).unwrap();
    let summary = rows[0].summary.as_ref().unwrap();
    assert_eq!(
        (summary.status, summary.first_message.as_deref()),
        (SessionStatus::Error, Some("q1"))
    );
    assert_eq!(summary.activity.unwrap().at_ms, 1_772_356_200_000);
    assert_eq!(agent.go_on("/w", None).branch_ids(), ["a1", "a2", "a3", "a4"]);
}

#[test]
fn a_session_whose_directory_is_gone_is_found_from_anywhere() {
    let agent = Agent::new();
    let (old, new) = (agent.text_path("old-name"), agent.text_path("new-name"));
    fs::create_dir(&new).unwrap();
    let text = session("s-0001", &old, 1);
    let path = agent.put("--old--/a.jsonl", &text);
    agent.put("--new--/b.jsonl", &session("own", &new, 2));
    assert_eq!(agent.find("S-0001", &new).unwrap(), "--old--/a.jsonl");
    assert_eq!(
        [&old, &new].map(|cwd| CwdState::of(Some(cwd))),
        [CwdState::Missing, CwdState::Usable]
    );
    assert_eq!(of(&new, &agent), ["own"]);
    assert_eq!(of(&old, &agent), ["s-0001"]);
    assert_eq!(agent.goes_on_with(&old, None), "s-0001");
    assert_eq!(fs::read_to_string(path).unwrap(), text);
}

#[test]
fn a_directory_has_many_names() {
    let agent = Agent::new();
    fs::create_dir(agent.path("real")).unwrap();
    std::os::unix::fs::symlink(agent.path("real"), agent.path("link")).unwrap();
    let (real, link) = (agent.text_path("real"), agent.text_path("link"));
    agent.put("a/1.jsonl", &session("typed", &link, 1));
    agent.put("b/2.jsonl", &session("resolved", &real, 2));
    agent.put("c/3.jsonl", &session("drive", "D:\\Work\\App", 3));
    assert_eq!(
        (of(&real, &agent), of(&link, &agent)),
        (vec!["resolved".into(), "typed".into()], vec!["resolved".into(), "typed".into()])
    );
    assert_eq!(of("d:\\work\\app", &agent), ["drive"]);
    assert_eq!(of("/mnt/c/Users", &agent), [""; 0]);
}

#[test]
fn runs_of_child_agents_are_hidden_and_in_reach() {
    let agent = Agent::new();
    agent.put("w/main.jsonl", &session("main", "/w", 1));
    agent.put("w/main/worker.jsonl", &session("worker", "/w", 5));
    agent.put("w/main/worker/helper.jsonl", &session("helper", "/w", 6));
    let fork =
        session("fork", "/w", 2).replacen("\"cwd\"", "\"parentSession\":\"main\",\"cwd\"", 1);
    agent.put("w/fork.jsonl", &fork);
    agent.put("w/lost/orphan.jsonl", &session("orphan", "/w", 3));
    assert_eq!(all(&agent), ["fork", "main"]);
    assert_eq!(agent.goes_on_with("/w", None), "fork");
    assert_eq!(agent.find("help", "/w").unwrap(), "w/main/worker/helper.jsonl");

    let rows = block_on(agent.catalog().list_all(ListingOptions::default().children())).unwrap();
    assert_eq!(ids(&rows), ["helper", "worker", "orphan", "fork", "main"]);
    let node = |row, depth, parent| LineageNode { row, depth, parent };
    let want = [
        node(2, 0, None),
        node(4, 0, None),
        node(1, 1, Some((4, Kinship::ChildAgent))),
        node(0, 2, Some((1, Kinship::ChildAgent))),
        node(3, 1, Some((4, Kinship::Fork))),
    ];
    assert_eq!(lineage(&rows), want);
}

#[test]
fn sessions_that_name_each_other_are_all_in_the_tree() {
    let agent = Agent::new();
    for (id, parent, day) in
        [("a", "c", 3), ("b", "a", 2), ("c", "b", 1), ("own", "own", 4), ("root", "", 1)]
    {
        let named = format!("\"parentSession\":\"{parent}\",\"cwd\"");
        let text = session(id, "/w", day).replacen("\"cwd\"", &named, 1);
        agent.put(&format!("w/{id}.jsonl"), &text);
    }
    let rows = block_on(agent.catalog().list_all(ListingOptions::default())).unwrap();
    let order: Vec<_> = lineage(&rows).iter().map(|node| (node.row, node.depth)).collect();
    assert_eq!(
        (ids(&rows), order),
        (
            ["own", "a", "b", "c", "root"].map(str::to_owned).to_vec(),
            vec![(0, 0), (4, 0), (1, 0), (2, 1), (3, 2)]
        )
    );
}

#[test]
fn of_files_with_one_id_the_fullest_is_opened() {
    let agent = Agent::new();
    agent.put("w/2026-01-01T00-00-00Z_s-0001.jsonl", &session("s-0001", "/w", 1));
    let later = header("s-0001", "/w").replace("2026-03-01", "2026-03-09");
    agent.put("w/2026-03-09T00-00-00Z_s-0001.jsonl", &later);
    let rows = block_on(agent.catalog().list_all(ListingOptions::default())).unwrap();
    assert_eq!(rows.iter().map(|row| row.id_is_shared).collect::<Vec<_>>(), [true, true]);
    assert_eq!(agent.find("s-00", "/w").unwrap(), "w/2026-01-01T00-00-00Z_s-0001.jsonl");
}

#[test]
fn what_is_unreadable_uses_up_no_limit() {
    let agent = Agent::new();
    for n in 1..=3 {
        agent.put(&format!("w/{n}.jsonl"), &session(&format!("s-{n}"), "/w", n));
    }
    agent.put("w/9.jsonl", "{\"type\":\"session\",\n");
    std::os::unix::fs::symlink("nowhere", agent.path("agent/sessions/w/link.jsonl")).unwrap();
    let rows = block_on(agent.catalog().recent(2)).unwrap();
    assert_eq!(ids(&rows)[..2], ["s-3", "s-2"]);
    assert!(rows[2..].iter().all(|row| row.summary.is_err()) && rows.len() > 2);
    assert_eq!(agent.goes_on_with("/w", None), "s-3");
}

#[test]
fn a_session_without_messages_is_listed_by_its_own_directory() {
    let agent = Agent::new();
    agent.put("w/a.jsonl", &header("bare", "/w/app"));
    agent.put("w/b.jsonl", "{\"type\":\"session\",\"id\":\"nowhere\"}\n");
    assert_eq!(of("/w/app", &agent), ["nowhere", "bare"]);
    assert_eq!(of("/", &agent), ["nowhere"]);
    assert_eq!(agent.goes_on_with("/", None), "made");
}

#[test]
fn a_directory_that_cannot_be_used_keeps_no_session_shut() {
    let agent = Agent::new();
    let cwd = agent.text_path("file");
    fs::write(&cwd, "").unwrap();
    agent.put("w/a.jsonl", &session("s-0001", &cwd, 1));
    assert_eq!(CwdState::of(Some(&cwd)), CwdState::Unusable);
    let session = agent.go_on(&cwd, None);
    assert_eq!(
        (session.session_id(), session.cwd(), session.entries().len()),
        ("s-0001".into(), Some(cwd), 1)
    );
}

#[test]
fn a_session_is_named_by_id_file_or_title() {
    let agent = Agent::new();
    agent.put("w/2026-01-01T00-00-00-000Z_abc1.jsonl", &session("abc1", "/w", 1));
    agent.put("w/2026-01-02T00-00-00-000Z_abc2.jsonl", &session("abc2", "/w", 2));
    agent.put("v/2026-01-03T00-00-00-000Z_abc3.jsonl", &session("abc3", "/v", 3));
    let titled = session("zzz", "/v", 4).replacen("\"cwd\"", "\"title\":\"Größe abc\",\"cwd\"", 1);
    agent.put("v/my_notes_end.jsonl", &titled);
    let parts = "w/2026-01-05T00-00-00-000Z_part_two.jsonl";
    agent.put(parts, &session("yyy", "/w", 5));
    for (wanted, cwd, want) in [
        ("part_t", "/w", parts),
        ("two", "/w", parts),
        ("ABC1", "/v", "w/2026-01-01T00-00-00-000Z_abc1.jsonl"),
        ("abc", "/v", "v/2026-01-03T00-00-00-000Z_abc3.jsonl"),
        ("2026-01-02", "/v", "w/2026-01-02T00-00-00-000Z_abc2.jsonl"),
        ("my_n", "/w", "v/my_notes_end.jsonl"),
        ("end", "/w", "v/my_notes_end.jsonl"),
        ("GRÖSSE", "/w", ""),
        ("GRÖßE", "/w", "v/my_notes_end.jsonl"),
        ("task abc2", "/v", "w/2026-01-02T00-00-00-000Z_abc2.jsonl"),
        ("nothing", "/w", ""),
        ("", "/w", ""),
    ] {
        let found = match agent.find(wanted, cwd) {
            Err(SessionError::NoMatch { .. }) => String::new(),
            found => found.unwrap(),
        };
        assert_eq!(found, want, "{wanted}");
    }
    let Err(SessionError::Ambiguous { wanted, candidates }) = agent.find("abc", "/w") else {
        unreachable!("two may be meant")
    };
    let path = |n: u32| {
        agent.text_path(&format!("agent/sessions/w/2026-01-0{n}T00-00-00-000Z_abc{n}.jsonl"))
    };
    assert_eq!((wanted.as_str(), candidates), ("abc", vec![path(2), path(1)]));
}

#[test]
fn a_terminal_goes_on_where_it_was() {
    let agent = Agent::new();
    let cwd = agent.text_path("project");
    fs::create_dir(&cwd).unwrap();
    agent.put("w/new.jsonl", &session("new", &cwd, 9));
    let old = agent.put("w/old.jsonl", &session("old", &cwd, 1));
    let crumb = |text: &str| {
        fs::create_dir_all(agent.path("agent/terminal-sessions")).unwrap();
        fs::write(agent.path("agent/terminal-sessions/pts-3"), text).unwrap();
    };
    let here = terminal();
    assert_eq!(agent.goes_on_with(&cwd, Some(&here)), "new");
    crumb(&format!("{cwd}\n{}\n", old.display()));
    assert_eq!(agent.goes_on_with(&cwd, Some(&here)), "old");
    let written = agent.breadcrumb(&here);
    let stat = {
        use std::os::unix::fs::MetadataExt;
        let meta = fs::metadata(&cwd).unwrap();
        format!("cwdstat {} {}", meta.dev(), meta.ino())
    };
    assert_eq!(written, format!("{cwd}\n{}\n{stat}\n", old.display()));

    let renamed = agent.text_path("renamed");
    fs::rename(&cwd, &renamed).unwrap();
    assert_eq!(agent.goes_on_with(&renamed, Some(&here)), "old");
    crumb(&format!("/elsewhere\n{}\n", old.display()));
    assert_eq!(agent.goes_on_with(&renamed, Some(&here)), "made");
    for text in [
        format!("{cwd}\n/gone/a.jsonl\n"),
        format!("{cwd}\n{}\n", agent.put("w/bad.jsonl", "garbage\n").display()),
        "damaged".to_owned(),
    ] {
        crumb(&text);
        assert_eq!(agent.goes_on_with(&cwd, Some(&here)), "new", "{text}");
    }
}

#[test]
fn a_session_just_begun_is_not_left_for_an_older_one() {
    let agent = Agent::new();
    agent.put("w/a.jsonl", &session("older", "/w", 1));
    let here = terminal();
    let new = NewSession::in_cwd("/w").id("begun");
    let begun = SessionManager::create(Arc::clone(&agent.storage), new, SessionOptions::default());
    let mut begun = block_on(begun).unwrap();
    block_on(begun.leave_breadcrumb(&*agent.storage, &here, "/w"));
    let path = begun.session_file().unwrap();
    assert_eq!(agent.breadcrumb(&here), format!("/w\n{}\nfresh\n", path.display()));
    block_on(begun.close()).unwrap();
    assert_eq!(agent.goes_on_with("/w", Some(&here)), "made");
    assert_eq!(agent.goes_on_with("/w", None), "older");
    // Once something lies there, nothing was just begun.
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "damaged").unwrap();
    fs::write(
        agent.path("agent/terminal-sessions/pts-3"),
        format!("/w\n{}\nfresh\n", path.display()),
    )
    .unwrap();
    assert_eq!(agent.goes_on_with("/w", Some(&here)), "older");
}

#[test]
fn a_trace_that_depends_on_where_a_program_stands_is_not_followed() {
    let agent = Agent::new();
    agent.put("w/a.jsonl", &session("older", "/w", 1));
    // From here this leads to a session.
    let relative = "examples/data/demo.jsonl";
    assert!(Path::new(relative).exists());
    fs::create_dir_all(agent.path("agent/terminal-sessions")).unwrap();
    fs::write(agent.path("agent/terminal-sessions/pts-3"), format!("/w\n{relative}\n")).unwrap();
    assert_eq!(agent.goes_on_with("/w", Some(&terminal())), "older");
}

#[test]
fn a_trace_that_cannot_be_left_fails_no_session() {
    let agent = Agent::new();
    fs::write(agent.path("agent/terminal-sessions"), "in the way").unwrap();
    let session = agent.go_on("/w", Some(&terminal()));
    let codes: Vec<_> = session.diagnostics().iter().map(|found| found.code).collect();
    assert_eq!(
        (session.session_id().as_str(), codes),
        ("made", vec![DiagnosticCode::BreadcrumbNotWritten])
    );
}
