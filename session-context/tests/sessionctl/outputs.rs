//! Where `export -o` and `pack -o` write: only regular files are ever replaced, and none of a session.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::support::{Dir, Run, session};

const SESSION: &str = "agent/sessions/--w-app--/one.jsonl";
const NOTE: &str =
    "note: sessions are packed to the byte, with all secrets in them (--redact hides them)\n";

/// A directory with an agent directory of one session, its artifact, a blob, and a history.
fn agent() -> Dir {
    let dir = Dir::new();
    let entry =
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hi"}}"#;
    dir.write(SESSION, session(&[entry]));
    dir.write("agent/sessions/--w-app--/one/0.bash.log", "log");
    dir.write("agent/blobs/note", "blob");
    dir.write("agent/history.db", "history");
    dir
}

/// Both commands that write a file, with what each says beside.
const COMMANDS: [(&str, &str); 2] =
    [("--store agent export s-0001 --format text", ""), ("--store agent pack s-0001", NOTE)];

/// Runs both commands with `--force`, and makes sure that both fail saying this.
#[track_caller]
fn refused(dir: &Dir, file: &str, error: &str) {
    for (command, note) in COMMANDS {
        let run = dir.run(&format!("{command} -o {file} --force"));
        run.failed(1, &format!("{note}error: {error}\n"));
    }
}

fn written(dir: &Dir, file: &str) -> [Run; 2] {
    COMMANDS.map(|(command, _)| {
        let run = dir.run(&format!("{command} -o {file} --force"));
        assert_eq!(run.code, Some(0), "{}", run.err);
        run
    })
}

/// The names in a directory that no user gave.
fn hidden(dir: &Dir) -> Vec<String> {
    dir.names().into_iter().filter(|name| name.starts_with('.')).collect()
}

#[test]
fn what_is_no_regular_file_is_never_replaced() {
    let dir = agent();
    let at = |name: &str| dir.path().join(name);
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, at("pipe"), FileType::Fifo, mode, 0).unwrap();
    let _listener = UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    symlink("pipe", at("to-pipe")).unwrap();
    symlink("folder", at("to-folder")).unwrap();
    symlink("nowhere", at("to-nothing")).unwrap();
    let other =
        "and nothing but a regular file is replaced; write to standard output and lead that there";
    refused(&dir, "pipe", &format!("pipe is a pipe, {other}"));
    refused(&dir, "to-pipe", &format!("to-pipe is a pipe, {other}"));
    refused(&dir, "socket", &format!("socket is a socket, {other}"));
    refused(&dir, "folder", "folder is a directory; name a file in it");
    refused(&dir, "to-folder", "to-folder is a directory; name a file in it");
    let broken = "is a link to what is not there; remove it, or name the file it leads to";
    refused(&dir, "to-nothing", &format!("to-nothing {broken}"));
    // Only root can make a device, and only root could replace one.
    if rustix::process::geteuid().is_root() {
        mknodat(CWD, at("null"), FileType::CharacterDevice, mode, makedev(1, 3)).unwrap();
        refused(&dir, "null", &format!("null is a device, {other}"));
        assert!(at("null").symlink_metadata().unwrap().file_type().is_char_device());
    }
    let kind = |name: &str| at(name).symlink_metadata().unwrap().file_type();
    assert!(kind("pipe").is_fifo() && kind("socket").is_socket() && kind("folder").is_dir());
    for (link, target) in [("to-pipe", "pipe"), ("to-folder", "folder"), ("to-nothing", "nowhere")]
    {
        assert_eq!(fs::read_link(at(link)).unwrap(), Path::new(target));
    }
    assert_eq!(hidden(&dir), Vec::<String>::new());
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_replaced() {
    let dir = agent();
    let at = |name: &str| dir.path().join(name);
    dir.write("real/file", "old");
    fs::set_permissions(at("real/file"), fs::Permissions::from_mode(0o644)).unwrap();
    symlink("real/file", at("link")).unwrap();
    fs::hard_link(at("real/file"), at("other-name")).unwrap();
    for (command, note) in COMMANDS {
        let run = dir.run(&format!("{command} -o link"));
        run.failed(1, &format!("{note}error: link is there already; --force replaces it\n"));
    }
    let [_, packed] = written(&dir, "link");
    assert_eq!(packed.err, NOTE);
    assert_eq!(fs::read_link(at("link")).unwrap(), Path::new("real/file"));
    let meta = at("real/file").symlink_metadata().unwrap();
    assert!(meta.is_file() && meta.mode() & 0o777 == 0o600, "{:o}", meta.mode());
    assert_eq!(fs::read(at("real/file")).unwrap()[..2], [0x1f, 0x8b]);
    assert_eq!(dir.read("other-name"), "old", "another name keeps the old content");
    let names = fs::read_dir(at("real")).unwrap().count();
    assert_eq!((names, hidden(&dir)), (1, Vec::new()));
}

#[test]
fn nothing_of_a_session_is_replaced() {
    let dir = agent();
    let at = |name: &str| dir.path().join(name);
    symlink(SESSION, at("link")).unwrap();
    dir.write("elsewhere.jsonl", session(&[]));
    fs::hard_link(at(SESSION), at("hard")).unwrap();
    let before: Vec<_> = dir.snapshot().into_iter().map(|(path, _, bytes)| (path, bytes)).collect();
    let files = [
        SESSION,
        "link",
        "agent/sessions/--w-app--/one/0.bash.log",
        "agent/blobs/note",
        "agent/history.db",
    ];
    for file in files {
        refused(
            &dir,
            file,
            &format!("{file} belongs to the sessions themselves; name another file"),
        );
    }
    for file in ["elsewhere.jsonl", "hard"] {
        let error = format!("{file} is a session, which nothing else replaces; name another file");
        refused(&dir, file, &error);
    }
    // As above, where the session is named by its path.
    for command in ["export --format text", "pack"] {
        for file in ["link", SESSION] {
            let run = dir.run(&format!("{command} {SESSION} -o {file} --force"));
            assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{}", run.err);
        }
    }
    let after: Vec<_> = dir.snapshot().into_iter().map(|(path, _, bytes)| (path, bytes)).collect();
    assert_eq!(before, after);
}

#[test]
fn a_file_beside_a_loose_session_is_no_part_of_it() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[]));
    for file in ["sessions/out", "trash/out", "out"] {
        dir.write(file, "old");
        dir.run(&format!("export s.jsonl --format text -o {file} --force")).quiet();
        assert!(dir.read(file).contains("Session:   s-0001"), "{}", dir.read(file));
    }
}

#[test]
fn what_a_killed_export_left_goes_with_the_next() {
    let dir = agent();
    let at = |name: &str| dir.path().join(name);
    dir.write(".a.md.999999-0.part", "dead");
    dir.write(".a.md.999999-1.part", "alive");
    dir.write(".a.md.mine.part", "mine");
    dir.write(".b.md.999999-0.part", "of another file");
    let alive = File::options().write(true).open(at(".a.md.999999-1.part")).unwrap();
    alive.lock().unwrap();
    dir.run("--store agent export s-0001 -o a.md").quiet();
    let left = [".a.md.999999-1.part", ".a.md.mine.part", ".b.md.999999-0.part"];
    assert_eq!(hidden(&dir), left);
}

#[test]
fn a_bundle_goes_to_standard_output() {
    let dir = agent();
    dir.run("--store agent pack s-0001 -o file.tar.gz").telling(NOTE);
    let output = dir.command("--store agent pack s-0001 -o -").output().unwrap();
    assert_eq!(output.stdout, fs::read(dir.path().join("file.tar.gz")).unwrap());
    assert_eq!(String::from_utf8_lossy(&output.stderr), NOTE);
    assert_eq!(dir.names(), ["agent", "file.tar.gz"]);
    let error = "error: --json tells about the file; with -o - the bundle itself is printed: leave one of them out\n";
    dir.run("--store agent pack s-0001 -o - --json").failed(2, error);
}
