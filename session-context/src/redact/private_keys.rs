//! Private keys in PEM form.

use super::hit::Hit;

/// The kind of such keys.
pub(super) const KIND: &str = "private-key";

/// What begins a private key, and what ends it.
const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";

/// Finds private keys in PEM form; one without an end goes on to the end of the text.
pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    let mut from = 0;
    while let Some(at) = text[from..].find(KEY_BEGIN) {
        let start = from + at;
        let title = text[start + KEY_BEGIN.len()..].split("-----").next().unwrap_or_default();
        from = start + KEY_BEGIN.len();
        let is_title =
            title.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
        if !is_title || title.len() > 64 || !title.contains("PRIVATE KEY") {
            continue;
        }
        let ended = text[from..].find(KEY_END).map(|at| from + at + KEY_END.len());
        let end = ended.map_or(text.len(), |at| {
            text[at..].find("-----").map_or(text.len(), |dashes| at + dashes + 5)
        });
        hits.push(Hit::new(start..end, KIND, 0));
        from = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_key_goes_to_its_end_or_that_of_the_text() {
        let found = |text: &str| {
            let mut hits = Vec::new();
            find(text, &mut hits);
            hits.into_iter().map(|hit| text[hit.range].to_owned()).collect::<Vec<_>>()
        };
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        assert_eq!(found(&format!("a {key} b {key}")), [key, key]);
        let cut = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn";
        assert_eq!(found(&format!("a {cut}")), [cut]);
        assert_eq!(found("-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"), [""; 0]);
        assert_eq!(found("-----BEGIN "), [""; 0]);
        assert_eq!(found("-----BEGIN of the PRIVATE KEY-----"), [""; 0]);
    }
}
