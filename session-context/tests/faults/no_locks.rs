//! A file system that has no locks, as some network mounts are.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::session::{self, A, FILE, HEADER};
use crate::shipped::sessionctl;

/// Reads work, writes are refused and change nothing, and doctor says why.
pub fn only_reads_work() -> String {
    let dir = tempfile::tempdir().unwrap();
    let start = format!("{HEADER}\n{A}\n");
    session::write(dir.path(), FILE, &start);
    let appended = r#"{"role":"user","content":"new"}"#;
    let plain = Command::new(sessionctl());
    let before = output(plain, dir.path(), &["append", FILE, appended]);
    assert!(before.status.success(), "{before:?}");
    let whole = fs::read_to_string(dir.path().join(FILE)).unwrap();
    for errno in ["EOPNOTSUPP", "ENOSYS", "ENOLCK"] {
        let refused = strace(dir.path(), errno, &["append", FILE, appended]);
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(1) && why.contains("lock"), "{errno}: {why}");
        assert_eq!(fs::read_to_string(dir.path().join(FILE)).unwrap(), whole, "{errno}");
        let shown = strace(dir.path(), errno, &["show", FILE]);
        assert!(shown.status.success(), "{errno}: {shown:?}");
        let found = strace(dir.path(), errno, &["doctor", ".", "--json"]);
        let told = String::from_utf8_lossy(&found.stdout).into_owned();
        assert!(found.status.code() == Some(3) && told.contains("no-locks"), "{errno}: {told}");
    }
    "3 kinds, all refused with nothing changed".to_owned()
}

fn strace(dir: &Path, errno: &str, args: &[&str]) -> Output {
    let mut command = Command::new("strace");
    let inject = format!("inject=flock:error={errno}");
    command.args(["-f", "-o", "/dev/null", "-e", "trace=flock", "-e", &inject]);
    command.arg(sessionctl());
    output(command, dir, args)
}

fn output(mut command: Command, dir: &Path, args: &[&str]) -> Output {
    command.args(args).current_dir(dir).output().unwrap()
}
