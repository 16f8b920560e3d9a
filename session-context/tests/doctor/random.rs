//! Random damage: nothing that could be loaded is lost, and repairing twice is repairing once.

use std::collections::BTreeSet;
use std::fs;

use bytes::Bytes;
use proptest::prelude::*;
use session_model::SessionDocument;
use session_model::document::LoadOptions;

use crate::support::{Agent, HEADER, SESSION, entry};

/// The records that load, each as it is spelled.
fn loadable(file: Vec<u8>) -> BTreeSet<Vec<u8>> {
    match SessionDocument::load(Bytes::from(file), &LoadOptions::default()) {
        Ok(loaded) => {
            let entries = loaded.document.tree().entries().iter();
            entries.map(|entry| entry.json().as_str().as_bytes().to_vec()).collect()
        }
        Err(_) => BTreeSet::new(),
    }
}

/// How often each byte but the line end is in the session and what was moved aside of it.
fn bytes_kept(agent: &Agent) -> [usize; 256] {
    let path = agent.path().join(SESSION);
    let name = path.file_name().unwrap().to_str().unwrap();
    let files = fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap());
    // Not the claim, whose name begins with a dot.
    let files = files.filter(|file| file.file_name().to_str().unwrap().starts_with(name));
    let all: Vec<u8> = files.flat_map(|file| fs::read(file.path()).unwrap()).collect();
    count(&all)
}

fn count(bytes: &[u8]) -> [usize; 256] {
    let mut counts = [0; 256];
    bytes.iter().filter(|byte| **byte != b'\n').for_each(|byte| counts[usize::from(*byte)] += 1);
    counts
}

fn valid() -> Vec<u8> {
    let mut file = format!("{HEADER}\n");
    for n in 0..6 {
        let up = if n == 0 { String::new() } else { format!("e{}", n - 1) };
        file += &(entry(&format!("e{n}"), &up, "text") + "\n");
    }
    file.into()
}

fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let bits = prop_oneof![
        Just(b"\0\0\0".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\xff\xe6".to_vec()),
        Just(b"}".to_vec()),
        Just(b"{\"type\":\"".to_vec()),
        Just(entry("fused", "e1", "in between").into_bytes()),
        Just(HEADER.as_bytes().to_vec()),
        Just(b"{\"no\":\"type\"}".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        Just(Vec::new()),
    ];
    let edit = (any::<prop::sample::Index>(), 0usize..40, bits);
    prop::collection::vec(edit, 1..6).prop_map(|edits| {
        let mut file = valid();
        for (at, cut, put) in edits {
            let at = at.index(file.len() + 1);
            let end = file.len().min(at + cut);
            file.splice(at..end, put);
        }
        file
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn damage_of_any_kind(file in damaged()) {
        let agent = Agent::with(SESSION, &file);
        agent.look();
        agent.fix();
        let once = agent.read(SESSION);
        prop_assert_eq!(loadable(file.clone()), loadable(once.clone()));
        prop_assert_eq!(count(&file), bytes_kept(&agent));
        let again = agent.fix().into_iter().filter(|line| line.contains("=> done"));
        prop_assert_eq!(again.collect::<Vec<_>>(), Vec::<String>::new());
        prop_assert_eq!(once, agent.read(SESSION));
        let repairable = agent.look().into_iter().filter(|line| line.contains("=> can"));
        prop_assert_eq!(repairable.collect::<Vec<_>>(), Vec::<String>::new());
    }
}
