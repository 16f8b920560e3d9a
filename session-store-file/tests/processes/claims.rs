//! Exclusive writers in several processes.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;

use bytes::Bytes;
use session_model::storage::{
    AppendOptions, AppendWriter, Holder, SessionStorage, SessionStorageExt, StorageError,
    StorageErrorKind,
};
use session_store_file::FileStorage;

use crate::child;
use crate::support::{Place, accepted, block_on, key, kind};

const CONTENDERS: usize = 4;
const TURNS: usize = 25;

/// Claims an object, says so, and keeps it until there is no more input.
pub fn hold(root: &Path) {
    let storage = FileStorage::open(root).unwrap();
    let options = AppendOptions::exclusive("the child");
    let mut writer = block_on(storage.open_append(&key("d/a"), options)).unwrap();
    block_on(writer.append(Bytes::from("from the child\n"))).unwrap();
    println!("held");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

pub fn ends_with_its_holder() {
    let place = Place::new();
    let a = key("d/a");
    let mut holder = child("hold", &place.path(""), "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "held\n");

    let claim = || block_on(place.storage.open_append(&a, AppendOptions::exclusive("late")));
    let StorageError::Busy { key: busy, holder: who } = claim().unwrap_err() else {
        panic!("the claim of another process did not count");
    };
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    let mut want = Holder::default();
    want.owner = Some("the child".into());
    want.pid = Some(holder.id());
    want.host = Some(host);
    want.since = who.since.clone();
    assert_eq!((busy, *who), (a.clone(), want));
    let put = place.storage.put(&a, "bad".into(), accepted());
    assert_eq!(kind(block_on(put)), StorageErrorKind::Busy);
    assert_eq!(kind(block_on(place.storage.remove(&a))), StorageErrorKind::Busy);
    assert_eq!(kind(block_on(place.storage.remove_all(&key("d")))), StorageErrorKind::Busy);
    assert_eq!(place.read("d/a"), "from the child\n");

    holder.kill().unwrap();
    holder.wait().unwrap();
    let mut writer = claim().unwrap();
    assert_eq!(block_on(writer.append(Bytes::from("from the heir\n"))).unwrap(), 15);
    let StorageError::Busy { holder: who, .. } = claim().unwrap_err() else {
        panic!("the heir's claim did not count");
    };
    assert_eq!((who.owner.as_deref(), who.pid), (Some("late"), Some(std::process::id())));
    drop(writer);
    assert_eq!(place.read("d/a"), "from the child\nfrom the heir\n");
}

pub fn of_what_was_removed() {
    // The second lock is that of the claim; 3 s are nearly always enough for all that is done here.
    let slowly = "exec strace -f -qq -o /dev/null -e trace=flock \
                  -e inject=flock:delay_enter=3000000:when=2 \"$0\";";
    loop {
        let place = Place::new();
        place.put("d/a", "x\n");
        let mut slow = child("hold", &place.path(""), slowly)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !place.path("d/.~a.lock").exists() {
            let ended = slow.try_wait().unwrap();
            assert_eq!(ended, None, "strace, which `cargo xtask test` installs");
            std::thread::yield_now();
        }
        // Of a storage with another root, whose operations do not wait for those of the child.
        let storage = FileStorage::open(place.path("d")).unwrap();
        if block_on(storage.remove(&key("a"))).is_err() {
            slow.kill().unwrap();
            slow.wait().unwrap();
            continue;
        }
        let claim = block_on(storage.open_append(&key("a"), AppendOptions::exclusive("quick")));
        let mut said = String::new();
        slow.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((said.as_str(), slow.wait().unwrap().success()), ("", false));
        drop(claim.unwrap());
        return;
    }
}

/// Appends to an object what number its line has, a few times, each under a claim of its own.
pub fn count(root: &Path) {
    let storage = FileStorage::open(root).unwrap();
    let a = key("a");
    for _ in 0..TURNS {
        let mut writer = loop {
            match block_on(storage.open_append(&a, AppendOptions::exclusive("a contender"))) {
                Ok(writer) => break writer,
                Err(error) => assert_eq!(error.kind(), StorageErrorKind::Busy),
            }
            std::thread::yield_now();
        };
        append_number(&storage, writer.as_mut());
    }
}

fn append_number(storage: &FileStorage, writer: &mut dyn AppendWriter) {
    let (_, body) = block_on(storage.read_all(&key("a"))).unwrap();
    let lines = body.iter().filter(|byte| **byte == b'\n').count();
    block_on(writer.append(format!("{lines}\n").into())).unwrap();
}

pub fn take_turns() {
    let place = Place::new();
    let contenders: Vec<_> =
        (0..CONTENDERS).map(|_| child("count", &place.path(""), "").spawn().unwrap()).collect();
    for mut contender in contenders {
        assert!(contender.wait().unwrap().success());
    }
    let mut want = Vec::new();
    (0..CONTENDERS * TURNS).for_each(|number| writeln!(want, "{number}").unwrap());
    assert_eq!(place.read("a"), String::from_utf8(want).unwrap());
}
