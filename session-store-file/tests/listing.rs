//! Listing directories in which there is more than objects, and in which things change.
#![allow(clippy::unwrap_used)]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use session_model::storage::{ListOptions, SessionStorage, StorageErrorKind, StorageKey};
use support::{Place, block_on, key};

/// The keys and errors of a listing, in order.
fn listed(place: &Place, prefix: Option<&str>, options: ListOptions) -> Vec<String> {
    let prefix = prefix.map(key);
    let mut stream = place.storage.list(prefix.as_ref(), options);
    let mut items = Vec::new();
    while let Some(item) = block_on(std::future::poll_fn(|cx| stream.as_mut().poll_next(cx))) {
        items.push(match item {
            Ok(meta) => meta.key.to_string(),
            Err(error) => {
                let name = error.key().map_or("?", StorageKey::as_str);
                format!("{name} {:?}", error.kind())
            }
        });
    }
    items
}

fn all(place: &Place, prefix: Option<&str>) -> Vec<String> {
    listed(place, prefix, ListOptions::default())
}

#[test]
fn what_is_no_object_is_an_error_in_its_place() {
    let place = Place::new();
    for name in ["a", "d/a.jsonl", "d/z.jsonl", "e/x"] {
        place.put(name, "x");
    }
    drop(place.exclusive("d/a.jsonl"));
    fs::write(place.path("d/back\\slash.jsonl"), "x").unwrap();
    fs::write(place.path("d").join(OsStr::from_bytes(b"l\xff.jsonl")), "x").unwrap();
    fs::write(place.path("d").join("n".repeat(241)), "x").unwrap();
    fs::create_dir(place.path("d/o\\dd")).unwrap();
    fs::write(place.path("d/o\\dd/below"), "x").unwrap();
    fs::write(place.path("d/.~a.jsonl.0123abcd.tmp"), "x").unwrap();
    symlink("a.jsonl", place.path("d/s.jsonl")).unwrap();
    symlink("../e", place.path("d/t")).unwrap();

    let within = [
        "d/a.jsonl",
        "? Invalid",
        "? Invalid",
        "? Invalid",
        "? Invalid",
        "d/s.jsonl Denied",
        "d/t Denied",
        "d/z.jsonl",
    ];
    assert_eq!(all(&place, Some("d")), within);
    assert_eq!(all(&place, None), [&["a"], &within[..], &["e/x"]].concat());
    let jsonl = ListOptions::default().suffix(".jsonl");
    let some =
        ["d/a.jsonl", "? Invalid", "? Invalid", "? Invalid", "d/s.jsonl Denied", "d/z.jsonl"];
    assert_eq!(listed(&place, None, jsonl.clone()), some);
    assert_eq!(listed(&place, None, jsonl.clone().limit(3)), some[..3]);
    let later = jsonl.start_after(key("d/m"));
    assert_eq!(listed(&place, None, later), ["? Invalid", "d/s.jsonl Denied", "d/z.jsonl"]);
    assert_eq!(listed(&place, None, ListOptions::default().max_depth(1)), ["a"]);
}

#[test]
fn a_prefix_that_is_a_link_is_an_error() {
    let place = Place::new();
    place.put("d/a", "x");
    symlink("d", place.path("link")).unwrap();
    assert_eq!(all(&place, Some("link")), ["link Denied"]);
    assert_eq!(all(&place, Some("link/below")), ["link/below Denied"]);
}

#[test]
fn a_directory_that_cannot_be_read_is_an_error_and_the_listing_goes_on() {
    let place = Place::new();
    for name in ["a", "d/b", "e/c"] {
        place.put(name, "x");
    }
    give_up_root();
    fs::set_permissions(place.path("d"), fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(all(&place, None), ["a", "d Denied", "e/c"]);
    assert_eq!(all(&place, Some("d")), ["d Denied"]);
    let skipped = ListOptions::default().start_after(key("dd"));
    assert_eq!(listed(&place, None, skipped), ["e/c"]);
    let removed = block_on(place.storage.remove_all(&key("d")));
    assert_eq!(support::kind(removed), StorageErrorKind::Denied);
    fs::set_permissions(place.path("d"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(all(&place, None), ["a", "d/b", "e/c"]);
}

/// Makes this thread subject to permissions, should the test run as root.
fn give_up_root() {
    let mut mine = capabilities(None).unwrap();
    mine.effective.remove(CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH);
    set_capabilities(None, mine).unwrap();
}

#[test]
fn a_root_that_is_gone_is_an_error() {
    let place = Place::new();
    place.put("a", "x");
    fs::rename(place.path(""), place.dir.path().join("moved")).unwrap();
    assert_eq!(all(&place, None), ["? Invalid"]);
    assert_eq!(all(&place, Some("d")), ["d Unavailable"]);
}

#[test]
fn objects_that_are_being_replaced_are_listed_once() {
    let place = Place::new();
    let names: Vec<_> = (0..300).map(|i| format!("d/{i:03}")).collect();
    let put = |name: &String| drop(place.put(name, "x"));
    names.iter().for_each(put);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let running = |_: &&String| !done.load(Ordering::Relaxed);
            names.iter().cycle().take_while(running).for_each(put);
        });
        let wrong = (0..50).map(|_| all(&place, Some("d"))).find(|listed| *listed != names);
        done.store(true, Ordering::Relaxed);
        assert_eq!(wrong, None);
    });
}
