//! Asking sentinels which server is the primary.

use std::fmt;

use redis::{
    AsyncConnectionConfig, ConnectionAddr, ConnectionInfo, RedisResult, TlsCertificates, TlsMode,
    aio::MultiplexedConnection,
    sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType},
};

use super::{
    InvalidAddress,
    address::{decoded, one},
};

/// The port of a sentinel unless another is given.
const PORT: u16 = 26379;

/// Sentinels, and the name they know a primary by.
#[derive(Clone)]
pub(super) struct Sentinels {
    nodes: Vec<ConnectionAddr>,
    name: String,
    is_secure: bool,
    /// User, password and database of the server, whichever it is.
    pub(super) server: ConnectionInfo,
    user: Option<String>,
    password: Option<String>,
}

impl Sentinels {
    /// Reads what follows `redis+sentinel://`, and the options.
    pub(super) fn parse(
        place: &str,
        is_secure: bool,
        options: &[&str],
    ) -> Result<Self, InvalidAddress> {
        let shape = InvalidAddress {
            reason: "write redis+sentinel://[user:password@]host[:port],host[:port]/name[/database]",
        };
        let (authority, path) = place.split_once('/').ok_or(shape.clone())?;
        let (credentials, hosts) = match authority.rsplit_once('@') {
            Some((credentials, hosts)) => (format!("{credentials}@"), hosts),
            None => (String::new(), authority),
        };
        let (name, database) = path.split_once('/').unwrap_or((path, "0"));
        if hosts.is_empty() || name.is_empty() {
            return Err(shape);
        }
        let scheme = if is_secure { "rediss" } else { "redis" };
        let with_port = |host: &str| match host.rsplit_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => host.to_owned(),
            _ => format!("{host}:{PORT}"),
        };
        let hosts: Vec<_> = hosts.split(',').map(with_port).collect();
        let node = |host: &String| Ok(one(&format!("{scheme}://{host}"))?.addr().clone());
        let nodes = hosts.iter().map(node).collect::<Result<_, InvalidAddress>>()?;
        let server = one(&format!("{scheme}://{credentials}{}/{database}", hosts[0]))?;
        let (mut user, mut password) = (None, None);
        for option in options {
            match option.split_once('=') {
                Some(("sentinel-user", text)) => user = Some(decoded(text)?),
                Some(("sentinel-password", text)) => password = Some(decoded(text)?),
                _ => return Err(InvalidAddress { reason: "sentinels know no such option" }),
            }
        }
        Ok(Self { nodes, name: decoded(name)?, is_secure, server, user, password })
    }

    pub(super) fn client(
        &self,
        certificates: Option<&TlsCertificates>,
    ) -> RedisResult<SentinelClient> {
        let settings = self.server.redis_settings();
        let kind = SentinelServerType::Master;
        let mut builder = SentinelClientBuilder::new(self.nodes.clone(), &self.name, kind)?
            .set_client_to_redis_db(settings.db());
        if let Some(user) = settings.username() {
            builder = builder.set_client_to_redis_username(user);
        }
        if let Some(password) = settings.password() {
            builder = builder.set_client_to_redis_password(password);
        }
        if let Some(user) = &self.user {
            builder = builder.set_client_to_sentinel_username(user);
        }
        if let Some(password) = &self.password {
            builder = builder.set_client_to_sentinel_password(password);
        }
        if self.is_secure {
            builder = builder.set_client_to_redis_tls_mode(TlsMode::Secure);
        }
        if let Some(certificates) = certificates {
            builder = builder
                .set_client_to_redis_certificates(certificates.clone())
                .set_client_to_sentinel_certificates(certificates.clone());
        }
        builder.build()
    }

    /// Asks for the primary and connects to it.
    pub(super) async fn connect(
        &self,
        certificates: Option<&TlsCertificates>,
        config: &AsyncConnectionConfig,
    ) -> RedisResult<MultiplexedConnection> {
        // Made anew each time: connections to sentinels are not kept.
        self.client(certificates)?.get_async_connection_with_config(config).await
    }
}

impl fmt::Display for Sentinels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, node) in self.nodes.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match node {
                ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. }
                    if host.contains(':') =>
                {
                    write!(f, "{comma}[{host}]:{port}")?;
                }
                node => write!(f, "{comma}{node}")?,
            }
        }
        write!(f, "/{}", self.name)
    }
}
