//! Power cuts: a file system that is shut down under a writer, without its journal or its cache.
//!
//! The file system is ext4 on a loop device, mounted without the delayed-allocation heuristics that
//! make careless programs look careful. Its shutdown call stops all writing at once: what was not
//! asked to be on the disk is lost as it is when the power goes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use session_context::NameSource;
use session_model::storage::StorageKey;

use crate::session::{self, A, B, FILE, HEADER, append, block_on, goes_on, id, look, open};
use crate::{child, is_long, run};

/// How many things are told done before the power goes.
const TOLD: usize = 100;

/// Does one thing again and again and prints each as it is done: `accepted` and `durable` appends,
/// `rewrite`s, or entries that name a `blob`.
pub fn play(store: &Path, kind: &str) {
    let mut session = open(store).unwrap();
    block_on(session.flush()).unwrap();
    for n in 0.. {
        match kind {
            "accepted" => println!("{}", append(&mut session, &n.to_string()).unwrap()),
            "durable" => {
                let id = append(&mut session, &n.to_string()).unwrap();
                block_on(session.flush()).unwrap();
                println!("{id}");
            }
            "rewrite" => {
                block_on(session.set_session_name(&n.to_string(), NameSource::User)).unwrap();
                println!("{}", session.leaf_id().unwrap());
            }
            "blob" => {
                let key = StorageKey::new(format!("blobs/{n}")).unwrap();
                let body = vec![b'x'; 5_000];
                block_on(session.storage().put(&key, body.into(), Default::default())).unwrap();
                let id = append(&mut session, &n.to_string()).unwrap();
                block_on(session.flush()).unwrap();
                println!("{id}");
            }
            other => panic!("there is no kind {other}"),
        }
    }
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
        fs::File::create(&image).unwrap().set_len(24 << 20).unwrap();
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
    let kinds = ["durable", "rewrite", "blob", "accepted"];
    let survived = kinds.map(|kind| {
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
    session::write(&store, FILE, format!("{HEADER}\n{A}\n{B}\n"));
    run("sync", &[]);
    let role = format!("power {kind}");
    let mut writer =
        child(&role, &store).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let told: Vec<_> = lines.by_ref().take(TOLD).map(Result::unwrap).collect();
    disk.cut();
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert_eq!(told.len(), TOLD);
    disk.restart();

    let session = look(&store).unwrap();
    let ids: Vec<_> = session.entries().iter().map(id).collect();
    assert_eq!(ids[..2], ["a", "b"], "{kind}");
    let survived = told.iter().filter(|told| ids.contains(told)).count();
    let codes: Vec<_> = session.diagnostics().to_vec();
    assert!(kind == "accepted" || codes.is_empty(), "{kind}: {codes:?}");
    if kind == "blob" {
        for n in 0..ids.len() - 2 {
            let blob = fs::read(store.join(format!("blobs/{n}"))).unwrap();
            assert_eq!(blob, vec![b'x'; 5_000], "the blob of line {n}");
        }
        fs::remove_dir_all(store.join("blobs")).unwrap();
    }
    drop(session);
    goes_on(&store, kind);
    survived
}
