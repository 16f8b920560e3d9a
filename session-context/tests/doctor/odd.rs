//! Pipes, sockets, devices, links and folders in any place: each is told, none is waited for, and all
//! else is examined as without it.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use session_model::Blob;

use crate::support::{Agent, HEADER, SESSION};

/// What can lie in the place of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Odd {
    Pipe,
    Socket,
    Device,
    Link,
    Circle,
    Folder,
    File,
}

const ALL: [Odd; 7] =
    [Odd::Pipe, Odd::Socket, Odd::Device, Odd::Link, Odd::Circle, Odd::Folder, Odd::File];

impl Odd {
    /// Puts it at a path, in the place of whatever is there.
    fn put(self, path: &Path) {
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            fs::remove_dir_all(path).unwrap();
        } else if path.symlink_metadata().is_ok() {
            fs::remove_file(path).unwrap();
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mode = Mode::from_raw_mode(0o600);
        match self {
            Self::Pipe => mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap(),
            // A socket's path must be short.
            Self::Socket => {
                let short = tempfile::tempdir().unwrap();
                let bound = short.path().join("s");
                drop(UnixListener::bind(&bound).unwrap());
                fs::rename(bound, path).unwrap();
            }
            Self::Device if rustix::process::geteuid().is_root() => {
                mknodat(CWD, path, FileType::CharacterDevice, mode, makedev(1, 3)).unwrap();
            }
            Self::Link | Self::Device => symlink("/etc/passwd", path).unwrap(),
            Self::Circle => symlink(path.file_name().unwrap(), path).unwrap(),
            Self::Folder => fs::create_dir(path).unwrap(),
            Self::File => fs::write(path, "odd").unwrap(),
        }
    }
}

/// A session that names a blob, its artifact, and another session whose end is torn.
fn agent() -> Agent {
    let blob = Blob::new("pixels");
    let image = format!(
        r#"{{"type":"message","id":"a","parentId":null,"message":{{"role":"user","content":[{{"type":"image","data":"{}","mimeType":"image/png"}}]}}}}"#,
        blob.id()
    );
    let agent = Agent::with(SESSION, format!("{HEADER}\n{image}\n"));
    agent.write(&format!("blobs/{}", blob.id().to_hex()), "pixels");
    agent.write(&SESSION.replace(".jsonl", "/0.bash.log"), "log");
    let torn = HEADER.replace("s-0001", "s-0002");
    agent.write("sessions/--w-app--/2026-03-01T09-00-00-000Z_s-0002.jsonl", torn + "\n{\"ty");
    agent
}

/// The places things lie in.
fn places() -> Vec<String> {
    let blob = format!("blobs/{}", Blob::new("pixels").id().to_hex());
    let artifacts = SESSION.strip_suffix(".jsonl").unwrap();
    let name = SESSION.rsplit('/').next().unwrap();
    let trashed = "trash/2026-01-01T00-00-00-000Z_x";
    let mut places = vec![
        blob,
        artifacts.to_owned(),
        format!("{artifacts}/1.bash.log"),
        format!("{artifacts}/child.jsonl"),
        format!("{artifacts}/child"),
        format!("sessions/--w-app--/.~{name}.lock"),
        format!("{SESSION}.torn-2026-01-01T00-00-00-000Z"),
        format!("{trashed}/origin.json"),
        format!("{trashed}/unfinished.json"),
        format!("trash/blobs/2026-01-01T00-00-00-000Z/{}", "b".repeat(64)),
        trashed.to_owned(),
    ];
    let plain = [
        "blobs",
        "blobs/x",
        "blobs.lock",
        "sessions/other",
        "sessions/--w-app--/t.jsonl",
        "sessions/--w-app--/.~t.jsonl.0badcafe.tmp",
        "trash",
        "trash/blobs",
        "terminal-sessions",
        "terminal-sessions/tty1",
        "history.db",
        "history.db-wal",
        ".~index.db",
        ".~lock",
    ];
    places.extend(plain.map(str::to_owned));
    places
}

/// Places below which the doctor does not look: files of databases, and a lock of the backend.
const NOT_LOOKED_AT: [&str; 2] = ["blobs.lock", ".~index.db"];

#[test]
fn whatever_lies_wherever_all_else_is_examined() {
    for place in places() {
        for odd in ALL {
            let agent = agent();
            odd.put(&agent.path().join(&place));
            let what = format!("{odd:?} at {place}");
            let found = agent.look();
            let torn = found.iter().filter(|line| line.starts_with("torn-tail "));
            assert_eq!(torn.count(), 1, "{what}: {found:#?}");
            let is_told = found.iter().any(|line| {
                let place = place.replace(SESSION, "S");
                line.starts_with(&format!("not-a-file {place}: "))
            });
            let is_special = !matches!(odd, Odd::Folder | Odd::File);
            let is_looked_at = !NOT_LOOKED_AT.contains(&&*place);
            assert_eq!(is_told, is_special && is_looked_at, "{what}: {found:#?}");
            agent.fix();
            let again = agent.fix();
            let done: Vec<_> = again.iter().filter(|line| line.contains("=> done")).collect();
            // A lock that is no file keeps all changes off, this one too.
            assert!(done.is_empty() || place == ".~lock", "{what}: {done:#?}");
            if is_special && is_looked_at {
                let kind = agent.path().join(&place).symlink_metadata().unwrap().file_type();
                assert!(!kind.is_file() && !kind.is_dir(), "{what}: it was replaced");
            }
        }
    }
}

#[test]
fn a_blob_that_is_a_pipe_is_told_with_the_session_that_lacks_it() {
    let agent = agent();
    let blob = format!("blobs/{}", Blob::new("pixels").id().to_hex());
    Odd::Pipe.put(&agent.path().join(&blob));
    let id = Blob::new("pixels").id();
    let other = "sessions/--w-app--/2026-03-01T09-00-00-000Z_s-0002.jsonl";
    assert_eq!(
        agent.look(),
        [
            format!(
                "not-a-file {blob}: a symbolic link or special file; it is not followed or read => you: put what it leads to in its place"
            ),
            format!(
                "missing-blob S: {id} is missing; look for it in the trash, or in another agent directory => you: bring the blob back from the trash or a backup"
            ),
            format!(
                "torn-tail {other}: line 2 (bytes 95..99): the file ends in 4 bytes that are no whole record => can: give every record a line of its own, and move what is none into a file beside"
            ),
        ]
    );
}
