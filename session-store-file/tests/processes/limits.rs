//! Umasks, and limits of the size of files, both of which hold for whole processes.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use bytes::Bytes;
use session_model::storage::{
    AppendOptions, CopyOptions, Durability, RenameOptions, SessionStorage, SessionStorageExt,
    StorageErrorKind,
};
use session_store_file::FileStorage;

use crate::child;
use crate::support::{Place, block_on, key, mode};

/// What a shell counts as one in `ulimit -f`, by POSIX.
const BLOCK: usize = 512;

/// Makes one of everything that can be made.
pub fn make(root: &Path) {
    let storage = FileStorage::open(root.join("deep/root")).unwrap();
    let put = |name: &str| {
        block_on(storage.put(&key(name), "x".into(), Default::default())).unwrap();
    };
    put("put/d/a");
    put("put/d/a");
    let mut writer =
        block_on(storage.open_append(&key("held/a"), AppendOptions::exclusive("x"))).unwrap();
    block_on(writer.append(Bytes::from("x"))).unwrap();
    block_on(writer.sync(Durability::Durable)).unwrap();
    block_on(writer.replace("y".into(), Default::default())).unwrap();
    block_on(storage.append_once(&key("shared/a"), Bytes::from("x"))).unwrap();
    block_on(storage.copy(&key("put/d/a"), &key("copied/a"), CopyOptions::default())).unwrap();
    put("a");
    block_on(storage.rename(&key("a"), &key("renamed/a"), RenameOptions::default())).unwrap();
}

/// Dies in the middle of a put.
pub fn die(root: &Path) {
    let storage = FileStorage::open(root.join("deep/root")).unwrap();
    let body = vec![b'x'; 100 * BLOCK];
    block_on(storage.put(&key("died/a"), body.into(), Default::default())).unwrap();
}

pub fn modes() {
    for umask in ["000", "022", "077", "277"] {
        let place = Place::new();
        let umask = format!("umask {umask};");
        assert!(child("make", &place.path(""), &umask).status().unwrap().success());
        let died =
            child("die", &place.path(""), &format!("{umask} ulimit -f 4;")).status().unwrap();
        assert!(died.signal().is_some(), "{died}");

        let files = place.files();
        let made: Vec<_> = files
            .iter()
            .map(|name| match name.strip_prefix("deep/root/died/.~a.") {
                Some(random) => format!("deep/root/died/.~a.{}", "*".repeat(random.len())),
                None => name.clone(),
            })
            .collect();
        let want = [
            "deep/",
            "deep/root/",
            "deep/root/.~lock",
            "deep/root/copied/",
            "deep/root/copied/a",
            "deep/root/died/",
            "deep/root/died/.~a.************",
            "deep/root/held/",
            "deep/root/held/.~a.lock",
            "deep/root/held/a",
            "deep/root/put/",
            "deep/root/put/d/",
            "deep/root/put/d/a",
            "deep/root/renamed/",
            "deep/root/renamed/a",
            "deep/root/shared/",
            "deep/root/shared/a",
        ];
        assert_eq!(made, want);
        for name in files {
            let want = if name.ends_with('/') { 0o700 } else { 0o600 };
            assert_eq!(mode(place.path(&name)), want, "{name} under {umask}");
        }
    }
}

/// Appends until there is no room, with every kind of writer.
pub fn fill(root: &Path) {
    let storage = FileStorage::open(root).unwrap();
    let line = Bytes::from(vec![b'x'; BLOCK - 1]);
    for (name, options) in [("a", AppendOptions::exclusive("x")), ("b", AppendOptions::default())] {
        let a = key(name);
        let mut writer = block_on(storage.open_append(&a, options)).unwrap();
        for line_number in 0..4 {
            let offset = block_on(writer.append(line.clone())).unwrap();
            assert_eq!(offset, line_number * (BLOCK as u64 - 1));
        }
        // 4 bytes of this one fit.
        let error = block_on(writer.append(line.clone())).unwrap_err();
        assert_eq!(error.kind(), StorageErrorKind::Full);
        let (meta, body) = block_on(storage.read_all(&a)).unwrap();
        assert_eq!((meta.size, body.len()), (4 * (BLOCK as u64 - 1), 4 * (BLOCK - 1)));
        let closed = block_on(writer.append(Bytes::from("y"))).unwrap_err();
        assert_eq!(closed.kind(), StorageErrorKind::Closed);
        let last = block_on(writer.close()).unwrap_err();
        assert_eq!(last.to_string(), error.to_string());
        assert_eq!(
            block_on(storage.append_once(&a, Bytes::from("yyyy"))).unwrap().size,
            4 * BLOCK as u64
        );
    }
}

pub fn cut_back() {
    let place = Place::new();
    let filled = child("fill", &place.path(""), r#"trap "" XFSZ; ulimit -f 4;"#).output().unwrap();
    assert!(filled.status.success(), "{}", String::from_utf8_lossy(&filled.stderr));
    let line = "x".repeat(4 * (BLOCK - 1));
    assert_eq!((place.read("a"), place.read("b")), (line.clone() + "yyyy", line + "yyyy"));
}
