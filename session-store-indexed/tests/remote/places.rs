//! Servers reached by TLS, by a socket, or through sentinels; and replicas.

use std::{fs, time::Duration};
#[cfg(feature = "redis-sentinel")]
use std::{
    process::{Child, Command, Stdio},
    time::Instant,
};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use session_store_indexed::{
    redis::{RedisAddress, RedisOptions, RedisRemote},
    remote::{Applied, Remote, RemoteError},
};
use tempfile::TempDir;

use super::{
    server::{PATIENCE, Server, free_port},
    support::*,
};

/// An authority, and certificates of a server and of a client by it.
fn certificates() -> TempDir {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, text: String| fs::write(dir.path().join(name), text).unwrap();
    let params = |name: &str, addresses: &[&str]| {
        let addresses: Vec<_> = addresses.iter().map(|&address| address.to_owned()).collect();
        let mut params = CertificateParams::new(addresses).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params
    };
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = params("ca", &[]);
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    write("ca.pem", ca.self_signed(&ca_key).unwrap().pem());
    let ca = Issuer::new(ca, ca_key);
    for name in ["server", "client"] {
        let key = KeyPair::generate().unwrap();
        let signed = params(name, &["127.0.0.1"]).signed_by(&key, &ca).unwrap();
        write(&format!("{name}.pem"), signed.pem());
        write(&format!("{name}.key"), key.serialize_pem());
    }
    dir
}

async fn writes(remote: &dyn Remote) {
    let a = key("a");
    let fence = claimed(remote, &a, "one").await;
    let log = text(200_000);
    assert_eq!(apply(remote, unit(&a, &fence, 0, &log, 0)).await, Applied::Ok);
    assert_eq!(whole(remote, &a).await, log);
}

#[tokio::test]
async fn tls_with_an_authority_of_ones_own_and_a_certificate_of_the_client() {
    let files = certificates();
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let port = free_port();
    let [ca, cert, key] = ["ca.pem", "server.pem", "server.key"].map(file);
    let server = Server::start(&[
        "--tls-port",
        &port.to_string(),
        "--tls-ca-cert-file",
        &ca,
        "--tls-cert-file",
        &cert,
        "--tls-key-file",
        &key,
    ]);
    let remote = server.remote("p:");
    remote.check().await.unwrap();
    server.command(&["ACL", "SETUSER", "agent", "on", ">a-password", "~*", "+@all"]);
    let url = |options: &str| format!("rediss://agent:a-password@127.0.0.1:{port}/?{options}");
    let [client, client_key] = ["client.pem", "client.key"].map(file);
    let all = format!("ca={ca}&cert={client}&key={client_key}");
    writes(&Server::remote_at(&url(&all), "p:")).await;
    // Without the authority the server is not believed, and without its own the client is not.
    let other = certificates();
    let other = other.path().join("ca.pem").display().to_string();
    let of_client = format!("cert={client}&key={client_key}");
    for (less, reason) in [
        (&*of_client, "the server's certificate is by an authority that is not known here"),
        (&format!("ca={other}&{of_client}"), "the server's certificate is "),
        (&format!("ca={ca}"), "the server asks for a certificate of this client"),
    ] {
        tls(&url(less), reason).await;
    }
    let by_name = url(&all).replace("127.0.0.1", "localhost");
    tls(&by_name, "the server's certificate is for another host name").await;
    tls(&url("").replace("rediss", "redis"), "expects TLS; write rediss://").await;
    let plain = format!("rediss://127.0.0.1:{}/", server.port());
    tls(&plain, "answers without TLS; write redis://").await;
    let missing: RedisAddress = url("ca=/no/such/file").parse().unwrap();
    let error = RedisRemote::new(&missing, Default::default());
    let reason = "the file that `ca`, `cert` or `key` names cannot be read";
    assert!(error.unwrap_err().to_string().ends_with(reason));
}

/// The address leads to no connection, for this reason.
async fn tls(url: &str, reason: &str) {
    let mut options = RedisOptions::default();
    options.prefix = "p:".to_owned();
    let remote = RedisRemote::new(&url.parse().unwrap(), options).unwrap();
    let error = remote.check().await.unwrap_err();
    assert!(matches!(&error, RemoteError::Tls(text) if text.contains(reason)), "{url}: {error:?}");
}

#[tokio::test]
async fn a_unix_socket_with_a_password() {
    let server = Server::start(&["--requirepass", "s p"]);
    writes(&Server::remote_at(&format!("{}?pass=s%20p", server.socket()), "p:")).await;
    let error = Server::remote_at(&format!("{}?pass=wrong", server.socket()), "p:").check().await;
    assert!(matches!(error, Err(RemoteError::Denied(_))), "{error:?}");
}

#[tokio::test]
async fn replicas_that_have_everything_are_counted() {
    let (server, replica) = (Server::start(&[]), Server::start(&[]));
    writes(&server.remote("p:")).await;
    // The copy takes longer than an answer may take by default.
    let address = server.socket().parse().unwrap();
    let remote = RedisRemote::new(&address, RedisOptions::default()).unwrap();
    assert_eq!(remote.wait(1, Duration::from_millis(1)).await, Ok(0));
    replica.command(&["REPLICAOF", "127.0.0.1", &server.port().to_string()]);
    assert_eq!(remote.wait(1, PATIENCE).await, Ok(1));
    assert_eq!(whole(&replica.remote("p:"), &key("a")).await, text(200_000));
}

#[tokio::test]
async fn a_node_of_a_cluster_is_refused_and_no_session_is_to_blame() {
    let server = Server::start(&["--cluster-enabled", "yes"]);
    let remote = server.remote("p:");
    let error = remote.check().await.unwrap_err();
    assert!(matches!(error, RemoteError::Unfit(_)), "{error:?}");
    let error = remote.state(&key("a")).await.unwrap_err();
    assert!(error.is_temporary(), "{error:?}");
}

#[tokio::test]
async fn an_eviction_policy_that_drops_sessions_is_warned_of() {
    let server = Server::start(&["--maxmemory-policy", "allkeys-lru", "--appendonly", "yes"]);
    let warnings = server.remote("p:").check().await.unwrap().warnings;
    assert_eq!(
        warnings,
        [
            "maxmemory-policy is allkeys-lru, which drops sessions when memory is short: set noeviction"
        ]
    );
}

#[cfg(feature = "redis-sentinel")]
struct Sentinel {
    port: u16,
    _dir: TempDir,
    child: Child,
}

#[cfg(feature = "redis-sentinel")]
impl Sentinel {
    fn of(primary: u16) -> Self {
        let (dir, port) = (TempDir::new().unwrap(), free_port());
        let config = format!(
            "port {port}\nbind 127.0.0.1\ndir {}\n\
             sentinel monitor main 127.0.0.1 {primary} 1\n\
             sentinel down-after-milliseconds main 3600000\n\
             sentinel failover-timeout main 2000\n",
            dir.path().display()
        );
        fs::write(dir.path().join("config"), config).unwrap();
        let binary = std::env::var_os("SESSION_TEST_REDIS_SERVER").unwrap();
        let child = Command::new(binary)
            .args(["config", "--sentinel"])
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { port, _dir: dir, child }
    }

    fn command(&self, words: &[&str]) -> redis::RedisResult<redis::Value> {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}/", self.port))?;
        let mut command = redis::cmd("SENTINEL");
        command.arg(words).query(&mut client.get_connection()?)
    }
}

#[cfg(feature = "redis-sentinel")]
impl Drop for Sentinel {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[cfg(feature = "redis-sentinel")]
#[tokio::test]
async fn sentinels_lead_to_the_primary_and_after_a_failover_to_the_next() {
    let (mut primary, replica) = (Server::start(&[]), Server::start(&[]));
    replica.command(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]);
    let sentinel = Sentinel::of(primary.port());
    // The first sentinel of the address is away.
    let url =
        format!("redis+sentinel://127.0.0.1:{},127.0.0.1:{}/main", free_port(), sentinel.port);
    let remote = Server::remote_at(&url, "p:");
    let a = key("a");
    let start = Instant::now();
    while remote.state(&a).await.is_err() {
        assert!(start.elapsed() < PATIENCE);
    }
    // One that was held up itself for two seconds does nothing for half a minute, unless it is told
    // otherwise; older ones cannot be told.
    let _ = sentinel.command(&["DEBUG", "tilt-trigger", "3600000", "tilt-period", "1000"]);
    let fence = claimed(&remote, &a, "one").await;
    let log = text(100_000);
    assert_eq!(apply(&remote, unit(&a, &fence, 0, &log[..90_000], 0)).await, Applied::Ok);
    assert_eq!(remote.wait(1, PATIENCE).await, Ok(1));
    // A sentinel fails over only to a replica it knows of.
    let knows = || {
        let known = sentinel.command(&["REPLICAS", "main"]).unwrap();
        matches!(known, redis::Value::Array(replicas) if !replicas.is_empty())
    };
    let start = Instant::now();
    while !knows() {
        assert!(start.elapsed() < PATIENCE);
    }
    primary.kill();
    // Only now, since a primary that is held up for so long would be taken for one that is away.
    sentinel.command(&["SET", "main", "down-after-milliseconds", "300"]).unwrap();
    let start = Instant::now();
    loop {
        let answer = remote.apply(&[unit(&a, &fence, 0, &log, 90_000)]).await.remove(0);
        if matches!(answer, Ok(Applied::Ok | Applied::Dup)) {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{answer:?}");
        tokio::task::yield_now().await;
    }
    assert_eq!(whole(&replica.remote("p:"), &a).await, log);
}
