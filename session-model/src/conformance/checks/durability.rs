//! Levels of durability: what is declared works, what is not is refused and changes nothing.

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::Cx;
use super::super::failure::Result;
use super::super::support::{ensure, exclusive, holds, key, put, refused, same, shared};
use crate::storage::{Durability, Payload, PutOptions, SessionStorageExt, StorageErrorKind};

table! {
    accepted_is_given,
    put_to_each_level,
    replace_to_each_level,
    sync_to_each_level,
    drain_to_each_level,
    sync_of_nothing_is_no_error,
    drained_changes_survive_reopening,
    local_paths_hold_the_objects,
}

const LEVELS: [Durability; 3] = [Durability::Accepted, Durability::Durable, Durability::Published];

async fn accepted_is_given(cx: &Cx) -> Result {
    ensure("the backend does not declare `Accepted`", cx.gives(Durability::Accepted))
}

async fn put_to_each_level(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for level in LEVELS {
        put(&store, "a", "before").await?;
        let before = store.head(&key("a")?).await?;
        for name in ["a", "new/b"] {
            let options = PutOptions::default().durability(level);
            let outcome = store.put(&key(name)?, Payload::from("after"), options).await;
            if cx.gives(level) {
                let meta = outcome?;
                same("head", store.head(&meta.key).await?, meta)?;
            } else {
                refused(outcome, StorageErrorKind::Unsupported, name)?;
            }
        }
        if cx.gives(level) {
            holds(&store, &[("a", "after"), ("new/b", "after")]).await?;
            store.remove(&key("new/b")?).await?;
        } else {
            same("head", store.head(&key("a")?).await?, before)?;
            holds(&store, &[("a", "before")]).await?;
        }
    }
    Ok(())
}

async fn replace_to_each_level(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    let mut want = String::new();
    for level in LEVELS {
        let options = PutOptions::default().durability(level);
        let body = format!("{level:?}\n");
        let outcome = writer.replace(Payload::from(body.clone()), options).await;
        if cx.gives(level) {
            outcome?;
            want = body;
        } else {
            refused(outcome, StorageErrorKind::Unsupported, "a")?;
        }
        same("the error", writer.error().is_none(), true)?;
        holds(&store, &[("a", &want)]).await?;
    }
    Ok(())
}

async fn sync_to_each_level(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for (name, mut writer) in
        [("a", exclusive(&store, "a").await?), ("b", shared(&store, "b").await?)]
    {
        for level in LEVELS {
            writer.append(Bytes::from("x")).await?;
            let outcome = writer.sync(level).await;
            if cx.gives(level) {
                outcome?;
            } else {
                refused(outcome, StorageErrorKind::Unsupported, name)?;
            }
            same("the error", writer.error().is_none(), true)?;
        }
        writer.append(Bytes::from("x")).await?;
        writer.close().await?;
    }
    holds(&store, &[("a", "xxxx"), ("b", "xxxx")]).await
}

async fn drain_to_each_level(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    for level in LEVELS {
        let outcome = store.drain(level).await;
        if cx.gives(level) {
            outcome?;
        } else {
            refused(outcome, StorageErrorKind::Unsupported, "a")?;
        }
    }
    holds(&store, &[("a", "one")]).await
}

async fn sync_of_nothing_is_no_error(cx: &Cx) -> Result {
    let store = cx.open().await?;
    store.drain(Durability::Accepted).await?;
    let mut writer = exclusive(&store, "a").await?;
    for level in LEVELS.into_iter().filter(|level| cx.gives(*level)) {
        writer.sync(level).await?;
        writer.sync(level).await?;
        store.drain(level).await?;
    }
    same("what close returns", writer.close().await?.size, 0)
}

async fn drained_changes_survive_reopening(cx: &Cx) -> Result {
    let mut store = cx.open().await?;
    let mut want = String::new();
    for level in LEVELS.into_iter().filter(|level| cx.gives(*level)) {
        store.append_once(&key("a")?, Bytes::from("x")).await?;
        want.push('x');
        store.drain(level).await?;
        store = cx.reopen(store).await?;
        holds(&store, &[("a", &want)]).await?;
    }
    Ok(())
}

async fn local_paths_hold_the_objects(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for name in ["a", "d/ü b.jsonl"] {
        put(&store, name, name).await?;
        let path = store.local_path(&key(name)?);
        same("whether there is a path", path.is_some(), cx.has_local_paths())?;
        if let Some(path) = path {
            let there = std::fs::read(&path).map(Bytes::from).map_err(|error| error.to_string());
            same(&format!("the file {path:?}"), there, Ok(Bytes::from(name)))?;
        }
    }
    let missing = store.local_path(&key("missing")?);
    same("whether there is a path of nothing", missing.is_some(), cx.has_local_paths())
}
