//! How sessions are published.

use std::time::Duration;

use crate::remote::MAX_UNIT_BYTES;

/// How sessions are published.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublishOptions {
    /// The most bytes of sessions in memory and under way; default: 4 MiB, at least 1 MiB.
    pub batch_bytes: usize,
    /// The most units sent in one go; default: 512.
    pub batch_units: usize,
    /// How long a claim is respected by other hosts without being prolonged; default: 30 s.
    pub lease: Duration,
    /// The pause after the first failure, doubled with each further one; default: 100 ms.
    pub first_pause: Duration,
    /// The longest pause after failures; default: 30 s.
    pub longest_pause: Duration,
    /// How long closing waits for what is not published yet; default: 2 s.
    ///
    /// What is left is published when the storage is opened again.
    pub drain: Duration,
    /// How long an append that asks for [`Published`] waits; default: 30 s.
    ///
    /// [`Published`]: session_model::storage::Durability::Published
    pub timeout: Duration,
    /// How many replicas must have what counts as published; default: none.
    pub replicas: u32,
}

impl Default for PublishOptions {
    fn default() -> Self {
        Self {
            batch_bytes: 4 * MAX_UNIT_BYTES,
            batch_units: 512,
            lease: Duration::from_secs(30),
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(30),
            drain: Duration::from_secs(2),
            timeout: Duration::from_secs(30),
            replicas: 0,
        }
    }
}

impl PublishOptions {
    /// These options with another bound of the bytes under way.
    #[must_use]
    pub fn batch_bytes(self, batch_bytes: usize) -> Self {
        Self { batch_bytes, ..self }
    }

    /// These options with another length of claims.
    #[must_use]
    pub fn lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// These options with other pauses after failures.
    #[must_use]
    pub fn pauses(self, first_pause: Duration, longest_pause: Duration) -> Self {
        Self { first_pause, longest_pause, ..self }
    }

    /// These options with another wait on closing.
    #[must_use]
    pub fn drain(self, drain: Duration) -> Self {
        Self { drain, ..self }
    }

    /// These options with another wait for the remote to confirm.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// These options with a number of replicas that must have what counts as published.
    #[must_use]
    pub fn replicas(self, replicas: u32) -> Self {
        Self { replicas, ..self }
    }
}
