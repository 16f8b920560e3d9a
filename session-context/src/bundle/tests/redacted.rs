//! Bundles without secrets.

use super::*;

#[tokio::test]
async fn a_redacted_bundle_leaks_no_secret() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use session_model::json::RawJson;

    for (kind, text, secret) in crate::redact::tests::texts() {
        let storage = Arc::new(MemoryStorage::new());
        let said = RawJson::string(&text);
        let base64 = STANDARD.encode(format!("note: {text}\n"));
        let log = Blob::new(format!("log\n{text}\n{base64}\n"));
        BlobStore::new(storage.clone()).unwrap().put(&log).await.unwrap();
        let header =
            format!("{{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/w\",\"title\":{said}}}\n");
        let line =
            format!("{{\"type\":\"custom\",\"id\":\"a\",\"data\":[{said},\"{}\"]}}\n", log.id());
        put(&storage, KEY, format!("{header}{line}damaged {said}\n")).await;
        let folder = KEY.strip_suffix(".jsonl").unwrap();
        put(&storage, &format!("{folder}/0.bash.log"), format!("{text}\n{base64}")).await;
        put(&storage, &format!("{folder}/Child.jsonl"), format!("{header}{line}")).await;
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let bytes = [&b"\xff\x01"[..], text.as_bytes(), b"\x01\xff", &wide, b"\x01\xff"].concat();
        put(&storage, &format!("{folder}/1.bin.log"), bytes.clone()).await;
        put(&storage, &format!("{folder}/2.wide.log"), wide.clone()).await;
        let image = Blob::new([b"\x89PNG\r\n\x1a\n", &bytes[..]].concat());
        BlobStore::new(storage.clone()).unwrap().put(&image).await.unwrap();
        put(&storage, &format!("{folder}/3.x.log"), image.id().to_string()).await;
        let named = format!("{folder}/4.{text}.log");
        if StorageKey::new(&named).is_ok() {
            put(&storage, &named, "x").await;
        }
        let (bundle, report) = gathered(&storage).await.redacted(|_, _| {}).unwrap();
        assert!(report.kinds().any(|(hidden, _)| hidden == kind), "{kind}");
        let escaped = RawJson::string(&secret).as_str().trim_matches('"').to_owned();
        let manifest = super::super::manifest::write(&bundle);
        let files = bundle.members().values().map(|bytes| String::from_utf8_lossy(bytes));
        for file in files.chain([manifest.into()]) {
            let leak = [&secret, &escaped, &base64].into_iter().find(|s| file.contains(s.as_str()));
            assert_eq!(leak, None, "{kind} in {file}");
        }
        let wide: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (key, bytes) in bundle.members() {
            assert!(!bytes.windows(wide.len()).any(|part| part == wide), "{kind} in {key}");
        }
        let read = read(&bundle.to_bytes().unwrap()).unwrap();
        assert!(read.is_redacted());
        let session = read.members()[&key(KEY)].clone();
        let named: Vec<_> = super::super::references::blobs_in(&session).collect();
        assert_eq!(named.len(), 1);
        assert_ne!(named[0], log.id());
        assert!(read.members().contains_key(&key(&format!("blobs/{}", named[0].to_hex()))));
    }
}

#[tokio::test]
async fn names_keep_no_secret_and_stay_together() {
    let token = |end: &str| format!("gh{}_q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsAeRtU{end}", "p");
    let (one, two) = (token("1"), token("2"));
    let storage = Arc::new(MemoryStorage::new());
    let session = |id: &str| format!("{{\"type\":\"session\",\"id\":\"{id}\",\"cwd\":\"/w\"}}\n");
    let main = format!("sessions/--w-{one}--/2026_{one}");
    put(&storage, &format!("{main}.jsonl"), session("s")).await;
    put(&storage, &format!("{main}/0.{one}.log"), "a").await;
    put(&storage, &format!("{main}/0.{two}.log"), "b").await;
    put(&storage, &format!("{main}/{two}.jsonl"), session("c")).await;
    put(&storage, &format!("{main}/{two}/0.[redacted-github-token].log"), "c").await;
    put(&storage, &format!("{main}/{two}/0.{one}.log"), "d").await;
    let source = source(&storage, &format!("{main}.jsonl"));
    let bundle = Bundle::gather(&[source], &BundleLimits::default(), |_, _| {}).await.unwrap();
    let (bundle, report) = bundle.redacted(|_, _| {}).unwrap();
    let hidden = "[redacted-github-token]";
    let main = format!("sessions/--w-{hidden}--/2026_{hidden}");
    let want = [
        (format!("{main}.jsonl"), session("s")),
        (format!("{main}/0.{hidden}.log"), "a".into()),
        (format!("{main}/0.{hidden}.log-2"), "b".into()),
        (format!("{main}/{hidden}.jsonl"), session("c")),
        (format!("{main}/{hidden}/0.{hidden}.log"), "c".into()),
        (format!("{main}/{hidden}/0.{hidden}.log-2"), "d".into()),
    ];
    let files: Vec<_> =
        bundle.members().iter().map(|(key, bytes)| (key.to_string(), bytes.clone())).collect();
    assert_eq!(files, want.map(|(key, text)| (key, Bytes::from(text))));
    assert_eq!(bundle.sessions()[0].key, key(&format!("{main}.jsonl")));
    assert_eq!(report.to_string(), "github-token: 6 in [redacted]");
    let unpacked = read(&bundle.to_bytes().unwrap()).unwrap();
    assert_eq!(unpacked.members(), bundle.members());
}
