//! A real server that is killed, emptied, full, read only, or cut off.

use std::sync::atomic::Ordering;

use session_store_indexed::{
    redis::{RedisAddress, RedisOptions, RedisRemote},
    remote::{Applied, Fence, Remote, RemoteError},
};

use super::{proxy::Proxy, server::Server, support::*};

async fn fails(
    remote: &dyn Remote,
    unit: &session_store_indexed::remote::AppendUnit,
) -> RemoteError {
    remote.apply(std::slice::from_ref(unit)).await.remove(0).unwrap_err()
}

#[tokio::test]
async fn a_unit_whose_answer_was_cut_off_is_there_once() {
    let server = Server::start(&[]);
    let proxy = Proxy::start(server.port()).await;
    let remote = Server::remote_at(&format!("redis://127.0.0.1:{}/", proxy.port), "p:");
    let a = key("a");
    let fence = claimed(&remote, &a, "one").await;
    let log = text(2000);
    assert_eq!(apply(&remote, unit(&a, &fence, 0, &log[..100], 0)).await, Applied::Ok);
    for end in (200..=2000).step_by(100) {
        let unit = unit(&a, &fence, 0, &log[..end], end - 100);
        proxy.cut.store(true, Ordering::SeqCst);
        let error = fails(&remote, &unit).await;
        assert!(matches!(error, RemoteError::Unavailable(_)), "{error:?}");
        assert_eq!(apply(&remote, unit).await, Applied::Dup);
    }
    assert_eq!(whole(&remote, &a).await, log);
}

#[tokio::test]
async fn a_killed_server_comes_back_with_everything() {
    let mut server = Server::start(&["--appendonly", "yes", "--appendfsync", "always"]);
    let remote = server.remote("p:");
    let a = key("a");
    let fence = claimed(&remote, &a, "one").await;
    let log = text(100_000);
    assert_eq!(apply(&remote, unit(&a, &fence, 0, &log[..90_000], 0)).await, Applied::Ok);
    let state = remote.state(&a).await.unwrap();
    server.kill();
    let rest = unit(&a, &fence, 0, &log, 90_000);
    assert!(matches!(fails(&remote, &rest).await, RemoteError::Unavailable(_)));
    server.start_again();
    assert_eq!(remote.state(&a).await.unwrap(), state);
    assert_eq!(apply(&remote, unit(&a, &fence, 0, &log[..90_000], 0)).await, Applied::Dup);
    assert_eq!(apply(&remote, rest).await, Applied::Ok);
    assert_eq!(whole(&remote, &a).await, log);
}

#[tokio::test]
async fn an_emptied_server_asks_for_a_new_claim() {
    let mut server = Server::start(&[]);
    let remote = server.remote("p:");
    let a = key("a");
    let fence = claimed(&remote, &a, "one").await;
    assert_eq!(apply(&remote, unit(&a, &fence, 0, b"12", 0)).await, Applied::Ok);
    server.kill();
    server.start_again();
    // The first call only finds the old connection gone.
    let lost = fails(&remote, &unit(&a, &fence, 0, b"1234", 2)).await;
    assert!(matches!(lost, RemoteError::Unavailable(_)), "{lost:?}");
    let nobody = Fence { epoch: 0, owner: String::new() };
    let answer = apply(&remote, unit(&a, &fence, 0, b"1234", 2)).await;
    assert_eq!(answer, Applied::Fenced(nobody));
    let fence = claimed(&remote, &a, "one").await;
    let answer = apply(&remote, unit(&a, &fence, 0, b"1234", 2)).await;
    assert_eq!(answer, Applied::Gap { have: at(0, 0) });
    assert_eq!(apply(&remote, unit(&a, &fence, 0, b"1234", 0)).await, Applied::Ok);
}

#[tokio::test]
async fn refusals_of_the_server_change_nothing_and_end() {
    let server = Server::start(&[]);
    let remote = server.remote_as_documented("p:").await;
    let a = key("a");
    let fence = claimed(&remote, &a, "one").await;
    let unit = unit(&a, &fence, 0, b"12", 0);

    server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    assert!(matches!(fails(&remote, &unit).await, RemoteError::Full(_)));
    server.command(&["CONFIG", "SET", "maxmemory", "0"]);

    server.command(&["REPLICAOF", "127.0.0.1", "1"]);
    assert!(!remote.check().await.unwrap().writable);
    assert!(matches!(fails(&remote, &unit).await, RemoteError::ReadOnly(_)));
    server.command(&["REPLICAOF", "NO", "ONE"]);

    for right in ["evalsha", "hset", "setrange"] {
        server.command(&["ACL", "SETUSER", "agent", &format!("-{right}")]);
        let error = fails(&remote, &unit).await;
        assert!(matches!(error, RemoteError::Denied(_)), "{right}: {error:?}");
        server.command(&["ACL", "SETUSER", "agent", &format!("+{right}")]);
    }
    assert_eq!(remote.state(&a).await.unwrap().unwrap().position, at(0, 0));
    server.command(&["SCRIPT", "FLUSH"]);
    assert_eq!(apply(&remote, unit).await, Applied::Ok);
    assert_eq!(whole(&remote, &a).await, b"12");
}

#[tokio::test]
async fn missing_chunks_are_damage() {
    let server = Server::start(&[]);
    let remote = server.remote("p:");
    let a = key("a");
    let fence = claimed(&remote, &a, "one").await;
    assert_eq!(apply(&remote, unit(&a, &fence, 0, b"12", 0)).await, Applied::Ok);
    let redis::Value::Array(keys) = server.command(&["KEYS", "p:s:*:log:0:0"]) else { panic!() };
    let name: String = redis::from_redis_value(keys[0].clone()).unwrap();
    server.command(&["DEL", &name]);
    let damaged = RemoteError::Damaged(a.clone());
    assert_eq!(remote.read(&a, 0, 10).await, Err(damaged.clone()));
    assert_eq!(fails(&remote, &unit(&a, &fence, 0, b"123", 2)).await, damaged);
}

#[tokio::test]
async fn a_rewrite_leaves_no_chunks_behind() {
    let server = Server::start(&[]);
    let remote = server.remote("p:");
    let a = key("a");
    let fence = claimed(&remote, &a, "one").await;
    let log = text(1 << 20);
    assert_eq!(apply(&remote, unit(&a, &fence, 0, &log, 0)).await, Applied::Ok);
    for _ in 0..2 {
        assert_eq!(remote.begin_rewrite(&a, &fence, 1).await, Ok(Applied::Ok));
        assert_eq!(apply(&remote, unit(&a, &fence, 1, &log[..70_000], 0)).await, Applied::Ok);
    }
    let commit = rewrite(&a, &fence, 1, &log[..70_000]);
    assert_eq!(remote.commit_rewrite(&commit).await, Ok(Applied::Ok));
    let chunks = |answer| matches!(answer, redis::Value::Array(keys) if keys.len() == 2);
    assert!(chunks(server.command(&["KEYS", "p:s:*:log:*"])));
    assert_eq!(remote.remove(&a, &fence, None).await, Ok(Applied::Ok));
    assert_eq!(server.command(&["KEYS", "p:s:*:log:*"]), redis::Value::Array(vec![]));
}

#[tokio::test]
async fn a_unix_socket_and_a_capped_feed() {
    let server = Server::start(&[]);
    let mut options = RedisOptions::default();
    options.feed = 2;
    let address: RedisAddress = server.socket().parse().unwrap();
    super::model::feed_is_capped(&RedisRemote::new(&address, options).unwrap()).await;
}

#[tokio::test]
async fn a_password_never_shows() {
    let server = Server::start(&["--requirepass", "right"]);
    let text = format!("redis://:hunter2@127.0.0.1:{}/", server.port());
    let address: RedisAddress = text.parse().unwrap();
    let remote = RedisRemote::new(&address, RedisOptions::default()).unwrap();
    let error = remote.check().await.unwrap_err();
    assert!(matches!(error, RemoteError::Denied(_)), "{error:?}");
    let bad = "redis://:hunter2@[::1".parse::<RedisAddress>().unwrap_err();
    let shown = format!("{address} {address:?} {remote:?} {error} {error:?} {bad} {bad:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("***"), "{shown}");
}
