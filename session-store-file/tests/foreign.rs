//! What writers do when somebody moves or removes things under them, or they do so themselves.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use session_model::storage::{AppendOptions, Durability, SessionStorage, StorageErrorKind};
use session_store_file::FileStorage;
use support::{Place, accepted, block_on, key, kind};

fn started(place: &Place) -> Box<dyn session_model::storage::AppendWriter> {
    let mut writer = place.exclusive("d/a");
    assert_eq!(block_on(writer.append(Bytes::from("one\n"))).unwrap(), 0);
    // A writer that has just written does not look closely, and the times of files advance in
    // ticks of some milliseconds.
    thread::sleep(Duration::from_millis(30));
    writer
}

fn assert_held(place: &Place) {
    let other = FileStorage::open(place.path("")).unwrap();
    let late = block_on(other.open_append(&key("d/a"), AppendOptions::exclusive("late")));
    assert_eq!(kind(late), StorageErrorKind::Busy);
}

#[test]
fn an_object_moved_away_and_copied_back_is_a_conflict() {
    let place = Place::new();
    let mut writer = started(&place);
    fs::rename(place.path("d/a"), place.path("d/a.bak")).unwrap();
    fs::copy(place.path("d/a.bak"), place.path("d/a")).unwrap();
    let lost = block_on(writer.append(Bytes::from("two\n")));
    assert_eq!(kind(lost), StorageErrorKind::Conflict);
    assert_eq!(block_on(writer.adopt()).unwrap().size, 4);
    assert_eq!(block_on(writer.append(Bytes::from("two\n"))).unwrap(), 4);
    assert_eq!((place.read("d/a"), place.read("d/a.bak")), ("one\ntwo\n".into(), "one\n".into()));
}

#[test]
fn an_edit_in_place_is_a_conflict_also_if_the_size_stays() {
    let place = Place::new();
    let mut writer = started(&place);
    fs::write(place.path("d/a"), "ONE\n").unwrap();
    for lost in [
        block_on(writer.append(Bytes::from("two\n"))).map(drop),
        block_on(writer.sync(Durability::Durable)),
        block_on(writer.truncate(0)),
    ] {
        assert_eq!(
            lost.unwrap_err().to_string(),
            "d/a is not as expected: it was edited in place; read it again before writing"
        );
    }
    assert_eq!(place.read("d/a"), "ONE\n");
    block_on(writer.adopt()).unwrap();
    assert_eq!(block_on(writer.append(Bytes::from("two\n"))).unwrap(), 4);
    block_on(writer.sync(Durability::Durable)).unwrap();
    thread::sleep(Duration::from_millis(30));
    fs::write(place.path("d/a"), "ONE\nTWO\n").unwrap();
    assert_eq!(kind(block_on(writer.sync(Durability::Durable))), StorageErrorKind::Conflict);
}

#[test]
fn a_move_right_after_an_append_is_noticed_by_the_next_sync() {
    let place = Place::new();
    let mut writer = started(&place);
    block_on(writer.append(Bytes::from("two\n"))).unwrap();
    block_on(writer.append(Bytes::from("three\n"))).unwrap();
    fs::rename(place.path("d/a"), place.path("d/a.bak")).unwrap();
    assert_eq!(kind(block_on(writer.sync(Durability::Durable))), StorageErrorKind::Conflict);
    assert_eq!(place.read("d/a.bak"), "one\ntwo\nthree\n");
}

#[test]
fn what_changes_no_content_is_no_conflict() {
    let place = Place::new();
    let mut writer = started(&place);
    fs::hard_link(place.path("d/a"), place.path("backup")).unwrap();
    fs::set_permissions(place.path("d/a"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(block_on(writer.append(Bytes::from("two\n"))).unwrap(), 4);
    block_on(writer.sync(Durability::Durable)).unwrap();
}

#[test]
fn a_change_is_noticed_at_the_latest_when_closing() {
    let place = Place::new();
    let writer = started(&place);
    fs::write(place.path("other"), "ONE\n").unwrap();
    fs::rename(place.path("other"), place.path("d/a")).unwrap();
    assert_eq!(kind(block_on(writer.close())), StorageErrorKind::Conflict);
    drop(place.exclusive("d/a"));
}

#[test]
fn a_removed_directory_is_made_again_and_held() {
    let place = Place::new();
    let mut writer = started(&place);
    fs::remove_dir_all(place.path("d")).unwrap();
    let lost = block_on(writer.append(Bytes::from("two\n")));
    assert_eq!(kind(lost), StorageErrorKind::Conflict);
    assert_eq!(kind(block_on(writer.adopt())), StorageErrorKind::NotFound);
    block_on(writer.replace("one\n".into(), accepted())).unwrap();
    assert_held(&place);
    assert_eq!(block_on(writer.append(Bytes::from("two\n"))).unwrap(), 4);
    assert_eq!(place.read("d/a"), "one\ntwo\n");
    block_on(writer.close()).unwrap();
    drop(place.exclusive("d/a"));
}

#[test]
fn an_adopted_object_in_another_directory_is_held() {
    let place = Place::new();
    let mut writer = started(&place);
    fs::rename(place.path("d"), place.path("old")).unwrap();
    fs::create_dir(place.path("d")).unwrap();
    fs::write(place.path("d/a"), "restored\n").unwrap();
    assert_eq!(block_on(writer.adopt()).unwrap().size, 9);
    assert_held(&place);
    assert_eq!(block_on(writer.append(Bytes::from("two\n"))).unwrap(), 9);
    assert_eq!(place.read("d/a"), "restored\ntwo\n");
    assert_eq!(place.read("old/a"), "one\n");
}

#[test]
fn a_claim_taken_by_another_is_not_taken_back() {
    let place = Place::new();
    let mut writer = started(&place);
    fs::rename(place.path("d"), place.path("old")).unwrap();
    let mut winner = place.exclusive("d/a");
    let lost = block_on(writer.append(Bytes::from("two\n")));
    assert_eq!(kind(lost), StorageErrorKind::Conflict);
    let lost = block_on(writer.replace("bad\n".into(), accepted()));
    assert_eq!(kind(lost), StorageErrorKind::Busy);
    assert_eq!(block_on(winner.append(Bytes::from("mine\n"))).unwrap(), 0);
    assert_eq!(place.read("d/a"), "mine\n");
}

#[test]
fn a_moved_root_is_a_conflict() {
    let place = Place::new();
    let mut writer = started(&place);
    let moved = place.dir.path().join("moved");
    fs::rename(place.path(""), &moved).unwrap();
    let lost = block_on(writer.append(Bytes::from("two\n")));
    assert_eq!(kind(lost), StorageErrorKind::Conflict);
    fs::rename(moved, place.path("")).unwrap();
    assert_eq!(block_on(writer.append(Bytes::from("two\n"))).unwrap(), 4);
    assert_eq!(place.read("d/a"), "one\ntwo\n");
}

#[test]
fn a_shared_writer_makes_its_directory_again() {
    let place = Place::new();
    let options = AppendOptions::default();
    let mut writer = block_on(place.storage.open_append(&key("d/a"), options)).unwrap();
    assert_eq!(block_on(writer.append(Bytes::from("one\n"))).unwrap(), 0);
    fs::remove_dir_all(place.path("d")).unwrap();
    assert_eq!(block_on(writer.append(Bytes::from("two\n"))).unwrap(), 0);
    assert_eq!(place.read("d/a"), "two\n");
}

#[test]
fn appends_go_to_the_end_after_a_replacement_was_cut() {
    let place = Place::new();
    let mut writer = started(&place);
    block_on(writer.replace("one\ntwo\nthree\n".into(), accepted())).unwrap();
    block_on(writer.truncate(4)).unwrap();
    assert_eq!(block_on(writer.append(Bytes::from("2\n"))).unwrap(), 4);
    assert_eq!(place.read("d/a"), "one\n2\n");
}

#[test]
fn the_lock_decides_who_holds_an_object_and_the_record_only_informs() {
    let place = Place::new();
    drop(started(&place));
    // A record that names a live process, as one of another host or container, or a pid used anew.
    let record = format!("owner=gone\npid={}\nhost=elsewhere\n", std::process::id());
    fs::write(place.path("d/.~a.lock"), record).unwrap();
    let mut writer = place.exclusive("d/a");
    assert_eq!(block_on(writer.append(Bytes::from("two\n"))).unwrap(), 4);
    let record = fs::read_to_string(place.path("d/.~a.lock")).unwrap();
    assert!(!record.contains("gone") && !record.contains("elsewhere"), "{record}");
    assert_held(&place);
}
