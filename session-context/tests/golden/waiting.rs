//! Cases whose operations do not exist yet.

/// Names and what each waits for. One that passes is to be taken off.
pub(crate) const WAITING: &[(&str, &str)] = &[];
