//! Commands on whole sessions: copies, moves, names, the trash.

use std::fs;

use crate::support::{Dir, json, session};

const BUCKET: &str = ".xcsh/agent/sessions/--w-app--";
const ENTRY: &str = r#"{"type":"message","id":"a0000001","parentId":null,"timestamp":"2026-03-01T09:00:01Z","message":{"role":"user","content":"real work"}}"#;
const SECOND: &str = r#"{"type":"message","id":"a0000002","parentId":"a0000001","timestamp":"2026-03-01T09:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"full log: artifact://0"}]}}"#;

/// An agent directory with one session, its artifact and a child agent's session.
fn agent() -> Dir {
    let dir = Dir::new();
    dir.write(&format!("{BUCKET}/t_s-0001.jsonl"), session(&[ENTRY, SECOND]));
    dir.write(&format!("{BUCKET}/t_s-0001/0.bash.log"), "log");
    dir.write(&format!("{BUCKET}/t_s-0001/agent.jsonl"), session(&[]));
    dir
}

/// What a path that was printed is in the directory.
fn inside(dir: &Dir, printed: &str) -> String {
    let root = dir.path().canonicalize().unwrap();
    let path = std::path::Path::new(printed.trim_end());
    path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()
}

fn text(json: &session_model::json::RawJson, name: &str) -> String {
    json.field(name).unwrap().as_text().unwrap().into_owned()
}

#[test]
fn a_fork_has_the_artifacts_and_tells_its_parent() {
    let dir = agent();
    let before = dir.read(&format!("{BUCKET}/t_s-0001.jsonl"));
    let out = json(&dir.run("fork s-0001 --json").quiet());
    let file = inside(&dir, &text(&out, "path"));
    assert!(file.starts_with(&format!("{BUCKET}/2")), "{file}");
    assert_eq!(text(&out, "parentSession"), "s-0001");
    let copy = dir.read(&file);
    let (header, rest) = copy.split_once('\n').unwrap();
    assert_eq!(rest, before.split_once('\n').unwrap().1);
    let header = session_model::json::RawJson::parse(header.to_owned()).unwrap();
    assert_eq!(text(&header, "id"), text(&out, "id"));
    assert_eq!(text(&header, "providerPromptCacheKey"), "s-0001");
    assert_eq!(text(&header, "cwd"), "/w/app");
    assert_eq!(dir.read(&file.replace(".jsonl", "/0.bash.log")), "log");
    assert_eq!(dir.read(&format!("{BUCKET}/t_s-0001.jsonl")), before);

    fs::create_dir(dir.path().join("project")).unwrap();
    let other = dir.run("fork s-0001 --cwd project --cache-key mine").quiet();
    let file = inside(&dir, &other);
    let cwd = dir.path().canonicalize().unwrap().join("project").display().to_string();
    let bucket = cwd.replace('/', "-");
    assert!(file.starts_with(&format!(".xcsh/agent/sessions/-{bucket}--/2")), "{file}");
    assert!(dir.read(&file).contains(r#""providerPromptCacheKey":"mine""#));
}

#[test]
fn a_session_outside_of_an_agent_directory_is_copied_beside_itself() {
    let dir = Dir::new();
    dir.write("some/s-0001.jsonl", session(&[ENTRY]));
    dir.write("some/s-0001/1.txt", "log");
    let file = inside(&dir, &dir.run("fork some/s-0001.jsonl").quiet());
    assert!(file.starts_with("some/2"), "{file}");
    assert_eq!(dir.read(&file.replace(".jsonl", "/1.txt")), "log");
    let err = "error: some/s-0001.jsonl lies in no agent directory, so it cannot be moved; put it into <agent directory>/sessions/<folder>/ first\n";
    dir.run("mv some/s-0001.jsonl .").failed(1, err);
    let trashed = inside(&dir, &dir.run("rm some/s-0001.jsonl").quiet());
    assert!(trashed.starts_with("some/trash/"), "{trashed}");
    dir.run(&format!("restore {trashed}")).quiet();
    assert_eq!(dir.read("some/s-0001.jsonl"), session(&[ENTRY]));
    assert_eq!(dir.read("some/s-0001/1.txt"), "log");
}

#[test]
fn a_branch_becomes_a_session_of_its_own() {
    let dir = agent();
    let file = inside(&dir, &dir.run("branch-out s-0001 a0000001").quiet());
    let copy = dir.read(&file);
    let (header, rest) = copy.split_once('\n').unwrap();
    assert_eq!(rest, format!("{ENTRY}\n"));
    assert!(header.contains("/t_s-0001.jsonl\"}"), "{header}");
    let err = "error: entry a0000009 not found; list the entries to see which there are\n";
    dir.run("branch-out s-0001 a0000009").failed(1, err);
}

#[test]
fn a_session_moves_with_all_that_belongs_to_it() {
    let dir = agent();
    fs::create_dir(dir.path().join("project")).unwrap();
    let out = json(&dir.run("mv s-0001 project --json").quiet());
    let file = inside(&dir, &text(&out, "path"));
    assert_eq!(inside(&dir, &text(&out, "previousPath")), format!("{BUCKET}/t_s-0001.jsonl"));
    assert!(file.ends_with("-project--/t_s-0001.jsonl"), "{file}");
    let header = dir.read(&file).lines().next().unwrap().to_owned();
    let header = session_model::json::RawJson::parse(header).unwrap();
    assert_eq!(text(&header, "cwd"), text(&out, "cwd"));
    assert_eq!((text(&header, "id"), text(&out, "id")), ("s-0001".into(), "s-0001".into()));
    let previous = header.field("previousSessionFiles").unwrap();
    assert_eq!(previous.as_str(), format!("[{:?}]", text(&out, "previousPath")));
    assert_eq!(dir.read(&file.replace(".jsonl", "/0.bash.log")), "log");
    let names = fs::read_dir(dir.path().join(BUCKET)).unwrap();
    let left: Vec<_> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with(".~"))
        .collect();
    assert!(left.iter().all(|name| !name.ends_with(".jsonl")), "{left:?}");
}

#[test]
fn a_title_is_taken_as_one_line() {
    let dir = agent();
    assert_eq!(dir.run_with("rename s-0001", " A\nnew  \u{7}title ").quiet(), "A new title\n");
    dir.run_with("rename s-0001", " \n ").failed(2, "error: a title needs some text\n");
    let out = dir.run_with("rename s-0001 --json", "Again").quiet();
    assert_eq!(out, "{\"id\":\"s-0001\",\"title\":\"Again\"}\n");
    assert!(dir.run("list --all").quiet().contains("Again"));
}

#[test]
fn what_is_removed_comes_back_until_it_is_removed_for_good() {
    let dir = agent();
    assert_eq!(dir.run("restore").telling("note: the trash is empty\n"), "");
    let out = json(&dir.run("rm s-0001 --json").quiet());
    assert_eq!(inside(&dir, &text(&out, "from")), format!("{BUCKET}/t_s-0001.jsonl"));
    let trashed = inside(&dir, &text(&out, "path"));
    assert!(trashed.starts_with(".xcsh/agent/trash/"), "{trashed}");
    assert_eq!(dir.run("list --all").telling("note: there is no session\n"), "");
    assert_eq!(dir.run("list .xcsh/agent").telling("note: there is no session\n"), "");
    let list = json(&dir.run("restore --json").quiet());
    assert_eq!(text(&list.as_array().unwrap().items()[0], "path"), text(&out, "path"));

    dir.write(&format!("{BUCKET}/t_s-0001.jsonl"), session(&[]));
    let told = format!(
        "error: {} is there again; move that away to restore the one that was deleted\n",
        text(&out, "from")
    );
    dir.run("restore s-0001").failed(1, &told);
    dir.run(&format!("rm {BUCKET}/t_s-0001.jsonl --forever")).quiet();
    let restored = inside(&dir, &dir.run("restore S-0001").quiet());
    assert_eq!(restored, format!("{BUCKET}/t_s-0001.jsonl"));
    assert_eq!(dir.read(&restored), session(&[ENTRY, SECOND]));
    assert_eq!(dir.read(&format!("{BUCKET}/t_s-0001/0.bash.log")), "log");
    let err = "error: nothing is not in the trash; `sessionctl restore` lists those there are\n";
    dir.run("restore nothing").failed(1, err);

    assert_eq!(dir.run("rm s-0001 --forever").quiet(), "");
    assert_eq!(dir.run("restore").telling("note: the trash is empty\n"), "");
    assert_eq!(dir.run("list --all").telling("note: there is no session\n"), "");
}

#[test]
fn the_trash_tells_titles_and_knows_sessions_by_them() {
    let dir = agent();
    dir.run_with("rename s-0001", "Büro").quiet();
    dir.run("rm s-0001").quiet();
    let list = json(&dir.run("restore --json").quiet());
    let list = list.as_array().unwrap();
    let item = &list.items()[0];
    assert_eq!((text(item, "id"), text(item, "title")), ("s-0001".into(), "Büro".into()));
    let listed = dir.run("restore").quiet();
    assert!(listed.ends_with("/t_s-0001.jsonl  Büro\n"), "{listed}");
    let restored = inside(&dir, &dir.run("restore BÜRO").quiet());
    assert_eq!(restored, format!("{BUCKET}/t_s-0001.jsonl"));
}

#[test]
fn moves_and_deletions_leave_nothing_for_the_doctor() {
    let dir = agent();
    dir.run("doctor --fix");
    let found = dir.run("doctor").quiet();
    fs::create_dir(dir.path().join("project")).unwrap();
    for command in ["mv s-0001 project", "rm s-0001", "restore s-0001"] {
        dir.run(command).quiet();
    }
    assert_eq!(dir.run("doctor").quiet(), found);
    dir.run("rm s-0001 --forever").quiet();
    assert_eq!(dir.run("doctor").quiet(), found);
}

#[test]
fn of_several_files_with_an_id_none_is_deleted_for_good_by_guess() {
    let dir = agent();
    let (first, copy) = (format!("{BUCKET}/t_s-0001.jsonl"), format!("{BUCKET}/copy.jsonl"));
    dir.write(&copy, session(&[ENTRY]));
    let run = dir.run("rm s-0001 --forever");
    assert_eq!((run.code, &*run.out), (Some(1), ""));
    let told = "error: name the file that is meant by its path; `sessionctl list --all --json` shows where they are\n";
    assert!(run.err.ends_with(told), "{}", run.err);
    assert_eq!(dir.read(&first), session(&[ENTRY, SECOND]));
    assert_eq!(dir.read(&copy), session(&[ENTRY]));
    dir.run(&format!("rm {copy} --forever")).quiet();
    assert_eq!(dir.read(&first), session(&[ENTRY, SECOND]));
    assert_eq!(dir.run("rm s-0001 --forever").quiet(), "");
}

#[test]
fn a_branch_is_hidden_and_shown_again() {
    let dir = agent();
    let other = SECOND.replace("a0000002", "a0000003");
    dir.write(&format!("{BUCKET}/t_s-0001.jsonl"), session(&[ENTRY, SECOND, &other]));
    let out = json(&dir.run("archive s-0001 a0000002 --json").quiet());
    assert_eq!(
        (text(&out, "targetId"), out.field("archived").unwrap().as_str().to_owned()),
        ("a0000002".into(), "true".into())
    );
    assert!(!dir.run("tree s-0001 --filter all").quiet().contains("a0000002 assistant"));
    dir.run("archive s-0001 a0000002 --undo").quiet();
    assert!(dir.run("tree s-0001 --filter all").quiet().contains("a0000002 assistant"));
    let err =
        "error: this cannot be appended: the active path cannot be archived; move off it first\n";
    dir.run("archive s-0001 a0000001").failed(1, err);
}

#[test]
fn copies_that_were_worked_on_apart_are_merged() {
    let dir = Dir::new();
    let more = |id: &str| SECOND.replace("a0000002", id);
    let (here, there) = (more("a0000003"), more("a0000004"));
    dir.write("s.jsonl", session(&[ENTRY, SECOND, &here]));
    let other = session(&[ENTRY, &SECOND.replace("full", "whole"), &there]);
    dir.write("copy.jsonl", &other);
    let out = dir.run("merge s.jsonl copy.jsonl").quiet();
    let (counts, kept) = out.trim_end().split_once('\n').unwrap();
    assert_eq!(counts, "1 entries brought in, 1 were only here");
    let kept_in = kept.strip_prefix("1 entries are worded otherwise there; see ").unwrap();
    assert!(dir.read(kept_in).contains("whole log"));
    assert_eq!(dir.read("copy.jsonl"), other);
    let file = dir.read("s.jsonl");
    assert!(file.starts_with(&session(&[ENTRY, SECOND, &here, &there])), "{file}");
    let again = json(&dir.run("merge s.jsonl copy.jsonl --json").quiet());
    assert_eq!(again.field("added").unwrap().as_str(), "0");
    dir.write("other.jsonl", session(&[ENTRY]).replace("s-0001", "s-0002"));
    dir.run("merge s.jsonl other.jsonl").failed(
        1,
        "error: other.jsonl is the session s-0002, no copy of s-0001; only copies can be merged\n",
    );
}

#[test]
fn a_bucket_is_named_as_that_of_the_session_was() {
    let dir = Dir::new();
    let home = dir.path().canonicalize().unwrap();
    fs::create_dir_all(dir.path().join("work/app")).unwrap();
    let file = session(&[ENTRY]).replace("/w/app", &home.join("old").display().to_string());
    let sessions = ".omp/agent/sessions";
    // In the second scheme a directory inside the home directory is named without it, unless that
    // lies among temporary files.
    dir.write(&format!("{sessions}/-old/t_s-0001.jsonl"), &file);
    dir.write(&format!("{sessions}/--srv-x--/t_s-0002.jsonl"), file.replace("s-0001", "s-0002"));
    dir.write(".pi/agent/sessions/--srv-x--/t_s-0003.jsonl", file.replace("s-0001", "s-0003"));
    dir.write("any/sessions/-tmp-x/t_s-0004.jsonl", file.replace("s-0001", "s-0004"));
    let run = |args: &str| {
        let output = dir.command(args).env("TMPDIR", "/nowhere").output().unwrap();
        assert!(output.status.success(), "{args}: {output:?}");
        inside(&dir, &String::from_utf8(output.stdout).unwrap())
    };
    let moved = run("mv s-0001 work/app --store .omp/agent");
    assert_eq!(moved, format!("{sessions}/-work-app/t_s-0001.jsonl"));
    let moved = run("mv s-0002 work/app --store .omp/agent");
    assert_eq!(moved, format!("{sessions}/-work-app/t_s-0002.jsonl"));
    let copied = run("fork s-0002 --cwd work --store .omp/agent");
    assert!(copied.starts_with(&format!("{sessions}/-work/2")), "{copied}");
    let absolute = home.join("work/app").display().to_string().replace('/', "-");
    let moved = run("mv s-0003 work/app --store .pi/agent");
    assert_eq!(moved, format!(".pi/agent/sessions/-{absolute}--/t_s-0003.jsonl"));
    let moved = run("mv s-0004 work/app --store any");
    assert_eq!(moved, "any/sessions/-work-app/t_s-0004.jsonl");
    // What lies among temporary files is named after those.
    fs::create_dir(dir.path().join("temp")).unwrap();
    let mut command = dir.command("mv s-0001 temp --store .omp/agent");
    let output = command.env("TMPDIR", home.join("temp")).output().unwrap();
    let moved = inside(&dir, &String::from_utf8(output.stdout).unwrap());
    assert_eq!(moved, format!("{sessions}/-tmp/t_s-0001.jsonl"));
}

#[test]
fn doctor_finishes_what_was_cut_off() {
    let dir = agent();
    let trashed = inside(&dir, &dir.run("rm s-0001").quiet());
    let folder = trashed.rsplit_once('/').unwrap().0.to_owned();
    let origin = dir.read(&format!("{folder}/origin.json"));
    // As a death behind the rename leaves it.
    dir.write(&format!("{folder}/unfinished.json"), &origin);
    dir.write(&format!("{BUCKET}/t_s-0001/0.bash.log"), "log");
    let found = dir.run("doctor --json").out;
    assert!(found.contains(r#""code":"cut-off""#), "{found}");
    let done = dir.run("doctor --fix --json").out;
    assert!(done.contains("all of the session is at one place"), "{done}");
    assert!(!dir.path().join(BUCKET).join("t_s-0001/0.bash.log").exists());
    assert!(!dir.path().join(&folder).join("unfinished.json").exists());
    dir.run("restore s-0001").quiet();
    assert_eq!(dir.read(&format!("{BUCKET}/t_s-0001/0.bash.log")), "log");
}
