//! Hosts that only read: nothing they do changes the shared log, wherever a file lies to the
//! batches of the index, the units and reads of the remote, and its chunks.

use std::fs;
use std::sync::Arc;

use pollster::block_on;
use session_store_indexed::remote::{FakeRemote, MAX_READ_BYTES, MAX_UNIT_BYTES, Position, Remote};
use session_store_indexed::replica::{Outcome, TakeOver};
use session_store_indexed::{BlockKind, DatabaseDiagnostic};

use super::host::{Host, LEASE, Time};
use super::steps::fake;
use super::support::{Test, header, logged, message, session};

pub const TESTS: &[Test] = &[
    ("a_reader_leaves_the_log_around_index_batches_of_8_mib", around_index_batches),
    ("a_reader_leaves_the_log_around_reads_and_units_of_1_mib", around_reads_and_units),
    ("a_reader_leaves_the_log_around_chunks_of_64_kib", around_chunks),
    ("a_reader_leaves_a_log_of_20_mb_that_grows", a_log_that_grows),
    ("a_rewrite_above_an_index_batch_of_8_mib_is_never_seen_in_part", a_large_rewrite),
    ("an_old_copy_over_a_newer_file_takes_nothing_away", an_old_copy),
    ("an_older_copy_of_the_same_size_becomes_a_fork", another_file),
    ("an_edit_by_another_program_is_published", an_edit),
    ("a_file_another_program_removed_stays_on_the_remote", a_removed_file),
    ("a_directory_cloned_with_its_database_is_another_host", a_clone),
    ("a_clone_that_kept_its_place_is_told_apart_by_its_claims", a_clone_in_place),
];

/// The batches in which the index is written, and the chunks of the remote's logs.
const INDEX_BATCH: usize = 8 << 20;
const CHUNK: usize = 64 << 10;

fn hosts(remote: &Arc<FakeRemote>, count: usize) -> (Arc<Time>, Vec<Host>) {
    let clock = Time::new();
    let host = || Host::new(Arc::clone(remote) as Arc<dyn Remote>, &clock);
    let hosts = (0..count).map(|_| host()).collect();
    (clock, hosts)
}

/// A session of so many bytes, in lines of about 10 KB.
fn lines(size: usize) -> String {
    let mut text = header("a");
    let empty = message("00000000", "").len();
    for id in 0.. {
        let left = size - text.len();
        if left == 0 {
            return text;
        }
        // The last line must have room for itself.
        let length = if left < 2 * (empty + 10_000) { left } else { empty + 10_000 };
        text.push_str(&message(&format!("{id:08}"), &"x".repeat(length - empty)));
    }
    text
}

/// Publishes a session of each size, and has others follow it, whose publishers work at every
/// moment; the remote must stay as it is.
fn readers_change_nothing(sizes: &[usize]) {
    for &size in sizes {
        let remote = fake();
        let (_clock, mut hosts) = hosts(&remote, 3);
        let (writer, readers) = hosts.split_first_mut().unwrap();
        let a = session("a");
        let text = lines(size);
        assert_eq!(text.len(), size);
        writer.append(&a, &text);
        writer.publish();
        let before = block_on(remote.state(&a)).unwrap().unwrap();
        assert_eq!((before.position.generation, before.position.length), (0, size as u64));
        for reader in readers {
            assert_eq!(reader.followed(), [(a.clone(), Outcome::Installed)], "{size}");
            reader.publish_while_indexing(|| {
                assert_eq!(block_on(remote.state(&a)).unwrap().as_ref(), Some(&before), "{size}");
            });
            reader.reopen();
            reader.publish();
            assert_eq!(block_on(remote.state(&a)).unwrap().as_ref(), Some(&before), "{size}");
            assert!(reader.read(&a) == text.as_bytes(), "{size}");
        }
        assert!(writer.read(&a) == text.as_bytes(), "{size}");
    }
}

fn around_index_batches() {
    let sizes = [INDEX_BATCH - 1, INDEX_BATCH, INDEX_BATCH + 1, 2 * INDEX_BATCH + 20_001];
    readers_change_nothing(&sizes);
}

fn around_reads_and_units() {
    assert_eq!(MAX_READ_BYTES, MAX_UNIT_BYTES);
    readers_change_nothing(&[MAX_READ_BYTES - 1, MAX_READ_BYTES, MAX_READ_BYTES + 1]);
}

fn around_chunks() {
    readers_change_nothing(&[CHUNK - 1, CHUNK, CHUNK + 1]);
}

fn a_log_that_grows() {
    let remote = fake();
    let (_clock, mut hosts) = hosts(&remote, 5);
    let (writer, readers) = hosts.split_first_mut().unwrap();
    let a = session("a");
    let mut text = lines(20_000_000);
    writer.append(&a, &text);
    writer.publish();
    for round in 0..3 {
        let before = block_on(remote.state(&a)).unwrap().unwrap();
        for reader in &mut *readers {
            let [(_, outcome)] = &reader.followed()[..] else { panic!() };
            assert!(matches!(outcome, Outcome::Installed | Outcome::Grown { .. }), "{outcome:?}");
            reader.publish_while_indexing(|| {
                assert_eq!(block_on(remote.state(&a)).unwrap().as_ref(), Some(&before));
            });
            assert!(reader.read(&a) == text.as_bytes());
        }
        let more = message(&format!("m{round}"), &"y".repeat(9 << 20));
        writer.append(&a, &more);
        text.push_str(&more);
        writer.publish();
    }
    // Who has only read so far may write all the same, once it has what there is.
    let reader = &mut readers[0];
    reader.followed();
    assert!(matches!(reader.take_over(&a, true), Ok(TakeOver::Taken { .. })));
    reader.append(&a, &message("mine", "z"));
    text.push_str(&message("mine", "z"));
    reader.publish();
    assert!(logged(&*remote, &a).unwrap() == text);
    assert_eq!(block_on(remote.state(&a)).unwrap().unwrap().position.generation, 0);
}

fn a_large_rewrite() {
    let remote = fake();
    let (_clock, mut hosts) = hosts(&remote, 1);
    let (a, writer) = (session("a"), &mut hosts[0]);
    let text = lines(20_000_000);
    writer.append(&a, &text);
    writer.publish();
    let edited = text.replacen("\"cwd\":\"/w\"", "\"cwd\":\"/v\"", 1);
    writer.put(&a, &edited);
    let mut seen = Vec::new();
    writer.publish_while_indexing(|| {
        let position = block_on(remote.state(&a)).unwrap().unwrap().position;
        if seen.last() != Some(&position) {
            seen.push(position);
        }
    });
    let length = edited.len() as u64;
    let positions = [0, 1].map(|generation| Position { generation, length });
    // The step that replaces it may be the first.
    assert!(seen == positions || seen == positions[1..], "{seen:?}");
    assert!(logged(&*remote, &a).unwrap() == edited);
}

/// A session that one host published and another fetched, with an old copy of its file.
fn published(remote: &Arc<FakeRemote>, size: usize) -> (Vec<Host>, String, String) {
    let (_clock, mut hosts) = hosts(remote, 2);
    let a = session("a");
    let old = lines(size);
    hosts[0].append(&a, &old);
    hosts[0].publish();
    hosts[0].append(&a, &message("new", "new"));
    hosts[0].publish();
    assert_eq!(hosts[1].followed(), [(a, Outcome::Installed)]);
    hosts[1].publish();
    let new = old.clone() + &message("new", "new");
    (hosts, old, new)
}

fn an_old_copy() {
    for size in [300, INDEX_BATCH + 20_001] {
        // Over the file of the host that wrote it, and over that of one that reads.
        for at in [0, 1] {
            let remote = fake();
            let (mut hosts, old, new) = published(&remote, size);
            let (a, host) = (session("a"), &mut hosts[at]);
            let before = block_on(remote.state(&a)).unwrap();
            fs::write(host.root().join(a.as_str()), &old).unwrap();
            host.reopen();
            host.publish();
            assert_eq!(block_on(remote.state(&a)).unwrap(), before);
            let bytes = (new.len() - old.len()) as u64;
            assert_eq!(host.followed(), [(a.clone(), Outcome::Grown { bytes })]);
            assert!(host.read(&a) == new.as_bytes());
            host.publish();
            assert_eq!(block_on(remote.state(&a)).unwrap(), before);
            assert_eq!(host.storage().blocked().unwrap(), []);
        }
    }
}

fn another_file() {
    let remote = fake();
    let (mut hosts, _, new) = published(&remote, 300);
    let (a, host) = (session("a"), &mut hosts[0]);
    let before = block_on(remote.state(&a)).unwrap();
    let other = new.replace("\"new\"", "\"old\"");
    assert_eq!(other.len(), new.len());
    fs::write(host.root().join(a.as_str()), &other).unwrap();
    host.reopen();
    host.publish();
    assert_eq!(block_on(remote.state(&a)).unwrap(), before);
    let found = host.storage().blocked().unwrap();
    assert_eq!((&found[0].key, found[0].kind), (&a, BlockKind::Fenced));
    assert!(found[0].reason.contains("`remote pull` keeps both"), "{}", found[0].reason);
    let found = host.followed();
    let [(_, Outcome::Forked { to })] = &found[..] else { panic!("{found:?}") };
    assert_eq!(host.read(&a), new.as_bytes());
    assert!(String::from_utf8_lossy(&host.read(to)).ends_with(other.split_once('\n').unwrap().1));
    host.publish();
    assert_eq!(block_on(remote.state(&a)).unwrap(), before);
    assert_eq!(host.storage().blocked().unwrap(), []);
}

fn an_edit() {
    for size in [300, INDEX_BATCH + 20_001] {
        let remote = fake();
        let (mut hosts, _, new) = published(&remote, size);
        let (a, host) = (session("a"), &mut hosts[0]);
        let edited = new.replacen("\"cwd\":\"/w\"", "\"cwd\":\"/v\"", 1);
        fs::write(host.root().join(a.as_str()), &edited).unwrap();
        host.reopen();
        host.publish();
        assert!(logged(&*remote, &a).unwrap() == edited);
        assert_eq!(hosts[1].followed(), [(a, Outcome::Replaced)]);
    }
}

fn a_removed_file() {
    for at in [0, 1] {
        let remote = fake();
        let (mut hosts, _, new) = published(&remote, 300);
        let (a, host) = (session("a"), &mut hosts[at]);
        let before = block_on(remote.state(&a)).unwrap();
        fs::remove_file(host.root().join(a.as_str())).unwrap();
        host.reopen();
        host.publish();
        assert_eq!(block_on(remote.state(&a)).unwrap(), before);
        assert_eq!(host.followed(), [(a.clone(), Outcome::Installed)]);
        assert_eq!(host.read(&a), new.as_bytes());
        // Removed through the storage, it is removed for all.
        host.publish();
        host.remove(&a);
        host.publish();
        assert_eq!(logged(&*remote, &a), None);
    }
}

fn a_clone() {
    let remote = fake();
    let (mut hosts, _, new) = published(&remote, 300);
    let (a, first) = (session("a"), &mut hosts[0]);
    let mut clone = first.cloned();
    let owner = first.publisher().owner().to_owned();
    let host = |owner: &str| owner.split('/').next().unwrap().to_owned();
    assert_ne!(host(clone.publisher().owner()), host(&owner));
    let told = clone.storage().diagnostics();
    assert!(matches!(&told[..], [DatabaseDiagnostic::Copied { .. }]), "{told:?}");
    assert_eq!(first.storage().diagnostics(), []);
    // Neither takes what the other has claimed.
    assert!(matches!(first.take_over(&a, false), Ok(TakeOver::Taken { .. })));
    let held = clone.take_over(&a, false);
    assert!(matches!(&held, Ok(TakeOver::Held { by, .. }) if by.owner == owner), "{held:?}");
    clone.append(&a, &message("c", "clone"));
    first.append(&a, &message("f", "first"));
    clone.publish();
    first.publish();
    assert_eq!(logged(&*remote, &a), Some(new + &message("f", "first")));
    remote.advance(LEASE);
    let found = clone.followed();
    let [(_, Outcome::Forked { to })] = &found[..] else { panic!("{found:?}") };
    assert!(String::from_utf8_lossy(&clone.read(to)).ends_with(&message("c", "clone")));
    // It has its name for good, and is told of it once.
    let name = host(clone.publisher().owner());
    clone.reopen();
    assert_eq!(host(clone.publisher().owner()), name);
    assert_eq!(clone.storage().diagnostics(), []);
}

fn a_clone_in_place() {
    let remote = fake();
    let (mut hosts, _, new) = published(&remote, 300);
    let (a, first) = (session("a"), &mut hosts[0]);
    let mut clone = first.cloned_in_place();
    let host = |owner: &str| owner.split('/').next().unwrap().to_owned();
    let name = host(first.publisher().owner());
    assert_eq!(host(clone.publisher().owner()), name, "nothing tells it apart yet");
    first.reopen();
    assert!(matches!(first.take_over(&a, false), Ok(TakeOver::Taken { .. })));
    clone.append(&a, &message("c", "clone"));
    clone.publish();
    first.append(&a, &message("f", "first"));
    first.publish();
    assert_eq!(logged(&*remote, &a), Some(new + &message("f", "first")));
    let told = clone.storage().diagnostics();
    let owner = first.publisher().owner().to_owned();
    assert!(
        matches!(&told[..], [DatabaseDiagnostic::CopyInUse { owner: by, .. }] if *by == owner),
        "{told:?}"
    );
    clone.reopen();
    assert_ne!(host(clone.publisher().owner()), name);
}
