//! A [`Remote`](crate::remote::Remote) on Redis 6.2 or newer, or Valkey; its keys are described in `docs/redis.md`.

mod address;
mod check;
mod connection;
mod diagnose;
mod error;
mod keys;
mod object;
mod remote;
mod scripts;
#[cfg(feature = "redis-sentinel")]
mod sentinel;
mod session;
mod tls;

use std::{fmt, time::Duration};

pub use address::{InvalidAddress, RedisAddress};
use connection::Link;
use keys::Keys;

use crate::remote::RemoteLimits;

/// How a [`RedisRemote`] works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedisOptions {
    /// What all keys begin with; `sessions:` by default. No `{`, `}` or `*`.
    pub prefix: String,
    /// How long connecting, and one answer, may take; 5 s each by default.
    pub timeout: Duration,
    /// How many events the feed keeps; 100 000 by default.
    pub feed: usize,
    /// How much the server may make this host take.
    pub limits: RemoteLimits,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            prefix: "sessions:".to_owned(),
            timeout: Duration::from_secs(5),
            feed: 100_000,
            limits: RemoteLimits::default(),
        }
    }
}

/// Sessions and objects on a Redis server.
///
/// All calls share one connection, made by the first call and again after an error. Needs a tokio
/// runtime with I/O and time.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use session_store_indexed::{redis::{RedisOptions, RedisRemote}, remote::Remote};
///
/// let address = "rediss://agent:secret@redis.example:6380/".parse()?;
/// let remote = RedisRemote::new(&address, RedisOptions::default())?;
/// for warning in remote.check().await?.warnings {
///     eprintln!("{warning}");
/// }
/// # Ok(())
/// # }
/// ```
pub struct RedisRemote {
    link: Link,
    keys: Keys,
    feed: usize,
    limits: RemoteLimits,
}

impl RedisRemote {
    /// Prepares a remote without connecting.
    ///
    /// # Errors
    ///
    /// [`InvalidAddress`] if the prefix has a `{`, `}` or `*`, or the address cannot be used, or a
    /// file of certificates not be read.
    pub fn new(address: &RedisAddress, options: RedisOptions) -> Result<Self, InvalidAddress> {
        if options.prefix.contains(['{', '}', '*']) {
            return Err(InvalidAddress { reason: "the prefix must not have `{`, `}` or `*`" });
        }
        let link = Link::new(address, options.timeout)?;
        let RedisOptions { prefix, feed, limits, .. } = options;
        Ok(Self { link, keys: Keys::new(prefix), feed: feed.max(1), limits })
    }
}

impl fmt::Debug for RedisRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisRemote").field("link", &self.link).finish_non_exhaustive()
    }
}
