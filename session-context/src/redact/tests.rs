//! Every kind of secret is found wherever it hides, and what is none stays.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

use session_model::json::ObjectBuilder;

use super::encodings::encodings;
use super::rule::Needs;
use super::*;

/// A secret of each kind, put together here so that no scanner takes this file for a leak.
fn secrets() -> Vec<(&'static str, String)> {
    let letters = "q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsAeRtUoIyWzQk";
    let hex = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let some = |count: usize| letters.chars().cycle().take(count).collect::<String>();
    let digits = |count: usize| &hex[..count];
    let jwt = |text: &str| STANDARD.encode(text).trim_end_matches('=').to_owned();
    vec![
        ("anthropic-key", format!("sk-{}-api03-{}", "ant", some(40))),
        ("openai-key", format!("sk-{}-{}", "proj", some(40))),
        ("openai-key", format!("sk-{}-{}", "test", "0".repeat(24))),
        ("google-api-key", format!("AI{}{}", "za", some(35))),
        ("google-oauth", format!("ya{}.{}", "29", some(40))),
        ("aws-key-id", format!("AK{}{}", "IA", "IOSFODNN7EXAMPLE")),
        ("github-token", format!("gh{}_{}", "p", some(36))),
        ("github-token", format!("github_{}_{}", "pat", some(40))),
        ("gitlab-token", format!("gl{}-{}", "pat", some(20))),
        ("slack-token", format!("xo{}-1234567890-{}", "xb", some(24))),
        ("slack-webhook", format!("T00000000/B00000000/{}", some(24))),
        ("discord-webhook", some(68)),
        ("telegram-token", format!("123456789:A{}{}", "A", some(33))),
        ("stripe-key", format!("sk_{}_{}", "live", some(24))),
        ("huggingface-token", format!("h{}_{}", "f", some(34))),
        ("npm-token", format!("np{}_{}", "m", some(36))),
        ("pypi-token", format!("py{}-{}", "pi", some(60))),
        ("crates-token", format!("ci{}{}", "o", some(32))),
        ("groq-key", format!("gs{}_{}", "k", some(52))),
        ("xai-key", format!("xa{}-{}", "i", some(80))),
        ("perplexity-key", format!("ppl{}-{}", "x", some(48))),
        ("replicate-token", format!("r{}_{}", "8", some(37))),
        ("databricks-token", format!("da{}{}", "pi", digits(32))),
        ("digitalocean-token", format!("do{}_v1_{}", "p", digits(64))),
        ("docker-token", format!("dc{}_pat_{}", "kr", some(27))),
        ("hashicorp-token", format!("hv{}.{}", "s", some(90))),
        ("sendgrid-key", format!("S{}.{}.{}", "G", some(22), some(43))),
        ("shopify-token", format!("sh{}_{}", "pat", digits(32))),
        ("supabase-key", format!("sb{}_{}", "p", digits(40))),
        ("twilio-key", format!("S{}{}", "K", digits(32))),
        ("mailgun-key", format!("ke{}-{}", "y", digits(32))),
        ("linear-key", format!("li{}_api_{}", "n", some(40))),
        ("notion-token", format!("nt{}_{}", "n", some(46))),
        ("postman-key", format!("PM{}-{}-{}", "AK", digits(24), digits(34))),
        ("age-key", format!("AGE-{}-1{}", "SECRET-KEY", some(58).to_uppercase())),
        ("jwt", format!("{}.{}.{}", jwt(r#"{"alg":"HS256"}"#), jwt(r#"{"sub":"1234"}"#), some(43))),
        ("high-entropy", some(40)),
    ]
}

fn digits_of(count: usize) -> String {
    "0123456789abcdef".chars().cycle().take(count).collect()
}

/// How a secret of a kind stands in text, where it has no form of its own.
fn told(kind: &str, secret: &str) -> String {
    match kind {
        "slack-webhook" => format!("https://hooks.slack.com/services/{secret}"),
        "discord-webhook" => {
            format!("https://discord.com/api/webhooks/123456789012345678/{secret}")
        }
        _ => secret.to_owned(),
    }
}

pub(crate) fn texts() -> Vec<(&'static str, String, String)> {
    let mut all: Vec<_> =
        secrets().into_iter().map(|(kind, secret)| (kind, told(kind, &secret), secret)).collect();
    let line = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfnygWyF8PbnGy0AHB7MaM5VpZ9cGBkZk2aQ";
    let pem = |title: &str| {
        format!(
            "-----BEGIN {title} {}-----\n{line}\n{line}\n-----END {title} {}-----",
            "KEY", "KEY"
        )
    };
    all.extend([
        (
            "bearer-token",
            "Authorization: Bearer abcdef0123456789".into(),
            "abcdef0123456789".into(),
        ),
        ("basic-auth", "x Basic dXNlcjpodW50ZXIyMg==".into(), "dXNlcjpodW50ZXIyMg==".into()),
        ("url-password", "postgres://user:hunter2!pw@db.example.com/x".into(), "hunter2!pw".into()),
        ("url-password", "curl -u admin:hunter2!pw https://x".into(), "hunter2!pw".into()),
        ("url-password", "ftp://u:p4/s@s@example.com/x".into(), "p4/s@s".into()),
        ("connection-string-password", "Server=h;Uid=u;Pwd=hunterpw;".into(), "hunterpw".into()),
        ("connection-string-password", "Pwd=hunterpw;Server=h;".into(), "hunterpw".into()),
        ("netrc-password", "machine h.example.com login u password hunter".into(), "hunter".into()),
        (
            "netrc-password",
            "machine h.example.com\n\tlogin u\n\tpassword hunter-pw\n".into(),
            "hunter-pw".into(),
        ),
        ("pgpass-password", "db.example.com:5432:app:me:hunterpw".into(), "hunterpw".into()),
        ("command-password", "mysql -u root -phunterpw app".into(), "hunterpw".into()),
        ("command-password", "sshpass -p hunterpw ssh h".into(), "hunterpw".into()),
        ("command-password", "echo hunterpw | sudo -S ls".into(), "hunterpw".into()),
        ("spoken-password", "The password is hunter2pw".into(), "hunter2pw".into()),
        ("spoken-password", "The password is 'hunterpw'".into(), "hunterpw".into()),
        ("named-secret", "<password>hunterpw</password>".into(), "hunterpw".into()),
        ("named-secret", "define('DB_PASSWORD','hunterpw');".into(), "hunterpw".into()),
        ("command-password", "keytool -list -storepass hunter2Pw".into(), "hunter2Pw".into()),
        ("command-password", "lftp -u ada,hunter2Pw ftp.example.com".into(), "hunter2Pw".into()),
        ("command-password", "net use Z: /user:ada hunter2Pw".into(), "hunter2Pw".into()),
        ("command-password", "http -a ada:hunter2Pw https://h".into(), "hunter2Pw".into()),
        ("command-password", "sqlplus scott/hunter2Pw@db".into(), "hunter2Pw".into()),
        ("command-password", "requirepass hunter2Pw".into(), "hunter2Pw".into()),
        ("command-password", "AUTH default hunter2Pw".into(), "hunter2Pw".into()),
        (
            "command-password",
            "ConvertTo-SecureString 'hunter2Pw' -AsPlainText".into(),
            "hunter2Pw".into(),
        ),
        (
            "command-password",
            "CREATE USER 'a'@'h' IDENTIFIED BY 'hunter2Pw';".into(),
            "hunter2Pw".into(),
        ),
        ("command-password", "ALTER ROLE a PASSWORD 'hunter2Pw';".into(), "hunter2Pw".into()),
        ("command-password", "psk=hunter2Pw".into(), "hunter2Pw".into()),
        ("command-password", "ansible_become_pass: hunter2Pw".into(), "hunter2Pw".into()),
        ("command-password", "::add-mask::hunter2Pw".into(), "hunter2Pw".into()),
        ("command-password", "config.setPassword('hunter2Pw')".into(), "hunter2Pw".into()),
        (
            "connection-string-password",
            "jdbc:oracle:thin:scott/hunter2Pw@//db:1521/x".into(),
            "hunter2Pw".into(),
        ),
        ("spoken-password", "**Password:** hunter2Pw".into(), "hunter2Pw".into()),
        ("spoken-password", "| password | hunter2Pw |".into(), "hunter2Pw".into()),
        ("spoken-password", "the password `hunter2Pw` fits".into(), "hunter2Pw".into()),
        ("spoken-password", "# passphrase hunter2Pw".into(), "hunter2Pw".into()),
        ("named-secret", "const API_TOKEN: &str = 'hunter2Pw';".into(), "hunter2Pw".into()),
        ("named-secret", "set -x API_TOKEN hunter2Pw".into(), "hunter2Pw".into()),
        ("named-secret", "api_token: |\n  hunter2Pw\n".into(), "hunter2Pw".into()),
        (
            "heroku-key",
            format!("heroku key: 01234567-89ab-cdef-0123-{}", digits_of(12)),
            format!("01234567-89ab-cdef-0123-{}", digits_of(12)),
        ),
        (
            "putty-key",
            format!("Private-Lines: 2\n{line}\nAAAAC3Nz\nPrivate-MAC: {}", digits_of(40)),
            line.into(),
        ),
        ("named-secret", "DB_PASSWORD=correcthorse".into(), "correcthorse".into()),
        ("named-secret", "{\"clientSecret\": \"correct horse\"}".into(), "correct horse".into()),
        ("named-secret", "password: hunter2battery".into(), "hunter2battery".into()),
        ("private-key", pem("RSA PRIVATE"), line.into()),
        ("private-key", pem("OPENSSH PRIVATE"), line.into()),
    ]);
    all
}

/// What is left of a text, and the kinds that were hidden.
fn hidden(text: &str) -> (String, Vec<&'static str>) {
    let mut redactor = Redactor::new().unwrap();
    let text = redactor.hide_in_text("t", text).into_owned();
    let report = redactor.into_report();
    (text, report.kinds().map(|(kind, _)| kind).collect())
}

#[track_caller]
fn assert_hidden(text: &str, secret: &str, kind: &str) {
    let (left, kinds) = hidden(text);
    assert!(!left.contains(secret), "{kind} is left in {left}");
    assert!(kinds.contains(&kind), "{kind} is not among {kinds:?} of {left}");
    assert_eq!(hidden(&left), (left.clone(), vec![]), "what is hidden is hidden again");
}

#[test]
fn a_secret_of_each_kind_is_hidden_in_text() {
    for (kind, text, secret) in texts() {
        assert_hidden(&text, &secret, kind);
        assert_hidden(&format!("before {text} after"), &secret, kind);
        assert_hidden(&format!("(see \"{text}\".)\n"), &secret, kind);
    }
}

#[test]
fn secrets_are_hidden_in_every_encoding() {
    let mut left = Vec::new();
    for (kind, text, secret) in texts() {
        for encoded in encodings(&text, &secret) {
            assert!(encoded.is_in(&encoded.text), "{kind} as {}", encoded.way);
            if encoded.is_in(&hidden(&encoded.text).0) {
                left.push(format!("{kind} as {}", encoded.way));
            }
        }
    }
    // What is random in an image is no secret more often than not.
    assert_eq!(left, ["high-entropy as base64 of an image"]);
}

#[test]
fn a_known_secret_is_hidden_in_every_encoding() {
    for encoded in encodings("it is hunter2battery here", "hunter2battery") {
        let mut redactor = Redactor::new().unwrap();
        redactor.hide_in_text("a", "password: hunter2battery");
        let left = redactor.hide_known_in_text("b", &encoded.text);
        assert!(!encoded.is_in(&left), "{} is left in {left:?}", encoded.way);
    }
}

#[test]
fn bytes_that_are_no_text_keep_their_length() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let around = |text: &str| {
        let wide = wide(text);
        [&b"\xff\x01"[..], text.as_bytes(), b"\xfe\0\0\x02", &wide, b"\x01\0\0\xff"].concat()
    };
    for (kind, text, secret) in texts() {
        let bytes = around(&text);
        let mut redactor = Redactor::new().unwrap();
        let left = redactor.hide_in_bytes("b", &bytes);
        let has = |part: &[u8]| left.windows(part.len()).any(|window| window == part);
        assert!(!has(secret.as_bytes()) && !has(&wide(&secret)), "{kind} in {left:?}");
        assert_eq!(left.len(), bytes.len());
        let as_text = Redactor::new().unwrap().hide_in_bytes("b", text.as_bytes()).into_owned();
        assert_eq!(as_text, hidden(&text).0.as_bytes());
    }
    let bytes = around("DB_PASSWORD=correcthorse");
    let left = Redactor::new().unwrap().hide_in_bytes("b", &bytes).into_owned();
    assert_eq!(left, around("DB_PASSWORD=************"));
    let image = [&b"\x89PNG\r\n\x1a\n"[..], &(0..=255).collect::<Vec<u8>>().repeat(8)].concat();
    assert_eq!(Redactor::new().unwrap().hide_in_bytes("b", &image), image);
    let mut redactor = Redactor::new().unwrap();
    redactor.hide_in_text("a", "password: hunter2battery");
    let left = redactor.hide_known_in_bytes("b", b"\xffhunter2battery\xff");
    assert_eq!(&*left, b"\xff**************\xff");
}

#[test]
fn what_only_looks_sealed_is_looked_at() {
    let key = format!("sk-{}-api03-{}", "ant", "q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsA");
    let mut redactor = Redactor::new().unwrap();
    let json = |text: &str| RawJson::parse(text.to_owned()).unwrap();
    let item =
        format!(r#"{{"summary":[{{"text":"it is {key}"}}],"encrypted_content":"gAAAAABo"}}"#);
    let value = ObjectBuilder::new().string("signature", &key).string("thinkingSignature", &item);
    let left = redactor.hide("a", &value.build());
    let hidden = item.replace(&key, "[redacted:anthropic-key]");
    let want = ObjectBuilder::new().string("signature", "[redacted:anthropic-key]");
    assert_eq!(left, want.string("thinkingSignature", &hidden).build());
    let sealed = json(
        r#"{"signature":"Eq8CCkYIBRgCKkAIzaSyA1234567890abcdefghijklmnopqrstuv+AKIAIOSFODNN7EXAMPLE/x="}"#,
    );
    assert_eq!(redactor.hide("b", &sealed), sealed);
}

#[test]
fn names_of_fields_tell_of_secrets() {
    let value = RawJson::parse(
        r#"{"env":{"API_KEY":"abcd","tokens":["abcd"],"password":["abcd",1]},"args":"{\"pass\u0077ord\":\"a b c\"}","token":"$TOKEN"}"#,
    )
    .unwrap();
    let mut redactor = Redactor::new().unwrap();
    let left = redactor.hide("entry 1", &value);
    assert_eq!(
        left.as_str(),
        r#"{"env":{"API_KEY":"[redacted:named-secret]","tokens":["abcd"],"password":["[redacted:named-secret]",1]},"args":"{\"password\":\"[redacted:named-secret]\"}","token":"$TOKEN"}"#
    );
    assert_eq!(
        redactor.into_report().to_json().as_str(),
        r#"[{"kind":"named-secret","count":3,"places":["entry 1"]}]"#
    );
}

#[test]
fn what_a_name_gave_away_is_hidden_where_it_stands_alone() {
    let mut redactor = Redactor::new().unwrap();
    let value = RawJson::parse(r#"{"password":"hunter2battery","token":"workspace"}"#).unwrap();
    redactor.hide("a", &value);
    let plain = r#"["it is hunter2battery, not hunter2 in a workspace", "-phunter2battery hunter2batterypack"]"#;
    let left = redactor.hide_known("b", &RawJson::parse(plain).unwrap());
    assert_eq!(
        left.as_str(),
        r#"["it is [redacted:named-secret], not hunter2 in a workspace", "-p[redacted:named-secret] hunter2batterypack"]"#
    );
    assert_eq!(redactor.hide_known("c", &RawJson::null()), RawJson::null());
}

#[test]
fn signatures_stay_unless_what_they_sign_is_changed() {
    let signature = "q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsA";
    let entry = |thinking: &str, signature: &str| {
        RawJson::parse(format!(
            r#"{{"type":"message","message":{{"content":[{{"type":"thinking","thinking":"{thinking}"{signature}}}]}}}}"#
        ))
        .unwrap()
    };
    let signed = format!(r#","thinkingSignature":"{signature}""#);
    let clean = entry("nothing", &signed);
    let mut redactor = Redactor::new().unwrap();
    assert_eq!(redactor.hide("e", &clean), clean);
    let left = redactor.hide("e", &entry("DB_PASSWORD=abcd", &signed));
    assert_eq!(left, entry("DB_PASSWORD=[redacted:named-secret]", ""));
}

#[test]
fn the_shapes_of_all_rules_are_hidden_made_anew() {
    let mut runner = TestRunner::deterministic();
    let mut left = Vec::new();
    let others = regex::bytes::Regex::new(r"(?-u)\[\^(?:\\.|[^\]\\])*\]").unwrap();
    // Those that are told by what stands around them are among `texts`.
    for rule in rules::all().filter(|rule| !rule.told) {
        // What a pattern says of ASCII is said to the maker of samples, and boundaries are spaces.
        let ascii = [
            (r"?\b(", "? ("),
            (r"\b", ""),
            (r"\z", ""),
            (r"\w", "a-z0-9_"),
            (r"[\s\S]", "[a-z]"),
            (r"\S", "[a-z0-9]"),
        ];
        let known = others.replace_all(rule.regex.as_bytes(), &b"[0-9]"[..]).into_owned();
        let known = String::from_utf8(known).unwrap();
        let known = ascii.iter().fold(known, |all, (from, to)| all.replace(from, to));
        let known = known.replace(r"\s", "[ ]").replace("(?i:", "(?:");
        let strategy = string_regex(&known).unwrap();
        let mut made = 0;
        for _ in 0..200 {
            let mut sample = strategy.new_tree(&mut runner).unwrap().current();
            if rule.beside {
                sample = format!("{}_api_key={sample}", rule.marks[0].trim());
            }
            let has_mark =
                |mark: &&str| sample.to_ascii_lowercase().contains(&mark.to_ascii_lowercase());
            if !rule.marks.iter().any(has_mark) || !catalogue::meets(&sample, rule.needs) {
                continue;
            }
            made += 1;
            let text = format!("x {sample}\ny");
            if hidden(&text).0 == text {
                left.push((rule.kind, sample));
            }
            if made == 8 {
                break;
            }
        }
        if made == 0 && rule.needs != Needs::UserAndPassword {
            left.push((rule.kind, "no sample has a mark of the rule".into()));
        }
    }
    assert_eq!(left, []);
}

#[test]
fn the_document_of_exports_names_every_kind_in_its_family() {
    let document = include_str!("../../../docs/export.md");
    let mut families: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for shape in Redactor::shapes() {
        match families.last_mut().filter(|(family, _)| *family == shape.family) {
            Some((_, kinds)) => _ = kinds.insert(shape.kind),
            None => families.push((shape.family, BTreeSet::from([shape.kind]))),
        }
    }
    for (family, kinds) in families {
        let kinds: Vec<_> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
        let row = format!("| {family} | {} |\n", kinds.join(", "));
        assert!(document.contains(&row), "docs/export.md lacks\n{row}");
    }
}

#[test]
fn names_of_fields_and_titles_of_every_rule_are_hidden() {
    for (kind, text, secret) in texts() {
        let json = ObjectBuilder::new().string(&text, "x").build();
        let left = Redactor::new().unwrap().hide("k", &json);
        let escaped = RawJson::string(&secret).as_str().trim_matches('"').to_owned();
        assert!(!left.as_str().contains(&escaped), "{kind} in {left}");
    }
}

#[test]
fn what_is_no_secret_stays() {
    let image = STANDARD.encode([&b"\x89PNG\r\n\x1a\n"[..], &[0x9c; 4_000]].concat());
    for text in [
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "id 550e8400-e29b-41d4-a716-446655440000, 0195D3C4-5B7A-7000-8000-0123456789AB",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "integrity sha512-q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsAq8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsAq8Xv2Lr9Tz4Kw1Yb6Ng==",
        "call toolu_01XFDUDYJgAACzvnptvVoYELq8",
        "sk-learn-is-a-library-and-this-is-no-key",
        "task-management-and-risk-assessment-in-teams",
        "https://example.com:8080/path@2x.png and user@example.com",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a@b",
        "use std::collections::HashMap; fn token(&self) -> Option<Token> { self.token.clone() }",
        "const { accessToken, refreshToken } = await login(user, password);",
        "| token | type | secret: required | the author's keyboard |",
        "pub fn decode_with_allow_trailing_bits2(Engine: GeneralPurposeConfig64)",
        "Basic <configuration> and Basic Authorization, Basic authentication",
        "type Err<Authorization> = Result<(), Err<Authorization>>;",
        "\"password_required\": \"Password not found in the vault\"",
        "\"apiKey\": \"ollama\", \"apiKey\": \"lm-studio\"",
        "Basic authentication is configured; the password is required, the token is invalid.",
        "the password is available\\n, if the secret is stored in a vault, the key is missing",
        "machine learning by default password managers login pages",
        "mysql -u root -p app < dump.sql && mkdir -p /tmp/x; echo hello | sudo tee x",
        "docker run -p 3306:3306 mysql && kubectl get pods",
        "src/main.rs:5432:10: error: expected one of",
        "\\u00e9t\\u00e9 and 100%25 and C:\\new\\table",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\nRTESMBAGA1UEChMJQmFsdGltb3JlMRMwEQYDVQQLEwpDeWJlclRydXN0MSIwIAYD\n-----END CERTIFICATE-----",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        &image,
        &format!("data:image/png;base64,{image}"),
    ] {
        assert_eq!(hidden(text), (text.to_owned(), vec![]));
    }
}

#[test]
fn a_value_that_is_cut_in_a_character_is_hidden_whole() {
    for before in ["", "a", "ab"] {
        let text = format!("{before} password=%ffx1{}%", "é€".repeat(1_500));
        let (left, kinds) = hidden(&text);
        assert!(left.starts_with(&format!("{before} password=[redacted:named-secret]")), "{left}");
        assert_eq!(kinds, ["named-secret"]);
    }
}

proptest! {
    #[test]
    fn no_text_around_it_saves_a_secret(
        text in r#"(\PC|[\\%"'=: \n]|token|PASSWORD=|\\u00|%4|-----BEGIN |PRIVATE KEY-----|Bearer ){0,60}"#
    ) {
        let secret = format!("gh{}_{}", "p", "q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsAeRtU");
        let (left, _) = hidden(&format!("{text} {secret} {text}"));
        prop_assert!(!left.contains(&secret), "{}", left);
    }
}
