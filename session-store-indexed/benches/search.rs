//! Figures of the full-text index, all measured in one run: how fast it is made, how large it is,
//! how long queries take, and what an append costs the next search. `SESSION_BENCH_MIB` sets the
//! size of all sessions; default: 256.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use session_model::search::{Query, TextFilter};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::search::{SEARCH_FILE, SearchIndex, SearchedSession};

/// How large a session is.
const SESSION_BYTES: usize = 1 << 20;

fn main() {
    let mib: usize = std::env::var("SESSION_BENCH_MIB").map_or(256, |mib| mib.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let written = generate(dir.path(), mib << 20);
    let files = FileStorage::open(dir.path()).unwrap();
    let mut index = open(dir.path());

    let (start, cpu) = (Instant::now(), cpu_time());
    let update = index.update(&files, |_| true).unwrap();
    assert_eq!(update.read, written);
    let (took, cpu) = (start.elapsed(), cpu_time() - cpu);
    let rate = |took: Duration| written as f64 / took.as_secs_f64() / 1e6;
    let size: u64 = ["", "-wal"]
        .iter()
        .filter_map(|suffix| fs::metadata(dir.path().join(format!("{SEARCH_FILE}{suffix}"))).ok())
        .map(|meta| meta.len())
        .sum();
    println!(
        "index {} sessions of {:.0} MB: {took:.2?}, {:.0} MB/s (limit: 50); {cpu:.2?} of \
         processors, {:.0} MB/s of one",
        update.sessions,
        written as f64 / 1e6,
        rate(took),
        rate(cpu)
    );
    println!(
        "size of the index: {:.0} MB, {:.0} % of the files",
        size as f64 / 1e6,
        size as f64 / written as f64 * 100.0
    );

    let start = Instant::now();
    index.update(&files, |_| true).unwrap();
    println!("look for changes, none: {:?}", start.elapsed());
    let all = TextFilter::default;
    let some = |text: &str| Some(text.to_owned());
    for (name, query, filter, cwd) in [
        ("common word", "the", all(), None),
        ("common words", "error handler", all(), None),
        ("phrase", "\"connection refused\"", all(), None),
        ("long phrase", "\"the error in the file\"", all(), None),
        ("name in code", "getUser77Name", all(), None),
        ("part of names", "username", all(), None),
        ("path", "src/module7.rs", all(), None),
        ("beginning", "con*", all(), None),
        ("one letter", "a*", all(), None),
        ("two letters", "re* da*", all(), None),
        ("no hit", "zanzibar", all(), None),
        ("without a word", "error -handler", all(), None),
        ("rare words", "w1234 w77", all(), None),
        ("CJK", "登录", all(), None),
        ("CJK, one letter", "登", all(), None),
        ("CJK, no hit", "漢字", all(), None),
        ("directory", "error", all(), some("/w/7")),
        ("role", "error", TextFilter { role: some("user"), ..all() }, None),
        ("tool", "error", TextFilter { tool: some("bash"), ..all() }, None),
        ("model", "error", TextFilter { model: some("big"), ..all() }, None),
        ("date", "error", TextFilter { since_ms: Some(1_768_000_000_000), ..all() }, None),
    ] {
        let query_of = Query::parse(query);
        // As many as a search for 20 hits looks at.
        let limit = if query_of.has_joined() { 2000 } else { 120 };
        let mut total = 0;
        let mut times: Vec<_> = (0..7)
            .map(|_| {
                let (start, cpu) = (Instant::now(), cpu_time());
                let is_there = |session: &SearchedSession| cwd.is_none() || session.cwd == cwd;
                total = index.find(&query_of, &filter, limit, is_there).unwrap().total;
                (cpu_time() - cpu, start.elapsed())
            })
            .collect();
        times.sort();
        let ms = |took: Duration| took.as_secs_f64() * 1e3;
        let clock = times.iter().map(|(_, took)| *took).min().unwrap();
        println!(
            "find {name} ({query}): {total} texts, {:.1} ms of processors in the middle, {:.1} ms \
             at most (limit: 50); {:.1} ms at best by the clock",
            ms(times[3].0),
            ms(times[6].0),
            ms(clock)
        );
    }
    let start = Instant::now();
    drop(index);
    let mut index = open(dir.path());
    index.update(&files, |_| true).unwrap();
    let found = index.find(&Query::parse("error"), &TextFilter::default(), 120, |_| true).unwrap();
    println!("open, look for changes and find {} texts: {:?}", found.total, start.elapsed());

    let path = dir.path().join("sessions/b0/s0.jsonl");
    let grown = fs::read_to_string(&path).unwrap() + &message(&mut Random(5), 99_999_999);
    fs::write(&path, grown).unwrap();
    let start = Instant::now();
    let update = index.update(&files, |_| true).unwrap();
    println!("take over an entry that was appended ({} bytes): {:?}", update.read, start.elapsed());
}

fn open(root: &Path) -> SearchIndex {
    SearchIndex::open(root.join(SEARCH_FILE), IndexOptions::default()).unwrap()
}

/// The time processors spent on this program.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Writes sessions of about so many bytes; returns how many.
fn generate(root: &Path, bytes: usize) -> u64 {
    let mut random = Random(1);
    let mut written = 0;
    for session in 0.. {
        if written as usize >= bytes {
            break;
        }
        let folder = root.join(format!("sessions/b{}", session % 20));
        fs::create_dir_all(&folder).unwrap();
        let mut text = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s{session}\",\"cwd\":\"/w/{}\"}}\n",
            session % 20
        );
        let mut id = 0;
        while text.len() < SESSION_BYTES {
            text.push_str(&message(&mut random, id));
            id += 1;
        }
        fs::write(folder.join(format!("s{session}.jsonl")), &text).unwrap();
        written += text.len() as u64;
    }
    written
}

/// Of five messages one is a user's, two are an assistant's of 1.5 KB, two results of tools of 4 KB.
fn message(random: &mut Random, id: usize) -> String {
    let message = match id % 5 {
        0 if random.below(20) == 0 => {
            format!(r#"{{"role":"user","content":"请修复登录测试,{}"}}"#, prose(random, 100))
        }
        0 => format!(r#"{{"role":"user","content":"{}"}}"#, prose(random, 200)),
        1 | 3 => format!(
            r#"{{"role":"assistant","provider":"acme","model":"big","content":[{{"type":"text","text":"{}"}},{{"type":"toolCall","id":"c","name":"bash","arguments":{{"command":"cargo test {}"}}}}],"usage":{{"input":1000,"output":200}}}}"#,
            prose(random, 1500),
            prose(random, 60)
        ),
        _ => format!(
            r#"{{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{{"type":"text","text":"{}"}}]}}"#,
            code(random, 4000)
        ),
    };
    format!(
        "{{\"type\":\"message\",\"id\":\"{id:08x}\",\"parentId\":null,\"timestamp\":\"2026-01-{:02}T00:00:00Z\",\"message\":{message}}}\n",
        id % 28 + 1
    )
}

const COMMON: [&str; 24] = [
    "the",
    "of",
    "to",
    "and",
    "a",
    "in",
    "is",
    "it",
    "that",
    "for",
    "with",
    "error",
    "test",
    "file",
    "function",
    "return",
    "value",
    "line",
    "handler",
    "connection",
    "refused",
    "change",
    "result",
    "path",
];

fn prose(random: &mut Random, bytes: usize) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        word(random, &mut text);
        text.push_str(if random.below(15) == 0 { ".\\n" } else { " " });
    }
    text
}

/// Common words half of the time, else one of 50,000, the first of them more often.
fn word(random: &mut Random, text: &mut String) {
    if random.below(2) == 0 {
        return text.push_str(COMMON[random.below(24) as usize]);
    }
    let rank = random.below(50_000) * random.below(50_000) / 50_000;
    let name = ["w", "re", "con", "un", "pre", "data"][rank as usize % 6];
    write!(text, "{name}{rank}").unwrap();
}

fn code(random: &mut Random, bytes: usize) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        match random.below(6) {
            0 => {
                write!(text, "src/module{}.rs:{}: ", random.below(400), random.below(900)).unwrap()
            }
            1 => {
                write!(text, "getUser{}Name(self.field_{}) ", random.below(300), random.below(300))
                    .unwrap()
            }
            2 => write!(text, "{:08x}\\n    ", random.next() as u32).unwrap(),
            _ => {
                word(random, &mut text);
                text.push(' ');
            }
        }
    }
    text
}

/// A generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
