//! Recovery phrases of wallets: twelve words or more of a published list, one after the other.

use std::sync::LazyLock;

use super::hit::Hit;

/// The kind of such phrases.
pub(super) const KIND: &str = "mnemonic";

/// Behind the forms of tokens, before names.
const RANK: usize = 900;

/// How many words are a phrase at least.
const MIN_WORDS: usize = 12;

/// How long the words of the list are, in bytes.
const WORD: std::ops::RangeInclusive<usize> = 3..=8;

/// How much may stand between two words, in bytes: `" 12. "`.
const MAX_BETWEEN: usize = 8;

/// The English list of BIP 39, sorted.
static WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("words.txt").split_ascii_whitespace().collect());

/// Finds phrases, in lines or columns, numbered or not.
pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    let bytes = text.as_bytes();
    let mut run: Vec<std::ops::Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let len = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let goes_on = run.last().is_none_or(|last| at - last.end <= MAX_BETWEEN);
        if !(goes_on && (len == 0 || WORD.contains(&len))) {
            listed(text, &run, hits);
            run.clear();
        }
        if WORD.contains(&len) {
            run.push(at..at + len);
        }
        at += len;
        let between = bytes[at..].iter().take_while(|byte| !byte.is_ascii_alphabetic());
        at += between.count();
    }
    listed(text, &run, hits);
}

/// Finds the phrases in a run of words that may be of the list.
fn listed(text: &str, run: &[std::ops::Range<usize>], hits: &mut Vec<Hit>) {
    if run.len() < MIN_WORDS {
        return;
    }
    let is_listed = |word: &std::ops::Range<usize>| {
        WORDS.binary_search(&&*text[word.clone()].to_ascii_lowercase()).is_ok()
    };
    for phrase in run.split(|word| !is_listed(word)).filter(|words| words.len() >= MIN_WORDS) {
        if let (Some(first), Some(last)) = (phrase.first(), phrase.last()) {
            hits.push(Hit::new(first.start..last.end, KIND, RANK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        find(text, &mut hits);
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    fn phrase(count: usize, between: &str) -> String {
        let words: Vec<_> = WORDS.iter().step_by(37).take(count).copied().collect();
        words.join(between)
    }

    #[test]
    fn the_list_is_whole_and_sorted() {
        assert_eq!((WORDS.len(), WORDS.is_sorted()), (2_048, true));
        assert_eq!((WORDS[0], WORDS[2_047]), ("abandon", "zoo"));
        assert!(WORDS.iter().all(|word| WORD.contains(&word.len())));
    }

    #[test]
    fn phrases_are_found_however_they_are_set() {
        for between in [" ", "\n", ", ", "\", \"", "\r\n", "\n 7. "] {
            for count in [12, 15, 24] {
                let phrase = phrase(count, between);
                assert_eq!(found(&format!("It is 1. {phrase}.")), [&phrase], "{between:?}");
            }
        }
        let capitals = phrase(12, " ").to_ascii_uppercase();
        assert_eq!(found(&capitals), [&capitals]);
    }

    #[test]
    fn prose_and_shorter_lists_are_none() {
        assert_eq!(found(&phrase(11, " ")), [""; 0]);
        let prose = "will you also have this open when they come back from their long trip home";
        assert_eq!(found(prose), [""; 0]);
        assert_eq!(found(&format!("{} the {}", phrase(11, " "), phrase(11, " "))), [""; 0]);
    }
}
