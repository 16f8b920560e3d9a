//! Secrets of no maker: tokens of common formats, and what stands where a password stands.

use super::sources::{GITLEAKS, NOSEYPARKER};
use crate::redact::rule::{Needs, Rule, rule};

const COMMANDS: &str = "manual pages of the commands";

pub(super) const RULES: &[Rule] = &[
    rule("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", "RFC 7519: JSON Web Token"),
    rule(
        "mnemonic",
        &["mnemonic", "seed phrase", "recovery phrase", "secret phrase", "seed words"],
        r"(?i:mnemonic|(?:seed|recovery|secret) phrase|seed words)[^a-zA-Z\n]{0,4}(?:(?i:is|are|words|phrase)[^a-zA-Z\n]{1,3}){0,2}((?:[a-z]{3,10}[ ,]{1,2}){11,24}[a-z]{3,10})",
        "BIP 39: mnemonic code",
    ),
    rule("bearer-token", &["bearer"], r"(?i:bearer)[ \t]+([A-Za-z0-9._~+/-]{16,}=*)", "RFC 6750: bearer tokens"),
    rule("basic-auth", &["basic"], r"(?i:basic)[ \t]+([A-Za-z0-9+/]{6,}={0,2})", "RFC 7617: the Basic scheme").needs(Needs::UserAndPassword),
    rule("private-key", &["---- BEGIN SSH2 ENCRYPTED PRIVATE KEY"], r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----[\s\S]{0,8000}?(?:---- END[ A-Z0-9]*----|\z)", "RFC 4716: SSH public key file format"),
    rule("putty-key", &["Private-Lines:"], r"(?i:Private-Lines):\s*[0-9]+\s+((?:[A-Za-z0-9+/=]{40,}\s+)*[A-Za-z0-9+/=]+(?:\s+Private-(?:MAC|Hash):\s*[0-9a-f]{40,64})?)", "PuTTY manual: PPK file format"),
    rule("jwk-private-key", &["\"d\""], r#""d"\s*:\s*"([A-Za-z0-9_-]{40,})""#, "RFC 7517: JSON Web Key"),
    rule("wireguard-key", &["PrivateKey", "PresharedKey"], r"(?i:PrivateKey|PresharedKey)\s*=\s*([A-Za-z0-9+/]{43}=)", "WireGuard: wg(8)"),
    rule("password-hash", &["$1$", "$5$", "$6$", "$7$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2", "$scrypt$", "$pbkdf2"], r"\$((?:1|5|6|7|y|2[aby]|apr1|argon2[id]{0,2}|scrypt|pbkdf2(?:-[a-z0-9]+)?)\$[A-Za-z0-9./$=,+-]{20,})", "crypt(5); PHC string format").glued(),
    rule("url-password", &[" -u", "--user", "-U "], r#"[ \t]?(?:-u|--user|-U)[ \t=]{0,4}['"]?[A-Za-z0-9._@\\-]{1,128}[:%]([^\s'"`]{3,256})"#, "curl(1), smbclient(1)").glued().told(),
    rule("url-password", &["://"], r"://([A-Za-z0-9_-]{20,256})@[A-Za-z0-9.-]", "RFC 3986: user information").glued().needs(Needs::DigitAndLetter),
    rule("connection-string-password", &["pwd", "password"], r#";[ \t]{0,4}(?i:pwd|password)[ \t]?=[ \t]?(?:"([^"\n]{1,256})"|(\{[^}\n]{1,256}\})|([^\s;'"`$(]{1,256}))"#, "connection strings of ODBC and ADO.NET").before(8).glued().told(),
    rule("connection-string-password", &["pwd=", "password="], r#"(?i:pwd|password)=(?:"([^"\n]{1,256})"|(\{[^}\n]{1,256}\})|([^\s;'"]{1,256}));\s*[A-Za-z][A-Za-z ]{1,30}="#, "connection strings of ODBC and ADO.NET").told(),
    rule("netrc-password", &["machine", "default"], r#"(?:(?:machine\s+\S{1,256}|default)\s+(?:(?:login|account)\s+\S{1,256}\s+){1,2}password\s+("[^"\n]{1,256}"|[^\s"',;)]{1,256})|machine\s+\S{1,256}\s+password\s+("[^"\n]{1,256}"|[^\s"',;)]{1,256})\s+(?:login|account)\s)"#, "netrc(5)").told(),
    rule("netrc-password", &["login"], r#"login\s+\S{1,256}\s+(?:account\s+\S{1,256}\s+)?password\s+("[^"\n]{1,256}"|[^\s"',;)]{1,256})"#, "netrc(5)").told(),
    rule("pgpass-password", &[":5432:", ":5433:", ":5434:", ":6432:", ":6543:", ":26257:", ":25060:", ":*:", "localhost:", "*:", "127.0.0.1:"], r#"[A-Za-z0-9.*_/-]{1,128}:(?:[0-9]{2,5}|\*):(?:[A-Za-z_*][\w*-]{0,62}):(?:[A-Za-z_*][\w.*@-]{0,62}):([^\s"'`:]{3,256})"#, "PostgreSQL documentation: the password file").before(128).told(),
    rule("command-password", &["mysql", "mariadb", "mycli"], r#"(?:mysql|mariadb|mycli)[a-z_]{0,12}(?:[ \t]+[^\s|;&]{1,128}){0,12}?[ \t]+-p(?:'([^'\n]{1,256})'|"([^"\n]{1,256})"|([^\s'"`|;&:]{1,256}))"#, COMMANDS).told(),
    rule("command-password", &["sshpass"], r#"sshpass[ \t]+(?:-[a-zA-Z]+[ \t]+)*?-p[ \t]*(?:'([^'\n]{1,256})'|"([^"\n]{1,256})"|([^\s'"`|;&]{1,256}))"#, COMMANDS).told(),
    rule("command-password", &["echo", "printf"], r#"(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)*(?:['"]?%s(?:\\n)?['"]?[ \t]+)?['"]?([^\s'"`|][^'"|\n]{0,255}?)(?:\\n)?['"]?[ \t]*\|[ \t]*(?:/usr/bin/)?(?:sudo|su)\b[^\n|;&]{0,80}?-[a-zA-Z]*S"#, COMMANDS).told(),
    rule("command-password", &["echo", "printf"], r#"(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)*['"]?[A-Za-z_][\w.-]{0,31}:([^\s'"`|]{1,256})['"]?[ \t]*\|[ \t]*(?:/usr/sbin/|sudo[ \t]+)*chpasswd"#, COMMANDS).told(),
    rule("command-password", &["echo", "printf"], r#"(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)*['"]?([^\s'"`|][^'"|\n]{0,255}?)['"]?[ \t]*\|[ \t]*[^\n|;&]{1,80}?--pass(?:word|phrase)-(?:stdin|fd)"#, COMMANDS).told(),
    rule("command-password", &["sudo"], r#"sudo[ \t]+(?:-\S+[ \t]+)*?-[a-zA-Z]*S[^\n<|;&]{0,120}<<<[ \t]*['"]?([^\s'"`]{1,256})"#, COMMANDS).told(),
    rule("command-password", &["redis-cli", "docker login", "podman login", "az login", "sqlcmd", "ldapsearch", "ldapadd", "ldapmodify", "mongo", "zip ", "7z ", "unrar ", "htpasswd"], r#"(?:redis-cli[^\n|;&]{0,120}?[ \t]-a|(?:docker|podman|az)[ \t]+login[^\n|;&]{0,120}?[ \t]-p|sqlcmd[^\n|;&]{0,120}?[ \t]-P|ldap(?:search|add|modify)[^\n|;&]{0,120}?[ \t]-w|mongo(?:sh|dump|restore|export|import)?[ \t][^\n|;&]{0,120}?-p|zip[ \t][^\n|;&]{0,120}?-P|7z[ \t][^\n|;&]{0,120}?-p|unrar[ \t][^\n|;&]{0,120}?-p|htpasswd[ \t]+-[a-zA-Z]*b[a-zA-Z]*[ \t]+\S+[ \t]+\S+)[ \t]*['"]?([^\s'"`|;&-][^\s'"`|;&]{3,256})"#, COMMANDS).needs(Needs::Odd).told(),
    rule("command-password", &["pass:"], r#"-?pass(?:in|out)?[ \t]{1,3}pass:([^\s'"`]{1,256})"#, "openssl-passphrase-options(1)").before(12).told(),
    rule("command-password", &["ssh-keygen"], r#"ssh-keygen[^\n|;&]{0,160}?[ \t]-[NP][ \t]*['"]?([^\s'"`|;&]{4,256})"#, COMMANDS).told(),
    rule("spoken-password", &["password", "passphrase", "passcode", "passwort", "passwd"], r#"(?i:pass(?:word|phrase|code|wort|wd))(?:[ \t]+(?i:for|of|to)[ \t]+[^\n.,;:]{1,48}?)?[ \t]+(?i:is|was|ist|will be|is now|is set to|set to)[ \t]*:?[ \t]+(?:"([^"\n]{4,256})"|'([^'\n]{4,256})'|`([^`\n]{4,256})`)"#, NOSEYPARKER).told(),
    rule("spoken-password", &["password", "passphrase", "passcode", "passwort", "passwd"], r#"(?i:pass(?:word|phrase|code|wort|wd))(?:[ \t]+(?i:for|of|to)[ \t]+[^\n.,;:]{1,48}?)?[ \t]+(?i:is|was|ist|will be|is now|is set to|set to)[ \t]*:?[ \t]+([^\s"'`<>()\\]{4,255}[^\s"'`<>()\\.,;:!?])"#, NOSEYPARKER).needs(Needs::Odd).told(),
    rule("spoken-password", &["secret", "token", "key"], r#"(?i:secret|token|(?:api|access|secret)[ _-]?key)[ \t]+(?i:is|was|is now|set to)[ \t]*:?[ \t]+["'`]?([A-Za-z0-9_./+=~-]{7,255}[A-Za-z0-9=])\b"#, NOSEYPARKER).needs(Needs::DigitAndLetter).told(),
    rule("uri-signature", &["X-Amz-Signature=", "X-Goog-Signature="], r"X-(?:Amz|Goog)-Signature=([0-9a-f]{64,})", "AWS documentation: Signature Version 4"),
    rule("session-cookie", &["JSESSIONID=", "PHPSESSID=", "ASP.NET_SessionId=", "connect.sid=", "_gitlab_session=", "sessionid="], r"(?i:JSESSIONID|PHPSESSID|ASP\.NET_SessionId|connect\.sid|_gitlab_session|sessionid)=([A-Za-z0-9%._-]{16,})", GITLEAKS).digit().told(),
];
