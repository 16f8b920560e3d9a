//! One session over two hosts, from the first line to the fork of whoever comes back too late.

use pollster::block_on;
use session_context::{FollowEvent, SessionError, SessionReader, open_storage};
use session_model::storage::{StorageError, StorageErrorKind};

use crate::agent::{Agent, SESSION, key, open, said, say};
use crate::commands::Host;
use crate::server::{Server, until};

#[test]
fn a_session_is_listed_opened_followed_taken_over_and_forked() {
    let mut server = Server::start();
    let (first, second) = (Host::new(), Host::new());
    let mut agent = Agent::start(&server, first.path());
    agent.say("one");

    // The other host lists it, and opens it.
    let listed = |server: &Server| second.run(server, "remote list --json").1;
    until("the session is listed", || listed(&server).contains(SESSION));
    assert!(listed(&server).contains(r#""origin":"remote""#));
    let storage = open_storage(&server.url(second.path())).unwrap();
    let mut follower = SessionReader::new(storage.clone(), key()).follower(true);
    let mut seen = Vec::new();
    let mut see = |wanted: &[&str]| {
        until(&format!("{wanted:?} is seen"), || {
            for event in block_on(follower.look()).unwrap() {
                if let FollowEvent::Entry(entry) = event {
                    let data = entry.json().field("data").unwrap();
                    seen.push(data.as_text().unwrap().into_owned());
                }
            }
            seen == wanted
        });
    };
    see(&["one"]);

    // It follows what is written meanwhile, and may not write itself.
    agent.say("two");
    see(&["one", "two"]);
    let refused = block_on(open(&server.url(second.path()))).unwrap_err();
    let SessionError::Storage(StorageError::Busy { holder, .. }) = &refused else {
        panic!("{refused:?}")
    };
    assert!(holder.owner.as_ref().unwrap().starts_with("the host "), "{holder}");
    let claim = format!("remote claim {SESSION}");
    let (code, _, err) = second.run(&server, &claim);
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("--force takes it over"), "{err}");

    // The first host writes a line that does not get out, and dies.
    server.kill();
    agent.say("unpublished");
    agent.kill();
    server.start_again();

    // The second takes over and goes on; what it says is confirmed by the remote.
    let taken = second.run(&server, &format!("{claim} --force"));
    assert_eq!((taken.0, &*taken.1), (0, &*format!("{SESSION} is this host's\n")), "{}", taken.2);
    let mut manager = block_on(open(&server.url(second.path()))).unwrap();
    block_on(say(&mut manager, "three"));
    block_on(manager.close()).unwrap();
    drop(storage);
    let pushed = open_storage(&server.url(second.path())).unwrap();
    until("all is published", || {
        block_on(pushed.drain(session_model::storage::Durability::Published)).is_ok()
    });
    drop(pushed);
    assert_eq!(said(&second.file(SESSION)), ["one", "two", "three"]);

    // The first is back: nothing of it is lost.
    let (code, out, err) = first.run(&server, "remote pull --json");
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains(r#""outcome":"forked""#), "{out}");
    let fork = out.split(r#""fork":""#).nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(said(&first.file(SESSION)), ["one", "two", "three"]);
    assert_eq!(said(&first.file(fork)), ["one", "two", "unpublished"]);
    let same = std::fs::read(first.file(SESSION)).unwrap();
    assert_eq!(same, std::fs::read(second.file(SESSION)).unwrap());

    // It can go on with the session, once the second has given it up, and the fork is shared, too.
    let _ = second.run(&server, &format!("remote release {SESSION}"));
    // Publishes on, should more be left on closing than can be published within its time.
    let publishes = open_storage(&server.url(first.path())).unwrap();
    let mut manager = block_on(open(&server.url(first.path()))).unwrap();
    block_on(say(&mut manager, "four"));
    block_on(manager.close()).unwrap();
    until("the fork is listed", || listed(&server).contains(fork));
    let (code, out, err) = second.run(&server, "remote pull --all");
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(said(&second.file(fork)), ["one", "two", "unpublished"]);
    until("the fourth line has come", || {
        second.run(&server, "remote pull");
        said(&second.file(SESSION)) == ["one", "two", "three", "four"]
    });
    drop(publishes);
}

#[test]
fn with_redis_away_a_host_goes_on_and_catches_up() {
    let mut server = Server::start();
    let (first, second) = (Host::new(), Host::new());
    server.kill();
    let mut agent = Agent::start(&server, first.path());
    agent.say("alone");
    let nothing = open_storage(&server.url(second.path())).unwrap();
    let missing = block_on(nothing.head(&key())).unwrap_err();
    assert_eq!(missing.kind(), StorageErrorKind::NotFound);
    drop(nothing);
    server.start_again();
    until("the session has come", || {
        second.run(&server, "remote pull --all");
        second.file(SESSION).exists() && said(&second.file(SESSION)) == ["alone"]
    });
    agent.kill();
}
