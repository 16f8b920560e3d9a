//! Published shapes, written down: what is fixed as it is, what is random in braces.
//!
//! `{w:36}` is 36 of an alphabet, `{w:20-40}` from 20 to 40, `{u}` a UUID, `{p:12}` a password.

use super::Made;
use crate::rng::{BASE62, BASE64, DIGITS, HEX, Rng};

/// Makes a value of a shape; each long random run is what must not be seen.
pub fn make(shape: &str, rng: &mut Rng) -> Made {
    let (mut text, mut parts, mut rest) = (String::new(), Vec::new(), shape);
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some((run, after)) = rest.split_once('}').filter(|(run, _)| is_run(run)) else {
            text.push('{');
            continue;
        };
        let made = random(run, rng);
        text.push_str(&made);
        if made.len() >= shortest(run) {
            parts.push(made);
        }
        rest = after;
    }
    text.push_str(rest);
    assert!(!parts.is_empty(), "{shape} has no long random run");
    Made::new(text, parts)
}

fn is_run(run: &str) -> bool {
    run == "u" || matches!(run.as_bytes(), [_, b':', rest @ ..] if rest[0].is_ascii_digit())
}

/// Shorter runs stand in any text by chance: in ids, digests and times.
fn shortest(run: &str) -> usize {
    if matches!(run.as_bytes()[0], b'd' | b'h' | b'H') { 16 } else { 8 }
}

fn random(run: &str, rng: &mut Rng) -> String {
    let (alphabet, length) = run.split_once(':').unwrap_or((run, "0"));
    let length = match length.split_once('-') {
        None => length.parse().unwrap(),
        Some((from, to)) => {
            let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
            from + rng.below(to - from + 1)
        }
    };
    match alphabet {
        "u" => rng.uuid(),
        "p" => rng.password(length),
        "d" => rng.text(DIGITS, length),
        "h" => rng.text(HEX, length),
        "H" => rng.text("0123456789ABCDEF", length),
        "a" => rng.text("0123456789abcdefghijklmnopqrstuvwxyz", length),
        "A" => rng.text("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", length),
        "l" => rng.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", length),
        "U" => rng.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", length),
        "2" => rng.text("abcdefghijklmnopqrstuvwxyz234567", length),
        "c" => rng.text("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", length),
        "w" => rng.text(BASE62, length),
        "b" => rng.text(&format!("{BASE62}-_"), length - 1) + &rng.text(BASE62, 1),
        "B" => rng.text(BASE64, length),
        _ => panic!("{run} is no run"),
    }
}
