//! Beginning anew without leaving the session.

use session_context::NewSession;
use session_store_memory::MemoryStorage;

use crate::support::store::{A, HEADER, content, key, open, put};
use crate::support::{block_on, options};

#[test]
fn clear_hides_what_came_before_from_the_model_and_keeps_it() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        let id = session.clear().await.unwrap();
        assert_eq!(session.branch_ids(), ["a", &id]);
        assert_eq!(session.build_session_context().messages, []);
        assert_eq!(session.session_id(), "s");
        assert_eq!(
            content(&storage, &key()).unwrap(),
            format!(
                "{HEADER}\n{A}\n{{\"type\":\"reset_boundary\",\"id\":\"{id}\",\"parentId\":\"a\",\"timestamp\":\"2026-01-01T00:00:00.000Z\"}}\n"
            )
        );
    });
}

#[test]
fn fresh_changes_only_what_the_provider_sees() {
    block_on(async {
        let storage = MemoryStorage::new();
        let keyed = HEADER.replace("}", ",\"providerPromptCacheKey\":\"k\"}");
        for (header, identity) in [(HEADER, "s"), (&*keyed, "k")] {
            put(&storage, &format!("{header}\n{A}\n"));
            let before = content(&storage, &key());
            let mut session = open(&storage, options("")).await;
            assert_eq!(session.provider_identity(), identity);
            assert_eq!(session.fresh(), "session-1");
            assert_eq!(session.provider_identity(), "session-1");
            assert_eq!(session.session_id(), "s");
            assert_eq!(session.fresh(), "session-2");
            assert_eq!(content(&storage, &key()), before);
            session.new_session(NewSession::in_cwd("/w")).await.unwrap();
            assert_eq!(session.provider_identity(), "session-3");
            assert_eq!(session.session_id(), "session-3");
            session.close().await.unwrap();
        }
    });
}
