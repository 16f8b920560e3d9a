//! Reading and writing of records, whatever the object holds.

#![allow(unreachable_pub, reason = "records are always public")]

use super::*;
use crate::json::{RawJson, to_json_string};

record! {
    value
    /// A record with a field of every kind.
    pub struct Sample {
        /// Text.
        text: String = "text",
        /// A flag.
        flag: bool = "flag",
        /// A whole number.
        count: u64 = "count",
        /// A whole number that may be negative or missing.
        offset: Option<i64> = "offset",
        /// Any number.
        ratio: Option<f64> = "ratio",
        /// A number, `null`, or nothing.
        level: Nullable<i64> = "level",
        /// A colour.
        colour: Option<Colour> = "colour",
        /// Texts.
        tags: Option<Vec<String>> = "tags",
        /// A record in the record.
        inner: Option<Inner> = "inner",
        /// Any value.
        any: Option<RawJson> = "any",
    }
}

record! {
    value
    /// A record in a record.
    pub struct Inner {
        /// Text.
        name: String = "name",
    }
}

string_enum! {
    /// A colour.
    pub enum Colour {
        /// Red.
        Red = "red",
    }
}

const FULL: &str = r#"{"text":"t","flag":true,"count":100,"offset":-3,"ratio":0.5,"level":null,"colour":"red","tags":["a","b"],"inner":{"name":"n"},"any":[1.0]}"#;

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).unwrap()
}

fn read(text: &str) -> Sample {
    Sample::from_json(&raw(text)).unwrap()
}

fn full() -> Sample {
    Sample {
        text: "t".into(),
        flag: true,
        count: 100,
        offset: Some(-3),
        ratio: Some(0.5),
        level: Nullable::Null,
        colour: Some(Colour::Red),
        tags: Some(vec!["a".into(), "b".into()]),
        inner: Some(Inner { name: "n".into(), ..Default::default() }),
        any: Some(raw("[1.0]")),
        ..Default::default()
    }
}

fn rewritten(text: &str) -> String {
    read(text).to_json().to_string()
}

#[test]
fn fields_are_typed_and_written_in_the_declared_order() {
    assert_eq!(read(FULL), full());
    assert_eq!(full().to_json().as_str(), FULL);
    assert_eq!(full().inner.unwrap().to_json().as_str(), r#"{"name":"n"}"#);
    assert_eq!(Sample::default().to_json().as_str(), r#"{"text":"","flag":false,"count":0}"#);
    assert_eq!(Sample::from_json(&raw("[]")), None);
}

#[test]
fn unknown_fields_keep_name_value_order_and_duplicates() {
    let text = r#"{"text":"t","flag":false,"count":1,"z":1.0,"\u0061\ud800":{"x":1e2},"z":2}"#;
    let sample = read(text);
    assert_eq!(sample.to_json().as_str(), text);
    assert_eq!(sample.extra.get("z"), Some(&raw("2")));
    let names: Vec<_> = sample.extra.fields().iter().map(|f| f.raw_name().to_string()).collect();
    assert_eq!(names, [r#""z""#, r#""\u0061\ud800""#, r#""z""#]);
}

#[test]
fn the_order_that_was_read_is_kept() {
    for text in [
        r#"{"x":1,"count":1,"text":"t","y":2,"flag":true,"z":3}"#,
        r#"{"inner":{"more":[],"name":"n"},"flag":true}"#,
        "{}",
        r#"{"any":null}"#,
    ] {
        assert_eq!(rewritten(text), text);
    }
}

#[test]
fn a_value_of_another_type_stays_until_the_field_is_set() {
    let text = r#"{"text":7,"flag":"yes","count":-1,"offset":1.5,"ratio":1e400,"level":"x","colour":0,"tags":["a",1],"inner":[],"more":1}"#;
    let mut sample = read(text);
    let typed = Sample { extra: sample.extra.clone(), ..Default::default() };
    assert_eq!(sample, typed);
    assert_eq!(sample.extra.get("flag"), Some(&raw("\"yes\"")));
    assert_eq!(sample.to_json().as_str(), text);
    sample.text = "new".into();
    sample.offset = Some(2);
    let want = text.replace("\"text\":7", "\"text\":\"new\"").replace("1.5", "2");
    assert_eq!(sample.to_json().as_str(), want);
}

#[test]
fn fields_set_after_reading_follow_those_that_were_read() {
    let mut sample = read(r#"{"x":1,"flag":true}"#);
    sample.text = "t".into();
    sample.extra.set("y", raw("2"));
    sample.extra.set("x", raw("3"));
    assert_eq!(sample.to_json().as_str(), r#"{"x":3,"flag":true,"text":"t","y":2}"#);
    sample.flag = false;
    assert_eq!(sample.to_json().as_str(), r#"{"x":3,"flag":false,"text":"t","y":2}"#);
}

#[test]
fn of_a_known_field_given_twice_the_last_holds() {
    let sample = read(r#"{"text":"a","flag":true,"\u0074ext":"b","count":1}"#);
    assert_eq!(sample.text, "b");
    assert_eq!(sample.to_json().as_str(), r#"{"text":"b","flag":true,"count":1}"#);
}

#[test]
fn null_is_neither_a_value_nor_missing() {
    let text = r#"{"text":null,"flag":null,"count":null,"offset":null,"level":null,"any":null}"#;
    let sample = read(text);
    assert_eq!((sample.offset, &sample.level), (None, &Nullable::Null));
    assert_eq!(sample.any, None);
    assert_eq!(sample.to_json().as_str(), text);
    assert_eq!(read(r#"{"level":3}"#).level, 3.into());
}

#[test]
fn text_and_numbers_are_written_as_json_stringify_does() {
    let sample = read(r#"{"text":"\u00e9\ud800","flag":true,"count":1e2,"ratio":1.50}"#);
    assert_eq!((&*sample.text, sample.count, sample.ratio), ("é\u{fffd}", 100, Some(1.5)));
    let want = "{\"text\":\"é\u{fffd}\",\"flag\":true,\"count\":100,\"ratio\":1.5}";
    assert_eq!(sample.to_json().as_str(), want);
    let infinite = Sample { ratio: Some(f64::INFINITY), ..Default::default() };
    let want = r#"{"text":"","flag":false,"count":0,"ratio":null}"#;
    assert_eq!(infinite.to_json().as_str(), want);
}

#[test]
fn values_are_written_on_one_line() {
    let sample = read("{ \"text\" : \"t\",\n\"any\" : [ 1 ],\r\n\"x y\" : { } }");
    assert_eq!(sample.to_json().as_str(), r#"{"text":"t","any":[1],"x y":{}}"#);
}

#[test]
fn other_strings_of_an_enum_are_kept() {
    let sample = read(r#"{"colour":"mauve"}"#);
    assert_eq!(sample.colour, Some(Colour::Other("mauve".into())));
    assert_eq!(sample.to_json().as_str(), r#"{"colour":"mauve"}"#);
    assert_eq!((Colour::from("red"), Colour::Red.to_string()), (Colour::Red, "red".to_owned()));
}

#[test]
fn serde_reads_and_writes_the_same_text() {
    let list = format!("[{FULL},{{\"n\":1.0,\"text\":\"\\u0041\"}}]");
    let samples: Vec<Sample> = serde_json::from_str(&list).unwrap();
    assert_eq!(samples, [full(), read(r#"{"n":1.0,"text":"A"}"#)]);
    assert_eq!(to_json_string(&samples).unwrap(), list.replace("\\u0041", "A"));
    assert_eq!(serde_json::from_str::<Colour>("\"red\"").unwrap(), Colour::Red);
    let error = serde_json::from_str::<Sample>("1").unwrap_err().to_string();
    assert_eq!(error, "the value is no Sample");
}

#[test]
fn any_depth_passes() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    for name in ["text", "tags", "inner", "any", "unknown"] {
        let text = format!("{{\"{name}\":{deep}}}");
        assert!(rewritten(&text) == text, "{name}");
    }
}
