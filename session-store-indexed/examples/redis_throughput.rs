//! Throughput of 1 KiB appends through `apply`, and of publishing 1 KiB entries from files, against
//! the bare script in a pipeline; and what the outbox costs an append.
//!
//! `cargo run --example redis_throughput --features redis -- redis://127.0.0.1:6379/`, with an
//! address of a server whose keys below `throughput:` may be written.
#![allow(clippy::print_stdout)]

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use pollster::block_on;
use session_model::storage::{AppendOptions, Durability, SessionStorage, StorageKey};
use session_store_file::FileStorage;
use session_store_indexed::{
    index::IndexOptions,
    publish::PublishOptions,
    redis::{RedisOptions, RedisRemote},
    remote::{AppendUnit, Claim, Claimed, Digest, Fence, Position, Remote},
    storage::{INDEX_FILE, IndexedStorage},
};

const UNITS: u64 = 20_000;
const BATCH: u64 = 100;
const BYTES: u64 = 1024;
/// The script of `apply` itself, sent without anything around it.
const SAME: &str = concat!(
    include_str!("../src/redis/lua/prelude.lua"),
    include_str!("../src/redis/lua/apply.lua")
);
/// The least there is to do: bytes into a stream, and where it ends.
const STREAM: &str = "redis.call('XADD', KEYS[1] .. ':log', '0-' .. ARGV[4] + 1024, 'b', ARGV[5]) \
                      redis.call('HSET', KEYS[1], 'len', ARGV[4] + 1024, 'digest', ARGV[6])";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("name a server")?;
    for round in 0..3 {
        let stream = bare(&address, STREAM, &format!("throughput:{{x{round}}}:meta")).await?;
        let same = bare(&address, SAME, &format!("throughput:{{s{round}}}:meta")).await?;
        let ours = ours(&address, round).await?;
        let rate = |time: Duration| UNITS as f64 / time.as_secs_f64();
        let (published, alone, shared) = published(&address, round)?;
        println!(
            "bare XADD {:.0}/s, bare script {:.0}/s, apply {:.0}/s: {:.0} % of the script",
            rate(stream),
            rate(same),
            rate(ours),
            100.0 * rate(ours) / rate(same)
        );
        println!(
            "published {:.0}/s: {:.0} % of the script; an append takes {:.1} us to the file, {:.1} us while publishing",
            rate(published),
            100.0 * rate(published) / rate(same),
            shared_by(alone),
            shared_by(shared),
        );
    }
    Ok(())
}

fn shared_by(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6 / UNITS as f64
}

/// How long it takes from opening a file of entries until the remote has them; then appends to a
/// file alone, and while they are published.
fn published(address: &str, round: u32) -> Result<(Duration, Duration, Duration), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/w\"}\n";
    let text = "x".repeat(BYTES as usize - 60);
    let line = |n| {
        format!("{{\"type\":\"custom\",\"id\":\"{n:08}\",\"parentId\":null,\"x\":\"{text}\"}}\n")
    };
    let lines: String = (0..UNITS).map(line).collect();
    std::fs::create_dir_all(dir.path().join("sessions/b"))?;
    std::fs::write(dir.path().join("sessions/b/s.jsonl"), format!("{header}{lines}"))?;
    let files = Arc::new(FileStorage::open(dir.path())?);
    let appends = |storage: &dyn SessionStorage, name: &str| {
        let key = StorageKey::new(format!("sessions/b/{name}.jsonl"))?;
        let mut writer = block_on(storage.open_append(&key, AppendOptions::default()))?;
        block_on(writer.append(header.into()))?;
        let start = Instant::now();
        for n in 0..UNITS {
            block_on(writer.append(line(n).into()))?;
        }
        Ok::<_, Box<dyn Error>>(start.elapsed())
    };
    let mut options = RedisOptions::default();
    options.prefix = format!("throughput:{round}:{}:", std::process::id());
    let remote = Arc::new(RedisRemote::new(&address.parse()?, options)?);
    let start = Instant::now();
    let path = dir.path().join(INDEX_FILE);
    let (index, publish) = (IndexOptions::default(), PublishOptions::default());
    let storage = IndexedStorage::open_shared(files.clone(), path, index, remote, publish)?;
    block_on(storage.drain(Durability::Published))?;
    let published = start.elapsed();
    let alone = appends(&*files, "alone")?;
    let shared = appends(&storage, "shared")?;
    block_on(storage.drain(Durability::Published))?;
    Ok((published, alone, shared))
}

async fn bare(address: &str, code: &str, key: &str) -> Result<Duration, Box<dyn Error>> {
    let client = redis::Client::open(address)?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let script = redis::Script::new(code);
    script.load_async(&mut connection).await?;
    let fence = redis::cmd("HSET").arg(key).arg(&["epoch", "1", "owner", "o"]).to_owned();
    fence.exec_async(&mut connection).await?;
    let (bytes, digest) = (vec![b'x'; BYTES as usize], Digest::of(b"").to_string());
    let meta = "{\"title\":\"a session\",\"messages\":12}";
    let start = Instant::now();
    for batch in 0..UNITS / BATCH {
        let mut pipeline = redis::pipe();
        for unit in 0..BATCH {
            let from = (batch * BATCH + unit) * BYTES;
            pipeline.cmd("EVALSHA").arg(script.get_hash()).arg(1).arg(key).arg(1).arg("o").arg(0);
            pipeline.arg(from).arg(&bytes[..]).arg(&digest).arg(meta).ignore();
        }
        pipeline.query_async::<()>(&mut connection).await?;
    }
    Ok(start.elapsed())
}

async fn ours(address: &str, round: u32) -> Result<Duration, Box<dyn Error>> {
    let mut options = RedisOptions::default();
    options.prefix = "throughput:".to_owned();
    let remote = RedisRemote::new(&address.parse()?, options)?;
    let session = StorageKey::new(format!("run-{round}"))?;
    let owner = "throughput".to_owned();
    let claim = Claim { owner, lease: Duration::from_secs(60), force: true, seen_epoch: 0 };
    let Claimed::Granted(fence) = remote.claim(&session, &claim).await? else {
        return Err("not granted".into());
    };
    let bytes = Bytes::from(vec![b'x'; BYTES as usize]);
    let digest = Digest::of(b"");
    let start = Instant::now();
    for batch in 0..UNITS / BATCH {
        let units: Vec<_> = (0..BATCH)
            .map(|unit| AppendUnit {
                session: session.clone(),
                fence: Fence::clone(&fence),
                start: Position { generation: 0, length: (batch * BATCH + unit) * BYTES },
                bytes: bytes.clone(),
                digest,
                meta: Bytes::from_static(b"{\"title\":\"a session\",\"messages\":12}"),
            })
            .collect();
        for answer in remote.apply(&units).await {
            let _ = answer?;
        }
    }
    Ok(start.elapsed())
}
