//! Long runs of letters and digits: random ones, and base64 of text.

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::chance::is_random;
use super::hit::Hit;
use super::views::{IS_TEXT, View};

/// The kind of a secret that looks like chance.
pub(super) const KIND: &str = "high-entropy";

/// Behind everything else.
const RANK: usize = 2_000;

/// The shortest run that is decoded, and the shortest line of one that goes on, in bytes.
const MIN_BASE64: usize = 16;

/// How long lines of data are, in bytes: those of PEM, of MIME, and what is usual beside.
const BLOCK: std::ops::RangeInclusive<usize> = 60..=76;

/// How many lines of one length are data, and no list of tokens.
const MIN_BLOCK_LINES: usize = 6;

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
    "prt_",
    "ses_",
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
        let is_text = wanted.base64 && room.look_into(run, start, wanted.random, find_in, hits);
        if !wanted.random || is_text || hits.len() > before || is_block(run) {
            continue;
        }
        for line in run.split(is_space).filter(|line| is_random(line)) {
            let from = start + (line.as_ptr() as usize - run.as_ptr() as usize);
            if !is_known(&text[..from], line) && !is_public(&text[..from]) {
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
    /// before it, as in a path, or its beginning may be cut off. Returns whether it is base64 of
    /// text from end to end, and so not made by chance.
    fn look_into(
        &mut self,
        run: &str,
        start: usize,
        random: bool,
        find_in: FindIn<'_>,
        hits: &mut Vec<Hit>,
    ) -> bool {
        let mut is_text = false;
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
            is_text |= cut == 0 && self.decoded.iter().all(|byte| IS_TEXT[usize::from(*byte)]);
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
        is_text
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

/// Tells whether a run is data on many lines: most of one length, the last one aside.
fn is_block(run: &str) -> bool {
    let (mut lines, mut width) = (0, 0);
    run.split(is_space).map(str::len).filter(|len| *len > 0).any(|len| {
        lines = if len == width { lines + 1 } else { 1 };
        width = len;
        lines >= MIN_BLOCK_LINES && BLOCK.contains(&len) && len.is_multiple_of(4)
    })
}

/// How far before a line its certificate or public key may begin, in bytes.
const MAX_PUBLIC: usize = 16_384;

/// Tells whether what was read ends within a certificate or another block that is no private key:
/// lines of base64, and nothing else since it began.
fn is_public(before: &str) -> bool {
    let from = before.len().saturating_sub(MAX_PUBLIC);
    let near = &before.as_bytes()[from..];
    let Some(begin) = memchr::memmem::rfind(near, b"--BEGIN ") else { return false };
    let block = &near[begin + "--BEGIN ".len()..];
    let Some(title) = memchr::memmem::find(block, b"-----") else { return false };
    let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\\';
    let lines = block[title + "-----".len()..].split(ends);
    lines.map(<[u8]>::len).all(|len| len <= 2 || len >= MIN_PUBLIC_LINE)
}

/// How long a line of such a block is, in bytes; between escapes stand letters of these.
const MIN_PUBLIC_LINE: usize = 40;

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

    /// Random letters and digits; the same for the same seed.
    fn random(len: usize, seed: u64) -> String {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (len as u64) << 32;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) as usize
        };
        (0..len).map(|_| char::from(letters[next() % letters.len()])).collect()
    }

    #[test]
    fn a_random_token_on_a_line_is_found_whatever_follows() {
        let mut left = Vec::new();
        for len in 20..=128 {
            for seed in 0..20 {
                let token = random(len, seed);
                for behind in
                    ["", "\n", "\nand more", "\nBearer\n", "\n  Word word", "\r\nnext/line"]
                {
                    if found(&format!("token\n{token}{behind}")).first() != Some(&&*token) {
                        left.push((len, token.clone(), behind));
                    }
                }
            }
        }
        // Some of the shortest may be a name for all one can see.
        left.retain(|(len, ..)| *len >= 28);
        assert_eq!(left, []);
    }

    #[test]
    fn a_list_of_tokens_is_no_block_of_data() {
        for len in [48, 52, 56, 60, 64, 68, 72, 76] {
            let tokens: Vec<_> = (0..5).map(|seed| random(len, seed)).collect();
            assert_eq!(found(&format!("{}\nand so on", tokens.join("\n"))), tokens, "{len}");
        }
    }

    #[test]
    fn data_on_many_lines_is_left() {
        for len in [60, 64, 72, 76] {
            let lines: Vec<_> = (0..8).map(|seed| random(len, seed)).collect();
            assert_eq!(found(&format!("{}\nrest\n", lines.join("\n"))), [""; 0], "{len}");
        }
        let lines = [random(64, 1), random(64, 2)];
        for end in ["\n", "\\n", "\r\n"] {
            let title = ["CERTIFICATE", "PUBLIC KEY"];
            for title in title {
                let block = [format!("-----BEGIN {title}-----"), lines.join(end), "x".into()];
                let text = block.join(end);
                assert_eq!(found(&text), [""; 0], "{text}");
            }
        }
        let named = format!("the line -----BEGIN CERTIFICATE----- and the token {}", lines[0]);
        assert_eq!(found(&named), [&*lines[0]]);
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
