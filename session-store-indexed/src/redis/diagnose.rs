//! Why a connection cannot be made: what the client only calls a closed or silent connection.

use std::{error::Error, sync::Arc, time::Duration};

use redis::{ConnectionAddr, RedisError};
use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::ring, pki_types::ServerName};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::error::of_client;
use crate::remote::{RemoteError, shown};

/// How long a server may take to say what it speaks.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a server answered to the first bytes it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    Plain,
    Tls,
    Unknown,
}

/// Names the reason why there is no connection.
pub(super) async fn of_connect(
    address: Option<&ConnectionAddr>,
    error: &RedisError,
) -> RemoteError {
    let found = of_client(error);
    if !matches!(found, RemoteError::Unavailable(_) | RemoteError::Protocol(_)) {
        return found;
    }
    if let Some(reason) = certificate(&told(error)) {
        return RemoteError::Tls(reason);
    }
    match address {
        Some(ConnectionAddr::TcpTls { host, port, .. })
            if speaks(host, *port, b"PING\r\n").await == Speaks::Plain =>
        {
            RemoteError::Tls(format!(
                "{host}:{port} answers without TLS; write redis:// if that is meant, else give its TLS port"
            ))
        }
        Some(ConnectionAddr::Tcp(host, port)) => match hello(host) {
            Some(hello) if speaks(host, *port, &hello).await == Speaks::Tls => RemoteError::Tls(
                format!("{host}:{port} expects TLS; write rediss:// in the place of redis://"),
            ),
            _ => found,
        },
        _ => found,
    }
}

/// An error with its causes.
fn told(error: &RedisError) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

/// What is wrong with a certificate, by what the TLS library says.
fn certificate(text: &str) -> Option<String> {
    let known = [
        (
            "UnknownIssuer",
            "the server's certificate is by an authority that is not known here; name the file of \
             its certificate with ca=…",
        ),
        (
            "not valid for name",
            "the server's certificate is for another host name; use the name it is for",
        ),
        (
            "NotValidForName",
            "the server's certificate is for another host name; use the name it is for",
        ),
        ("expired", "the server's certificate has expired"),
        ("Expired", "the server's certificate has expired"),
        ("not valid yet", "the server's certificate is not valid yet; is the clock right?"),
        ("NotValidYet", "the server's certificate is not valid yet; is the clock right?"),
        (
            "CertificateRequired",
            "the server asks for a certificate of this client; name it with cert=… and key=…",
        ),
        ("invalid peer certificate", "the server's certificate is not accepted"),
        ("fatal alert", "the server refuses the TLS connection"),
    ];
    let (_, reason) = known.iter().find(|(word, _)| text.contains(word))?;
    Some(format!("{reason} ({})", shown(text)))
}

/// Says something to a server, and looks at what it answers.
async fn speaks(host: &str, port: u16, first: &[u8]) -> Speaks {
    let ask = async {
        let mut stream = TcpStream::connect((host, port)).await.ok()?;
        stream.write_all(first).await.ok()?;
        let mut answer = [0; 1];
        stream.read_exact(&mut answer).await.ok()?;
        Some(answer[0])
    };
    match timeout(PATIENCE, ask).await {
        // A simple string or an error; then a handshake or an alert.
        Ok(Some(b'+' | b'-')) => Speaks::Plain,
        Ok(Some(0x15 | 0x16)) => Speaks::Tls,
        _ => Speaks::Unknown,
    }
}

/// The first bytes of a TLS connection.
fn hello(host: &str) -> Option<Vec<u8>> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).ok()?;
    let mut hello = Vec::new();
    ClientConnection::new(Arc::new(config), name).ok()?.write_tls(&mut hello).ok()?;
    Some(hello)
}
