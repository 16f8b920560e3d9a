//! The named stores of this process.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use crate::storage::Shared;

static NAMED: LazyLock<Mutex<HashMap<String, Weak<Shared>>>> = LazyLock::new(Mutex::default);

/// Returns the living store of this name, or makes one.
pub(crate) fn get_or_insert_with(name: &str, make: impl FnOnce() -> Shared) -> Arc<Shared> {
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(alive) = named.get(name).and_then(Weak::upgrade) {
        return alive;
    }
    named.retain(|_, store| store.strong_count() > 0);
    let made = Arc::new(make());
    named.insert(name.to_owned(), Arc::downgrade(&made));
    made
}
