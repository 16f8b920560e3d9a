//! Letters as they are compared: without case, accents and forms of width.

/// What stands for U+00C0 to U+017F, a letter each.
const LATIN: &str = "aaaaaaaceeeeiiiidnooooo ouuuuypsaaaaaaaceeeeiiiidnooooo ouuuuypy\
    aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll\
    lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

/// Adds a letter to a term in the form in which it is compared.
pub(super) fn push_folded(term: &mut String, c: char) {
    if c.is_ascii() {
        return term.push(c.to_ascii_lowercase());
    }
    if let Some(plain) = plain_latin(c) {
        return term.push(plain);
    }
    if is_mark(c) {
        return;
    }
    // Forms of full width are those of ASCII, moved.
    let c = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    };
    term.extend(c.to_lowercase());
}

/// Tells whether this is an accent on the letter before.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}')
}

/// A Latin letter without its accent.
fn plain_latin(c: char) -> Option<char> {
    let at = u32::from(c).checked_sub(0xc0)?;
    let plain = char::from(*LATIN.as_bytes().get(usize::try_from(at).ok()?)?);
    (plain != ' ').then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let mut term = String::new();
        text.chars().for_each(|c| push_folded(&mut term, c));
        term
    }

    #[test]
    fn letters_lose_case_accents_and_width() {
        for (text, plain) in [
            ("Café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("ÀÉÎÕÜÝ àéîõüýÿ", "aeiouy aeiouyy"),
            ("Łódź Žižek ĞÜL Őrs Ñandú", "lodz zizek gul ors nandu"),
            ("Straße Øre Þór", "strase ore por"),
            ("ŠšŽžŸſ", "sszzys"),
            ("Привет Ωμέγα", "привет ωμέγα"),
            ("ＡＢＣ１", "abc1"),
            ("漢字", "漢字"),
        ] {
            assert_eq!(folded(text), plain, "{text}");
        }
    }
}
