//! What holds for any answer of a server that sessions are shared through.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use session_model::storage::StorageKey;
use session_store_indexed::redis::{RedisAddress, RedisOptions, RedisRemote};
use session_store_indexed::remote::{
    AppendUnit, Checked, Claim, Claimed, Digest, Fence, KeyKind, MAX_NUMBER, MAX_READ_BYTES, Part,
    Position, Remote, RemoteLimits, Rewrite, SessionMeta, SessionState,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::{Builder, Runtime};

const SESSION: &str = "sessions/b/s.jsonl";
const LIMIT: u64 = 1 << 20;

/// Answers are fields, one a line, `\xff` between answers; the first byte chooses the call.
///
/// A feed's events are five fields each. A line `~` is nothing; an answer that begins with `:` or
/// `-` is a number or an error.
pub fn reply(bytes: &[u8]) {
    let Some((&call, rest)) = bytes.split_first() else { return };
    let answers = rest.split(|&byte| byte == 0xff).map(|answer| encoded(call, answer));
    run(call, Answers { each: answers.collect(), is_cut: false });
}

/// Answers are bytes on the wire, up to the end of the connection; the first chooses the call.
pub fn wire(bytes: &[u8]) {
    let Some((&call, rest)) = bytes.split_first() else { return };
    run(call, Answers { each: vec![rest.to_vec()], is_cut: true });
}

#[derive(Clone)]
struct Answers {
    /// What each command is answered; the last is for all that come after.
    each: Vec<Vec<u8>>,
    /// Whether the connection ends with the first.
    is_cut: bool,
}

fn encoded(call: u8, answer: &[u8]) -> Vec<u8> {
    if let [b':' | b'-' | b'+', ..] = answer {
        let line: Vec<u8> = answer.iter().copied().take_while(|&byte| byte != b'\n').collect();
        return [&line[..], b"\r\n"].concat();
    }
    let fields: Vec<&[u8]> = answer.split(|&byte| byte == b'\n').collect();
    if let [only] = fields[..] {
        return field(only);
    }
    if call % CALLS != 2 {
        return array(fields.into_iter().map(field).collect());
    }
    let events = fields.get(2..).unwrap_or_default().chunks(5).map(|event| {
        let (id, rest) = event.split_at(1);
        array(vec![field(id[0]), array(rest.iter().map(|text| field(text)).collect())])
    });
    let head = fields.iter().take(2).map(|text| field(text));
    array(head.chain([array(events.collect())]).collect())
}

fn field(text: &[u8]) -> Vec<u8> {
    match text {
        b"~" => b"$-1\r\n".to_vec(),
        text => [format!("${}\r\n", text.len()).as_bytes(), text, b"\r\n"].concat(),
    }
}

fn array(items: Vec<Vec<u8>>) -> Vec<u8> {
    [format!("*{}\r\n", items.len()).into_bytes(), items.concat()].concat()
}

/// How many calls there are to choose from.
const CALLS: u8 = 12;

thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

fn run(call: u8, answers: Answers) {
    RUNTIME.with_borrow_mut(|runtime| {
        let made = || Builder::new_current_thread().enable_all().build().ok();
        if runtime.is_none() {
            *runtime = made();
        }
        let Some(runtime) = runtime else { return };
        runtime.block_on(async {
            let socket = socket();
            let Ok(listener) = UnixListener::bind(&socket) else { return };
            let server = tokio::spawn(serve(listener, answers));
            ask(call, &socket).await;
            server.abort();
            drop(std::fs::remove_file(socket));
        });
    });
}

/// A name of this thread's own.
fn socket() -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id());
    let digits: String = thread.chars().filter(char::is_ascii_digit).collect();
    std::env::temp_dir().join(format!("session-fuzz-{}-{digits}", std::process::id()))
}

async fn serve(listener: UnixListener, answers: Answers) {
    let mut told = 0;
    while let Ok((stream, _)) = listener.accept().await {
        converse(stream, &answers, &mut told).await;
    }
}

/// Answers each command; what the client says of itself is taken.
async fn converse(mut stream: UnixStream, answers: &Answers, told: &mut usize) {
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        while let Some((command, length)) = command(&received) {
            received.drain(..length);
            let is_own = [&b"CLIENT"[..], b"SCRIPT"].contains(&&*command);
            let at = (*told).min(answers.each.len() - 1);
            let answer = if is_own { b"+OK\r\n" } else { &answers.each[at][..] };
            *told += usize::from(!is_own);
            if stream.write_all(answer).await.is_err() || (answers.is_cut && !is_own) {
                return;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(read) if read > 0 => received.extend_from_slice(&buffer[..read]),
            _ => return,
        }
    }
}

/// The first word of a whole command, and how long that is.
fn command(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let line = |from: usize| {
        let end = from + bytes.get(from..)?.windows(2).position(|two| two == b"\r\n")?;
        let number = std::str::from_utf8(&bytes[from + 1..end]).ok()?.parse::<usize>().ok()?;
        Some((number, end + 2))
    };
    let (words, mut at) = line(0)?;
    let mut first = Vec::new();
    for word in 0..words {
        let (length, start) = line(at)?;
        let text = bytes.get(start..start + length)?;
        bytes.get(start + length + 1)?;
        if word == 0 {
            first = text.to_ascii_uppercase();
        }
        at = start + length + 2;
    }
    Some((first, at))
}

async fn ask(call: u8, socket: &std::path::Path) {
    let Ok(address) = format!("redis+unix://{}", socket.display()).parse::<RedisAddress>() else {
        return;
    };
    let mut options = RedisOptions::default();
    options.limits = RemoteLimits::default().session_bytes(LIMIT).object_bytes(LIMIT);
    options.timeout = Duration::from_secs(20);
    let Ok(remote) = RedisRemote::new(&address, options) else { return };
    let remote = Checked::new(Arc::new(remote));
    let Ok(session) = StorageKey::new(SESSION) else { return };
    let fence = Fence { epoch: 1, owner: "o".to_owned() };
    match call % CALLS {
        0 => {
            if let Ok(Some(state)) = remote.state(&session).await {
                check_state(&state);
            }
        }
        1 => {
            if let Ok(page) = remote.list(Some(1_000_000), 10).await {
                for listed in page.sessions {
                    assert_eq!(KeyKind::of(&listed.session), Ok(KeyKind::Session));
                    check_state(&listed.state);
                }
                assert!(page.next.is_none_or(|next| next < 1_000_000));
                assert!(page.skipped.iter().all(|row| row.name.chars().count() <= 120));
            }
        }
        2 => {
            if let Ok(feed) = remote.feed(5, 10).await {
                for event in &feed.events {
                    assert_eq!(KeyKind::of(&event.session), Ok(KeyKind::Session));
                }
                assert!(!feed.complete || feed.next >= 5);
            }
        }
        3 => {
            if let Ok(Some(Part { position, bytes })) = remote.read(&session, 7, 100).await {
                assert!(bytes.len() <= MAX_READ_BYTES.min(100) && position.length <= LIMIT);
            }
        }
        4 => {
            if let Ok(Some(bytes)) = remote.get_object(&session).await {
                assert!(bytes.len() as u64 <= LIMIT);
            }
        }
        5 => {
            let Ok(folder) = StorageKey::new("sessions/b/s") else { return };
            if let Ok(names) = remote.list_objects(&folder, None, 10).await {
                for key in names.keys {
                    assert_eq!(KeyKind::of(&key), Ok(KeyKind::Artifact));
                    assert!(key.is_below(&folder));
                }
            }
        }
        6 => {
            let claim = Claim {
                owner: "o".to_owned(),
                lease: Duration::from_secs(1),
                force: false,
                seen_epoch: 1,
            };
            if let Ok(Claimed::Granted(by) | Claimed::Held { by, .. }) =
                remote.claim(&session, &claim).await
            {
                assert!(by.epoch <= MAX_NUMBER && by.owner.len() <= 256);
            }
        }
        7 => {
            let unit = AppendUnit {
                session,
                fence,
                start: Position::default(),
                bytes: "x\n".into(),
                digest: Digest([0; 32]),
                meta: Default::default(),
            };
            assert_eq!(remote.apply(&[unit.clone(), unit]).await.len(), 2);
        }
        8 => {
            let rewrite = Rewrite {
                session: session.clone(),
                fence: fence.clone(),
                position: Position { generation: 1, length: 2 },
                digest: Digest([0; 32]),
                meta: Default::default(),
            };
            drop(remote.begin_rewrite(&session, &fence, 1).await);
            drop(remote.commit_rewrite(&rewrite).await);
        }
        9 => drop(remote.remove(&session, &fence, None).await),
        10 => {
            if let Ok(check) = remote.check().await {
                assert!(!check.version.contains(char::is_control));
            }
        }
        _ => {
            let keys = [session.clone(), session];
            if let Ok(digests) = remote.object_digests(&keys).await {
                assert_eq!(digests.len(), 2);
            }
            drop(remote.put_object(&keys[0], "x".into()).await);
            drop(remote.wait(1, Duration::from_millis(1)).await);
        }
    }
}

fn check_state(state: &SessionState) {
    let Position { generation, length } = state.position;
    assert!(length <= LIMIT && generation <= MAX_NUMBER && state.fence.epoch <= MAX_NUMBER);
    assert!(!state.fence.owner.contains(char::is_control));
    if let Some(to) = state.tombstone.as_ref().and_then(|tombstone| tombstone.moved_to.as_ref()) {
        assert_eq!(KeyKind::of(to), Ok(KeyKind::Session));
    }
    let meta = SessionMeta::read(&state.meta);
    assert!(SessionMeta::read(&meta.to_bytes()).id.is_some() == meta.id.is_some());
}
