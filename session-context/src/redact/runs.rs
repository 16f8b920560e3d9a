//! Long runs of letters and digits: random ones, and base64 of text.

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::hit::Hit;
use super::views::{IS_TEXT, View};

/// The kind of a secret that looks like chance.
pub(super) const KIND: &str = "high-entropy";

/// Behind everything else.
const RANK: usize = 2_000;

/// The shortest run that is decoded, and the shortest line of one that goes on, in bytes.
const MIN_BASE64: usize = 16;

/// How long a run is that may be a secret by itself, in bytes; longer ones are data.
const RANDOM: std::ops::RangeInclusive<usize> = 24..=128;

/// How long lines of data are at least, in bytes.
const MIN_BLOCK: usize = 48;

/// How far lines of base64 are indented at most, in bytes.
const MAX_INDENT: usize = 32;

/// What is no secret however random it looks: ids of calls and answers, public keys, digests, and
/// base64 of small images.
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

/// How base64 of images begins.
const IMAGES: &[&str] = &["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"];

/// What announces that a digest follows.
const BEFORE: &[&str] = &["SHA256:", "MD5:", "h1:", "sha256:", "sha512:", "integrity="];

/// Takes base64 without padding, wherever it was cut.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Which runs count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Whether random ones do.
    pub(super) random: bool,
    /// Whether base64 is decoded.
    pub(super) base64: bool,
}

/// Finds secrets in a text; it is told whether random runs count there.
pub(super) type FindIn<'f> = &'f mut dyn FnMut(&str, bool) -> Vec<Hit>;

/// Finds random runs, and those whose decoded text `find_in` finds a secret in.
pub(super) fn find(text: &str, wanted: Wanted, find_in: FindIn<'_>, hits: &mut Vec<Hit>) {
    let bytes = text.as_bytes();
    let (mut at, mut room) = (0, Room::default());
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
            room.look_into(run, start, wanted.random, find_in, hits);
        }
        if !wanted.random || hits.len() > before || is_block(run) {
            continue;
        }
        for line in run.split(is_space).filter(|line| is_random(line)) {
            let from = start + (line.as_ptr() as usize - run.as_ptr() as usize);
            if !is_known(&text[..from], line) {
                hits.push(Hit::new(from..from + line.len(), KIND, RANK + 1));
            }
        }
    }
}

/// What runs are decoded in, one after the other.
#[derive(Default)]
struct Room {
    /// A run without line ends and padding, in the standard alphabet.
    clean: Vec<u8>,
    decoded: Vec<u8>,
}

impl Room {
    /// Decodes a run from each place where a group of four may begin: something else may stand
    /// before it, as in a path, or its beginning may be cut off.
    fn look_into(
        &mut self,
        run: &str,
        start: usize,
        random: bool,
        find_in: FindIn<'_>,
        hits: &mut Vec<Hit>,
    ) {
        self.clean.clear();
        match memchr::memchr3(b'-', b'_', b'\n', run.as_bytes()) {
            None => self.clean.extend_from_slice(run.trim_end_matches('=').as_bytes()),
            Some(_) => self.clean.extend(run.bytes().filter_map(|byte| match byte {
                b'-' => Some(b'+'),
                b'_' => Some(b'/'),
                byte => IN_RUN[usize::from(byte)].then_some(byte),
            })),
        }
        // Where the characters of the cleaned run stand; only needed where something is found.
        let mut places = Vec::new();
        let is_image = IMAGES.iter().any(|start| run.starts_with(start));
        for cut in 0..if is_image { 1 } else { 4 } {
            let part = self.clean.get(cut..).unwrap_or_default();
            let part = &part[..part.len() - usize::from(part.len() % 4 == 1)];
            self.decoded.clear();
            if !has_text(part) || BASE64.decode_vec(part, &mut self.decoded).is_err() {
                continue;
            }
            let Some(view) = View::strings(&self.decoded) else { continue };
            let mut around = 0..0;
            for hit in find_in(&view.text, random && view.is_all_text()) {
                if around.start <= hit.range.start && hit.range.end <= around.end {
                    continue;
                }
                // The text around goes too: the ends of the secret share letters with it.
                around = view.string_around(&hit.range);
                if places.is_empty() {
                    let in_run = run.bytes().enumerate();
                    let in_run = in_run.filter(|(_, byte)| IN_RUN[usize::from(*byte)]);
                    places.extend(in_run.map(|(at, _)| start + at));
                }
                let inside = view.source(around.clone());
                let last = cut + (inside.end * 4).div_ceil(3);
                let from = places[cut + inside.start / 3 * 4];
                let to = places.get(last).map_or(start + run.len(), |_| places[last - 1] + 1);
                hits.push(Hit::new(from..to, hit.kind, RANK));
            }
        }
    }
}

/// Tells at a first look whether base64 may hold text: the shortest fills two groups of four,
/// wherever it begins.
fn has_text(base64: &[u8]) -> bool {
    let mut last = false;
    base64.chunks_exact(4).any(|group| {
        let sextet = |bits: u32, byte: &u8| bits << 6 | u32::from(SEXTETS[usize::from(*byte)]);
        let [_, bytes @ ..] = group.iter().fold(0, sextet).to_be_bytes();
        let is_text = bytes.iter().all(|byte| *byte == 0 || IS_TEXT[usize::from(*byte)]);
        std::mem::replace(&mut last, is_text) && is_text
    })
}

/// What the letters of base64 stand for.
const SEXTETS: [u8; 256] = {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut table, mut at) = ([0; 256], 0);
    while at < letters.len() {
        table[letters[at] as usize] = at as u8;
        at += 1;
    }
    table
};

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

fn is_space(c: char) -> bool {
    matches!(c, '\n' | '\r' | ' ' | '\t')
}

/// The end of a run, its padding included; base64 goes on over line ends, indented or not.
fn run_end(bytes: &[u8], start: usize) -> usize {
    let mut line = start;
    loop {
        let rest = &bytes[line..];
        let len = rest.iter().position(|byte| !IN_RUN[usize::from(*byte)]).unwrap_or(rest.len());
        let end = line + len;
        let next = match bytes.get(end..) {
            Some([b'\n', ..]) => end + 1,
            Some([b'\r', b'\n', ..]) => end + 2,
            _ => bytes.len(),
        };
        let indent = bytes[next..].iter().take(MAX_INDENT);
        let next = next + indent.take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let goes_on =
            len >= MIN_BASE64 && bytes.get(next).is_some_and(|byte| IN_RUN[usize::from(*byte)]);
        if !goes_on {
            return end + bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        }
        line = next;
    }
}

/// Tells whether a run is a certificate or other data on many lines.
fn is_block(run: &str) -> bool {
    let lines = run.split(is_space).rev().skip(1);
    lines.map(str::len).any(|len| len >= MIN_BLOCK && len.is_multiple_of(4))
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
    STARTS.iter().chain(IMAGES).any(|start| run.starts_with(start))
        || BEFORE.iter().any(|word| before.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::hit::joined;

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        let mut inside = |text: &str, _| {
            let found = text.match_indices("hunter2");
            found.map(|(at, found)| Hit::new(at..at + found.len(), "inside", 0)).collect()
        };
        find(text, Wanted { random: true, base64: true }, &mut inside, &mut hits);
        joined(hits).into_iter().map(|hit| &text[hit.range]).collect()
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
    fn random_lines_are_found_one_by_one() {
        let line = "q8Xv2Lr9Tz4Kw1Yb6Nc3Md5Pf7Gh0JsAeRtUoIyW";
        let other = line.chars().rev().collect::<String>();
        assert_eq!(found(&format!("{line}\n  {other}\n")), [line, &*other]);
    }

    #[test]
    fn base64_of_text_is_looked_into() {
        let line = |text: &str| BASE64.encode(text);
        let short = line("password is hunter2");
        assert_eq!(found(&format!("echo {short} | base64 -d")), [short.as_str()]);
        let bare = short.trim_end_matches('=');
        assert_eq!(found(&format!("/tmp/{bare}/x")), [bare]);
        assert_eq!(found(&line("an innocent text")), [""; 0]);
        let url_safe = line("?>?>?>?>hunter2?>").replace('+', "-").replace('/', "_");
        assert!(url_safe.contains('_'));
        assert_eq!(found(&url_safe), [url_safe.as_str()]);
        let long = line(&format!("{}hunter2{}", "a".repeat(52), "b".repeat(80)));
        let wrapped = format!("{}\n{}\r\n{}", &long[..76], &long[76..152], &long[152..]);
        assert_eq!(found(&format!("x\n{wrapped}\n")), [wrapped.as_str()]);
        let indented = format!("{}\n  {}\n  {}", &long[..42], &long[42..84], &long[84..]);
        assert_eq!(found(&format!("data: |\n  {indented}\n")), [indented.as_str()]);
        let word = "/long/path/".repeat(8);
        assert_eq!(found(&format!("{}\n{long}", &word[..64])), [long.as_str()]);
    }

    #[test]
    fn base64_is_looked_into_wherever_it_begins_and_ends() {
        for before in 0..4 {
            for cut in 0..4 {
                let text = format!("{}\u{1}the hunter2 \u{1}\u{2}", "\u{3}".repeat(before));
                let all = BASE64.encode(text);
                let left = found(&all[cut..]).concat();
                let inside = BASE64.encode("the hunter2");
                assert!(left.len() >= inside.len() - 5, "{left} of {all}");
                assert!(left.len() < all.len() - cut, "{left} of {all}");
            }
        }
    }

    #[test]
    fn base64_of_bytes_and_of_wide_text_is_looked_into() {
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>();
        for bytes in [wide("the hunter2 x"), big("the hunter2 x")] {
            let encoded = BASE64.encode(&bytes);
            assert!(found(&encoded)[0].len() + 4 >= encoded.trim_end_matches('=').len());
        }
        let image = [&b"\x89PNG\r\n\x1a\n"[..], &[0x9c; 4_000], b"hunter2 it is", &[0x9c; 90]];
        let encoded = BASE64.encode(image.concat());
        let left = found(&encoded).concat();
        assert!(String::from_utf8_lossy(&BASE64.decode(left).unwrap()).contains("hunter2 it is"));
    }
}
