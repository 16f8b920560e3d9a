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
        let known = ["remote", "prefix", "replicas"];
        if options.iter().any(|(name, _)| !known.contains(name)) {
            return Err(super::open_storage::invalid(
                "an indexed URL has the options remote, prefix and replicas; write %3F for ? in a path",
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
            return Err(invalid("prefix and replicas belong to a remote; add remote=redis://…"));
        };
        let replicas = option("replicas")?.unwrap_or_else(|| "0".to_owned());
        let replicas = replicas.parse().map_err(|_| invalid("replicas is a number"))?;
        let place = Self { address: Hidden(address), prefix: option("prefix")?, replicas };
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
        RemotePlace { address: Hidden(address.to_owned()), prefix, replicas }
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
        let alone = "prefix and replicas belong to a remote; add remote=redis://…";
        assert_eq!(parse("prefix=x"), invalid(alone));
        assert_eq!(parse("remote=http://h"), Err("the storage cannot be opened".to_owned()));
    }
}
