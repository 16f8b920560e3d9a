//! The promises, by name.

use std::time::{Duration, Instant};

use bytes::Bytes;
use session_model::storage::StorageKey;
use session_store_indexed::remote::{
    Applied, Change, Claim, Claimed, Digest, Fence, MAX_UNIT_BYTES, Names, Put, Remote,
    RemoteError, SessionState, Tombstone, rename,
};

use super::{Check, support::*};

macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        pub(crate) const CHECKS: &[Check] = &[
            $((stringify!($name), |remote| Box::pin($name(remote)))),*
        ];
    };
}

checks! {
    a_unit_is_applied_once,
    a_unit_may_overlap_what_is_there,
    gaps_and_conflicts_say_where,
    refused_units_leave_the_others_alone,
    only_the_newest_claim_writes,
    a_claim_is_refused_while_the_owner_lives,
    a_released_session_is_anybodys,
    an_epoch_seen_elsewhere_is_never_given_again,
    a_rewrite_appears_whole,
    a_rewrite_is_begun_afresh,
    long_logs_are_read_in_parts,
    a_removed_session_leaves_a_tombstone,
    a_renamed_session_moves_whole,
    listings_have_the_last_active_first,
    the_feed_is_ordered,
    objects_are_put_once,
    objects_are_listed_in_order,
    a_check_and_a_wait_answer,
}

async fn a_unit_is_applied_once(remote: &dyn Remote) {
    let a = key("sessions/a.jsonl");
    assert_eq!(remote.state(&a).await, Ok(None));
    assert_eq!(remote.read(&a, 0, 10).await, Ok(None));
    let fence = claimed(remote, &a, "one").await;
    let first = unit(&a, &fence, 0, b"hello\n", 0);
    assert_eq!(apply(remote, first.clone()).await, Applied::Ok);
    assert_eq!(apply(remote, first.clone()).await, Applied::Dup);
    let second = unit(&a, &fence, 0, b"hello\nworld\n", 6);
    assert_eq!(
        remote.apply(&[first, second.clone(), second]).await,
        [Ok(Applied::Dup), Ok(Applied::Ok), Ok(Applied::Dup)]
    );
    assert_eq!(whole(remote, &a).await, b"hello\nworld\n");
    let state = SessionState {
        position: at(0, 12),
        digest: Some(Digest::of(b"hello\nworld\n")),
        fence,
        meta: Bytes::from_static(b"meta of 12"),
        tombstone: None,
    };
    assert_eq!(remote.state(&a).await, Ok(Some(state)));
}

async fn a_unit_may_overlap_what_is_there(remote: &dyn Remote) {
    let a = key("a");
    let fence = claimed(remote, &a, "one").await;
    let log = text(200_000);
    assert_eq!(apply(remote, unit(&a, &fence, 0, &log[..70_000], 0)).await, Applied::Ok);
    assert_eq!(apply(remote, unit(&a, &fence, 0, &log, 60_000)).await, Applied::Ok);
    assert_eq!(apply(remote, unit(&a, &fence, 0, &log[..131_073], 1)).await, Applied::Dup);
    assert_eq!(whole(remote, &a).await, log);
    assert_eq!(remote.state(&a).await.unwrap().unwrap().digest, Some(Digest::of(&log)));
}

async fn gaps_and_conflicts_say_where(remote: &dyn Remote) {
    let a = key("a");
    let fence = claimed(remote, &a, "one").await;
    let log = text(150_000);
    assert_eq!(apply(remote, unit(&a, &fence, 0, &log, 5)).await, Applied::Gap { have: at(0, 0) });
    assert_eq!(apply(remote, unit(&a, &fence, 0, &log[..140_000], 0)).await, Applied::Ok);
    for generation in [1, 7] {
        let gap = Applied::Gap { have: at(0, 140_000) };
        assert_eq!(apply(remote, unit(&a, &fence, generation, &log, 0)).await, gap);
    }
    for wrong in [0, 65_535, 65_536, 139_999] {
        let mut other = log.clone();
        other[wrong] ^= 1;
        let conflict = Applied::Conflict { at: wrong as u64 };
        assert_eq!(apply(remote, unit(&a, &fence, 0, &other, 0)).await, conflict);
    }
    assert_eq!(whole(remote, &a).await, log[..140_000]);
}

async fn refused_units_leave_the_others_alone(remote: &dyn Remote) {
    let (a, b) = (key("a"), key("b"));
    let fence = claimed(remote, &a, "one").await;
    let other = claimed(remote, &b, "one").await;
    let empty = unit(&a, &fence, 0, b"x", 1);
    let long = unit(&a, &fence, 0, &vec![0; MAX_UNIT_BYTES + 1], 0);
    let invalid = |reason| Err(RemoteError::Invalid { key: a.clone(), reason });
    let mut answers =
        remote.apply(&[empty, unit(&b, &other, 0, b"fine", 0), long]).await.into_iter();
    assert_eq!(answers.next(), Some(invalid("a unit without bytes")));
    assert_eq!(answers.next(), Some(Ok(Applied::Ok)));
    assert_eq!(answers.next(), Some(invalid("a unit above 1 MiB")));
    assert_eq!(answers.next(), None);
    let nobody = Claim { owner: String::new(), ..claim("one") };
    let refused = RemoteError::Invalid { key: a.clone(), reason: "a claim without an owner" };
    assert_eq!(remote.claim(&a, &nobody).await, Err(refused));
    assert_eq!(remote.apply(&[]).await, []);
}

async fn only_the_newest_claim_writes(remote: &dyn Remote) {
    let a = key("a");
    let old = claimed(remote, &a, "one").await;
    assert_eq!(apply(remote, unit(&a, &old, 0, b"first", 0)).await, Applied::Ok);
    assert_eq!(remote.begin_rewrite(&a, &old, 1).await, Ok(Applied::Ok));
    let new = claimed(remote, &a, "two").await;
    assert!(new.epoch > old.epoch);
    let fenced = Applied::Fenced(new.clone());
    assert_eq!(apply(remote, unit(&a, &old, 0, b"first line", 5)).await, fenced);
    assert_eq!(apply(remote, unit(&a, &old, 0, b"first", 0)).await, fenced);
    assert_eq!(apply(remote, unit(&a, &old, 1, b"x", 0)).await, fenced);
    assert_eq!(remote.begin_rewrite(&a, &old, 1).await, Ok(fenced.clone()));
    assert_eq!(remote.commit_rewrite(&rewrite(&a, &old, 1, b"")).await, Ok(fenced.clone()));
    assert_eq!(remote.remove(&a, &old, None).await, Ok(fenced.clone()));
    let forged = Fence { owner: "three".to_owned(), ..new.clone() };
    assert_eq!(apply(remote, unit(&a, &forged, 0, b"first!", 5)).await, fenced);
    let nobody = Fence { epoch: 0, owner: String::new() };
    let unknown = key("never claimed");
    assert_eq!(apply(remote, unit(&unknown, &old, 0, b"x", 0)).await, Applied::Fenced(nobody));
    assert_eq!(remote.release(&a, &old).await, Ok(()));
    assert_eq!(apply(remote, unit(&a, &new, 0, b"first, second", 5)).await, Applied::Ok);
    assert_eq!(whole(remote, &a).await, b"first, second");
}

async fn a_claim_is_refused_while_the_owner_lives(remote: &dyn Remote) {
    let a = key("a");
    let one = Fence { epoch: 1, owner: "one".to_owned() };
    assert_eq!(remote.claim(&a, &claim("one")).await, Ok(Claimed::Granted(one.clone())));
    assert_eq!(remote.claim(&a, &claim("one")).await, Ok(Claimed::Granted(one.clone())));
    match remote.claim(&a, &claim("two")).await.unwrap() {
        Claimed::Held { by, left } => {
            assert_eq!(by, one);
            assert!(left > Duration::from_secs(500) && left <= Duration::from_secs(600));
        }
        granted => panic!("{granted:?}"),
    }
    let short = Claim { lease: Duration::from_millis(1), ..claim("one") };
    assert_eq!(remote.claim(&a, &short).await, Ok(Claimed::Granted(one)));
    let start = Instant::now();
    let two = loop {
        match remote.claim(&a, &claim("two")).await.unwrap() {
            Claimed::Granted(fence) => break fence,
            Claimed::Held { .. } => assert!(start.elapsed() < Duration::from_secs(120)),
        }
    };
    assert_eq!(two, Fence { epoch: 2, owner: "two".to_owned() });
}

async fn a_released_session_is_anybodys(remote: &dyn Remote) {
    let a = key("a");
    let one = claimed(remote, &a, "one").await;
    assert_eq!(remote.release(&a, &one).await, Ok(()));
    assert_eq!(remote.release(&a, &one).await, Ok(()));
    let nobody = Fence { epoch: 1, owner: String::new() };
    assert_eq!(apply(remote, unit(&a, &one, 0, b"x", 0)).await, Applied::Fenced(nobody.clone()));
    assert_eq!(apply(remote, unit(&a, &nobody, 0, b"x", 0)).await, Applied::Fenced(nobody.clone()));
    let two = Fence { epoch: 2, owner: "two".to_owned() };
    assert_eq!(remote.claim(&a, &claim("two")).await, Ok(Claimed::Granted(two)));
}

async fn an_epoch_seen_elsewhere_is_never_given_again(remote: &dyn Remote) {
    let a = key("a");
    let seen = Claim { seen_epoch: 41, ..claim("one") };
    let fence = Fence { epoch: 42, owner: "one".to_owned() };
    assert_eq!(remote.claim(&a, &seen).await, Ok(Claimed::Granted(fence.clone())));
    let seen = Claim { seen_epoch: 42, ..claim("one") };
    assert_eq!(remote.claim(&a, &seen).await, Ok(Claimed::Granted(fence)));
}

async fn a_rewrite_appears_whole(remote: &dyn Remote) {
    let a = key("a");
    let fence = claimed(remote, &a, "one").await;
    let (old, new) = (text(100_000), text(90_001));
    assert_eq!(apply(remote, unit(&a, &fence, 0, &old, 0)).await, Applied::Ok);
    assert_eq!(
        remote.begin_rewrite(&a, &fence, 0).await,
        Ok(Applied::Gap { have: at(0, 100_000) })
    );
    assert_eq!(remote.begin_rewrite(&a, &fence, 3).await, Ok(Applied::Ok));
    assert_eq!(apply(remote, unit(&a, &fence, 3, &new[..70_000], 0)).await, Applied::Ok);
    assert_eq!(apply(remote, unit(&a, &fence, 3, &new[..70_000], 0)).await, Applied::Dup);
    assert_eq!(
        remote.commit_rewrite(&rewrite(&a, &fence, 3, &new)).await,
        Ok(Applied::Gap { have: at(3, 70_000) })
    );
    assert_eq!(whole(remote, &a).await, old);
    assert_eq!(remote.state(&a).await.unwrap().unwrap().position, at(0, 100_000));
    assert_eq!(apply(remote, unit(&a, &fence, 3, &new, 70_000)).await, Applied::Ok);
    let mut other = rewrite(&a, &fence, 3, &new);
    other.digest = Digest::of(b"other");
    assert_eq!(remote.commit_rewrite(&other).await, Ok(Applied::Conflict { at: 0 }));
    assert_eq!(remote.commit_rewrite(&rewrite(&a, &fence, 3, &new)).await, Ok(Applied::Ok));
    assert_eq!(remote.commit_rewrite(&rewrite(&a, &fence, 3, &new)).await, Ok(Applied::Dup));
    assert_eq!(remote.commit_rewrite(&other).await, Ok(Applied::Conflict { at: 0 }));
    assert_eq!(whole(remote, &a).await, new);
    let state = SessionState {
        position: at(3, 90_001),
        digest: Some(Digest::of(&new)),
        fence: fence.clone(),
        meta: Bytes::from_static(b"rewritten"),
        tombstone: None,
    };
    assert_eq!(remote.state(&a).await, Ok(Some(state)));
    let late = apply(remote, unit(&a, &fence, 0, &old, 0)).await;
    assert_eq!(late, Applied::Gap { have: at(3, 90_001) });
    let more = text(90_100);
    assert_eq!(apply(remote, unit(&a, &fence, 3, &more, 90_001)).await, Applied::Ok);
    assert_eq!(remote.commit_rewrite(&rewrite(&a, &fence, 3, &new)).await, Ok(Applied::Dup));
    assert_eq!(whole(remote, &a).await, more);
}

async fn a_rewrite_is_begun_afresh(remote: &dyn Remote) {
    let a = key("a");
    let fence = claimed(remote, &a, "one").await;
    let commit = rewrite(&a, &fence, 1, b"new");
    assert_eq!(remote.commit_rewrite(&commit).await, Ok(Applied::Gap { have: at(0, 0) }));
    assert_eq!(remote.begin_rewrite(&a, &fence, 1).await, Ok(Applied::Ok));
    assert_eq!(apply(remote, unit(&a, &fence, 1, b"something else", 0)).await, Applied::Ok);
    assert_eq!(remote.begin_rewrite(&a, &fence, 1).await, Ok(Applied::Ok));
    assert_eq!(apply(remote, unit(&a, &fence, 1, b"new", 0)).await, Applied::Ok);
    assert_eq!(remote.commit_rewrite(&commit).await, Ok(Applied::Ok));
    assert_eq!(remote.begin_rewrite(&a, &fence, 2).await, Ok(Applied::Ok));
    assert_eq!(remote.commit_rewrite(&rewrite(&a, &fence, 2, b"")).await, Ok(Applied::Ok));
    assert_eq!(whole(remote, &a).await, b"");
}

async fn long_logs_are_read_in_parts(remote: &dyn Remote) {
    let a = key("a");
    let fence = claimed(remote, &a, "one").await;
    let log = text((5 << 20) + 17);
    for end in (1..=5).map(|mib| mib << 20).chain([log.len()]) {
        let from = (end - 1) & !((1 << 20) - 1);
        assert_eq!(apply(remote, unit(&a, &fence, 0, &log[..end], from)).await, Applied::Ok);
    }
    assert_eq!(whole(remote, &a).await, log);
    let part = remote.read(&a, 65_000, 1000).await.unwrap().unwrap();
    assert_eq!(part.bytes, log[65_000..66_000]);
    assert_eq!(part.position, at(0, log.len() as u64));
    let long = remote.read(&a, 1, usize::MAX).await.unwrap().unwrap();
    assert_eq!(long.bytes, log[1..1 + (1 << 20)]);
    assert_eq!(remote.read(&a, 1 << 40, 10).await.unwrap().unwrap().bytes, b""[..]);
}

async fn a_removed_session_leaves_a_tombstone(remote: &dyn Remote) {
    let a = key("a");
    let fence = claimed(remote, &a, "one").await;
    let log = text(70_000);
    assert_eq!(apply(remote, unit(&a, &fence, 0, &log, 0)).await, Applied::Ok);
    assert_eq!(remote.begin_rewrite(&a, &fence, 1).await, Ok(Applied::Ok));
    assert_eq!(remote.remove(&a, &fence, None).await, Ok(Applied::Ok));
    assert_eq!(remote.remove(&a, &fence, None).await, Ok(Applied::Dup));
    let gone = SessionState {
        position: at(0, 0),
        digest: None,
        fence: Fence { epoch: 1, owner: String::new() },
        meta: Bytes::new(),
        tombstone: Some(Tombstone { by: fence.clone(), moved_to: None }),
    };
    assert_eq!(remote.state(&a).await, Ok(Some(gone.clone())));
    assert_eq!(
        apply(remote, unit(&a, &fence, 0, &log, 0)).await,
        Applied::Fenced(gone.fence.clone())
    );
    let again = claimed(remote, &a, "one").await;
    let claimed = SessionState { fence: again.clone(), ..gone };
    assert_eq!(remote.state(&a).await, Ok(Some(claimed)));
    assert_eq!(apply(remote, unit(&a, &again, 0, b"again", 0)).await, Applied::Ok);
    assert_eq!(remote.state(&a).await.unwrap().unwrap().tombstone, None);
    assert_eq!(whole(remote, &a).await, b"again");
}

async fn a_renamed_session_moves_whole(remote: &dyn Remote) {
    let (a, b) = (key("a"), key("b"));
    let log = text((2 << 20) + 1);
    let from = claimed(remote, &a, "one").await;
    for start in [0, 1 << 20, 2 << 20] {
        let end = log.len().min(start + (1 << 20));
        assert_eq!(apply(remote, unit(&a, &from, 0, &log[..end], start)).await, Applied::Ok);
    }
    let to = claimed(remote, &b, "one").await;
    assert_eq!(apply(remote, unit(&b, &to, 0, b"replaced", 0)).await, Applied::Ok);
    let stranger = Fence { owner: "two".to_owned(), ..to.clone() };
    assert_eq!(rename(remote, (&a, &from), (&b, &stranger)).await, Ok(Applied::Fenced(to.clone())));
    assert_eq!(rename(remote, (&a, &from), (&b, &to)).await, Ok(Applied::Ok));
    assert_eq!(rename(remote, (&a, &from), (&b, &to)).await, Ok(Applied::Dup));
    assert_eq!(whole(remote, &b).await, log);
    let moved = SessionState {
        position: at(1, log.len() as u64),
        digest: Some(Digest::of(&log)),
        fence: to,
        meta: Bytes::from(format!("meta of {}", log.len())),
        tombstone: None,
    };
    assert_eq!(remote.state(&b).await, Ok(Some(moved)));
    let tombstone = remote.state(&a).await.unwrap().unwrap().tombstone;
    assert_eq!(tombstone, Some(Tombstone { by: from, moved_to: Some(b) }));
}

async fn listings_have_the_last_active_first(remote: &dyn Remote) {
    for name in ["a", "b", "c", "d", "a"] {
        let session = key(name);
        let fence = claimed(remote, &session, "one").await;
        let have = remote.state(&session).await.unwrap().unwrap().position.length;
        let log = vec![b'x'; have as usize + 1];
        assert_eq!(
            apply(remote, unit(&session, &fence, 0, &log, have as usize)).await,
            Applied::Ok
        );
    }
    let c = key("c");
    let fence = claimed(remote, &c, "one").await;
    assert_eq!(remote.remove(&c, &fence, None).await, Ok(Applied::Ok));
    let (mut names, mut before, mut newest) = (Vec::new(), None, u64::MAX);
    loop {
        let page = remote.list(before, 3).await.unwrap();
        for listed in &page.sessions {
            assert!(listed.activity < newest);
            newest = listed.activity;
            assert_eq!(remote.state(&listed.session).await.unwrap().unwrap(), listed.state);
            names.push((listed.session.to_string(), listed.state.tombstone.is_some()));
        }
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    let expected = [("c", true), ("a", false), ("d", false), ("b", false)];
    assert_eq!(names, expected.map(|(name, gone)| (name.to_owned(), gone)));
}

async fn the_feed_is_ordered(remote: &dyn Remote) {
    let empty = remote.feed(0, 10).await.unwrap();
    assert_eq!((empty.events, empty.next, empty.complete), (vec![], 0, true));
    assert!(!remote.feed(1 << 52, 10).await.unwrap().complete);
    let (a, b) = (key("a"), key("b"));
    let (one, two) = (claimed(remote, &a, "x").await, claimed(remote, &b, "x").await);
    assert_eq!(apply(remote, unit(&a, &one, 0, b"12", 0)).await, Applied::Ok);
    assert_eq!(apply(remote, unit(&b, &two, 0, b"123", 0)).await, Applied::Ok);
    assert_eq!(remote.begin_rewrite(&a, &one, 4).await, Ok(Applied::Ok));
    assert_eq!(apply(remote, unit(&a, &one, 4, b"1", 0)).await, Applied::Ok);
    assert_eq!(remote.commit_rewrite(&rewrite(&a, &one, 4, b"1")).await, Ok(Applied::Ok));
    assert_eq!(remote.remove(&b, &two, None).await, Ok(Applied::Ok));
    let (mut changes, mut after) = (Vec::new(), 0);
    loop {
        let feed = remote.feed(after, 3).await.unwrap();
        assert!(feed.complete);
        if feed.events.is_empty() {
            break;
        }
        for event in feed.events {
            assert!(event.at > after);
            after = event.at;
            changes.push((event.session, event.change));
        }
        assert_eq!(feed.next, after);
    }
    let expected = vec![
        (a.clone(), Change::Written(at(0, 2))),
        (b.clone(), Change::Written(at(0, 3))),
        (a, Change::Written(at(4, 1))),
        (b, Change::Removed),
    ];
    assert_eq!(changes, expected);
}

async fn objects_are_put_once(remote: &dyn Remote) {
    let blob = key("blobs/0123");
    assert_eq!(remote.get_object(&blob).await, Ok(None));
    let bytes = Bytes::from(text((5 << 20) + 1));
    assert_eq!(remote.put_object(&blob, bytes.clone()).await, Ok(Put::Created));
    assert_eq!(remote.put_object(&blob, bytes.clone()).await, Ok(Put::Same));
    let other = Bytes::from_static(b"other");
    assert_eq!(remote.put_object(&blob, other.clone()).await, Ok(Put::Differs));
    assert_eq!(remote.get_object(&blob).await, Ok(Some(bytes)));
    assert_eq!(remote.remove_object(&blob).await, Ok(true));
    assert_eq!(remote.remove_object(&blob).await, Ok(false));
    assert_eq!(remote.put_object(&blob, other.clone()).await, Ok(Put::Created));
    assert_eq!(remote.get_object(&blob).await, Ok(Some(other)));
    let empty = key("empty");
    assert_eq!(remote.put_object(&empty, Bytes::new()).await, Ok(Put::Created));
    assert_eq!(remote.put_object(&empty, Bytes::from_static(b"x")).await, Ok(Put::Differs));
    assert_eq!(remote.get_object(&empty).await, Ok(Some(Bytes::new())));
}

async fn a_check_and_a_wait_answer(remote: &dyn Remote) {
    assert!(remote.check().await.unwrap().writable);
    assert_eq!(remote.wait(0, Duration::from_millis(1)).await, Ok(0));
}

async fn listed(
    remote: &dyn Remote,
    below: &StorageKey,
    after: Option<&str>,
    limit: usize,
) -> Vec<StorageKey> {
    let Names { keys, skipped, next } = remote.list_objects(below, after, limit).await.unwrap();
    assert_eq!(skipped, []);
    assert_eq!(
        next.as_deref(),
        keys.last().filter(|_| keys.len() == limit).map(|key| key.as_str())
    );
    keys
}

async fn objects_are_listed_in_order(remote: &dyn Remote) {
    let body = Bytes::from_static(b"x");
    for name in ["b/a", "b/c/d", "b0", "b", "b/b", "a/b/a"] {
        assert_eq!(remote.put_object(&key(name), body.clone()).await, Ok(Put::Created));
    }
    assert_eq!(remote.put_object(&key("b/a"), body).await, Ok(Put::Same));
    let below = key("b");
    let all = [key("b/a"), key("b/b"), key("b/c/d")];
    assert_eq!(listed(remote, &below, None, 9).await, &all[..]);
    assert_eq!(listed(remote, &below, None, 2).await, &all[..2]);
    assert_eq!(listed(remote, &below, Some("b/b"), 2).await, &all[2..]);
    assert_eq!(listed(remote, &below, Some("a"), 9).await, &all[..]);
    assert_eq!(listed(remote, &below, Some("c"), 9).await, &[][..]);
    let x = Some(Digest::of(b"x"));
    let asked = [all[1].clone(), key("c"), all[0].clone()];
    assert_eq!(remote.object_digests(&asked).await.as_deref(), Ok(&[x, None, x][..]));
    assert_eq!(remote.object_digests(&[]).await.as_deref(), Ok(&[][..]));
    assert_eq!(remote.remove_object(&all[0]).await, Ok(true));
    assert_eq!(listed(remote, &below, None, 9).await, &all[1..]);
}
