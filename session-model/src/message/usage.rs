//! Tokens and cost.

use serde::{Deserialize, Serialize};

use crate::record::record;

record! {
    value
    /// The tokens and cost of one request; missing parts count as zero.
    pub struct Usage {
        /// Tokens sent, without those of the cache.
        input: u64 = "input",
        /// Tokens received.
        output: u64 = "output",
        /// Tokens read from the provider's cache.
        cache_read: u64 = "cacheRead",
        /// Tokens written to the provider's cache.
        cache_write: u64 = "cacheWrite",
        /// All tokens, as the provider counts.
        total_tokens: Option<u64> = "totalTokens",
        /// The cost.
        cost: Cost = "cost",
        /// Premium requests; may be a fraction.
        premium_requests: Option<f64> = "premiumRequests",
    }
}

record! {
    value
    /// The cost of one request, in US dollars.
    pub struct Cost {
        /// Of the tokens sent.
        input: f64 = "input",
        /// Of the tokens received.
        output: f64 = "output",
        /// Of the tokens read from the cache.
        cache_read: f64 = "cacheRead",
        /// Of the tokens written to the cache.
        cache_write: f64 = "cacheWrite",
        /// Of all.
        total: f64 = "total",
    }
}

/// Sums over many requests.
///
/// ```
/// use session_model::message::{Cost, Usage, UsageTotals};
///
/// let cost = Cost { total: 0.003, ..Default::default() };
/// let usage = Usage { input: 100, cost, ..Default::default() };
/// let mut totals = UsageTotals::default();
/// for _ in 0..3 {
///     totals.add(&usage);
/// }
/// assert_eq!((totals.input, totals.cost), (300, 0.009000000000000001));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageTotals {
    /// Tokens sent, without those of caches.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens read from caches.
    pub cache_read: u64,
    /// Tokens written to caches.
    pub cache_write: u64,
    /// Premium requests.
    pub premium_requests: f64,
    /// Cost in US dollars.
    pub cost: f64,
}

impl UsageTotals {
    /// Adds one request.
    ///
    /// Fractions are summed in the order of the calls, so that equal histories give equal sums to
    /// the last digit. Token counts stop at `u64::MAX`.
    pub fn add(&mut self, usage: &Usage) {
        self.input = self.input.saturating_add(usage.input);
        self.output = self.output.saturating_add(usage.output);
        self.cache_read = self.cache_read.saturating_add(usage.cache_read);
        self.cache_write = self.cache_write.saturating_add(usage.cache_write);
        self.premium_requests += usage.premium_requests.unwrap_or(0.0);
        self.cost += usage.cost.total;
    }
}
