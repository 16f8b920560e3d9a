//! Power cuts: a file system that is shut down under a writer, without its journal or its cache.
//!
//! The file system is ext4 on a loop device, mounted without the delayed-allocation heuristics that
//! make careless programs look careful. Its shutdown call stops all writing at once: what was not
//! asked to be on the disk is lost as it is when the power goes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::thread;

use session_context::{NameSource, NewEntry, SessionOptions, SharedSession};
use session_model::SessionDocument;
use session_model::document::LoadOptions;
use session_model::message::{AssistantMessage, ContentBlock, Message};
use session_model::persisted::{encode_base64, names_blobs};
use session_model::storage::Durability;

use crate::session::{
    self, BULK, FILE, append, block_on, goes_on, id, look, look_at, open_as, says,
};
use crate::{child, is_long, outputs, run};

/// How many things are told done before the power goes.
const TOLD: usize = 100;

/// Sessions of version 1 that wait to be migrated, more than can be before the power goes.
const OLD_SESSIONS: usize = 400;
const OLD: &str = concat!(
    r#"{"type":"session","id":"s"}"#,
    "\n",
    r#"{"type":"message","message":{"role":"user","content":"old"}}"#,
    "\n",
);

/// What is done until the power goes.
const KINDS: [&str; 9] =
    ["durable", "batch", "shared", "image", "name", "migrate", "accepted", "pack", "export"];

/// Does one thing again and again and prints each as it is done.
pub fn play(store: &Path, kind: &str) {
    let durability = if kind == "accepted" { Durability::Accepted } else { Durability::Durable };
    let open = |name: &str| {
        open_as(store, name, SessionOptions::default().eager().durability(durability)).unwrap()
    };
    if let "pack" | "export" = kind {
        return outputs::play(store, kind);
    }
    if kind == "migrate" {
        for n in 0..OLD_SESSIONS {
            let session = open(&n.to_string());
            println!("{n}");
            block_on(session.close()).unwrap();
        }
        return;
    }
    let mut session = open(FILE);
    if kind == "shared" {
        let session = SharedSession::from(session);
        let write = || {
            loop {
                println!("{}", block_on(session.append_message(Message::user("x", 1))).unwrap());
            }
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(write);
            }
        });
        return;
    }
    for n in 0.. {
        match kind {
            "accepted" | "durable" => {
                println!("{}", append(&mut session, &n.to_string()).unwrap());
            }
            "batch" => {
                let entries = (0..10).map(|n| NewEntry::message(Message::user(n.to_string(), 1)));
                let ids = block_on(session.append_batch(entries)).unwrap();
                ids.iter().for_each(|id| println!("{id}"));
            }
            "image" => {
                let data = encode_base64(image(n).as_bytes());
                let content = vec![ContentBlock::image(data, "image/png")];
                let message = AssistantMessage::new("p", "m", content, 1);
                println!("{}", block_on(session.append_message(message)).unwrap());
            }
            "name" => {
                block_on(session.set_session_name(&n.to_string(), NameSource::User)).unwrap();
                println!("{}", session.leaf_id().unwrap());
            }
            other => panic!("there is no kind {other}"),
        }
    }
}

/// What image number `n` is made of.
fn image(n: usize) -> String {
    format!("{n:>3000}")
}

/// A loop device with a mounted file system, taken apart on drop.
struct Disk {
    dir: tempfile::TempDir,
    device: String,
}

impl Disk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("image");
        // Room for everything a writer does until nobody reads any more what it tells.
        fs::File::create(&image).unwrap().set_len((96 << 20) + 8 * BULK.len() as u64).unwrap();
        run("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()]);
        fs::create_dir(dir.path().join("mnt")).unwrap();
        let device = run("losetup", &["--find", "--show", image.to_str().unwrap()]);
        let disk = Self { dir, device };
        disk.mount();
        disk
    }

    fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("mnt")
    }

    fn mount(&self) {
        let path = self.path();
        run("mount", &["-o", "noauto_da_alloc", &self.device, path.to_str().unwrap()]);
    }

    /// Cuts the power.
    fn cut(&self) {
        run("xfs_io", &["-x", "-c", "shutdown", self.path().to_str().unwrap()]);
    }

    /// Mounts again, which replays what the journal holds on the disk.
    fn restart(&self) {
        run("umount", &[self.path().to_str().unwrap()]);
        self.mount();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        for (program, args) in [
            ("umount", vec![self.path().to_str().unwrap().to_owned()]),
            ("losetup", vec!["--detach".to_owned(), self.device.clone()]),
        ] {
            let _ = std::process::Command::new(program).args(args).output();
        }
    }
}

pub fn cut() -> String {
    let rounds = if is_long() { 10 } else { 1 };
    let survived = KINDS.map(|kind| {
        let counts: Vec<_> = (0..rounds).map(|_| survivors(kind)).collect();
        if kind != "accepted" {
            assert!(counts.iter().all(|count| *count == TOLD), "{kind}: {counts:?}");
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        format!("{kind} {least}..{most}")
    });
    format!("{rounds} cuts each after {TOLD} told, of which survived: {}", survived.join(", "))
}

/// How many of the things told done are there after the power was cut.
fn survivors(kind: &str) -> usize {
    let disk = Disk::new();
    let store = disk.path().join("store");
    fs::create_dir(&store).unwrap();
    session::write(&store, FILE, session::whole());
    if kind == "migrate" {
        (0..OLD_SESSIONS).for_each(|n| session::write(&store, &n.to_string(), OLD));
    }
    run("sync", &[]);
    let role = format!("power {kind}");
    let mut writer =
        child(&role, &store).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let told: Vec<_> = lines.by_ref().take(TOLD).map(Result::unwrap).collect();
    disk.cut();
    // Those that run a command again and again end with it, as it cannot write any more.
    if !matches!(kind, "pack" | "export") {
        writer.kill().unwrap();
    }
    writer.wait().unwrap();
    assert_eq!(told.len(), TOLD);
    disk.restart();

    match kind {
        "migrate" => return migrated(&store),
        "pack" | "export" => return outputs::whole(&store, kind, &told),
        _ => {}
    }
    let session = look(&store).unwrap();
    let ids: Vec<_> = session.entries().iter().map(id).collect();
    let old = SessionDocument::load(session::whole().into(), &LoadOptions::default()).unwrap();
    let old: Vec<_> = old.document.tree().entries().iter().map(id).collect();
    assert!(ids.starts_with(&old), "{kind}: {:?}", &ids[..ids.len().min(old.len())]);
    let survived = told.iter().filter(|told| ids.contains(told)).count();
    let codes: Vec<_> = session.diagnostics().to_vec();
    assert!(kind == "accepted" || codes.is_empty(), "{kind}: {codes:?}");
    if kind == "image" {
        for (n, entry) in session.entries()[old.len()..].iter().enumerate() {
            assert!(names_blobs(entry.line()));
            let (whole, missing) = block_on(session.resolved(entry));
            let data = encode_base64(image(n).as_bytes());
            assert!(missing.is_empty() && says(&whole).contains(&data), "{n}: {missing:?}");
        }
    }
    drop(session);
    goes_on(&store, kind);
    survived
}

/// How many sessions are of the present version; the others are as they were, and all are whole.
fn migrated(store: &Path) -> usize {
    let are_new: Vec<_> = (0..OLD_SESSIONS)
        .map(|n| {
            let file = fs::read_to_string(store.join(n.to_string())).unwrap();
            let session = look_at(store, &n.to_string()).unwrap();
            let said: Vec<_> = session.entries().iter().map(says).collect();
            assert_eq!(said, [r#"{"role":"user","content":"old"}"#], "{file}");
            let is_new = file.contains(r#""version":3"#) && file.ends_with("}\n");
            assert!(is_new || file == OLD, "{file}");
            is_new
        })
        .collect();
    // The first are those told; one after them may have been written and not told.
    are_new[..TOLD].iter().filter(|is_new| **is_new).count()
}
