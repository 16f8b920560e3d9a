//! Where an `indexed:` URL has its sessions published.

use crate::OpenStorageError;
#[cfg(feature = "redis")]
use crate::percent::percent_decoded;

/// The password of a server, where its address has none.
#[cfg(feature = "redis")]
const PASSWORD: &str = "SESSION_REDIS_PASSWORD";

/// A server that sessions are published to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RemotePlace {
    #[cfg(feature = "redis")]
    address: Hidden,
    #[cfg(feature = "redis")]
    prefix: Option<String>,
    #[cfg(feature = "redis")]
    replicas: u32,
    #[cfg(feature = "redis")]
    limits: session_store_indexed::remote::RemoteLimits,
}

/// Text that may hold a password.
#[cfg(feature = "redis")]
#[derive(PartialEq, Eq)]
struct Hidden(String);

#[cfg(feature = "redis")]
impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl RemotePlace {
    /// Reads what follows the `?` of a URL; `None` if it names no remote.
    pub(crate) fn parse(query: &str) -> Result<Option<Self>, OpenStorageError> {
        let options = query.split('&').filter(|option| !option.is_empty());
        let options = options.map(|option| option.split_once('=').unwrap_or((option, "")));
        let options: Vec<(&str, &str)> = options.collect();
        let known = ["remote", "prefix", "replicas", "max-session", "max-object"];
        if options.iter().any(|(name, _)| !known.contains(name)) {
            return Err(super::open_storage::invalid(
                "an indexed URL has the options remote, prefix, replicas, max-session and max-object; write %3F for ? in a path",
            ));
        }
        if options.is_empty() {
            return Ok(None);
        }
        Self::of(&options).map(Some)
    }

    #[cfg(not(feature = "redis"))]
    fn of(_: &[(&str, &str)]) -> Result<Self, OpenStorageError> {
        Err(OpenStorageError::NoRemote { feature: "redis" })
    }

    #[cfg(feature = "redis")]
    fn of(options: &[(&str, &str)]) -> Result<Self, OpenStorageError> {
        use crate::open_storage::invalid;

        let option = |wanted: &str| {
            let found = options.iter().rev().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| percent_decoded(value)).transpose()
        };
        let Some(address) = option("remote")? else {
            return Err(invalid("all options belong to a remote; add remote=redis://…"));
        };
        let replicas = option("replicas")?.unwrap_or_else(|| "0".to_owned());
        let replicas = replicas.parse().map_err(|_| invalid("replicas is a number"))?;
        let mut limits = session_store_indexed::remote::RemoteLimits::default();
        if let Some(most) = option("max-session")? {
            limits = limits.session_bytes(bytes_of(&most)?);
        }
        if let Some(most) = option("max-object")? {
            limits = limits.object_bytes(bytes_of(&most)?);
        }
        let place = Self { address: Hidden(address), prefix: option("prefix")?, replicas, limits };
        // So that a mistake is told before anything is opened.
        place.remote()?;
        Ok(place)
    }

    #[cfg(feature = "redis")]
    fn remote(&self) -> Result<session_store_indexed::redis::RedisRemote, OpenStorageError> {
        use session_store_indexed::redis::{RedisAddress, RedisOptions, RedisRemote};

        let failed = |source: session_store_indexed::redis::InvalidAddress| {
            OpenStorageError::Backend { source: source.into() }
        };
        let mut address: RedisAddress = self.address.0.parse().map_err(failed)?;
        if let Ok(password) = std::env::var(PASSWORD) {
            address = address.or_password(&password);
        }
        let mut options = RedisOptions::default();
        options.limits = self.limits;
        if let Some(prefix) = &self.prefix {
            options.prefix.clone_from(prefix);
        }
        RedisRemote::new(&address, options).map_err(failed)
    }

    /// Prepares the remote without connecting.
    #[cfg(feature = "indexed")]
    pub(crate) fn connect(&self) -> Result<Connected, OpenStorageError> {
        #[cfg(feature = "redis")]
        return Ok((
            std::sync::Arc::new(self.remote()?),
            session_store_indexed::publish::PublishOptions::default().replicas(self.replicas),
        ));
        #[cfg(not(feature = "redis"))]
        Err(OpenStorageError::NoRemote { feature: "redis" })
    }
}

/// Reads a number of bytes, with `K`, `M` or `G` for the powers of 1,024.
#[cfg(feature = "redis")]
fn bytes_of(text: &str) -> Result<u64, OpenStorageError> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 1 << 10),
        Some((at, 'M' | 'm')) => (&text[..at], 1 << 20),
        Some((at, 'G' | 'g')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|digits| digits.checked_mul(unit));
    bytes.ok_or_else(|| {
        crate::open_storage::invalid("max-session and max-object are bytes, such as 500M or 2G")
    })
}

/// Has a storage ask the remote for what is missing, and follow it.
#[cfg(feature = "indexed")]
pub(crate) fn follow(
    storage: session_store_indexed::storage::IndexedStorage,
    remote: std::sync::Arc<dyn session_store_indexed::remote::Remote>,
) -> Result<std::sync::Arc<dyn session_model::storage::SessionStorage>, OpenStorageError> {
    use session_store_indexed::replica::{SharedOptions, SharedStorage};

    let owner = storage.owner().unwrap_or_default().to_owned();
    SharedStorage::start(std::sync::Arc::new(storage), remote, owner, SharedOptions::default())
        .map(|storage| std::sync::Arc::new(storage) as _)
        .map_err(|source| OpenStorageError::Backend { source: source.into() })
}

/// A remote, and how to publish to it.
#[cfg(feature = "indexed")]
pub(crate) type Connected = (
    std::sync::Arc<dyn session_store_indexed::remote::Remote>,
    session_store_indexed::publish::PublishOptions,
);

#[cfg(all(test, feature = "redis"))]
mod tests {
    use super::*;

    fn place(address: &str, prefix: Option<&str>, replicas: u32) -> RemotePlace {
        let prefix = prefix.map(str::to_owned);
        let limits = Default::default();
        RemotePlace { address: Hidden(address.to_owned()), prefix, replicas, limits }
    }

    #[test]
    fn options_are_read_and_what_is_wrong_is_told() {
        let parse = |query| RemotePlace::parse(query).map_err(|error| error.to_string());
        assert_eq!(parse(""), Ok(None));
        assert_eq!(parse("remote=redis://h:1/2"), Ok(Some(place("redis://h:1/2", None, 0))));
        assert_eq!(
            parse("remote=redis%2Bunix:///s?user=a%26pass=b&prefix=team:&replicas=1"),
            Ok(Some(place("redis+unix:///s?user=a&pass=b", Some("team:"), 1)))
        );
        let invalid = |reason: &str| Err(format!("invalid storage location: {reason}"));
        assert_eq!(parse("remote=redis://h&replicas=x"), invalid("replicas is a number"));
        let limited = |text: &str| {
            let query = format!("remote=redis://h&{text}");
            RemotePlace::parse(&query).map_err(|error| error.to_string())
        };
        let limits = place("redis://h", None, 0).limits;
        for (text, limits) in [
            ("max-session=3000000000", limits.session_bytes(3_000_000_000)),
            ("max-session=2G&max-object=1M", limits.session_bytes(2 << 30).object_bytes(1 << 20)),
            // Nothing publishes larger ones.
            ("max-object=2G", limits.object_bytes(256 << 20)),
        ] {
            let wanted = RemotePlace { limits, ..place("redis://h", None, 0) };
            assert_eq!(limited(text), Ok(Some(wanted)), "{text}");
        }
        let bytes = "max-session and max-object are bytes, such as 500M or 2G";
        for text in ["max-session=", "max-session=-1", "max-object=99999999999G", "max-object=ü"] {
            assert_eq!(limited(text), invalid(bytes), "{text}");
        }
        let alone = "all options belong to a remote; add remote=redis://…";
        assert_eq!(parse("prefix=x"), invalid(alone));
        assert_eq!(parse("remote=http://h"), Err("the storage cannot be opened".to_owned()));
    }
}
