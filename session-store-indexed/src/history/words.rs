//! What a search text asks for.

use std::collections::BTreeSet;

/// The words of a search text, sorted by how they can be found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// The words the full-text index can answer.
    pub(super) indexed: Vec<String>,
    /// A full-text expression for them.
    pub(super) expression: String,
    /// The other words, in lower case: they must occur somewhere in the text.
    pub(super) literals: Vec<String>,
}

impl Words {
    /// Splits a text at white space. Nothing in it has a special meaning.
    ///
    /// - A word with letters or digits must begin a word of the prompt; what punctuation
    ///   separates, on both sides, are words in a row.
    /// - The index takes a run of Chinese, Japanese or Thai for one word, so a word with such
    ///   letters is looked for anywhere.
    /// - A word of nothing but punctuation or symbols is looked for anywhere too if the text has
    ///   nothing else, and is passed over if it has.
    pub(super) fn new(text: &str) -> Self {
        // A NUL would end the full-text expression.
        let words: BTreeSet<&str> = text
            .split(|c: char| c.is_whitespace() || c == '\0')
            .filter(|word| !word.is_empty())
            .collect();
        let lettered = |word: &&str| word.contains(char::is_alphanumeric);
        let literal = |word: &&str| word.contains(is_unspaced);
        if !words.iter().any(lettered) {
            let literals = words.iter().map(|word| (*word).to_owned()).collect();
            return Self { literals, ..Self::default() };
        }
        let (literals, indexed): (Vec<&str>, Vec<&str>) =
            words.into_iter().filter(|word| lettered(word)).partition(literal);
        let quoted: Vec<String> =
            indexed.iter().map(|word| format!("\"{}\"*", word.replace('"', "\"\""))).collect();
        Self {
            indexed: indexed.into_iter().map(str::to_owned).collect(),
            expression: quoted.join(" "),
            literals: literals.into_iter().map(str::to_lowercase).collect(),
        }
    }

    /// Tells whether the text asks for nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.expression.is_empty() && self.literals.is_empty()
    }

    /// Tells whether a prompt holds the words the index knows nothing of.
    pub(super) fn occur_in(&self, prompt: &str) -> bool {
        if self.literals.is_empty() {
            return true;
        }
        let prompt = prompt.to_lowercase();
        self.literals.iter().all(|word| prompt.contains(word))
    }
}

/// Tells whether a letter belongs to a script written without spaces between words.
///
/// Letters beyond the basic plane are counted in: the index knows only the older of them.
pub(super) fn is_unspaced(c: char) -> bool {
    c.is_alphanumeric()
        && matches!(
            c,
            '\u{0e00}'..='\u{0eff}' // Thai, Lao
            | '\u{1000}'..='\u{109f}' // Burmese
            | '\u{1780}'..='\u{17ff}' // Khmer
            | '\u{3005}'..='\u{30ff}' // ideographic marks, Hiragana, Katakana
            | '\u{31f0}'..='\u{31ff}' // Katakana extensions
            | '\u{3400}'..='\u{4dbf}' // Han extension A
            | '\u{4e00}'..='\u{9fff}' // Han
            | '\u{f900}'..='\u{faff}' // Han, compatibility
            | '\u{ff66}'..='\u{ff9f}' // Katakana of half width
            | '\u{10000}'..
        )
}

#[cfg(test)]
mod tests {
    use super::Words;

    fn words(expression: &str, literals: &[&str]) -> (String, Vec<String>) {
        (expression.to_owned(), literals.iter().map(|word| (*word).to_owned()).collect())
    }

    fn parsed(text: &str) -> (String, Vec<String>) {
        let Words { expression, literals, .. } = Words::new(text);
        (expression, literals)
    }

    #[test]
    fn quotes_every_word() {
        assert_eq!(parsed("fix OR say\"hi\""), words(r#""OR"* "fix"* "say""hi"""*"#, &[]));
    }

    #[test]
    fn passes_over_punctuation_beside_words() {
        assert_eq!(parsed("a && b"), words(r#""a"* "b"*"#, &[]));
    }

    #[test]
    fn looks_for_punctuation_alone() {
        assert_eq!(parsed(" && -> "), words("", &["&&", "->"]));
    }

    #[test]
    fn looks_for_unspaced_scripts_anywhere() {
        assert_eq!(parsed("本語 Fix修复 fix"), words(r#""fix"*"#, &["fix修复", "本語"]));
    }

    #[test]
    fn ends_a_word_at_nul() {
        assert_eq!(parsed("a\0b"), words(r#""a"* "b"*"#, &[]));
    }

    #[test]
    fn finds_nothing_to_look_for_in_white_space() {
        assert!(Words::new(" \t\u{3000}\n").is_empty());
    }
}
