//! Search as people type it: a few letters of each word.

/// Words to be found.
#[derive(Debug)]
pub(super) struct Search {
    words: Vec<Vec<char>>,
}

impl Search {
    pub(super) fn new(text: &str) -> Self {
        Self { words: text.split_whitespace().map(|word| lowercase(word).collect()).collect() }
    }

    /// Tells whether each word is in one of the texts.
    pub(super) fn finds(&self, texts: &[&str]) -> bool {
        self.words.iter().all(|word| texts.iter().any(|text| is_subsequence(word, text)))
    }
}

fn is_subsequence(word: &[char], text: &str) -> bool {
    let mut wanted = word.iter();
    let mut next = wanted.next();
    for c in lowercase(text) {
        if next == Some(&c) {
            next = wanted.next();
        }
        if next.is_none() {
            return true;
        }
    }
    next.is_none()
}

fn lowercase(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_must_be_found_somewhere() {
        let texts = ["Start", "user", "fix the LOGIN Straße"];
        for (search, want) in [
            ("", true),
            ("  ", true),
            ("login", true),
            ("LGN", true),
            ("ngl", false),
            ("ftl", true),
            ("strt user lgn", true),
            ("user nowhere", false),
            ("startuser", false),
            ("straSSe", false),
            ("STRAßE", true),
        ] {
            assert_eq!(Search::new(search).finds(&texts), want, "{search:?}");
        }
        assert!(!Search::new("a").finds(&[""]));
    }
}
