//! Images that are shown.

/// How base64 of each kind of image begins that browsers show without running anything.
const KINDS: [(&str, &[&str]); 4] = [
    ("image/png", &["iVBORw0KGgo"]),
    ("image/jpeg", &["/9j/"]),
    ("image/gif", &["R0lGODlh", "R0lGODdh"]),
    ("image/webp", &["UklGR"]),
];

/// Returns the URL of an image, if its bytes are of a known kind, whatever it calls itself.
pub(super) fn url(data: &str) -> Option<String> {
    let (kind, _) = KINDS.iter().find(|(_, starts)| starts.iter().any(|s| data.starts_with(s)))?;
    let is_base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    data.bytes().all(is_base64).then(|| format!("data:{kind};base64,{data}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_tell_the_kind_and_nothing_else_gets_in() {
        assert_eq!(url("/9j/AA==").as_deref(), Some("data:image/jpeg;base64,/9j/AA=="));
        assert_eq!(url("PHN2Zz48L3N2Zz4="), None);
        assert_eq!(url("iVBORw0KGgo\" onerror=\"x"), None);
        assert_eq!(url("https://example.com/a.png"), None);
    }
}
