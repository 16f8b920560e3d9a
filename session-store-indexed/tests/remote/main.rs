//! What every remote promises, on the fake and on a real Redis; then faults of a real server.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod contract;
#[cfg(all(feature = "redis", unix))]
mod corpus;
#[cfg(feature = "redis")]
mod faults;
mod model;
#[cfg(feature = "redis")]
mod places;
#[cfg(feature = "redis")]
mod proxy;
#[cfg(feature = "redis")]
mod server;
mod support;

use std::{future::Future, pin::Pin};

use session_store_indexed::remote::{FakeFaults, FakeRemote, Remote};

/// A named check of one promise.
type Check = (&'static str, for<'a> fn(&'a dyn Remote) -> Pin<Box<dyn Future<Output = ()> + 'a>>);

fn fake() -> FakeRemote {
    FakeRemote::new(FakeFaults::default(), 1000)
}

#[tokio::test]
async fn the_fake_keeps_the_contract() {
    for (name, check) in contract::CHECKS {
        eprintln!("{name}");
        check(&fake()).await;
    }
}

#[cfg(feature = "redis")]
#[tokio::test]
async fn redis_keeps_the_contract_with_the_documented_rights_only() {
    let server = server::Server::start(&[]);
    for (number, (name, check)) in contract::CHECKS.iter().enumerate() {
        eprintln!("{name}");
        let prefix = format!("contract-{number}:");
        check(&server.remote_as_documented(&prefix).await).await;
    }
}
