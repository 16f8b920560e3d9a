//! What stands around the entries of a path: headers, other branches, artifacts, and their names.

use serde_json::{Value, json};

use crate::kinds::Kind;
use crate::places::{Lines, Planted, user};
use crate::rng::Rng;
use crate::ways_out::Agent;

/// A text of more than 256 KiB, where exports show texts otherwise, with every kind in it.
const LONG: usize = 256 << 10;

/// Lists of the header, and a field that nothing knows.
pub fn header(kinds: &[Kind], rng: &mut Rng, planted: &mut Vec<Planted>) -> String {
    let mut texts = |place: &str| -> Vec<String> { made(place, kinds, rng, planted) };
    let fields = json!({
        "cwd": "/work/shop",
        "additionalDirectories": texts("further directory"),
        "previousSessionFiles": texts("former file"),
        "acmeExtra": {"list": texts("unknown field of the header")},
    });
    Lines::new("header", fields).text
}

/// A header with one secret as the title and one as the directory.
pub fn title_and_cwd(kind: &Kind, at: usize, rng: &mut Rng, planted: &mut Vec<Planted>) -> String {
    let mut text = |place: &str| made(place, std::slice::from_ref(kind), rng, planted).remove(0);
    let fields = json!({"title": text("title of the header"), "cwd": format!("/work/{}", text("directory")),
        "parentSession": text("parent session")});
    let mut lines = Lines::new(&format!("header-{at}"), fields);
    lines.push(user(json!("Go on.")));
    lines.text
}

/// Entries beside the path in use.
pub fn other_branch(kinds: &[Kind], rng: &mut Rng, planted: &mut Vec<Planted>) -> String {
    let mut lines = Lines::new("other-branch", json!({"cwd": "/work/shop"}));
    for text in made("other branch", kinds, rng, planted) {
        lines.push(user(json!(text)));
    }
    let leaf = json!({"type": "message", "id": "leaf", "parentId": "first", "timestamp": "2026-01-15T09:31:00.000Z",
        "message": {"role": "user", "content": "Otherwise."}});
    lines.text + &format!("{leaf}\n")
}

/// One text with all kinds between ordinary lines.
pub fn long_text(place: &str, kinds: &[Kind], rng: &mut Rng, planted: &mut Vec<Planted>) -> String {
    // A key that is cut off goes on to the end of its text.
    let kinds = kinds.iter().filter(|kind| kind.name != "pem-cut");
    let mut text = String::new();
    for kind in kinds {
        text += &made(place, std::slice::from_ref(kind), rng, planted).remove(0);
        text += "\n\n";
        for _ in 0..10 {
            text += "The weather is fine today, and so the work goes on as planned before noon.\n";
        }
        text += "\n";
    }
    assert!(text.len() > LONG, "{}", text.len());
    text
}

pub fn long_entry(kinds: &[Kind], rng: &mut Rng, planted: &mut Vec<Planted>) -> String {
    let mut lines = Lines::new("long", json!({"cwd": "/work/shop"}));
    lines.push(user(json!(long_text("long text", kinds, rng, planted))));
    lines.text
}

/// Files in a session's folder: texts, bytes that are no text, names, and the session of a child.
pub fn artifacts(
    agent: &Agent,
    folder: &str,
    kinds: &[Kind],
    rng: &mut Rng,
    planted: &mut Vec<Planted>,
) {
    for (at, text) in made("artifact", kinds, rng, planted).into_iter().enumerate() {
        agent.put(&format!("{folder}/{at}.bash.log"), text);
    }
    let mut bytes = vec![0xff, 0xfe, 0, 1, 2, 0xc3];
    for text in made("bytes of an artifact", kinds, rng, planted).into_iter() {
        bytes.extend(text.as_bytes());
        bytes.extend(b"\n\0\xff\xc3\x00\n");
    }
    agent.put(&format!("{folder}/9001.dump.log"), bytes);
    agent.put(&format!("{folder}/9002.long.log"), long_text("long artifact", kinds, rng, planted));
    let mut child = Lines::new("child", json!({"cwd": "/work/shop"}));
    for text in made("child session", kinds, rng, planted) {
        child.push(user(json!(text)));
    }
    agent.put(&format!("{folder}/child.jsonl"), child.text);
    for kind in kinds {
        let made = kind.make(rng);
        let fits = made.text.len() < 200 && !made.text.contains(['/', '\n', '\0', '\\']);
        if fits {
            agent.put(&format!("{folder}/{}", made.text), "x");
            planted.push(planted_at("name of an artifact", kind, made.parts));
        }
    }
}

fn planted_at(place: &str, kind: &Kind, parts: Vec<String>) -> Planted {
    Planted { kind: kind.name, place: place.to_owned(), parts }
}

fn made(place: &str, kinds: &[Kind], rng: &mut Rng, planted: &mut Vec<Planted>) -> Vec<String> {
    let make = |kind: &Kind| {
        let made = kind.make(rng);
        planted.push(planted_at(place, kind, made.parts));
        made.text
    };
    kinds.iter().map(make).collect()
}

/// A session that says all this in a tool's result and in words.
pub fn saying<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut lines = Lines::new("ordinary", json!({"cwd": "/work/shop"}));
    for text in texts {
        lines.push(user(Value::from(text)));
    }
    lines.text
}
