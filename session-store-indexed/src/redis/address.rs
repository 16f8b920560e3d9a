//! Where a server is, with credentials that do not show.

use std::{fmt, str::FromStr};

use redis::{Client, ConnectionInfo, IntoConnectionInfo};

#[cfg(feature = "redis-sentinel")]
use super::sentinel::Sentinels;
use super::tls::TlsFiles;

/// The address of a server: `redis://`, `rediss://` (TLS) or `redis+unix://`; with the feature
/// `redis-sentinel` also `redis+sentinel://` and `rediss+sentinel://`.
///
/// User and password go before an `@`, or with a socket into the query: `?user=…&pass=…`. Neither
/// [`Debug`](fmt::Debug) nor [`Display`](fmt::Display) shows the password. With TLS, `?ca=…` names
/// the file of the authority's certificate, if it is not one of the system's, and `cert=…&key=…`
/// those of this client's; all are PEM.
///
/// Sentinels are asked for the primary whenever a connection is made:
/// `redis+sentinel://[user:password@]host[:port],host[:port]/name[/database]`. User and password
/// are the server's; the sentinels' own are `?sentinel-user=…&sentinel-password=…`.
///
/// ```
/// use session_store_indexed::redis::RedisAddress;
///
/// let address: RedisAddress = "redis://agent:secret@127.0.0.1:6379/2".parse()?;
/// assert_eq!(address.to_string(), "agent:***@127.0.0.1:6379/2");
/// # Ok::<(), session_store_indexed::redis::InvalidAddress>(())
/// ```
#[derive(Clone)]
pub struct RedisAddress {
    pub(super) place: Place,
    tls: TlsFiles,
}

#[derive(Clone)]
pub(super) enum Place {
    One(ConnectionInfo),
    #[cfg(feature = "redis-sentinel")]
    Sentinels(Sentinels),
}

impl Place {
    /// User, password and database of the server, whichever it is.
    fn server(&self) -> &ConnectionInfo {
        match self {
            Self::One(info) => info,
            #[cfg(feature = "redis-sentinel")]
            Self::Sentinels(sentinels) => &sentinels.server,
        }
    }

    fn server_mut(&mut self) -> &mut ConnectionInfo {
        match self {
            Self::One(info) => info,
            #[cfg(feature = "redis-sentinel")]
            Self::Sentinels(sentinels) => &mut sentinels.server,
        }
    }
}

/// An address or prefix that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot use this Redis address: {reason}")]
pub struct InvalidAddress {
    pub(super) reason: &'static str,
}

/// What finds the server.
pub(super) enum Finder {
    One(Client),
    #[cfg(feature = "redis-sentinel")]
    Sentinels(Sentinels, Option<redis::TlsCertificates>),
}

impl RedisAddress {
    /// The address with this password, unless it has one.
    ///
    /// A password that comes from elsewhere is seen by nobody who can list processes or read
    /// configuration.
    #[must_use]
    pub fn or_password(mut self, password: &str) -> Self {
        let info = self.place.server_mut();
        if info.redis_settings().password().is_none() {
            let settings = info.redis_settings().clone().set_password(password);
            *info = info.clone().set_redis_settings(settings);
        }
        self
    }

    /// Reads the files that are named.
    pub(super) fn finder(&self) -> Result<Finder, InvalidAddress> {
        let unsupported = |_| InvalidAddress { reason: "this kind of address is not supported" };
        let certificates = self.tls.read()?;
        match &self.place {
            Place::One(info) => match certificates {
                Some(certificates) => Client::build_with_tls(info.clone(), certificates)
                    .map_err(|_| InvalidAddress { reason: "the certificates cannot be used" }),
                None => Client::open(info.clone()).map_err(unsupported),
            }
            .map(Finder::One),
            #[cfg(feature = "redis-sentinel")]
            Place::Sentinels(sentinels) => {
                sentinels.client(certificates.as_ref()).map_err(unsupported)?;
                Ok(Finder::Sentinels(sentinels.clone(), certificates))
            }
        }
    }
}

impl FromStr for RedisAddress {
    type Err = InvalidAddress;

    /// Errors say nothing of the text, which may hold a password.
    fn from_str(address: &str) -> Result<Self, InvalidAddress> {
        if address.contains('#') {
            return Err(InvalidAddress { reason: "no `#` may follow it; write `%23` for one" });
        }
        let (place, query) = address.split_once('?').unwrap_or((address, ""));
        let mut tls = TlsFiles::default();
        let mut rest = Vec::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some((name @ ("ca" | "cert" | "key"), file)) => tls.set(name, decoded(file)?),
                _ => rest.push(option),
            }
        }
        tls.check(place.starts_with("rediss"))?;
        for (scheme, is_secure) in [("redis+sentinel://", false), ("rediss+sentinel://", true)] {
            if let Some(place) = place.strip_prefix(scheme) {
                return sentinels(place, is_secure, &rest).map(|place| Self { place, tls });
            }
        }
        let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        let place = one(&format!("{place}{query}"))?;
        Ok(Self { place: Place::One(place), tls })
    }
}

#[cfg(feature = "redis-sentinel")]
fn sentinels(place: &str, is_secure: bool, options: &[&str]) -> Result<Place, InvalidAddress> {
    Sentinels::parse(place, is_secure, options).map(Place::Sentinels)
}

#[cfg(not(feature = "redis-sentinel"))]
fn sentinels(_place: &str, _is_secure: bool, _options: &[&str]) -> Result<Place, InvalidAddress> {
    Err(InvalidAddress { reason: "sentinels need the feature \"redis-sentinel\", which is off" })
}

/// Reads the address of one server.
pub(super) fn one(address: &str) -> Result<ConnectionInfo, InvalidAddress> {
    let reason = "write redis://[user:password@]host[:port][/database], rediss:// for TLS, \
                  or redis+unix:///path/to/socket";
    address.into_connection_info().map_err(|_| InvalidAddress { reason })
}

/// Decodes `%2F` and the like.
pub(super) fn decoded(text: &str) -> Result<String, InvalidAddress> {
    let invalid =
        || InvalidAddress { reason: "after `%` come two hex digits; write `%25` for one" };
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(left.next()?).to_digit(16).map(|digit| digit as u8);
                digit().zip(digit()).map(|(high, low)| high << 4 | low).ok_or_else(invalid)?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| invalid())
}

impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.place.server().redis_settings();
        match (settings.username(), settings.password()) {
            (None, None) => {}
            (Some(user), None) => write!(f, "{user}@")?,
            (user, Some(_)) => write!(f, "{}:***@", user.unwrap_or_default())?,
        }
        match &self.place {
            Place::One(info) => write!(f, "{}/{}", info.addr(), settings.db()),
            #[cfg(feature = "redis-sentinel")]
            Place::Sentinels(sentinels) => write!(f, "{sentinels}/{}", settings.db()),
        }
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: &str) -> &'static str {
        address.parse::<RedisAddress>().unwrap_err().reason
    }

    #[test]
    fn certificates_are_for_tls_and_come_in_pairs() {
        let shown = |address: &str| address.parse::<RedisAddress>().unwrap().to_string();
        assert_eq!(shown("rediss://h:1/0?ca=%2Fa%20b.pem&cert=c&key=k"), "h:1/0");
        assert_eq!(shown("redis+unix:///s?user=u&pass=p"), "u:***@/s/0");
        let pairs = "`cert` and `key` go together";
        assert_eq!(refused("rediss://h/?cert=c"), pairs);
        assert_eq!(refused("rediss://h/?key=k"), pairs);
        assert_eq!(refused("redis://h/?ca=c"), "certificates are for rediss:// only");
        assert_eq!(
            refused("rediss://h/?ca=%2"),
            "after `%` come two hex digits; write `%25` for one"
        );
    }

    #[cfg(feature = "redis-sentinel")]
    #[test]
    fn sentinels_are_shown_without_passwords() {
        let address = "redis+sentinel://u:secret@a,[::1]:7/main/2?sentinel-password=hidden%25";
        let address: RedisAddress = address.parse().unwrap();
        assert_eq!(address.to_string(), "u:***@a:26379,[::1]:7/main/2");
        let shape =
            "write redis+sentinel://[user:password@]host[:port],host[:port]/name[/database]";
        for address in ["redis+sentinel://h", "redis+sentinel://h/", "rediss+sentinel:///m"] {
            assert_eq!(refused(address), shape, "{address}");
        }
        assert_eq!(refused("redis+sentinel://h/m?x=y"), "sentinels know no such option");
    }
}
