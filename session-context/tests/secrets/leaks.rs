//! Looks for secrets, for half of one, and for what they look like in other clothes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::places::Planted;

/// Bytes by which a needle is found.
const ANCHOR: usize = 8;

/// Bits of an anchor's hash.
const HASH: u32 = 26;

struct Needle {
    planted: usize,
    form: &'static str,
    bytes: Vec<u8>,
    /// How many bytes in a row give it away.
    least: usize,
}

/// All that must not be seen.
pub struct Leaks {
    planted: Vec<Planted>,
    needles: Vec<Needle>,
    anchors: HashMap<u64, Vec<(u32, u16)>>,
    /// One bit for each hash of an anchor, since nearly no place of an output has one.
    bits: Vec<u64>,
    /// Ways by place, kind and what is seen.
    found: BTreeMap<(String, &'static str, String), BTreeSet<String>>,
    pub bytes_searched: usize,
}

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true)
    .with_encode_padding(false);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

impl Leaks {
    pub fn new(planted: Vec<Planted>) -> Self {
        let mut leaks = Self {
            needles: Vec::new(),
            anchors: HashMap::new(),
            bits: vec![0; 1 << (HASH - 6)],
            found: BTreeMap::new(),
            bytes_searched: 0,
            planted: Vec::new(),
        };
        for (at, it) in planted.iter().enumerate() {
            it.parts.iter().for_each(|part| leaks.add_part(at, part));
        }
        leaks.planted = planted;
        leaks
    }

    fn add_part(&mut self, planted: usize, part: &str) {
        let common =
            part.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f' | b'A'..=b'F'));
        let least = part.len().div_ceil(2).max(if common { 12 } else { ANCHOR }).min(part.len());
        let swap = |c: char| {
            if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
        };
        let mut forms = vec![
            ("plain", part.to_owned(), least),
            ("lower case", part.to_lowercase(), least),
            ("upper case", part.to_uppercase(), least),
            ("other case", part.chars().map(swap).collect(), least),
            ("reversed", part.chars().rev().collect(), least),
            ("hex", part.bytes().map(|byte| format!("{byte:02x}")).collect(), least * 2),
        ];
        for shift in 0..3 {
            let mut bytes = vec![b' '; shift];
            bytes.extend(part.as_bytes());
            // The characters at both ends tell of other bytes, too.
            let inner = |text: String| {
                text[shift * 4 / 3 + usize::from(shift > 0)..text.len() - 1].to_owned()
            };
            let least = (least * 4 / 3).max(ANCHOR);
            forms.push(("base64", inner(STANDARD.encode(&bytes)), least));
            forms.push(("base64 of URLs", inner(URL_SAFE.encode(&bytes)), least));
        }
        let mut seen = BTreeSet::new();
        for (form, text, least) in forms {
            if text.len() >= least && seen.insert(text.clone()) {
                self.add(Needle { planted, form, bytes: text.into_bytes(), least });
            }
        }
    }

    /// Every run of `least` bytes holds one of the anchors.
    fn add(&mut self, needle: Needle) {
        let (number, last) = (self.needles.len() as u32, needle.bytes.len() - ANCHOR);
        let step = needle.least - ANCHOR + 1;
        for at in (0..=last).step_by(step) {
            let anchor = u64::from_be_bytes(needle.bytes[at..at + ANCHOR].try_into().unwrap());
            let hash = hash(anchor);
            self.bits[hash / 64] |= 1 << (hash % 64);
            self.anchors.entry(anchor).or_default().push((number, at as u16));
        }
        self.needles.push(needle);
    }

    /// Looks through what left the program on a way.
    pub fn search(&mut self, way: &str, output: &[u8]) {
        self.bytes_searched += output.len();
        for (view, bytes) in views(output) {
            self.search_bytes(
                &if view.is_empty() { way.to_owned() } else { format!("{way} ({view})") },
                &bytes,
            );
        }
    }

    fn search_bytes(&mut self, way: &str, bytes: &[u8]) {
        let mut window = 0;
        for (end, byte) in bytes.iter().enumerate() {
            window = window << 8 | u64::from(*byte);
            let hash = hash(window);
            if self.bits[hash / 64] >> (hash % 64) & 1 == 0 || end + 1 < ANCHOR {
                continue;
            }
            let at = end + 1 - ANCHOR;
            for &(number, offset) in self.anchors.get(&window).into_iter().flatten() {
                let needle = &self.needles[number as usize];
                if shared(&needle.bytes, offset.into(), bytes, at) >= needle.least {
                    let planted = &self.planted[needle.planted];
                    let way = if needle.form == "plain" {
                        way.to_owned()
                    } else {
                        format!("{way} ({})", needle.form)
                    };
                    let seen = String::from_utf8_lossy(&needle.bytes).into_owned();
                    self.found
                        .entry((planted.place.clone(), planted.kind, seen))
                        .or_default()
                        .insert(way);
                }
            }
        }
    }

    /// What was found: kind, place, what is seen and on which ways, one a line.
    pub fn report(&self) -> String {
        let mut lines = String::new();
        for ((place, kind, seen), ways) in &self.found {
            let ways: Vec<_> = ways.iter().cloned().collect();
            lines += &format!("{kind} in {place}: {seen:?} on {}\n", ways.join("; "));
        }
        lines
    }
}

fn hash(anchor: u64) -> usize {
    (anchor.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - HASH)) as usize
}

/// How many bytes around these two places are the same.
fn shared(needle: &[u8], offset: usize, bytes: &[u8], at: usize) -> usize {
    let before = needle[..offset].iter().rev().zip(bytes[..at].iter().rev());
    let after = needle[offset..].iter().zip(&bytes[at..]);
    before.take_while(|(a, b)| a == b).count() + after.take_while(|(a, b)| a == b).count()
}

/// What readers make of an output: its escapes, entities, tags and base64 undone.
fn views(output: &[u8]) -> Vec<(&'static str, Cow<'_, [u8]>)> {
    let once = unescaped(output);
    let twice = unescaped(&once);
    let entities = entities(output);
    let tags = without_tags(&entities);
    let percent = percent_decoded(&twice);
    let joined = joined(&twice);
    let first = decoded(&percent);
    let again = decoded(&first);
    let views = [
        ("escapes undone", once),
        ("escapes undone twice", twice),
        ("entities undone", entities),
        ("tags left out", tags),
        ("percents undone", percent),
        ("lines joined, base64 undone", decoded(&joined)),
        ("lines joined", joined),
        ("base64 undone", first),
        ("base64 undone twice", again),
    ];
    let mut all = vec![("", Cow::Borrowed(output))];
    for (name, bytes) in views {
        if all.iter().all(|(_, other)| **other != *bytes) {
            all.push((name, Cow::Owned(bytes)));
        }
    }
    all
}

fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let [first, after @ ..] = rest {
        rest = after;
        let (b'\\', [escape, after @ ..]) = (first, after) else {
            out.push(*first);
            continue;
        };
        rest = after;
        match escape {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'u' if after.len() >= 4 => {
                let code = std::str::from_utf8(&after[..4])
                    .ok()
                    .and_then(|hex| u32::from_str_radix(hex, 16).ok());
                let char = code.and_then(char::from_u32).unwrap_or('\u{fffd}');
                out.extend(char.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &after[4..];
            }
            other => out.push(*other),
        }
    }
    out
}

fn entities(bytes: &[u8]) -> Vec<u8> {
    const NAMED: [(&str, u8); 6] = [
        ("amp;", b'&'),
        ("lt;", b'<'),
        ("gt;", b'>'),
        ("quot;", b'"'),
        ("#39;", b'\''),
        ("#x27;", b'\''),
    ];
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let [first, after @ ..] = rest {
        rest = after;
        let named =
            NAMED.iter().find(|(name, _)| *first == b'&' && after.starts_with(name.as_bytes()));
        if let Some((name, byte)) = named {
            rest = &after[name.len()..];
            out.push(*byte);
        } else {
            out.push(*first);
        }
    }
    out
}

fn without_tags(bytes: &[u8]) -> Vec<u8> {
    let mut inside = false;
    let outside = bytes.iter().filter(|byte| {
        let was = inside;
        inside = (inside || **byte == b'<') && **byte != b'>';
        !was && **byte != b'<'
    });
    outside.copied().collect()
}

fn percent_decoded(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%');
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    out
}

/// The text without line breaks and what indents the lines.
fn joined(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.trim_ascii());
    lines.flatten().copied().collect()
}

/// The bytes that each run of base64 stands for, one after the other.
fn decoded(bytes: &[u8]) -> Vec<u8> {
    let is_base64 =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let runs = bytes.split(|byte| !is_base64(byte)).filter(|run| run.len() >= 16);
    let decode = |run: &[u8]| {
        let run = &run[..run.len() - usize::from(run.len() % 4 == 1)];
        STANDARD.decode(run).or_else(|_| URL_SAFE.decode(run)).unwrap_or_default()
    };
    runs.flat_map(|run| [decode(run), vec![b'\n']].concat()).collect()
}

/// The search itself must find, or a run without findings says nothing.
#[cfg(test)]
mod tests {
    use super::*;

    fn found(output: &[u8]) -> String {
        let parts = vec!["kR7pQ2xW9zLm4Tv8".to_owned()];
        let mut leaks = Leaks::new(vec![Planted { kind: "k", place: "p".to_owned(), parts }]);
        leaks.search("w", output);
        leaks.report()
    }

    #[test]
    fn a_secret_is_seen_in_every_form_and_half_of_it_too() {
        for (output, ways) in [
            ("x kR7pQ2xW9zLm4Tv8 y", "plain"),
            ("kR7pQ2xW…", "half"),
            ("…9zLm4Tv8", "half"),
            ("xkr7pq2xw9zlm4tv8", "lower"),
            ("8vT4mLz9Wx2Qp7Rk", "reversed"),
            ("a1I3cFEyeFc5ekxtNFR2OA==", "base64"),
            ("IGtSN3BRMnhXOXpMbTRUdjg=", "base64, one on"),
            ("ICBrUjdwUTJ4Vzl6TG00VHY4", "base64, two on"),
            ("6b5237705132785739", "hex"),
            ("kR7p\\u0051\\u0032xW", "escapes"),
            ("kR7p<em>Q2xW</em>", "tags"),
            ("%6bR7p%51%32xW", "percent"),
            ("YTFJM2NGRXllRmM1ZWt4dE5GUjJPQT09", "base64 of base64"),
        ] {
            assert!(found(output.as_bytes()).starts_with("k in p: "), "{ways}: {output}");
        }
        for output in ["kR7pQ2x", "zLm4Tv8", "[redacted:x]"] {
            assert_eq!(found(output.as_bytes()), "", "{output}");
        }
    }
}
