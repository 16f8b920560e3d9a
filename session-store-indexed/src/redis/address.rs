//! Where a server is, with credentials that do not show.

use std::{fmt, str::FromStr};

use redis::{ConnectionInfo, IntoConnectionInfo};

/// The address of a server: `redis://`, `rediss://` (TLS) or `redis+unix://`.
///
/// User and password go before an `@`, or with a socket into the query: `?user=…&pass=…`. Neither
/// [`Debug`](fmt::Debug) nor [`Display`](fmt::Display) shows the password.
///
/// ```
/// use session_store_indexed::redis::RedisAddress;
///
/// let address: RedisAddress = "redis://agent:secret@127.0.0.1:6379/2".parse()?;
/// assert_eq!(address.to_string(), "agent:***@127.0.0.1:6379/2");
/// # Ok::<(), session_store_indexed::redis::InvalidAddress>(())
/// ```
#[derive(Clone)]
pub struct RedisAddress(ConnectionInfo);

/// An address or prefix that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot use this Redis address: {reason}")]
pub struct InvalidAddress {
    pub(super) reason: &'static str,
}

impl RedisAddress {
    /// The address with this password, unless it has one.
    ///
    /// A password that comes from elsewhere is seen by nobody who can list processes or read
    /// configuration.
    #[must_use]
    pub fn or_password(self, password: &str) -> Self {
        let settings = self.0.redis_settings();
        if settings.password().is_some() {
            return self;
        }
        let settings = settings.clone().set_password(password);
        Self(self.0.set_redis_settings(settings))
    }

    pub(super) fn info(&self) -> ConnectionInfo {
        self.0.clone()
    }
}

impl FromStr for RedisAddress {
    type Err = InvalidAddress;

    /// Errors say nothing of the text, which may hold a password.
    fn from_str(address: &str) -> Result<Self, InvalidAddress> {
        if address.split('#').nth(1).is_some() {
            return Err(InvalidAddress { reason: "no `#` may follow it; write `%23` for one" });
        }
        let reason = "write redis://[user:password@]host[:port][/database], rediss:// for TLS, \
                      or redis+unix:///path/to/socket";
        address.into_connection_info().map(Self).map_err(|_| InvalidAddress { reason })
    }
}

impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.0.redis_settings();
        match (settings.username(), settings.password()) {
            (None, None) => {}
            (Some(user), None) => write!(f, "{user}@")?,
            (user, Some(_)) => write!(f, "{}:***@", user.unwrap_or_default())?,
        }
        write!(f, "{}/{}", self.0.addr(), settings.db())
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisAddress({self})")
    }
}
