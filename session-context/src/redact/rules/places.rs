//! Passwords that only their place tells of: behind words of a command, a setting or a sentence.

use super::sources::NOSEYPARKER;
use crate::redact::rule::{Needs, Rule, rule};

const COMMANDS: &str = "manual pages of the commands";

pub(super) const RULES: &[Rule] = &[
    rule("command-password", &["-storepass", "-keypass", "-srcstorepass", "-deststorepass"], r#"-(?:src|dest)?(?:store|key)pass[ \t]+['"]?([^\s'"`$]{1,256})"#, "keytool(1)").told(),
    rule("command-password", &["lftp"], r#"lftp[^\n|;&]{0,80}?[ \t]-u[ \t]*['"]?[^\s,'"]{1,64},([^\s'"`$]{1,256})"#, COMMANDS).told(),
    rule("command-password", &["/user:"], r#"/user:[^\s'"]{1,64}[ \t]+([^\s'"`/*$][^\s'"`]{3,255})"#, "Microsoft Learn: net use").needs(Needs::Odd).told(),
    rule("command-password", &["net use"], r#"net[ \t]+use[ \t][^\n]{0,80}?\\\\\S{1,128}[ \t]+([^\s'"`/*$][^\s'"`]{3,255})[ \t]+/user:"#, "Microsoft Learn: net use").needs(Needs::Odd).told(),
    rule("command-password", &["http -a", "https -a", "http --auth", "https --auth", "xh -a"], r#"(?:https?|xh)[ \t]+(?:-a|--auth)[ \t=]{1,4}['"]?[^\s:'"]{1,64}:([^\s'"`$]{1,256})"#, "HTTPie documentation: authentication").told(),
    rule("command-password", &["sqlplus"], r#"sqlplus[ \t]+(?:-\S+[ \t]+){0,4}['"]?[A-Za-z0-9_]{1,64}/([^\s@'"`$]{1,256})"#, COMMANDS).needs(Needs::Odd).told(),
    rule("command-password", &["requirepass", "masterauth"], r#"(?:requirepass|masterauth)[ \t]+['"]?([^\s'"`$]{4,256})"#, "Redis documentation: configuration").needs(Needs::Odd).told(),
    rule("command-password", &["AUTH "], r#"AUTH[ \t]+(?:[a-z][a-z0-9_-]{0,31}[ \t]+)?([^\s'"`$<]{8,256})"#, "Redis documentation: AUTH").needs(Needs::Mixed).told(),
    rule("basic-auth", &["AUTH "], r"AUTH[ \t]+(?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5)[ \t]+([A-Za-z0-9+/]{8,}={0,2})", "RFC 4954: SMTP authentication"),
    rule("basic-auth", &["\"auth\"", "'auth'", "_auth"], r#"["']?_?auth["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([A-Za-z0-9+/]{6,}={0,2})"#, "Docker documentation: config.json; npm documentation: npmrc").needs(Needs::UserAndPassword),
    rule("command-password", &["ConvertTo-SecureString"], r#"(?i:ConvertTo-SecureString)[ \t]+(?:-String[ \t]+)?(?:"([^"\n$]{1,256})"|'([^'\n]{1,256})')"#, "Microsoft Learn: ConvertTo-SecureString").told(),
    rule("command-password", &["identified by", "identified with"], r#"(?i:identified)[ \t]+(?i:with[ \t]+\S{1,64}[ \t]+)?(?i:by)[ \t]+(?i:password[ \t]+)?(?:'([^'\n]{1,256})'|"([^"\n]{1,256})")"#, "MySQL documentation: CREATE USER").told(),
    rule("command-password", &["password '", "password e'"], r#"(?i:password)[ \t]+[eE]?'([^'\n]{4,256})'"#, "PostgreSQL documentation: CREATE ROLE").needs(Needs::Odd).told(),
    rule("command-password", &["psk="], r#"psk=["']?([^\s"'`<$]{8,64})"#, "wpa_supplicant.conf(5)").needs(Needs::Odd).told(),
    rule("command-password", &["become_pass", "ssh_pass", "sudo_pass", "become_password"], r#"(?:become|ssh|sudo)_pass(?:word)?["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([^\s"'`$({<]{4,256})"#, "Ansible documentation: become").glued().told(),
    rule("command-password", &["::add-mask::"], r#"::add-mask::([^\s"'`$]{4,256})"#, "GitHub Docs: workflow commands").told(),
    rule("command-password", &["password(", "passwd(", "secret(", "apikey(", "token("], r#"(?i:passw(?:or)?d|secret|apikey|token)\([ \t]{0,4}(?:"([^"\s]{4,256})"|'([^'\s]{4,256})')[ \t]{0,4}\)"#, NOSEYPARKER).glued().needs(Needs::Mixed).told(),
    rule("connection-string-password", &["jdbc:oracle"], r#"jdbc:oracle:[a-z0-9]{1,8}:[A-Za-z0-9_]{1,64}/([^\s@'"]{1,256})@"#, "Oracle documentation: JDBC").told(),
    rule("private-key", &["client-key-data"], r#"client-key-data["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([A-Za-z0-9+/]{40,}={0,2})"#, "Kubernetes documentation: kubeconfig"),
    rule("spoken-password", &["password:*", "password*", "passphrase:*", "passphrase*", "secret:*", "secret*", "token:*", "token*", "key:*", "key*"], r#"(?i:passw(?:or)?d|passphrase|secret|token|key):?\*\*:?[ \t]+`?([^\s`*|<$]{4,256})"#, NOSEYPARKER).needs(Needs::DigitAndLetter).told(),
    rule("spoken-password", &["password", "passphrase", "secret", "token", "api key", "api_key"], r#"(?i:passw(?:or)?d|passphrase|secret|token|api[ _]key)[ \t`*]{0,8}\|[ \t]{0,8}`?([^\s`|<$]{6,256})`?[ \t]{0,32}\|"#, NOSEYPARKER).needs(Needs::Mixed).told(),
    rule("spoken-password", &["password `", "passphrase `", "passcode `"], r#"(?i:pass(?:word|phrase|code))[ \t]+`([^\s`]{4,256})`"#, NOSEYPARKER).needs(Needs::DigitAndLetter).told(),
    rule("spoken-password", &["password ", "passphrase ", "passcode "], r#"(?i:pass(?:word|phrase|code))[ \t]+([A-Za-z0-9_!@#%^&*+=~.-]{7,255}[A-Za-z0-9])"#, NOSEYPARKER).needs(Needs::Mixed).told(),
    rule("spoken-password", &["secret ", "token ", "api key ", "api_key ", "apikey ", "access key ", "secret key "], r#"(?i:secret|token|(?:api|access|secret)[ _-]?key)[ \t]+(?i:is|was|is now|set to)[ \t]*:?[ \t]+["'`]?([A-Za-z0-9]{20,255})\b"#, NOSEYPARKER).needs(Needs::Odd).told(),
    rule("named-secret", &["token", "secret", "password", "api_key", "apikey"], r#"(?i:token|secret|password|api_?key)[A-Za-z_]{0,16}[ \t]?:[ \t]?(?:&?(?:'static[ \t])?str|string|String)[ \t]?=[ \t]?["']([^"'\s$<{]{6,256})["']"#, NOSEYPARKER).glued().needs(Needs::Odd).told(),
    rule("named-secret", &["set -"], r#"set[ \t]+(?:-[a-zA-Z]+[ \t]+){1,3}[A-Z0-9_]{0,32}(?:TOKEN|KEY|SECRET|PASSWORD|PASS)[ \t]+['"]?([^\s'"`$;(]{6,256})"#, "fish documentation: set").needs(Needs::Odd).told(),
    rule("named-secret", &["token: |", "secret: |", "password: |", "key: |", "token: >", "secret: >", "password: >", "key: >"], r#"(?i:token|secret|password|key):[ \t][|>][-+]?[ \t]*\n[ \t]+([^\s"'`$<{]{8,256})"#, "YAML: block scalars").glued().needs(Needs::Odd).told(),
    rule("named-secret", &["variable \""], r#"variable[ \t]+"[a-z0-9_]{0,64}(?:token|secret|password|key)"[ \t]{0,4}\{[^}]{0,200}?default[ \t]{0,8}=[ \t]{0,4}"([^"\s$]{6,256})""#, "Terraform documentation: input variables").needs(Needs::Odd).told(),
];
