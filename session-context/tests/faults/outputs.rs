//! Files that `export` and `pack` write: durable once they are told written, whole or not there.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use session_context::bundle::{Bundle, BundleLimits};

use crate::session::{self, A, B, FILE, HEADER};
use crate::shipped;

/// The folder the files are written to.
const OUT: &str = "out";

/// The command that writes a file of a session, and how the file's name ends.
fn command(kind: &str) -> (Vec<&str>, &str) {
    match kind {
        "pack" => (vec!["pack", FILE], "tar.gz"),
        _ => (vec!["export", FILE, "--format", "json"], "json"),
    }
}

fn start(store: &Path, program: &mut Command, args: &[&str]) -> Output {
    program.args(args).current_dir(store).stdin(Stdio::null()).output().unwrap()
}

fn sessionctl(store: &Path, args: &[&str]) -> Output {
    start(store, &mut Command::new(shipped::sessionctl()), args)
}

/// Writes one file after another and prints the name of each that is told written; every other one
/// may replace what is there.
pub fn play(store: &Path, kind: &str) {
    fs::create_dir(store.join(OUT)).unwrap();
    fs::File::open(store).unwrap().sync_all().unwrap();
    let (args, suffix) = command(kind);
    for n in 0.. {
        let name = format!("{OUT}/{n}.{suffix}");
        let mut args = [&args[..], &["-o", &name]].concat();
        args.extend((n % 2 == 1).then_some("--force"));
        let output = sessionctl(store, &args);
        assert!(output.status.success(), "{output:?}");
        println!("{name}");
    }
}

/// How many of these files are there; all that are there are whole.
pub fn whole(store: &Path, kind: &str, told: &[String]) -> usize {
    told.iter().filter(|name| is_whole(&store.join(name), kind)).count()
}

fn is_whole(path: &Path, kind: &str) -> bool {
    let Ok(bytes) = fs::read(path) else { return false };
    if kind == "pack" {
        let bundle = Bundle::from_bytes(&bytes, &BundleLimits::default());
        assert!(bundle.is_ok(), "{}: {bundle:?}", path.display());
        return true;
    }
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("{\"format\":\"session-export\"") && text.ends_with("]}\n"), "{text}");
    true
}

/// A store of one session, and an empty folder for files.
fn store() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    session::write(dir.path(), FILE, format!("{HEADER}\n{A}\n{B}\n"));
    fs::create_dir(dir.path().join(OUT)).unwrap();
    dir
}

/// The file and then its directory are on the disk before success is told.
pub fn in_order() -> String {
    let mut seen = 0;
    for kind in ["pack", "export"] {
        for force in [false, true] {
            let dir = store();
            let log = dir.path().join("log");
            let (args, suffix) = command(kind);
            let name = format!("{OUT}/file.{suffix}");
            let program = shipped::sessionctl();
            let mut all = vec!["-y", "-o", log.to_str().unwrap(), program.to_str().unwrap()];
            all.extend([&args[..], &["-o", &name]].concat());
            if force {
                fs::write(dir.path().join(&name), "old").unwrap();
                all.push("--force");
            }
            let output = start(dir.path(), &mut Command::new("strace"), &all);
            assert!(output.status.success(), "{output:?}");
            let log = fs::read_to_string(&log).unwrap();
            let line = |what: &str, is_it: &dyn Fn(&str) -> bool| {
                let at = log.lines().position(is_it);
                at.unwrap_or_else(|| panic!("{kind}: there is no {what}: {log}"))
            };
            let folder = format!("/{OUT}>)");
            let steps = [
                line("sync of the file", &|l| l.starts_with("fsync(") && l.contains(".part>)")),
                line("new name", &|l| {
                    (l.starts_with("rename") || l.starts_with("link")) && l.contains(".part\"")
                }),
                line("sync of the folder", &|l| l.starts_with("fsync(") && l.contains(&folder)),
                line("word of it", &|l| l.starts_with("write(1<")),
            ];
            assert!(steps.is_sorted(), "{kind} {force}: {steps:?}\n{log}");
            seen += 1;
        }
    }
    format!("{seen} files synced, then their folder, then told")
}

/// An export that is killed at any call leaves the old file or the new one, and what it left beside is
/// gone after the next.
pub fn killed() -> String {
    const CALLS: [&str; 8] =
        ["openat", "write", "fsync", "fchown", "rename", "link", "linkat", "unlink"];
    let mut kills = 0;
    for force in [false, true] {
        for call in CALLS {
            for n in 1.. {
                let dir = store();
                let name = format!("{OUT}/file.json");
                if force {
                    fs::write(dir.path().join(&name), "old").unwrap();
                }
                let inject = format!("inject={call}:signal=KILL:when={n}");
                let mut all = vec!["-o", "/dev/null", "-e", &inject];
                let trace = format!("trace={call}");
                let program = shipped::sessionctl();
                all.extend(["-e", &trace, program.to_str().unwrap()]);
                let (args, _) = command("export");
                all.extend([&args[..], &["-o", &name]].concat());
                all.extend(force.then_some("--force"));
                let output = start(dir.path(), &mut Command::new("strace"), &all);
                if output.status.signal() != Some(9) {
                    assert!(output.status.success(), "{output:?}");
                    break;
                }
                kills += 1;
                let text = fs::read_to_string(dir.path().join(&name)).ok();
                let is_old = text.as_deref() == force.then_some("old");
                let what = format!("{inject} {force}: {text:?}");
                assert!(is_old || is_whole(&dir.path().join(&name), "export"), "{what}");
                let (args, _) = command("export");
                let again = [&args[..], &["-o", &name, "--force"]].concat();
                assert!(sessionctl(dir.path(), &again).status.success(), "{what}");
                assert!(is_whole(&dir.path().join(&name), "export"), "{what}");
                let left = fs::read_dir(dir.path().join(OUT)).unwrap();
                let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
                assert_eq!(left, ["file.json"], "{what}");
            }
        }
    }
    format!("{kills} kills, the old file or the new one")
}
