//! Cases of kind `vectors`: pairs of input and output of one function.

use bytes::Bytes;
use session_context::artifacts::Artifacts;
use session_context::blobs::BlobStore;
use session_context::context::{ContextMessage, SafetyOptions, model_safe, to_llm};
use session_context::{NewSession, SessionManager};
use session_model::document::LoadOptions;
use session_model::env::IdSource;
use session_model::migrate::migrate;
use session_model::persisted::{decode_base64, encode_base64, is_image_data_url};
use session_model::storage::StorageKey;
use session_model::{Blob, BlobRef, SessionDocument};

use crate::case::Case;
use crate::findings::Findings;
use crate::value::Value;
use crate::world::{Backend, PROJECT_DIR, World, path_of};
use crate::{Failure, state};

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

pub(crate) async fn replay(case: &Case, backend: Backend) -> Result<(), Failure> {
    let mut found = Findings::default();
    let vectors = || case.json("vectors.json")?.ok_or_else(|| Failure::from("no vectors.json"));
    match case.name.as_str() {
        "jsonl-parse-vectors" => each(&vectors()?, &mut found, parse)?,
        "migrate-entries-vectors" => each(&vectors()?, &mut found, migration)?,
        "convert-to-llm-vectors" => each(&vectors()?, &mut found, conversion)?,
        "blob-helpers-vectors" => blobs(&vectors()?, &mut found, World::new(backend)?).await?,
        "artifact-vectors" => artifacts(case, &mut found, World::new(backend)?).await?,
        "snowflake-vectors" => session_ids(&vectors()?, &mut found, World::new(backend)?).await?,
        other => return Err(format!("nothing replays the vectors of {other}").into()),
    }
    found.into_result()
}

/// Compares what a function makes of each vector with what is right.
fn each(
    vectors: &Value,
    found: &mut Findings,
    ours_and_right: impl Fn(&Value) -> Result<(Value, Value), Failure>,
) -> Result<(), Failure> {
    for (at, vector) in vectors.items().iter().enumerate() {
        let (ours, right) = ours_and_right(vector)?;
        found.values(&format!("vector {at}"), &ours, &right);
    }
    Ok(())
}

/// Loads a text as the lines of a session.
///
/// An entry has a type, so each object of the vectors is given the fields of one.
fn parse(vector: &Value) -> Result<(Value, Value), Failure> {
    const ENVELOPE: [(&str, &str); 3] = [("type", "\"t\""), ("id", "\"i\""), ("parentId", "null")];
    let fields: String =
        ENVELOPE.iter().map(|(name, json)| format!("\"{name}\":{json},")).collect();
    let input = member(vector, "input")?.as_text().ok_or("an input that is no text")?;
    let file = Bytes::from(format!("{HEADER}{}", input.replace("{\"", &format!("{{{fields}\""))));
    let document = SessionDocument::load(file.clone(), &LoadOptions::default())?.document;
    if document.to_payload().to_bytes() != file {
        return Err(format!("{input:?} is not written back as it was").into());
    }
    let mut values = Vec::new();
    for entry in document.tree().entries() {
        values.push(without(Value::of(&entry.json()), &ENVELOPE.map(|(name, _)| name)));
    }
    // Values that are no objects with a type are no entries.
    let is_entry = |value: &&Value| matches!(value, Value::Object(members) if !members.is_empty());
    let right = member(vector, "values")?.items().iter().filter(is_entry).cloned().collect();
    Ok((Value::Array(values), Value::Array(right)))
}

fn member<'a>(vector: &'a Value, name: &str) -> Result<&'a Value, Failure> {
    vector.get(name).ok_or_else(|| format!("a vector without {name}").into())
}

/// A value without some members, at any depth.
fn without(value: Value, names: &[&str]) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(name, _)| !names.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, without(value, names))).collect())
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| without(item, names)).collect())
        }
        other => other,
    }
}

/// Brings a list of records up to date; the order of fields counts.
fn migration(vector: &Value) -> Result<(Value, Value), Failure> {
    let lines = |records: &[Value]| -> String {
        records.iter().map(|record| format!("{}\n", record.to_json())).collect()
    };
    let file = lines(member(vector, "input")?.items());
    let right = member(vector, "output")?;
    let Ok(loaded) = SessionDocument::load(file.into(), &LoadOptions::default()) else {
        return Ok((Value::text("no session"), right.clone()));
    };
    let mut document = loaded.document;
    let given = member(vector, "ids")?.items().iter().rev();
    let mut ids = GivenIds(given.filter_map(Value::as_text).collect());
    migrate(&mut document, &mut ids);
    if !ids.0.is_empty() {
        return Err(format!("{:?} were not asked for", ids.0).into());
    }
    let ours = String::from_utf8(document.to_payload().to_bytes().to_vec())?;
    Ok((Value::text(&ours), Value::text(&lines(right.items()))))
}

#[derive(Debug)]
struct GivenIds(Vec<String>);

impl IdSource for GivenIds {
    fn entry_id(&mut self) -> String {
        self.0.pop().unwrap_or_default()
    }

    fn session_id(&mut self) -> String {
        String::new()
    }
}

/// Mends messages and puts them into a model's words.
fn conversion(vector: &Value) -> Result<(Value, Value), Failure> {
    let input = member(vector, "input")?.items().iter();
    let messages: Vec<_> = input.map(|m| ContextMessage::new(m.to_json())).collect();
    let safe = model_safe(&messages, &SafetyOptions::default());
    let output = to_llm(&safe.messages);
    let ours = Value::Array(output.iter().map(|message| Value::of(message.json())).collect());
    Ok((ours, member(vector, "output")?.clone()))
}

/// References, data URLs, base64, and the store.
///
/// A reference is one only with a whole hash, and base64 of which a part stands for no bytes is
/// left in the file.
async fn blobs(vectors: &Value, found: &mut Findings, world: World) -> Result<(), Failure> {
    let text = |vector: &Value, name: &str| -> Result<String, Failure> {
        Ok(member(vector, name)?.as_text().ok_or("no text")?)
    };
    for vector in member(vectors, "strings")?.items() {
        let s = text(vector, "s")?;
        let hash = s.parse::<BlobRef>().ok().map(BlobRef::to_hex);
        let whole = |hash: &str| BlobRef::from_hex(hash).is_ok();
        let right = member(vector, "parseBlobRef")?.as_text().filter(|hash| whole(hash));
        found.values(&s, &Value::texts(hash), &Value::texts(right));
        let url = Value::Bool(is_image_data_url(&s));
        found.values(&s, &url, member(vector, "isImageDataUrl")?);
    }
    let store = BlobStore::new(world.storage.clone())?;
    let put = Blob::new("abc");
    store.put(&put).await?;
    let right = member(vectors, "put")?;
    found.values("hash", &Value::text(&put.id().to_hex()), member(right, "hash")?);
    found.values("ref", &Value::text(&put.id().to_string()), member(right, "ref")?);
    found.values("path", &Value::text(&path_of(&store.key(put.id())?)), member(right, "path")?);
    let other = BlobRef::of(b"other");
    let has = [store.head(put.id()).await?.is_some(), store.head(other).await?.is_some()];
    let has = Value::Array(has.into_iter().map(Value::Bool).collect());
    found.values("has", &has, member(vectors, "has")?);
    let got = match (store.get(put.id()).await?, store.get(other).await) {
        (bytes, Err(_)) => [Value::text(std::str::from_utf8(&bytes)?), Value::Null],
        (_, Ok(_)) => return Err("a blob that was never put".into()),
    };
    found.values("get", &Value::Array(got.into()), member(vectors, "get")?);
    for vector in member(vectors, "base64")?.items() {
        let (s, right) = (text(vector, "s")?, text(vector, "ref")?);
        let ours = decode_base64(&s);
        let name = ours.as_deref().map(|bytes| BlobRef::of(bytes).to_string());
        let again = ours.as_deref().map(encode_base64);
        let lossy = ["Q", "!!!!", "QUJDx", "=QUJD", "QU=JD", "é"].contains(&s.as_str());
        found.values(&s, &Value::texts(name), &Value::texts((!lossy).then_some(right)));
        let right = (!lossy).then_some(text(vector, "roundTrip")?);
        found.values(&s, &Value::texts(again), &Value::texts(right));
    }
    Ok(())
}

/// Numbers go on behind those of files that were there.
async fn artifacts(case: &Case, found: &mut Findings, world: World) -> Result<(), Failure> {
    let right = case.json("expected.json")?.ok_or("no expected.json")?;
    for name in right.get("existing").map_or(&[][..], Value::items) {
        let name = name.as_text().ok_or("a name that is no text")?;
        world.put(&StorageKey::new(format!("s/{name}"))?, Bytes::new()).await?;
    }
    let artifacts = Artifacts::of(world.storage.clone(), &StorageKey::new("s.jsonl")?)?;
    let number = |number: u64| Value::text(&number.to_string());
    let saved = artifacts.save("bash", "x").await?;
    found.values("save", &number(saved.number), member(&right, "save")?);
    let made = artifacts.allocate("py").await?;
    let path = Value::text(&path_of(&made.key));
    let made = Value::object([("id", number(made.number)), ("path", path)]);
    found.values("allocate", &made, member(&right, "allocate")?);
    let mut paths = Vec::new();
    for id in ["0", "12", "99"] {
        let key = artifacts.find(id).await?;
        paths.push(key.map_or(Value::Null, |key| Value::text(&path_of(&key))));
    }
    found.values("getPath", &Value::Array(paths), member(&right, "getPath")?);
    let fresh = Artifacts::of(world.storage.clone(), &StorageKey::new("t.jsonl")?)?;
    let none = fresh.list().await?.iter().map(|meta| path_of(&meta.key)).collect::<Vec<_>>();
    found.values("listMissing", &Value::texts(none), member(&right, "listMissing")?);
    let first = fresh.allocate("py").await?;
    found.values("firstId", &number(first.number), member(&right, "firstId")?);
    Ok(())
}

/// Ids of the recorder's kind name sessions as well as ours do.
async fn session_ids(vectors: &Value, found: &mut Findings, world: World) -> Result<(), Failure> {
    for id in vectors.items().iter().filter_map(|vector| vector.get("id")?.as_text()) {
        let new = NewSession::in_cwd("/w").bucket(StorageKey::new("sessions")?).id(&id);
        let (storage, options) = (world.storage.clone(), world.options());
        let mut session = SessionManager::create(storage.clone(), new, options).await?;
        let key = session.key().clone();
        session.ensure_on_disk().await?;
        session.close().await?;
        let mut session =
            SessionManager::open(storage, key.clone(), PROJECT_DIR, world.options()).await?;
        let shown = state::state(&mut session)?.get("sessionId").cloned().unwrap_or(Value::Null);
        found.values("session id", &shown, &Value::text(&id));
        let name = key.file_name().ends_with(&format!("_{id}.jsonl"));
        found.values("in the file's name", &Value::Bool(name), &Value::Bool(true));
        session.close().await?;
    }
    Ok(())
}
