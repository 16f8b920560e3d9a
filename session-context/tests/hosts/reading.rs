//! Hosts that only read: the shared log stays as it is, whatever its size.
//!
//! `SESSION_READING_MB` names other sizes in MB, such as `140,500`.

use pollster::block_on;
use session_context::{SessionReader, open_storage};
use session_model::storage::{SessionStorageExt, StorageErrorKind};

use crate::agent::{SESSION, key, open, say};
use crate::commands::Host;
use crate::server::{Server, until};

/// Above and below the index's batches of 8 MiB, in MB.
const SIZES: &[u64] = &[1, 8, 9, 20, 50];

fn sizes() -> Vec<u64> {
    match std::env::var("SESSION_READING_MB") {
        Ok(sizes) => sizes.split(',').map(|size| size.parse().unwrap()).collect(),
        Err(_) => SIZES.to_vec(),
    }
}

/// Writes a session of so many MB, in lines of about 4 KB and now and then of 300 KB.
pub(crate) fn write(host: &Host, megabytes: u64) -> Vec<u8> {
    let mut text = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n",
    );
    for id in 0_u64.. {
        let words = if id % 100 == 0 { 30_000 } else { 400 };
        let data = format!("{:09} ", id.wrapping_mul(2_654_435_761) % 1_000_000_000).repeat(words);
        text.push_str(&format!(
            "{{\"type\":\"custom\",\"id\":\"{id:08x}\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"customType\":\"said\",\"data\":\"{data}\"}}\n"
        ));
        if text.len() as u64 >= megabytes * 1_000_000 {
            break;
        }
    }
    let file = host.file(SESSION);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, &text).unwrap();
    text.into_bytes()
}

/// Runs a command that must end well.
pub(crate) fn done(host: &Host, server: &Server, args: &str) -> String {
    let (code, out, err) = host.run(server, args);
    assert_eq!(code, 0, "{args}: {out}{err}");
    out
}

/// One host publishes, others fetch and follow, by the command and as a program does.
fn others_change_nothing(hosts: usize) {
    for size in sizes() {
        let server = Server::start();
        let first = Host::new();
        let text = write(&first, size);
        done(&first, &server, "remote push --wait 600");
        let before = server.state();
        assert_eq!((&*before[0], &*before[3]), ("0", &*text.len().to_string()));
        let readers: Vec<_> = (1..hosts).map(|_| Host::new()).collect();
        for reader in &readers {
            let told = format!("{SESSION}: installed\n");
            assert_eq!(done(reader, &server, "remote pull --all"), told);
            // What is as it was is told of when it is named.
            assert_eq!(done(reader, &server, "remote pull"), "");
            assert_eq!(done(reader, &server, "remote pull s"), format!("{SESSION}: same\n"));
            done(reader, &server, "remote push --wait 600");
            assert_eq!(server.state(), before, "{size} MB, by the command");
            let storage = open_storage(&server.url(reader.path())).unwrap();
            assert!(block_on(storage.read_all(&key())).unwrap().1 == text);
            let mut follower = SessionReader::new(storage.clone(), key()).follower(true);
            block_on(follower.look()).unwrap();
            drop((follower, storage));
            assert_eq!(server.state(), before, "{size} MB, by the library");
        }
        for host in readers.iter().chain([&first]) {
            assert!(std::fs::read(host.file(SESSION)).unwrap() == text, "{size} MB");
            let found = std::fs::read_dir(host.file(SESSION).parent().unwrap()).unwrap();
            let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let sessions = names.filter(|name| name.ends_with(".jsonl")).count();
            assert_eq!(sessions, 1, "{size} MB: no fork");
        }
    }
}

#[test]
fn one_reader_leaves_logs_of_1_to_50_mb_as_they_are() {
    others_change_nothing(2);
}

#[test]
fn four_readers_leave_logs_of_1_to_50_mb_as_they_are() {
    others_change_nothing(5);
}

#[test]
fn a_follower_is_never_in_the_way_of_its_own_process() {
    let server = Server::start();
    let (first, second) = (Host::new(), Host::new());
    write(&first, 9);
    done(&first, &server, "remote push --wait 600");
    done(&second, &server, "remote pull --all");
    for round in 0..10 {
        // The second's copy is behind whenever it is opened: the follower and the command meet.
        let mut manager = block_on(open(&server.url(first.path()))).unwrap();
        block_on(say(&mut manager, &format!("first {round}")));
        block_on(manager.close()).unwrap();
        until("the first has given it up", || {
            done(&first, &server, "remote push --wait 600");
            server.state()[2].is_empty()
        });
        done(&second, &server, &format!("append {SESSION} --text {round}"));
        until("the second has given it up", || {
            done(&second, &server, "remote push --wait 600");
            server.state()[2].is_empty()
        });
        done(&first, &server, "remote pull");
    }
    let same = std::fs::read(first.file(SESSION)).unwrap();
    assert!(same == std::fs::read(second.file(SESSION)).unwrap());
    assert_eq!(server.state()[0], "0");
}

#[test]
fn a_command_that_fails_gives_up_what_it_claimed() {
    let server = Server::start();
    let (first, second) = (Host::new(), Host::new());
    write(&first, 1);
    done(&first, &server, "remote push --wait 600");
    done(&second, &server, "remote pull --all");
    assert_eq!(server.state()[2], "");
    // A program of the same host that knows nothing of the remote has the file open.
    let plain = open_storage(&second.path().display().to_string()).unwrap();
    let options = session_model::storage::AppendOptions::exclusive("another program");
    let writer = block_on(plain.open_append(&key(), options)).unwrap();
    let (code, _, err) = second.run(&server, &format!("append {SESSION} --text x"));
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("another program"), "{err}");
    assert_eq!(server.state()[2], "", "nobody has it");
    block_on(writer.close()).unwrap();
    // What cannot be done with a session that was opened.
    let (code, _, err) = second.run(&server, &format!("label {SESSION} nothing x"));
    assert_eq!(code, 1, "{err}");
    assert_eq!(server.state()[2], "", "nobody has it");
    // And in a program: opened, and closed again with nothing written.
    let storage = open_storage(&server.url(second.path())).unwrap();
    let options = || session_model::storage::AppendOptions::exclusive("an agent");
    let writer = block_on(storage.open_append(&key(), options())).unwrap();
    assert_ne!(server.state()[2], "");
    let busy = block_on(storage.open_append(&key(), options())).unwrap_err();
    assert_eq!(busy.kind(), StorageErrorKind::Busy);
    assert_ne!(server.state()[2], "", "the first writer has it");
    block_on(writer.close()).unwrap();
    until("it is given up", || server.state()[2].is_empty());
}
