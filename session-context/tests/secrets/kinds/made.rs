//! Values that take more than a row: keys in files, checksums, and texts with a structure.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use super::{Kind, Made};
use crate::rng::{BASE62, BASE64, HEX, Rng};

type Make = fn(&mut Rng) -> Made;

#[rustfmt::skip]
const KINDS: &[(&str, Make, &str)] = &[
    ("github-personal", |rng| checked("ghp_", rng), "github.blog, new token formats: CRC32 in base 62"),
    ("github-oauth", |rng| checked("gho_", rng), "github.blog, new token formats"),
    ("github-user-to-server", |rng| checked("ghu_", rng), "github.blog, new token formats"),
    ("github-server-to-server", |rng| checked("ghs_", rng), "github.blog, new token formats"),
    ("github-refresh", |rng| checked("ghr_", rng), "github.blog, new token formats"),
    ("npm", |rng| checked("npm_", rng), "github.blog, npm's token format"),
    ("jwt", jwt, "RFC 7519"),
    ("1password-service-account", |rng| json_token("ops_", "signInAddress", rng), "developer.1password.com, service accounts"),
    ("sentry-organization", sentry, "docs.sentry.io, organization tokens"),
    ("grafana-cloud", |rng| json_token("glc_", "o", rng), "grafana.com/docs, access policies"),
    ("pem-rsa", |rng| pem("RSA PRIVATE KEY", "", rng), "RFC 7468, PKCS 1"),
    ("pem-pkcs8", |rng| pem("PRIVATE KEY", "", rng), "RFC 7468"),
    ("pem-encrypted", |rng| pem("ENCRYPTED PRIVATE KEY", "", rng), "RFC 7468"),
    ("pem-ec", |rng| pem("EC PRIVATE KEY", "", rng), "RFC 5915"),
    ("pem-dsa", |rng| pem("DSA PRIVATE KEY", "", rng), "openssl"),
    ("pem-openssh", |rng| pem("OPENSSH PRIVATE KEY", "", rng), "openssh, PROTOCOL.key"),
    ("pem-rsa-encrypted", |rng| pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n", rng), "RFC 1421"),
    ("pgp", |rng| pem("PGP PRIVATE KEY BLOCK", "Version: GnuPG v2\n\n", rng), "RFC 4880"),
    ("pem-cut", pem_cut, "a key whose end is missing"),
    ("pem-one-line", pem_one_line, "a key in a variable"),
    ("pem-indented", pem_indented, "a key in YAML"),
    ("pem-crlf", pem_crlf, "a key of Windows"),
    ("ssh2", |rng| framed("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----", 70, rng), "RFC 4716"),
    ("putty", putty, "PuTTY manual, appendix C"),
    ("gcp-service-account", gcp, "cloud.google.com/iam/docs, keys"),
    ("mnemonic-12", |rng| mnemonic(12, rng), "BIP 39"),
    ("mnemonic-24", |rng| mnemonic(24, rng), "BIP 39"),
    ("mnemonic-numbered", mnemonic_numbered, "BIP 39, as wallets show it"),
    ("basic-auth", |rng| basic("Authorization: Basic ", "", rng), "RFC 7617"),
    ("basic-auth-curl", |rng| basic("curl -H 'Authorization: Basic ", "' https://api.example.com", rng), "RFC 7617"),
    ("docker-config", |rng| basic("{\"auths\":{\"r.example.com\":{\"auth\":\"", "\"}}}", rng), "docs.docker.com, config.json"),
    ("npmrc-auth", |rng| basic("//npm.example.com/:_auth=", "", rng), "docs.npmjs.com, npmrc"),
    ("docker-auth", |rng| basic("\"auth\": \"", "\"", rng), "docs.docker.com, config.json"),
    ("token-48", |rng| token(48, rng), "random letters and digits"),
    ("token-52", |rng| token(52, rng), "random letters and digits"),
    ("token-56", |rng| token(56, rng), "random letters and digits"),
    ("token-60", |rng| token(60, rng), "random letters and digits"),
    ("token-64", |rng| token(64, rng), "random letters and digits"),
    ("token-76", |rng| token(76, rng), "random letters and digits"),
    ("token-100", |rng| token(100, rng), "random letters and digits"),
    ("token-128", |rng| token(128, rng), "random letters and digits"),
];

pub fn kinds() -> impl Iterator<Item = Kind> {
    KINDS.iter().map(|&(name, make, source)| Kind { name, source, make: Box::new(make) })
}

/// 30 characters and the CRC32 of them in six digits to base 62.
fn checked(prefix: &str, rng: &mut Rng) -> Made {
    let random = rng.text(BASE62, 30);
    let mut crc = flate2::Crc::new();
    crc.update(random.as_bytes());
    let (mut sum, mut digits) = (crc.sum(), [b'0'; 6]);
    for digit in digits.iter_mut().rev() {
        *digit = BASE62.as_bytes()[(sum % 62) as usize];
        sum /= 62;
    }
    let secret = random + std::str::from_utf8(&digits).unwrap();
    Made::new(format!("{prefix}{secret}"), vec![secret])
}

fn jwt(rng: &mut Rng) -> Made {
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    let id = rng.uuid();
    let payload =
        URL_SAFE_NO_PAD.encode(format!(r#"{{"jti":"{id}","sub":"ada","iat":1767225600}}"#));
    let signature = URL_SAFE_NO_PAD.encode(rng.bytes(32));
    Made::new(format!("{header}.{payload}.{signature}"), vec![signature, id])
}

fn json_token(prefix: &str, field: &str, rng: &mut Rng) -> Made {
    let secret = rng.text(BASE62, 120);
    let json = URL_SAFE_NO_PAD.encode(format!(r#"{{"{field}":"acme","secret":"{secret}"}}"#));
    Made::new(format!("{prefix}{json}"), vec![secret])
}

fn sentry(rng: &mut Rng) -> Made {
    let json = STANDARD.encode(r#"{"iat":1767225600.1,"url":"https://sentry.io","org":"acme"}"#);
    let secret = rng.text(BASE64, 43);
    Made::new(format!("sntrys_{json}_{secret}"), vec![secret])
}

/// Lines of base64, as keys have them.
fn lines(count: usize, width: usize, rng: &mut Rng) -> Vec<String> {
    let mut lines: Vec<_> = (0..count).map(|_| rng.text(BASE64, width)).collect();
    lines.push(rng.text(BASE64, width / 2) + "==");
    lines
}

fn framed(begin: &str, end: &str, width: usize, rng: &mut Rng) -> Made {
    let lines = lines(8, width, rng);
    Made::new(format!("{begin}\n{}\n{end}\n", lines.join("\n")), lines)
}

fn pem(label: &str, fields: &str, rng: &mut Rng) -> Made {
    let begin = format!("-----BEGIN {label}-----\n{fields}");
    framed(begin.trim_end_matches('\n'), &format!("-----END {label}-----"), 64, rng).with(|text| {
        if fields.is_empty() {
            text
        } else {
            text.replacen(fields.trim_end(), fields.trim_end_matches('\n'), 1)
        }
    })
}

fn pem_cut(rng: &mut Rng) -> Made {
    let made = pem("RSA PRIVATE KEY", "", rng);
    made.with(|text| text[..text.find("-----END").unwrap()].to_owned())
}

fn pem_one_line(rng: &mut Rng) -> Made {
    pem("PRIVATE KEY", "", rng).with(|text| format!("TLS_KEY=\"{}\"", text.replace('\n', "\\n")))
}

fn pem_indented(rng: &mut Rng) -> Made {
    pem("EC PRIVATE KEY", "", rng)
        .with(|text| text.lines().map(|line| format!("    {line}\n")).collect())
}

fn pem_crlf(rng: &mut Rng) -> Made {
    pem("PRIVATE KEY", "", rng).with(|text| text.replace('\n', "\r\n"))
}

fn putty(rng: &mut Rng) -> Made {
    let (public, private) = (lines(3, 64, rng), lines(4, 64, rng));
    let mac = rng.text(HEX, 64);
    let text = format!(
        "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: ada@host\nPublic-Lines: {}\n{}\n\
         Private-Lines: {}\n{}\nPrivate-MAC: {mac}\n",
        public.len(),
        public.join("\n"),
        private.len(),
        private.join("\n"),
    );
    Made::new(text, private)
}

fn gcp(rng: &mut Rng) -> Made {
    let id = rng.text(HEX, 40);
    pem("PRIVATE KEY", "", rng).with(|text| {
        let key = text.replace('\n', "\\n");
        format!("{{\"type\": \"service_account\", \"private_key_id\": \"{id}\", \"private_key\": \"{key}\"}}")
    })
}

/// Words of BIP 39 with their checksum.
fn words(count: usize, rng: &mut Rng) -> Vec<&'static str> {
    let list: Vec<_> = include_str!("../bip39-english.txt").split_whitespace().collect();
    let mut bytes = rng.bytes(count / 3 * 4);
    bytes.push(Sha256::digest(&bytes)[0]);
    let bit = |at: usize| usize::from(bytes[at / 8] >> (7 - at % 8) & 1);
    (0..count).map(|word| list[(0..11).fold(0, |n, b| n * 2 + bit(word * 11 + b))]).collect()
}

fn mnemonic(count: usize, rng: &mut Rng) -> Made {
    let text = words(count, rng).join(" ");
    Made::new(text.clone(), vec![text])
}

fn mnemonic_numbered(rng: &mut Rng) -> Made {
    let words = words(12, rng);
    let numbered: Vec<_> =
        words.iter().enumerate().map(|(n, w)| format!("{}. {w}", n + 1)).collect();
    let text = numbered.join(" ");
    Made::new(format!("Recovery phrase: {text}"), vec![text])
}

fn basic(before: &str, after: &str, rng: &mut Rng) -> Made {
    let password = rng.password(15);
    let secret = STANDARD.encode(format!("ada:{password}"));
    Made::new(format!("{before}{secret}{after}"), vec![secret, password])
}

/// A token on a line of its own, before a line that begins with a word.
fn token(length: usize, rng: &mut Rng) -> Made {
    let token = rng.password(length);
    Made::new(format!("{token}\nThen the next line goes on in words."), vec![token])
}
