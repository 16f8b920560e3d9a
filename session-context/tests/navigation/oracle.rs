//! Navigation in any tree against a plain walk up the parents.

use proptest::prelude::*;
use session_context::navigation::NavigateOptions;
use session_model::body::EntryBody;
use session_model::message::Message;
use session_store_memory::MemoryStorage;

use crate::moves::{done, names};
use crate::support::store::{HEADER, ids, open, put};
use crate::support::{block_on, options};

/// Entries of two kinds, each below one of those before it, below none, or in a cycle.
fn file(shape: &[(usize, bool)]) -> String {
    let mut file = format!("{HEADER}\n");
    for (at, &(parent, user)) in shape.iter().enumerate() {
        let parent = match parent {
            0 => "null".to_owned(),
            // Mostly below an earlier entry, now and then below itself or a later one.
            parent if parent % 17 == 0 => format!("\"e{}\"", parent % shape.len()),
            parent => format!("\"e{}\"", parent % (at + 1)),
        };
        let role = if user { "user" } else { "assistant" };
        file += &format!(
            "{{\"type\":\"message\",\"id\":\"e{at}\",\"parentId\":{parent},\"message\":{{\"role\":\"{role}\",\"content\":\"{at}\"}}}}\n"
        );
    }
    file
}

/// The ids from an entry up, each once.
fn up(parents: &[(String, Option<String>)], from: Option<&str>) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    let mut at = from.map(str::to_owned);
    while let Some(id) = at {
        let Some((_, parent)) = parents.iter().find(|(known, _)| *known == id) else { break };
        if found.contains(&id) {
            break;
        }
        at = parent.clone().filter(|parent| *parent != id);
        found.push(id);
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_target_keeps_all_entries_and_leaves_what_is_only_on_the_old_way(
        shape in prop::collection::vec((0..100_usize, any::<bool>()), 1..25),
        steps in prop::collection::vec(0..100_usize, 1..8),
    ) {
        let storage = MemoryStorage::new();
        put(&storage, &file(&shape));
        let mut session = block_on(open(&storage, options("")));
        let all = ids(&session);
        let parents: Vec<(String, Option<String>)> = session
            .entries()
            .iter()
            .map(|entry| {
                let parent = entry.json().field("parentId").and_then(|p| p.as_text().map(|p| p.into_owned()));
                (entry.id().unwrap().into_owned(), parent)
            })
            .collect();
        for step in steps {
            let target = format!("e{}", step % shape.len());
            let old = session.leaf_id();
            let entry = session.entry(&target).unwrap();
            let said = matches!(entry.body(), EntryBody::Message(m) if matches!(m.message, Message::User(_)));
            let leads_to = match said {
                true => up(&parents, Some(&target)).get(1).cloned().or_else(|| {
                    // In a cycle of one way round, the parent may be the target again.
                    parents.iter().find(|(id, _)| *id == target).and_then(|(_, p)| p.clone())
                        .filter(|p| *p != target && parents.iter().any(|(id, _)| id == p))
                }),
                false => Some(target.clone()),
            };
            let kept = up(&parents, Some(&target));
            let mut left: Vec<String> =
                up(&parents, old.as_deref()).into_iter().take_while(|id| !kept.contains(id)).collect();
            left.reverse();
            let moved = done(block_on(session.navigate_tree(&target, NavigateOptions::default())).unwrap());
            prop_assert_eq!(names(&moved.abandoned), left);
            prop_assert_eq!(session.leaf_id(), leads_to);
            prop_assert_eq!(ids(&session), all.clone());
        }
    }
}
