//! Names that announce a secret, and values that are none.

/// How a name ends that announces a secret, without case, `_`, `-` and `.`.
const ENDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "pwd",
    "secret",
    "secrets",
    "token",
    "apikey",
    "secretkey",
    "privatekey",
    "accesskey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "accountkey",
    "sharedkey",
    "sharedaccesskey",
    "servicekey",
    "licensekey",
    "sshkey",
    "deploykey",
    "sessionkey",
    "hmackey",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "connectionstring",
    "subscriptionkey",
    "webhooksecret",
    "recoverycode",
    "passcode",
    "dbpass",
    "smtppass",
    "userpass",
    "adminpass",
    "rootpass",
    "mnemonic",
    "seedphrase",
    "recoveryphrase",
    "otp",
];

/// Names that announce a secret if nothing else is in them.
const WHOLE: &[&str] = &["auth", "pass", "pw"];

/// How a name ends of what is said about a secret.
const ABOUT: &[&str] = &[
    "url",
    "uri",
    "link",
    "path",
    "file",
    "filename",
    "dir",
    "length",
    "len",
    "min",
    "max",
    "policy",
    "required",
    "hint",
    "reset",
    "field",
    "label",
    "placeholder",
    "expiry",
    "expires",
    "expiration",
    "expired",
    "ttl",
    "age",
    "count",
    "type",
    "id",
    "name",
    "prompt",
    "regex",
    "pattern",
    "enabled",
    "disabled",
    "algorithm",
    "format",
    "error",
    "errors",
    "message",
    "title",
    "help",
    "strength",
    "rounds",
    "cost",
    "endpoint",
    "header",
    "prefix",
    "provider",
    "store",
    "manager",
    "command",
    "found",
    "invalid",
    "incorrect",
    "mismatch",
    "match",
    "changed",
    "wrong",
    "short",
    "long",
    "weak",
    "missing",
    "forgot",
    "forgotten",
    "empty",
    "updated",
    "rules",
    "desc",
    "description",
    "status",
    "usage",
    "limit",
    "limits",
    "scope",
    "scopes",
    "source",
    "helper",
    "at",
];

/// What such a name may hold anywhere.
const PARTS: &[&str] = &[
    "apikey",
    "password",
    "passwd",
    "secretkey",
    "privatekey",
    "clientsecret",
    "accesstoken",
    "authtoken",
    "refreshtoken",
];

/// How the name of a variable of the environment may end beside.
const VARIABLE_ENDS: &[&str] =
    &["_KEY", "_PASS", "_PAT", "_SALT", "_DSN", "_AUTH", "_CREDS", "_SECRETS", "_TOKENS", "_PW"];

/// Names that end like those of secrets and are of something else.
const OTHERS: &[&str] = &[
    "nexttoken",
    "pagetoken",
    "nextpagetoken",
    "continuationtoken",
    "synctoken",
    "cancellationtoken",
    "maxtoken",
    "hotp",
    "totp",
];

/// Words found in all names that [`announces`] takes, for a first look.
pub(super) const WORDS: &str = r"(?i:passw|passphrase|(?:db|smtp|user|admin|root)[_.-]?pass|pwd|secret|token|api[_.-]?key|credential|authorization|cookie|connection[_.-]?string|otp|recovery[_.-]?(?:code|phrase)|passcode|mnemonic|seed[_.-]?phrase|\b(?:pass|pw)\b|(?:private|access|auth|signing|encryption|master|account|shared|service|license|ssh|deploy|session|hmac|subscription)[_.-]?key)|_(?:KEY|PASS|PAT|SALT|DSN|AUTH|CREDS|PW)\b";

/// What stands in place of a value in texts about it.
const STAND_INS: &[&str] = &[
    "string",
    "str",
    "bytes",
    "number",
    "boolean",
    "bool",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "any",
    "object",
    "required",
    "optional",
    "secret",
    "password",
    "pass",
    "passwd",
    "token",
    "text",
    "varchar",
    "uuid",
    "example",
    "placeholder",
    "changeme",
    "process",
    "self",
    "this",
    "redacted",
];

/// Tells whether a name is that of a secret.
pub(super) fn announces(name: &str) -> bool {
    if is_variable(name) && VARIABLE_ENDS.iter().any(|end| name.ends_with(end)) {
        return true;
    }
    // A name is short; what is longer is text.
    if name.len() > 128 {
        return false;
    }
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '_' | '-' | '.' | ' '))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let named = || WHOLE.contains(&&*plain) || ENDS.iter().any(|end| plain.ends_with(end));
    let is_about = || ABOUT.iter().any(|end| plain.ends_with(end));
    let holds = || PARTS.iter().any(|part| plain.contains(part)) && !is_about();
    !OTHERS.contains(&&*plain) && (named() || holds())
}

/// Tells whether a name of a secret is also a plain word: what stands behind it with a colon is
/// prose more often than not.
pub(super) fn is_short(name: &str) -> bool {
    WHOLE.iter().any(|word| word.eq_ignore_ascii_case(name))
}

/// How long plain words are that stand in place of keys, in bytes.
const MAX_WORD: usize = 20;

/// Tells whether a value is plain words. A person may choose such a password; keys and tokens are
/// made by a machine, and `ollama` is none. A sentence about passwords is no password, nor is text
/// in Chinese, which translations of programs have behind such names.
pub(super) fn is_plain(name: &str, value: &str) -> bool {
    let plain = name.to_ascii_lowercase();
    let holds = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_chosen = holds(&plain, &["pass", "pwd", "pw", "secret", "credential", "auth", "phrase"]);
    // A number behind words counts them, as in `token-1`.
    let words = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let words =
        if value.len() - words.len() <= 2 && words.ends_with(['-', '_']) { words } else { value };
    let in_words = |b: u8| b.is_ascii_lowercase() || matches!(b, b'-' | b'_');
    let is_word = value.len() < MAX_WORD && words.bytes().all(in_words);
    // Passwords are typed; scripts without capitals are those of messages.
    let is_message = |c: char| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase();
    if value.chars().filter(|c| is_message(*c)).count() >= 2 {
        return true;
    }
    let is_sentence = || {
        let value = value.to_ascii_lowercase();
        value.split(' ').filter(|word| !word.is_empty()).count() >= 3
            && !value.bytes().any(|byte| byte.is_ascii_digit())
            && holds(&value, &["passw", "passphrase", "token", "secret", "key", "credential"])
    };
    !is_variable(name) && ((is_word && !is_chosen) || is_sentence())
}

/// Tells whether a name is spelled as variables of the environment are.
pub(super) fn is_variable(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && name.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// How long the beginning of a secret is that stands for all of it, in bytes.
const MAX_CUT: usize = 12;

/// Tells whether the value of such a name stands for a secret and is none.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let Some(first) = value.chars().next() else { return true };
    let reference = [
        "$",
        "<",
        "{{",
        "%(",
        "%{",
        "[redacted",
        "[REDACTED",
        "process.env",
        "os.environ",
        "env.",
        "ENV[",
        "your ",
        "your_",
        "your-",
        "YOUR_",
    ];
    // As in `"api_key": "OPENAI_API_KEY"`, and `API_KEY=sk-...`.
    let is_name = is_variable(value) && value.contains('_') && announces(value);
    let is_cut = value.len() <= MAX_CUT && (value.ends_with("...") || value.ends_with('…'));
    let inside = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
    let is_remark =
        inside.is_some_and(|inside| inside.chars().all(|c| c.is_alphabetic() || c == ' '));
    is_name
        || is_cut
        || is_remark
        || value.contains("****")
        || value.starts_with('…')
        || reference.iter().any(|start| value.starts_with(start))
        || value.chars().all(|c| c == first)
        || value.chars().all(|c| matches!(c, '*' | '.' | '•' | 'x' | 'X' | '…' | '-'))
        || STAND_INS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_others() {
        let secret = [
            "password",
            "DB_PASSWORD",
            "dbPassword",
            "api_key",
            "x-api-key",
            "apiKey",
            "API_KEY_2",
            "client_secret",
            "AWS_SECRET_ACCESS_KEY",
            "githubToken",
            "_authToken",
            "auth",
            "Authorization",
            "STRIPE_KEY",
            "SMTP_PASS",
            "SENTRY_DSN",
            "credentials",
            "Cookie",
            "ConnectionString",
            "session.token",
            "pass",
            "passcode",
            "apiKeyOpenai",
            "seed_phrase",
        ];
        assert_eq!(secret.map(announces), [true; 24]);
        let other = [
            "key",
            "tokens",
            "totalTokens",
            "tokenizer",
            "author",
            "cacheKey",
            "public_key",
            "id",
            "nextToken",
            "name",
            "KEY",
            "monkey",
            "keyboard",
            "compass",
            "secretary",
            "password_required",
            "PASSWORD_RESET_URL",
            "apiKeyHelper",
            "",
        ];
        assert_eq!(other.map(announces), [false; 19]);
    }

    #[test]
    fn every_name_is_seen_at_a_first_look() {
        let look = crate::redact::pattern::compile("names", WORDS).unwrap();
        let missed = |word: &&&str| !look.is_match(word.as_bytes());
        assert_eq!(ENDS.iter().chain(PARTS).filter(missed).collect::<Vec<_>>(), [&""; 0]);
    }

    #[test]
    fn what_stands_for_a_value_is_none() {
        let none = [
            "",
            "  ",
            "$TOKEN",
            "${TOKEN}",
            "<your key>",
            "{{ token }}",
            "****",
            "xxxxxxxx",
            "...",
            "string",
            "None",
            "process.env.KEY",
            "[redacted:jwt]",
            "%(password)s",
            "OPENAI_API_KEY",
            "sk-ant-...",
            "gsk_…",
            "gho_************************",
            "your_password",
            "[removed by us]",
        ];
        assert!(!is_placeholder("abcdef0123456789..."));
        assert_eq!(none.map(is_placeholder), [true; 20]);
        assert_eq!(["hunter2", "x1", "p"].map(is_placeholder), [false, false, true]);
    }
}
