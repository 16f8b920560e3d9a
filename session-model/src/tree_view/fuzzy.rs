//! Search as people type it: a few letters of each word.

/// Words to be found, in any order, their letters in theirs.
///
/// A word is found in a text if its letters come in this order, whatever their case and whatever is
/// between them.
///
/// ```
/// use session_model::tree_view::Search;
///
/// let search = Search::new("lgn fix");
/// assert!(search.finds(&["Fix the login", "user"]));
/// assert!(!search.finds(&["fix the logo"]));
/// assert!(search.narrows(&Search::new("lg")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// In lower case.
    words: Vec<String>,
}

impl Search {
    /// Splits what was typed at white space.
    pub fn new(text: &str) -> Self {
        Self { words: text.split_whitespace().map(lowercase).collect() }
    }

    /// Tells whether there is no word, so that everything is found.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Tells whether each word is in one of the texts.
    pub fn finds(&self, texts: &[&str]) -> bool {
        let texts: Vec<_> = texts.iter().map(|text| lowercase(text)).collect();
        self.finds_lowercase(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Tells whether each word is in one of the texts, which are as [`lowercase`] gives them.
    pub fn finds_lowercase(&self, texts: &[&str]) -> bool {
        self.words.iter().all(|word| texts.iter().any(|text| is_subsequence(word, text)))
    }

    /// Tells whether all that this finds was found by `earlier` too, as is so when a letter was
    /// added: then only what that found has to be looked at.
    pub fn narrows(&self, earlier: &Self) -> bool {
        earlier.words.iter().all(|old| self.words.iter().any(|new| is_subsequence(old, new)))
    }
}

/// Returns a text with each letter in lower case, whatever stands around it.
pub fn lowercase(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).collect()
}

fn is_subsequence(word: &str, text: &str) -> bool {
    let mut rest = text;
    word.chars().all(|c| match rest.find(c) {
        Some(at) => {
            rest = &rest[at + c.len_utf8()..];
            true
        }
        None => false,
    })
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

    #[test]
    fn a_longer_word_narrows_and_another_does_not() {
        for (now, before, want) in [
            ("ab", "a", true),
            ("ab", "", true),
            ("ab c", "ab", true),
            ("ab c", "ab ", true),
            ("axb", "AB", true),
            ("a", "ab", false),
            ("b", "a", false),
            ("", "a", false),
            ("ab", "a b", true),
            ("ba", "ab", false),
        ] {
            assert_eq!(Search::new(now).narrows(&Search::new(before)), want, "{now:?} {before:?}");
        }
    }
}
