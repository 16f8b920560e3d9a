//! What the model is given from outside: the time and new ids.

/// Tells the time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> i64;
}

/// Makes ids that are hardly ever used twice.
pub trait IdSource: Send + std::fmt::Debug {
    /// Returns 8 lowercase hex digits for an entry.
    fn entry_id(&mut self) -> String;

    /// Returns an id for a session; a UUIDv7 in ordinary use.
    fn session_id(&mut self) -> String;
}

/// Asks for entry ids until one is free.
///
/// After 100 taken ones in a row two are joined to a longer id, so that a crowded session or a
/// poor source never stops an append.
pub fn fresh_entry_id(ids: &mut dyn IdSource, taken: impl Fn(&str) -> bool) -> String {
    for _ in 0..100 {
        let id = ids.entry_id();
        if !taken(&id) {
            return id;
        }
    }
    let mut id = ids.entry_id();
    while taken(&id) {
        id.push_str(&ids.entry_id());
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Stuck;

    impl IdSource for Stuck {
        fn entry_id(&mut self) -> String {
            "00000000".into()
        }
        fn session_id(&mut self) -> String {
            "s".into()
        }
    }

    #[test]
    fn a_stuck_source_still_gives_a_free_id() {
        assert_eq!(fresh_entry_id(&mut Stuck, |_| false), "00000000");
        assert_eq!(fresh_entry_id(&mut Stuck, |id| id.len() < 20), "000000000000000000000000");
    }
}
