//! Keys of payments, of shops, and of wallets.

use super::sources::{GITHUB, GITLEAKS, NOSEYPARKER, TRUFFLEHOG};
use crate::redact::rule::{Rule, beside, rule};

pub(super) const RULES: &[Rule] = &[
    rule(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_", "sk_org_"],
        r"[srp]k_(?:live|test|org)_[A-Za-z0-9_]{10,}",
        "Stripe docs: API keys",
    )
    .digit(),
    rule(
        "stripe-webhook-secret",
        &["whsec_"],
        r"whsec_[A-Za-z0-9+/=]{16,}",
        "Stripe docs: webhooks",
    )
    .digit(),
    rule(
        "square-token",
        &["sq0atp-", "sq0csp-", "sq0idp-"],
        r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}",
        GITLEAKS,
    ),
    rule("square-token", &["EAAA"], r"EAAA[A-Za-z0-9_-]{60}", GITLEAKS).digit(),
    rule(
        "braintree-token",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
        TRUFFLEHOG,
    ),
    beside("paypal-secret", &["paypal"], r"E[A-Za-z0-9_-]{79}", TRUFFLEHOG).mixed(),
    rule(
        "razorpay-key",
        &["rzp_live_", "rzp_test_"],
        r"rzp_(?:live|test)_[A-Za-z0-9]{14,}",
        TRUFFLEHOG,
    ),
    rule(
        "flutterwave-key",
        &["FLWSECK", "FLWPUBK"],
        r"FLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?",
        GITLEAKS,
    ),
    rule("adyen-key", &["AQE"], r"AQE[a-z]h[A-Za-z0-9+/=-]{60,}", TRUFFLEHOG),
    rule(
        "mollie-key",
        &["live_", "test_"],
        r"(?:live|test)_[A-Za-z0-9]{30}\b",
        "Mollie docs: authentication",
    )
    .digit(),
    rule("lob-key", &["live_", "test_"], r"(?:live|test)_(?:pub_)?[0-9a-f]{31,35}\b", GITLEAKS),
    rule(
        "gocardless-token",
        &["live_", "sandbox_"],
        r"(?:live|sandbox)_[A-Za-z0-9_=-]{40}",
        GITLEAKS,
    )
    .digit(),
    rule(
        "plaid-token",
        &["access-sandbox-", "access-development-", "access-production-"],
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{27}",
        GITLEAKS,
    ),
    beside("plaid-secret", &["plaid"], r"[0-9a-f]{30}", GITLEAKS),
    rule(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}",
        GITLEAKS,
    ),
    rule("easypost-key", &["EZAK", "EZTK"], r"EZ[AT]K[A-Za-z0-9]{54}", GITLEAKS),
    rule(
        "shippo-token",
        &["shippo_live_", "shippo_test_"],
        r"shippo_(?:live|test)_[0-9a-f]{40}",
        GITLEAKS,
    ),
    rule(
        "duffel-token",
        &["duffel_live_", "duffel_test_"],
        r"duffel_(?:live|test)_[A-Za-z0-9_=-]{43}",
        GITLEAKS,
    ),
    rule(
        "paddle-key",
        &["pdl_live_", "pdl_sdbx_"],
        r"pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}",
        "Paddle docs: API keys",
    ),
    rule(
        "checkout-key",
        &["sk_sbox_", "sk_"],
        r"sk_(?:sbox_)?[a-z2-7]{26}[a-z2-7*#$=]",
        TRUFFLEHOG,
    )
    .digit(),
    rule(
        "secret-token-uri",
        &["secret-token:"],
        r"secret-token:[A-Za-z0-9%._~:+/-]{10,}",
        "RFC 8959: the secret-token URI scheme",
    )
    .digit(),
    beside("coinbase-key", &["coinbase"], r"[A-Za-z0-9_-]{64}", GITLEAKS).mixed(),
    rule(
        "extended-private-key",
        &["xprv", "yprv", "zprv", "tprv"],
        r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}",
        "BIP 32: serialization format",
    ),
    rule("nostr-key", &["nsec1"], r"nsec1[02-9ac-hj-np-z]{58}", "NIP-19: bech32-encoded entities"),
    rule(
        "ethereum-private-key",
        &["private", "secret_key", "wallet"],
        r"(?i:private|secret_key|wallet)[\w .\x22'=:-]{0,32}?\b((?:0x)?[0-9a-fA-F]{64})\b",
        NOSEYPARKER,
    )
    .glued(),
    rule(
        "bitcoin-private-key",
        &["wif", "private"],
        r"(?i:wif|private)[\w .\x22'=:-]{0,32}?\b([5KL][1-9A-HJ-NP-Za-km-z]{50,51})\b",
        "Bitcoin Wiki: wallet import format",
    )
    .glued(),
    rule(
        "stellar-secret",
        &["stellar", "seed"],
        r"(?i:stellar|seed)[\w .\x22'=:-]{0,32}?\b(S[A-Z2-7]{55})\b",
        "Stellar docs: SEP-23",
    )
    .glued(),
    rule(
        "age-key",
        &["AGE-SECRET-KEY-", "AGE-PLUGIN-"],
        r"AGE-(?:SECRET-KEY|PLUGIN)-[0-9A-Z-]{40,}",
        "age: format specification",
    ),
    beside("amazon-pay-key", &["amazonpay", "amazon_pay"], r"SANDBOX-[A-Z0-9]{24}", GITHUB),
];
