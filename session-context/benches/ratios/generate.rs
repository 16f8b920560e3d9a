//! A large session: a user, an assistant of about 1.5 KB, a tool result of about 4 KB, and so on,
//! compacted every 3,000 entries.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::Path;

const WORDS: &str = "The parser reads one line at a time and keeps whatever it cannot read. ";
const OUTPUT: &str = "-rw-r--r-- 1 user user 4096 Jan  1 00:00 src/some/module/file_name.rs\\n";

/// Writes the session and returns its size in bytes.
pub(crate) fn write(path: &Path, entries: u32) -> u64 {
    let mut file = BufWriter::new(std::fs::File::create(path).unwrap());
    let header = r#"{"type":"session","version":3,"id":"large","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    writeln!(file, "{header}").unwrap();
    let mut parent = "null".to_owned();
    let mut line = String::new();
    for n in 0..entries {
        let id = format!("{:08x}", n.wrapping_mul(2_654_435_761));
        line.clear();
        let kind = if n % 3000 == 2999 { "compaction" } else { "message" };
        write!(
            line,
            r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z","#
        )
        .unwrap();
        body(&mut line, n, kind, &parent);
        line.push('}');
        writeln!(file, "{line}").unwrap();
        parent = format!("\"{id}\"");
    }
    file.flush().unwrap();
    std::fs::metadata(path).unwrap().len()
}

fn body(line: &mut String, n: u32, kind: &str, parent: &str) {
    if kind == "compaction" {
        let summary = WORDS.repeat(10);
        write!(line, r#""summary":"{summary}","firstKeptEntryId":{parent},"tokensBefore":90000"#)
            .unwrap();
        return;
    }
    let time = r#""timestamp":1767225600000"#;
    match n % 3 {
        0 => write!(line, r#""message":{{"role":"user","content":"Please look at part {n}.",{time}}}"#),
        1 => write!(
            line,
            r#""message":{{"role":"assistant","content":[{{"type":"text","text":"{}"}},{{"type":"toolCall","id":"call_{n}","name":"bash","arguments":{{"command":"ls -la src"}}}}],"api":"messages","provider":"acme","model":"big-1","usage":{{"input":100,"output":20,"cacheRead":5,"cacheWrite":7,"totalTokens":132,"cost":{{"input":0.001,"output":0.002,"cacheRead":0,"cacheWrite":0,"total":0.003}}}},"stopReason":"toolUse",{time}}}"#,
            WORDS.repeat(16)
        ),
        _ => write!(
            line,
            r#""message":{{"role":"toolResult","toolCallId":"call_{}","toolName":"bash","content":[{{"type":"text","text":"{}"}}],"isError":false,{time}}}"#,
            n - 1,
            OUTPUT.repeat(54)
        ),
    }
    .unwrap();
}
