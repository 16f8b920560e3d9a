//! Calls that nobody waits for any more.

use std::future::{Future, poll_fn};
use std::task::Poll;

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::{Cx, Store};
use super::super::failure::Result;
use super::super::support::{content, exclusive, holds, key, put, same, when};
use crate::storage::{Payload, Precondition, SessionStorageExt};

table! {
    cancelled_put_is_whole_or_nothing,
    cancelled_append_is_whole_or_nothing,
    cancelled_reads_do_no_harm,
    cancelled_open_leaves_no_claim,
}

const BODY: usize = 300_000;

async fn cancelled_put_is_whole_or_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for round in 0..10_u8 {
        put(&store, "a", vec![b'a'; BODY]).await?;
        let body = Payload::from(vec![b'b'; BODY]);
        cancelled(store.put(&key("a")?, body, when(Precondition::None)), round).await;
        for _ in 0..5 {
            let got = content(&store, "a").await?;
            same("the size", got.len(), BODY)?;
            same("whether it is of one body", got.iter().all(|byte| *byte == got[0]), true)?;
        }
    }
    drained(&store).await?;
    put(&store, "a", "the store goes on").await?;
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "the store goes on")]).await
}

async fn cancelled_append_is_whole_or_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for round in 0..10_u8 {
        let mut writer = exclusive(&store, "a").await?;
        let before = writer.len() as usize;
        cancelled(writer.append(vec![b'x'; BODY].into()), round).await;
        drop(writer);
        drained(&store).await?;
        let after = content(&store, "a").await?.len();
        same("whether it is whole", [before, before + BODY].contains(&after), true)?;
    }
    let before = content(&store, "a").await?.len() as u64;
    let meta = store.append_once(&key("a")?, Bytes::from("end")).await?;
    same("the size", meta.size, before + 3)
}

async fn cancelled_reads_do_no_harm(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let a = put(&store, "a", "one").await?.key;
    for round in 0..5 {
        cancelled(store.head(&a), round).await;
        cancelled(store.read_all(&a), round).await;
        cancelled(store.peek(std::slice::from_ref(&a), 1, 1), round).await;
        cancelled(store.list_all(None, Default::default()), round).await;
    }
    holds(&store, &[("a", "one")]).await
}

async fn cancelled_open_leaves_no_claim(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let a = put(&store, "a", "one").await?.key;
    for round in 0..10 {
        cancelled(store.open_append(&a, crate::storage::AppendOptions::exclusive("x")), round).await;
        drained(&store).await?;
        drop(exclusive(&store, "a").await?);
    }
    holds(&store, &[("a", "one")]).await
}

/// Polls a future a few times, then drops it whether it ended or not.
async fn cancelled<F: Future>(future: F, polls: u8) {
    let mut future = Box::pin(future);
    for _ in 0..=polls % 5 {
        let ended = poll_fn(|task| Poll::Ready(future.as_mut().poll(task).is_ready())).await;
        if ended {
            return;
        }
    }
}

/// Waits until what was cancelled has ended, one way or the other.
async fn drained(store: &Store) -> Result {
    Ok(store.drain(crate::storage::Durability::Accepted).await?)
}
