//! Throughput of publishing entries of 1 KB against the bare script in a pipeline, on a Redis of the
//! bench's own; and what publishing costs an append.
//!
//! `cargo bench -p session-store-indexed --features redis --bench publish`, with `redis-server` on the
//! path or its place in `SESSION_TEST_REDIS_SERVER`.
#![allow(clippy::unwrap_used, clippy::print_stdout, unreachable_pub)]

mod figures;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use figures::{append, entry, header, micros, row, timed};
use pollster::block_on;
use session_model::storage::{Durability, SessionStorage, StorageKey};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::publish::PublishOptions;
use session_store_indexed::redis::{RedisOptions, RedisRemote};
use session_store_indexed::remote::{
    AppendUnit, Applied, Claim, Claimed, Digest, Fence, Position, Remote,
};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};
use tempfile::TempDir;
use tokio::runtime;

const UNITS: usize = 20_000;
const BATCH: usize = 100;
const BYTES: usize = 1024;
const ROUNDS: usize = 3;
/// The script of `apply` itself, sent without anything around it.
const SCRIPT: &str = concat!(
    include_str!("../src/redis/lua/prelude.lua"),
    include_str!("../src/redis/lua/apply.lua")
);
/// The least there is to do: bytes into a stream, and where it ends.
const STREAM: &str = "redis.call('XADD', KEYS[1] .. ':log', '0-' .. ARGV[4] + 1024, 'b', ARGV[5]) \
                      redis.call('HSET', KEYS[1], 'len', ARGV[4] + 1024, 'digest', ARGV[6])";

fn main() {
    let server = Server::start();
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut best = [Cost { clock: Duration::MAX, processors: Duration::MAX }; 5];
    let mut appends = [(Duration::MAX, Duration::MAX); 2];
    for round in 0..ROUNDS {
        let key = |of| format!("{of}:{{{round}}}:meta");
        let costs = [
            server.cost(|| runtime.block_on(bare(&server.url, STREAM, &key("x")))),
            server.cost(|| runtime.block_on(bare(&server.url, SCRIPT, &key("s")))),
            server.cost(|| runtime.block_on(applied(&server.url, round))),
            published_later(&server, round),
            published_at_once(&server, round, &mut appends),
        ];
        for (best, cost) in best.iter_mut().zip(costs) {
            best.clock = best.clock.min(cost.clock);
            best.processors = best.processors.min(cost.processors);
        }
    }
    println!(
        "{UNITS} entries of 1 KB, the best of {ROUNDS} rounds; in brackets the same by the time"
    );
    println!("of the processors, the server's included");
    let script = best[1];
    let show = |what: &str, cost: Cost, note: &str| {
        let rate = |time: Duration| UNITS as f64 / time.as_secs_f64();
        let share = |all: Duration, part: Duration| 100.0 * all.as_secs_f64() / part.as_secs_f64();
        let clock = share(script.clock, cost.clock);
        let processors = share(script.processors, cost.processors);
        let figure = format!("{:.0}/s", rate(cost.clock));
        row(what, figure, &format!("{clock:.0} % ({processors:.0} %){note}"));
    };
    show("a bare XADD each, in a pipeline", best[0], "");
    show("the bare script for each, in a pipeline", best[1], "");
    show("the same through the remote", best[2], "");
    show("published from a file that was there", best[3], "; at least 70");
    show("appended one by one and published meanwhile", best[4], "; at least 70");
    let [alone, shared] = appends;
    let more = micros(shared.0 - alone.0.min(shared.0));
    row("an append to the file, in the middle", micros(alone.0), "");
    row("while it is published", micros(shared.0), &format!("{more} more; at most 10"));
    row("processor time of an append to the file", micros(alone.1), "");
    row("with indexing and publishing it", micros(shared.1), "without the server's");
}

/// What something takes: time, and time of the processors, the server's included.
#[derive(Clone, Copy)]
struct Cost {
    clock: Duration,
    processors: Duration,
}

/// A Redis that keeps an append-only file.
struct Server {
    url: String,
    child: Child,
    _dir: TempDir,
}

impl Server {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let binary = std::env::var_os("SESSION_TEST_REDIS_SERVER");
        let child = Command::new(binary.unwrap_or("redis-server".into()))
            .args(["--port", "0", "--unixsocket", "socket", "--save", "", "--appendonly", "yes"])
            .current_dir(dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { url: format!("redis+unix://{}", socket.display()), child, _dir: dir }
    }
}

impl Server {
    fn cost(&self, work: impl FnOnce()) -> Cost {
        let server = self.processors();
        let ((), clock, ours) = timed(work);
        Cost { clock, processors: ours + self.processors() - server }
    }

    fn processors(&self) -> Duration {
        let client = redis::Client::open(&*self.url).unwrap();
        let mut connection = client.get_connection().unwrap();
        let info: String = redis::cmd("INFO").arg("cpu").query(&mut connection).unwrap();
        let seconds = |name| {
            let line = info.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            Duration::from_secs_f64(line.parse().unwrap())
        };
        seconds("used_cpu_sys:") + seconds("used_cpu_user:")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn remote(url: &str, prefix: &str) -> RedisRemote {
    let mut options = RedisOptions::default();
    options.prefix = prefix.to_owned();
    RedisRemote::new(&url.parse().unwrap(), options).unwrap()
}

fn shared(root: &Path, url: &str, prefix: &str) -> IndexedStorage {
    let files = Arc::new(FileStorage::open(root).unwrap());
    let (index, publish) = (IndexOptions::default(), PublishOptions::default());
    let remote = Arc::new(remote(url, prefix));
    IndexedStorage::open_shared(files, root.join(INDEX_FILE), index, remote, publish).unwrap()
}

/// From opening a directory with a session in it until the remote has that.
fn published_later(server: &Server, round: usize) -> Cost {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("sessions/b")).unwrap();
    let lines: String = (0..UNITS).map(|id| entry(id, id.checked_sub(1), BYTES)).collect();
    std::fs::write(dir.path().join("sessions/b/s.jsonl"), header(0) + &lines).unwrap();
    server.cost(|| {
        let storage = shared(dir.path(), &server.url, &format!("later:{round}:"));
        block_on(storage.drain(Durability::Published)).unwrap();
    })
}

/// From the first append until the remote has the last.
fn published_at_once(
    server: &Server,
    round: usize,
    appends: &mut [(Duration, Duration); 2],
) -> Cost {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let plain = FileStorage::open(dirs[0].path()).unwrap();
    let storage = shared(dirs[1].path(), &server.url, &format!("at-once:{round}:"));
    let drain = || block_on(storage.drain(Durability::Published)).unwrap();
    let alone = append(&plain, "s", UNITS, || {});
    let mut meanwhile = alone;
    let cost = server.cost(|| meanwhile = append(&storage, "s", UNITS, drain));
    for (best, times) in appends.iter_mut().zip([alone, meanwhile]) {
        *best = (times.0.min(best.0), times.1.min(best.1));
    }
    cost
}

async fn bare(url: &str, code: &str, key: &str) {
    let client = redis::Client::open(url).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let script = redis::Script::new(code);
    script.load_async(&mut connection).await.unwrap();
    let fence = redis::cmd("HSET").arg(key).arg(&["epoch", "1", "owner", "o"]).to_owned();
    fence.exec_async(&mut connection).await.unwrap();
    let (bytes, digest) = (vec![b'x'; BYTES], Digest::of(b"").to_string());
    let meta = "{\"title\":\"a session\",\"messages\":12}";
    for batch in 0..UNITS / BATCH {
        let mut pipeline = redis::pipe();
        for unit in 0..BATCH {
            let from = (batch * BATCH + unit) * BYTES;
            pipeline.cmd("EVALSHA").arg(script.get_hash()).arg(1).arg(key).arg(1).arg("o").arg(0);
            pipeline.arg(from).arg(&bytes[..]).arg(&digest).arg(meta).ignore();
        }
        pipeline.query_async::<()>(&mut connection).await.unwrap();
    }
}

async fn applied(url: &str, round: usize) {
    let remote = remote(url, "applied:");
    let session = StorageKey::new(format!("run-{round}")).unwrap();
    let owner = "bench".to_owned();
    let claim = Claim { owner, lease: Duration::from_secs(60), force: true, seen_epoch: 0 };
    let Claimed::Granted(fence) = remote.claim(&session, &claim).await.unwrap() else {
        unreachable!("nobody else claims it")
    };
    let bytes = Bytes::from(vec![b'x'; BYTES]);
    let digest = Digest::of(b"");
    for batch in 0..UNITS / BATCH {
        let unit = |unit| AppendUnit {
            session: session.clone(),
            fence: Fence::clone(&fence),
            start: Position { generation: 0, length: ((batch * BATCH + unit) * BYTES) as u64 },
            bytes: bytes.clone(),
            digest,
            meta: Bytes::from_static(b"{\"title\":\"a session\",\"messages\":12}"),
        };
        let units: Vec<_> = (0..BATCH).map(unit).collect();
        for answer in remote.apply(&units).await {
            assert_eq!(answer, Ok(Applied::Ok));
        }
    }
}
