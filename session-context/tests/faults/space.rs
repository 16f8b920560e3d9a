//! No room: a limit on the size of files, and a disk that is full.

use std::fs;
use std::process::{Command, Stdio};

use session_model::storage::StorageErrorKind;

use crate::run;
use crate::session::{self, A, B, FILE, HEADER, append, block_on, goes_on, id, look, open, says};
use crate::shipped::sessionctl;

/// `sessionctl append` under each limit, from one that leaves no room to one that is wide enough.
pub fn limited() -> String {
    let start = format!("{HEADER}\n{A}\n{B}\n");
    let text = "x".repeat(4_000);
    let [mut refused, mut warned, mut runs] = [0, 0, 0];
    loop {
        let dir = tempfile::tempdir().unwrap();
        session::write(dir.path(), FILE, &start);
        let script = format!("trap '' XFSZ; ulimit -f {runs}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(sessionctl()).arg("append");
        command.arg(dir.path().join(FILE)).args(["--text", &text]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let what = format!("{runs} blocks: {}", String::from_utf8_lossy(&output.stderr));
        let file = fs::read_to_string(dir.path().join(FILE)).unwrap();
        runs += 1;
        if output.status.success() {
            let last = look(dir.path()).unwrap().entries().last().map(id).unwrap();
            assert_eq!(last, String::from_utf8_lossy(&output.stdout).trim(), "{what}");
            break;
        }
        assert_eq!((output.status.code(), file), (Some(1), start.clone()), "{what}");
        refused += 1;
        warned += usize::from(what.contains(&format!("warning: {FILE} is not saved: ")));
        goes_on(dir.path(), &what);
    }
    assert!(refused > 2 && warned > 2, "{refused} refused, {warned} told at once");
    format!("{runs} limits, {refused} short writes cut back")
}

/// A small file system that fills up and gets room again, under a session that stays open.
pub fn full() -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    run("mount", &["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", path]);
    let told = std::panic::catch_unwind(|| fill(dir.path()));
    run("umount", &[path]);
    let told = told.unwrap();
    format!("{told} entries until it was full, all there after room was made")
}

fn fill(dir: &std::path::Path) -> usize {
    session::write(dir, "ballast", vec![0; 192 << 10]);
    let mut session = open(dir).unwrap();
    let text = "x".repeat(3_000);
    let mut told = Vec::new();
    let unsaved = loop {
        match append(&mut session, &text) {
            Ok(id) => told.push(id),
            Err(error) => break error,
        }
    };
    assert_eq!(unsaved.storage_error().map(|error| error.kind()), Some(StorageErrorKind::Full));
    assert!(append(&mut session, "also in memory").is_err());
    let ids = |session: &session_context::SessionManager| -> Vec<_> {
        session.entries().iter().map(id).collect()
    };
    assert_eq!(look(dir).unwrap().diagnostics(), [], "a torn record was left");
    assert_eq!(ids(&look(dir).unwrap()), told);
    assert!(block_on(session.save_again()).is_err());
    fs::remove_file(dir.join("ballast")).unwrap();
    block_on(session.save_again()).unwrap();
    let all = ids(&session);
    assert_eq!((all.len(), &all[..told.len()]), (told.len() + 2, &told[..]));
    let said: Vec<_> = session.entries().iter().map(says).collect();
    block_on(session.close()).unwrap();
    assert_eq!(look(dir).unwrap().entries().iter().map(says).collect::<Vec<_>>(), said);
    goes_on(dir, "after room was made");
    told.len()
}
