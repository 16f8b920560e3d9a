//! Sessions of odd shapes: eight times the entries take eight times the work, whatever they are like.
//!
//! Work is the time a processor spends on this thread, compared with that for fewer entries of the
//! same shape: what others do on the machine does not count, and no speed is asserted.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use session_context::context::{ContextOptions, LeafChoice, build_session_context};
use session_context::export::foreign::{Handed, to_claude, to_codex};
use session_context::export::{Export, ExportOptions, Format, Scope};
use session_context::import::{ImportLimits, Tool, convert};
use session_context::statistics::Statistics;
use session_model::SessionDocument;
use session_model::document::LoadOptions;
use session_model::tree::TreeOptions;

/// So many that their square would be seconds of work, in whatever build.
const MANY: usize = 12_000;
const FEW: usize = MANY / 8;

/// More than twice what eight times the entries take, and more where the few take next to nothing;
/// a square would be 64 times as much.
const MOST: u32 = 20;
const LEAST: Duration = Duration::from_millis(200);

type Shape = fn(usize) -> String;
type Operation = fn(&SessionDocument) -> usize;

/// An entry; the fields behind its envelope are given as they are.
fn entry(id: usize, parent: Option<usize>, kind: &str, fields: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent:08x}\""));
    format!(
        "{{\"type\":\"{kind}\",\"id\":\"{id:08x}\",\"parentId\":{parent},\"timestamp\":\"2026-03-01T09:00:00.000Z\",{fields}}}\n"
    )
}

fn user(id: usize, parent: Option<usize>, text: &str) -> String {
    let message =
        format!("\"message\":{{\"role\":\"user\",\"content\":\"{text}\",\"timestamp\":1}}");
    entry(id, parent, "message", &message)
}

fn answer(id: usize, parent: Option<usize>, block: &str) -> String {
    let message = format!(
        "\"message\":{{\"role\":\"assistant\",\"content\":[{block}],\"api\":\"a\",\"provider\":\"anthropic\",\"model\":\"m\",\"stopReason\":\"stop\",\"timestamp\":1}}"
    );
    entry(id, parent, "message", &message)
}

fn result(id: usize, parent: Option<usize>, call: &str) -> String {
    let message = format!(
        "\"message\":{{\"role\":\"toolResult\",\"toolCallId\":\"{call}\",\"toolName\":\"bash\",\"content\":[{{\"type\":\"text\",\"text\":\"out\"}}],\"isError\":false,\"timestamp\":1}}"
    );
    entry(id, parent, "message", &message)
}

fn call(id: &str) -> String {
    format!(
        "{{\"type\":\"toolCall\",\"id\":\"{id}\",\"name\":\"bash\",\"arguments\":{{\"command\":\"ls\"}}}}"
    )
}

/// One behind the other, each made of its place and what it hangs from.
fn chain(len: usize, make: impl Fn(usize, Option<usize>) -> String) -> String {
    (0..len).map(|at| make(at, at.checked_sub(1))).collect()
}

/// A compaction that keeps what begins with an entry.
fn compaction(id: usize, parent: Option<usize>, kept: usize) -> String {
    let fields =
        format!("\"summary\":\"s\",\"firstKeptEntryId\":\"{kept:08x}\",\"tokensBefore\":9");
    entry(id, parent, "compaction", &fields)
}

const SHAPES: [(&str, Shape); 19] = [
    ("equal words", |len| chain(len, |id, up| user(id, up, "the same words"))),
    ("equal answers", |len| {
        chain(len, |id, up| answer(id, up, "{\"type\":\"text\",\"text\":\"yes\"}"))
    }),
    ("equal ids", |len| chain(len, |id, _| user(0, (id > 0).then_some(0), &id.to_string()))),
    ("one parent of all", |len| {
        chain(len, |id, _| user(id, (id > 0).then_some(0), &id.to_string()))
    }),
    ("roots alone", |len| chain(len, |id, _| user(id, None, &id.to_string()))),
    ("parents that are missing", |len| chain(len, |id, _| user(id, Some(id + len), "x"))),
    ("each before its parent", |len| {
        chain(len, |id, _| user(id, (id + 1 < len).then_some(id + 1), "x"))
    }),
    ("two of each", |len| chain(len, |id, _| user(id, (id > 0).then_some(id / 2), "x"))),
    ("a comb", |len| {
        chain(len, |id, _| user(id, (id > 1).then(|| (id - 2) & !1), &id.to_string()))
    }),
    ("labels of one entry", |len| {
        chain(len, |id, up| match id {
            0 => user(id, up, "x"),
            _ => entry(id, up, "label", &format!("\"targetId\":\"{:08x}\",\"label\":\"l{id}\"", 0)),
        })
    }),
    ("labels of labels", |len| {
        chain(len, |id, up| match up {
            None => user(id, up, "x"),
            Some(target) => {
                entry(id, up, "label", &format!("\"targetId\":\"{target:08x}\",\"label\":\"l\""))
            }
        })
    }),
    ("one id of all calls", |len| {
        chain(len, |id, up| match id % 2 {
            0 => answer(id, up, &call("call")),
            _ => result(id, up, "call"),
        })
    }),
    ("calls without results", |len| {
        chain(len, |id, up| answer(id, up, &call(&format!("call{id}"))))
    }),
    ("results without calls", |len| chain(len, |id, up| result(id, up, &format!("call{id}")))),
    ("calls in one answer", |len| {
        let calls: Vec<_> = (0..len / 2).map(|at| call(&format!("call{at}"))).collect();
        let answer = answer(0, None, &calls.join(","));
        let results = (0..len / 2).map(|at| result(at + 1, Some(at), &format!("call{at}")));
        answer + &results.collect::<String>()
    }),
    ("titles", |len| {
        chain(len, |id, up| {
            entry(id, up, "title_change", &format!("\"title\":\"t{id}\",\"source\":\"user\""))
        })
    }),
    ("compactions that keep the one before", |len| {
        chain(len, |id, up| match up {
            None => user(id, up, "x"),
            Some(before) => compaction(id, up, before),
        })
    }),
    ("compactions that keep all", |len| {
        // What is kept first is nothing that other tools have a record for.
        chain(len, |id, up| match id {
            0 => entry(id, up, "model_change", "\"model\":\"p/m\""),
            _ if id % 2 == 1 => user(id, up, "x"),
            _ => compaction(id, up, 0),
        })
    }),
    ("one image", |len| {
        let image = format!(
            "{{\"type\":\"image\",\"data\":\"blob:sha256:{}\",\"mimeType\":\"image/png\"}}",
            "a".repeat(64)
        );
        chain(len, |id, up| {
            entry(
                id,
                up,
                "message",
                &format!("\"message\":{{\"role\":\"user\",\"content\":[{image}]}}"),
            )
        })
    }),
];

fn exported(document: &SessionDocument, format: Format) -> usize {
    let options = ExportOptions::default().scope(Scope::All).without_redaction();
    Export::new(document, &options).unwrap().render(format).len()
}

fn imported(document: &SessionDocument, tool: Tool) -> usize {
    let handed = Handed::of(document);
    let session = match tool {
        Tool::Codex => to_codex(&handed),
        _ => to_claude(&handed),
    };
    let source = session.to_text();
    let limits = ImportLimits::default();
    convert(tool, source.into(), &session.path, &limits).entries.len()
}

const OPERATIONS: [(&str, Operation); 7] = [
    ("reading", |document| {
        let payload = document.to_payload();
        let bytes = payload.chunks().concat();
        SessionDocument::load(bytes.into(), &LoadOptions::default()).unwrap().document.tree().len()
    }),
    ("the tree", |document| {
        let tree = document.tree();
        tree.rows_json(&tree.rows(TreeOptions::with_archived())).len()
    }),
    ("the context", |document| {
        let options = ContextOptions::default();
        build_session_context(document.tree(), LeafChoice::Current, &options).messages.len()
    }),
    ("statistics", |document| {
        let mut statistics = Statistics::default();
        statistics.add(document);
        usize::try_from(statistics.entries).unwrap()
    }),
    ("a page", |document| exported(document, Format::Html)),
    ("Claude Code and back", |document| imported(document, Tool::Claude)),
    ("Codex and back", |document| imported(document, Tool::Codex)),
];

fn document(shape: Shape, len: usize) -> SessionDocument {
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-03-01T09:00:00.000Z\",\"cwd\":\"/w\"}\n";
    let file = header.to_owned() + &shape(len);
    SessionDocument::load(file.into(), &LoadOptions::default()).unwrap().document
}

/// How long a processor has worked on this thread.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

fn work(operation: Operation, document: &SessionDocument) -> Duration {
    let start = worked();
    std::hint::black_box(operation(document));
    worked() - start
}

#[test]
fn work_grows_with_the_number_of_entries_and_no_faster() {
    let mut superlinear = Vec::new();
    for (shape_name, shape) in SHAPES {
        let (few, many) = (document(shape, FEW), document(shape, MANY));
        for (name, operation) in OPERATIONS {
            let (little, much) = (work(operation, &few), work(operation, &many));
            if much > (little * MOST).max(LEAST) {
                superlinear.push(format!("{name} of {shape_name}: {little:?}, {much:?}"));
            }
        }
    }
    assert_eq!(superlinear, Vec::<String>::new());
}
