//! Secrets that are known by their form.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::hit::Hit;

/// A kind of secret, and what it looks like.
struct Pattern {
    kind: &'static str,
    /// The secret is the first group, or all of it.
    regex: &'static str,
    /// Whether a digit is needed: words joined by hyphens look like some keys.
    digit: bool,
}

const fn pattern(kind: &'static str, regex: &'static str) -> Pattern {
    Pattern { kind, regex, digit: false }
}

const fn with_digit(kind: &'static str, regex: &'static str) -> Pattern {
    Pattern { kind, regex, digit: true }
}

/// What keys of providers and other tokens look like; of those that fit, the first names the kind.
const PATTERNS: &[Pattern] = &[
    with_digit("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    with_digit("openai-key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    pattern("google-api-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    with_digit(
        "google-oauth",
        r"\b(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{30,})",
    ),
    pattern("aws-key-id", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    pattern("github-token", r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    with_digit(
        "gitlab-token",
        r"\bgl(?:pat|dt|ptt|rt|rtr|cbt|ft|imt|agent|soat|ffct|oas)-[A-Za-z0-9_.-]{20,}",
    ),
    with_digit("slack-token", r"\bx(?:ox[a-z]|app|wfp)-[A-Za-z0-9-]{10,}"),
    pattern(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/+-]{20,})",
    ),
    pattern("discord-webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]{40,})"),
    pattern("telegram-token", r"\b[0-9]{8,12}:AA[A-Za-z0-9_-]{32,}"),
    pattern("stripe-key", r"\b(?:[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})"),
    pattern("huggingface-token", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    pattern("npm-token", r"\bnpm_[A-Za-z0-9]{36}"),
    pattern("pypi-token", r"\bpypi-[A-Za-z0-9_-]{32,}"),
    pattern("crates-token", r"\bcio[A-Za-z0-9]{32}\b"),
    pattern("groq-key", r"\bgsk_[A-Za-z0-9]{40,}"),
    pattern("xai-key", r"\bxai-[A-Za-z0-9]{40,}"),
    pattern("perplexity-key", r"\bpplx-[A-Za-z0-9]{40,}"),
    pattern("replicate-token", r"\br8_[A-Za-z0-9]{37}"),
    pattern("databricks-token", r"\bdapi[0-9a-f]{32}"),
    pattern("digitalocean-token", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    pattern("docker-token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    pattern(
        "hashicorp-token",
        r"\b(?:hv[sbr]\.[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,})",
    ),
    pattern("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    pattern("shopify-token", r"\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    pattern("supabase-key", r"\bsb(?:p_[0-9a-f]{40}|_secret_[A-Za-z0-9_-]{20,})"),
    pattern("twilio-key", r"\bSK[0-9a-f]{32}\b"),
    pattern("mailgun-key", r"\bkey-[0-9a-f]{32}\b"),
    pattern("linear-key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    pattern("notion-token", r"\bntn_[A-Za-z0-9]{40,}"),
    pattern("postman-key", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    pattern("age-key", r"\bAGE-(?:SECRET-KEY|PLUGIN)-[0-9A-Z-]{40,}"),
    pattern("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    pattern("bearer-token", r"(?i:\bbearer)[ \t]+([A-Za-z0-9._~+/-]{16,}=*)"),
    pattern("basic-auth", r"(?i:\bbasic)[ \t]+([A-Za-z0-9+/]{12,}={0,2})"),
    pattern("url-password", r#"://[^ \t\r\n/:@'"<>]{0,256}:([^ \t\r\n/@'"<>]{1,256})@"#),
    pattern(
        "url-password",
        r#"(?:[ \t]-u|--user)[ \t=]+['"]?[^ \t\r\n:'"]{1,256}:([^ \t\r\n'"]{3,256})"#,
    ),
];

/// What begins a private key, and what ends it.
const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";

struct Compiled {
    any: RegexSet,
    each: Vec<Regex>,
}

/// `None` cannot be: the tests compile all patterns.
static COMPILED: LazyLock<Option<Compiled>> = LazyLock::new(|| {
    // `\b` of ASCII is what the fast engines know.
    let ascii = |pattern: &Pattern| pattern.regex.replace(r"\b", r"(?-u:\b)");
    let any = RegexSet::new(PATTERNS.iter().map(ascii)).ok()?;
    let each = PATTERNS.iter().map(|pattern| Regex::new(&ascii(pattern)).ok());
    Some(Compiled { any, each: each.collect::<Option<_>>()? })
});

/// Finds all secrets of a known form.
pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    private_keys(text, hits);
    let Some(compiled) = COMPILED.as_ref() else { return };
    for at in compiled.any.matches(text) {
        let pattern = &PATTERNS[at];
        for found in compiled.each[at].captures_iter(text) {
            let Some(secret) = found.get(1).or_else(|| found.get(0)) else { continue };
            if pattern.digit && !secret.as_str().bytes().any(|byte| byte.is_ascii_digit()) {
                continue;
            }
            if !super::names::is_placeholder(secret.as_str()) {
                hits.push(Hit::new(secret.range(), pattern.kind, at));
            }
        }
    }
}

/// Finds private keys in PEM form; one without an end goes on to the end of the text.
fn private_keys(text: &str, hits: &mut Vec<Hit>) {
    let mut from = 0;
    while let Some(at) = text[from..].find(KEY_BEGIN) {
        let start = from + at;
        let title = text[start + KEY_BEGIN.len()..].split("-----").next().unwrap_or_default();
        from = start + KEY_BEGIN.len();
        if title.len() > 64 || !title.contains("PRIVATE KEY") {
            continue;
        }
        let ended = text[from..].find(KEY_END).map(|at| from + at + KEY_END.len());
        let end = ended.map_or(text.len(), |at| {
            text[at..].find("-----").map_or(text.len(), |dashes| at + dashes + 5)
        });
        hits.push(Hit::new(start..end, "private-key", 0));
        from = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_compile() {
        assert_eq!(COMPILED.as_ref().map(|compiled| compiled.each.len()), Some(PATTERNS.len()));
    }

    #[test]
    fn a_private_key_goes_to_its_end_or_that_of_the_text() {
        let found = |text: &str| {
            let mut hits = Vec::new();
            private_keys(text, &mut hits);
            hits.into_iter().map(|hit| text[hit.range].to_owned()).collect::<Vec<_>>()
        };
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        assert_eq!(found(&format!("a {key} b {key}")), [key, key]);
        let cut = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn";
        assert_eq!(found(&format!("a {cut}")), [cut]);
        assert_eq!(found("-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"), [""; 0]);
        assert_eq!(found("-----BEGIN "), [""; 0]);
    }
}
