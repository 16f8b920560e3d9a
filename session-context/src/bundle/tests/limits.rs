//! What is packed within the limits is unpacked within them, up to the last byte and file.

use super::*;

const HEADER: &str = "{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/w\"}\n";

fn limits(max_bytes: u64, max_members: usize) -> BundleLimits {
    BundleLimits { max_bytes, max_members }
}

async fn gather_within(
    storage: &Arc<MemoryStorage>,
    limits: &BundleLimits,
) -> Result<Bundle, BundleError> {
    Bundle::gather(&[source(storage, KEY)], limits, |_, _| {}).await
}

#[tokio::test]
async fn what_is_packed_tightly_is_unpacked() {
    // Some 64 KiB when packed, a thousandth of it.
    let storage = Arc::new(MemoryStorage::new());
    put(&storage, KEY, format!("{HEADER}{}", " ".repeat(64 << 20))).await;
    let bundle = gathered(&storage).await;
    let bytes = bundle.to_bytes().unwrap();
    assert!(bundle.size() / bytes.len() as u64 > 900, "{}", bytes.len());
    assert_eq!(read(&bytes).unwrap(), bundle);
}

#[tokio::test]
async fn packing_and_unpacking_refuse_the_same() {
    let (storage, _) = filled().await;
    let bundle = gathered(&storage).await;
    let (size, files) = (bundle.size(), bundle.members().len());
    let bytes = bundle.to_bytes().unwrap();
    for (limits, refused) in [
        (limits(size, files), None),
        (limits(size - 1, files), Some(format!("more than {} bytes", size - 1))),
        (limits(size, files - 1), Some(format!("more than {} files", files - 1))),
    ] {
        for outcome in [gather_within(&storage, &limits).await, Bundle::from_bytes(&bytes, &limits)]
        {
            match (&refused, outcome) {
                (None, outcome) => assert_eq!(outcome.unwrap().members(), bundle.members()),
                (Some(refused), outcome) => {
                    let error = outcome.unwrap_err().to_string();
                    assert!(error.contains(refused), "{error}");
                }
            }
        }
        assert_eq!(bundle.ensure_within(&limits).is_ok(), refused.is_none());
    }
}

#[tokio::test]
async fn what_is_too_large_is_not_read_first() {
    let storage = Arc::new(MemoryStorage::new());
    put(&storage, KEY, HEADER).await;
    let folder = KEY.strip_suffix(".jsonl").unwrap();
    put(&storage, &format!("{folder}/0.bash.log"), vec![b'x'; 1 << 20]).await;
    // The session alone fits, and its artifact not by one byte.
    let whole = (HEADER.len() + (1 << 20)) as u64;
    let refused = gather_within(&storage, &limits(whole - 1, 2)).await.unwrap_err();
    assert!(matches!(refused, BundleError::TooLarge { limit } if limit == whole - 1), "{refused}");
    assert!(gather_within(&storage, &limits(whole, 2)).await.is_ok());
}

#[test]
fn a_manifest_of_64_mebibytes_is_unpacked_and_no_longer_one() {
    let title = |len: usize| {
        let mut bundle = Bundle::default();
        let (id, title) = ("s".to_owned(), Some("t".repeat(len)));
        bundle.sessions.push(BundledSession { key: key(KEY), id, title, cwd: None });
        bundle.members.insert(key(KEY), Bytes::from_static(b"{}\n"));
        bundle
    };
    let rest = super::super::manifest::write(&title(0)).len();
    let longest = title((64 << 20) - rest);
    assert_eq!(read(&longest.to_bytes().unwrap()).unwrap(), longest);
    let refused = title((64 << 20) - rest + 1).to_bytes().unwrap_err();
    assert!(matches!(refused, BundleError::LongNames { limit: 67_108_864 }), "{refused}");
}

#[test]
fn a_bundle_of_incompressible_bytes_is_no_larger_than_is_read() {
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    let mut bundle = Bundle::default();
    let session = BundledSession { key: key(KEY), id: "s".into(), title: None, cwd: None };
    bundle.sessions.push(session);
    bundle.members.insert(key(KEY), Bytes::from_static(b"{}\n"));
    let folder = KEY.strip_suffix(".jsonl").unwrap();
    let log: Vec<u8> = (0..1 << 20).map(|_| noise()).collect();
    bundle.members.insert(key(&format!("{folder}/0.bash.log")), log.into());
    let limits = limits(bundle.size(), 2);
    let bytes = bundle.to_bytes().unwrap();
    assert!(bytes.len() > 1 << 20 && bytes.len() as u64 <= limits.max_packed());
    assert_eq!(Bundle::from_bytes(&bytes, &limits).unwrap(), bundle);
}
