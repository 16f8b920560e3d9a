//! Long runs of letters and digits: random ones, and base64 of text.

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::hit::Hit;

/// The kind of a secret that looks like chance.
pub(super) const KIND: &str = "high-entropy";

/// Behind everything else.
const RANK: usize = 2_000;

/// The shortest run that is decoded, in bytes.
const MIN_BASE64: usize = 16;

/// How long a run is that may be a secret by itself, in bytes; longer ones are data.
const RANDOM: std::ops::RangeInclusive<usize> = 24..=128;

/// The longest run that is also decoded piece by piece, in bytes.
const MAX_PIECES: usize = 512;

/// A line of base64 that goes on in the next is at least this long, in bytes.
const MIN_WRAPPED: usize = 48;

/// What is no secret however random it looks: ids of calls and answers, public keys, digests.
const STARTS: &[&str] = &[
    "toolu_",
    "call_",
    "msg_",
    "req_",
    "resp_",
    "rs_",
    "fc_",
    "ctc_",
    "ws_",
    "run_",
    "chatcmpl-",
    "gen-",
    "AAAA",
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
    "blob",
];

/// What announces that a digest follows.
const BEFORE: &[&str] = &["SHA256:", "MD5:", "h1:", "sha256:", "sha512:", "integrity="];

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// Which runs count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Whether random ones do.
    pub(super) random: bool,
    /// Whether base64 is decoded.
    pub(super) base64: bool,
}

/// Finds random runs, and those whose decoded text `find_in` finds a secret in; it tells the kind.
pub(super) fn find(
    text: &str,
    wanted: Wanted,
    find_in: &mut dyn FnMut(&str) -> Option<&'static str>,
    hits: &mut Vec<Hit>,
) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(skipped) = bytes[at..].iter().position(|byte| IN_RUN[usize::from(*byte)]) {
        let start = at + skipped;
        let end = run_end(bytes, start);
        at = end;
        if end - start < MIN_BASE64 {
            continue;
        }
        let run = &text[start..end];
        let before = hits.len();
        if wanted.base64 {
            look_into(run, start, find_in, hits);
        }
        if wanted.random && hits.len() == before && is_random(run) && !is_known(&text[..start], run)
        {
            hits.push(Hit::new(start..end, KIND, RANK));
        }
    }
}

/// Decodes a run or, if that gives nothing, its lines and the parts between slashes, which may be
/// those of a path.
fn look_into(
    run: &str,
    start: usize,
    find_in: &mut dyn FnMut(&str) -> Option<&'static str>,
    hits: &mut Vec<Hit>,
) {
    let mut look = |piece: &str| {
        let kind = Some(piece).filter(|piece| piece.len() >= MIN_BASE64).and_then(decoded);
        let Some(kind) = kind.and_then(|text| find_in(&text)) else { return false };
        let from = start + (piece.as_ptr() as usize - run.as_ptr() as usize);
        hits.push(Hit::new(from..from + piece.len(), kind, RANK));
        true
    };
    if look(run) {
        return;
    }
    for line in run.split(['\n', '\r']) {
        if (line.len() == run.len() || !look(line)) && line.len() <= MAX_PIECES {
            line.split('/').filter(|piece| piece.len() < line.len()).for_each(|piece| {
                look(piece);
            });
        }
    }
}

/// The bytes of base64, in either alphabet, without padding.
const IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    table
};

/// The end of a run, its padding included; base64 goes on over line ends.
fn run_end(bytes: &[u8], start: usize) -> usize {
    let mut line = start;
    loop {
        let rest = &bytes[line..];
        let len = rest.iter().position(|byte| !IN_RUN[usize::from(*byte)]).unwrap_or(rest.len());
        let end = line + len;
        let next = match bytes.get(end..) {
            Some([b'\n', ..]) => end + 1,
            Some([b'\r', b'\n', ..]) => end + 2,
            _ => usize::MAX,
        };
        let goes_on = len >= MIN_WRAPPED
            && len % 4 == 0
            && bytes.get(next).is_some_and(|byte| IN_RUN[usize::from(*byte)]);
        if !goes_on {
            return end + bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        }
        line = next;
    }
}

/// Decodes base64 if it is text.
fn decoded(run: &str) -> Option<String> {
    let engine = if run.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let run: std::borrow::Cow<'_, [u8]> = match run.contains('\n') {
        true => {
            run.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect::<Vec<_>>().into()
        }
        false => run.as_bytes().into(),
    };
    let mut run = &*run;
    while let Some(rest) = run.strip_suffix(b"=") {
        run = rest;
    }
    if run.len() % 4 == 1 {
        run = &run[..run.len() - 1];
    }
    // Most runs are words, hashes or images; a beginning tells.
    let mut beginning = [0; 48];
    let head = &run[..run.len().min(64) / 4 * 4];
    let read = engine.decode_slice(head, &mut beginning).ok()?;
    if !is_text(&beginning[..read]) {
        return None;
    }
    let all = engine.decode(run).ok()?;
    Some(String::from_utf8_lossy(&all).into_owned())
}

/// Tells whether bytes are the beginning of a text.
fn is_text(bytes: &[u8]) -> bool {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // A character may be cut at the end.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && !text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

/// Tells whether a run looks like chance: all kinds of characters, changing often.
fn is_random(run: &str) -> bool {
    let run = run.trim_end_matches('=');
    if !RANDOM.contains(&run.len()) {
        return false;
    }
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let mut counts = [0_usize; 4];
    let (mut changes, mut last, mut numbers) = (0_usize, 3, 0);
    for class in run.bytes().map(class) {
        counts[class] += 1;
        numbers += usize::from(class == 0 && last != 0);
        // Separators stand between words; they tell nothing.
        if class != 3 {
            changes += usize::from(last != 3 && last != class);
            last = class;
        }
    }
    let [_, lower, upper, others] = counts;
    let letters = run.len() - others;
    // One number is in many names.
    numbers >= 2
        && lower >= 3
        && upper >= 3
        && others * 8 <= run.len()
        && changes * 100 >= letters * 42
        && entropy(run) >= 3.8
}

/// The information in a run by the frequency of its bytes, in bits for each.
fn entropy(run: &str) -> f64 {
    let mut counts = [0_u32; 256];
    run.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let len = run.len() as f64;
    let part = |&count: &u32| {
        let share = f64::from(count) / len;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(part).sum()
}

/// Tells whether it is known that a run is no secret.
fn is_known(before: &str, run: &str) -> bool {
    STARTS.iter().any(|start| run.starts_with(start))
        || BEFORE.iter().any(|word| before.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        let mut inside = |text: &str| text.contains("hunter2").then_some("inside");
        find(text, Wanted { random: true, base64: true }, &mut inside, &mut hits);
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    #[test]
    fn random_runs_are_found() {
        for random in [
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzK3qL8EXmp",
            "Zx81kQp0vT5sWb3Yc7Nd2Lf9",
            "q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsA",
        ] {
            assert_eq!(found(&format!("a {random}, b")), [random]);
        }
    }

    #[test]
    fn hashes_names_and_paths_are_left() {
        for text in [
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "550e8400-e29b-41d4-a716-446655440000",
            "TestPollDeviceAuth_200WithNoAccessToken",
            "SessionStorageExtAppendWriterImpl2For3",
            "/home/user/Projects/MyApp2/src/Main3/AppDelegate4",
            "toolu_01XFDUDYJgAACzvnptvVoYELq8",
            "sha512-q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsAq8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsAq8Xv2Lr9Tz4Kw1Yb6Ng==",
            "SHA256:q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsAq8Xv2Lr9Tz4",
            "THE_QUICK_BROWN_FOX_JUMPS_OVER_THE_LAZY_DOG_2026",
            "2026-03-01T09-00-00-000Z_0195d3c4-5b7a-7000-8000-0123456789ab",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn base64_of_text_is_looked_into() {
        let line = |text: &str| STANDARD.encode(text);
        let short = line("password is hunter2");
        assert_eq!(found(&format!("echo {short} | base64 -d")), [short.as_str()]);
        let bare = short.trim_end_matches('=');
        assert_eq!(found(&format!("/tmp/{bare}/x")), [bare]);
        assert_eq!(found(&line("an innocent text")), [""; 0]);
        let url_safe = URL_SAFE.encode("?>?>?>?>hunter2?>");
        assert_eq!(found(&url_safe), [url_safe.as_str()]);
        let long = line(&format!("{}hunter2{}", "a".repeat(52), "b".repeat(80)));
        let wrapped = format!("{}\n{}\r\n{}", &long[..76], &long[76..152], &long[152..]);
        assert_eq!(found(&format!("x\n{wrapped}\n")), [wrapped.as_str()]);
        let word = "/long/path/".repeat(8);
        assert_eq!(found(&format!("{}\n{long}", &word[..64])), [long.as_str()]);
    }
}
