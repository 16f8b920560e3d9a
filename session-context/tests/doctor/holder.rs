//! What other processes have, and what they do at the same time.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use session_context::artifacts::Artifacts;
use session_context::doctor::DoctorOptions;
use session_model::storage::{AppendOptions, SessionStorage, StorageKey};
use session_store_file::FileStorage;

use crate::support::{Agent, HEADER, SESSION, entry, told};

/// Set in the other process: the directory.
const ROOT: &str = "DOCTOR_TEST_ROOT";

/// How many artifacts each of the processes makes.
const ARTIFACTS: u64 = 40;

/// Starts this program again to run one of the tests here in a directory.
fn other(agent: &Agent, role: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("holder::{role}"), "--nocapture"])
        .env(ROOT, agent.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn in_other() -> Option<FileStorage> {
    Some(FileStorage::open(std::env::var_os(ROOT)?).unwrap())
}

fn key() -> StorageKey {
    StorageKey::new(SESSION).unwrap()
}

#[test]
fn hold_until_told() {
    let Some(storage) = in_other() else { return };
    let key = key();
    let open = storage.open_append(&key, AppendOptions::exclusive("an agent"));
    let _writer = pollster::block_on(open).unwrap();
    println!("\nheld");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn a_session_another_process_writes_is_left_alone() {
    let file = format!("{HEADER}\n{}", &entry("a", "", "x")[..40]);
    let agent = Agent::with(SESSION, &file);
    let mut holder = other(&agent, "hold_until_told");
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line == "held"));
    let fix = || {
        let found = agent.examine(DoctorOptions::default().fix());
        let found = found.into_iter().find(|finding| finding.code.as_str() == "torn-tail");
        found.unwrap()
    };
    let held = fix();
    let by = format!("is in use by an agent, process {}", holder.id());
    assert!(told(&held).contains(" => failed: ") && told(&held).contains(&by), "{}", told(&held));
    assert!(held.needs_user());
    assert_eq!(agent.read(SESSION), file.as_bytes());
    drop(holder.stdin.take());
    lines.for_each(drop);
    assert!(holder.wait().unwrap().success());
    assert!(told(&fix()).contains(" => done: 40 bytes moved to "));
    assert_eq!(agent.read(SESSION), format!("{HEADER}\n").as_bytes());
}

#[test]
fn make_artifacts() {
    let Some(storage) = in_other() else { return };
    let artifacts = Artifacts::of(Arc::new(storage), &key()).unwrap();
    let tool = format!("tool{}", std::process::id());
    let text = tool.clone();
    pollster::block_on(async {
        for _ in 0..ARTIFACTS {
            artifacts.save(&tool, text.clone()).await.unwrap();
        }
    });
}

#[test]
fn processes_that_make_artifacts_at_once_never_share_a_number() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    let makers = [(); 3].map(|()| other(&agent, "make_artifacts"));
    let ids = makers.map(|maker| {
        let id = maker.id();
        let output = maker.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        id
    });
    let artifacts = Artifacts::of(agent.storage(), &key()).unwrap();
    let found = pollster::block_on(artifacts.list()).unwrap();
    let names: Vec<_> = found.iter().map(|meta| meta.key.file_name().to_owned()).collect();
    let mut numbers: Vec<_> = names.iter().map(|name| name.split('.').next().unwrap()).collect();
    numbers.dedup();
    assert_eq!(numbers.len() as u64, 3 * ARTIFACTS, "{names:?}");
    for id in ids {
        let own: Vec<_> =
            names.iter().filter(|name| name.contains(&format!("tool{id}."))).collect();
        assert_eq!(own.len() as u64, ARTIFACTS);
        for name in own {
            let path = format!("{}/{name}", SESSION.strip_suffix(".jsonl").unwrap());
            assert_eq!(agent.read(&path), format!("tool{id}").into_bytes());
        }
    }
    assert_eq!(agent.look(), [] as [&str; 0]);
}
