//! Keys of databases, of search, and of what watches over programs.

use super::sources::{GITHUB, GITLEAKS, TRUFFLEHOG};
use crate::redact::rule::{Rule, beside, rule};

pub(super) const RULES: &[Rule] = &[
    rule("neon-key", &["napi_"], r"napi_[a-z0-9]{40,}", "Neon docs: API keys"),
    rule("neon-password", &["npg_"], r"npg_[A-Za-z0-9]{10,}", "Neon docs: passwords").digit(),
    rule(
        "supabase-key",
        &["sbp_", "sb_secret_"],
        r"sb(?:p_(?:v0_)?[0-9a-f]{40}|_secret_[A-Za-z0-9_-]{20,})",
        GITHUB,
    ),
    rule(
        "planetscale-key",
        &["pscale_"],
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,}",
        GITLEAKS,
    ),
    rule("mongodb-atlas-key", &["mdb_sa_sk_"], r"mdb_sa_sk_[A-Za-z0-9_-]{30,}", GITHUB),
    rule("cockroachdb-key", &["CCDB1_"], r"CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}", GITHUB),
    rule("databricks-token", &["dapi"], r"dapi[0-9a-f]{32}(?:-[0-9])?", GITLEAKS),
    rule("databricks-oauth-secret", &["dose"], r"dose[0-9a-f]{32}\b", GITHUB),
    rule("clickhouse-key", &["4b1d"], r"4b1d[A-Za-z0-9]{38}\b", GITLEAKS),
    rule("aiven-password", &["AVNS_"], r"AVNS_[A-Za-z0-9_-]{16,}", GITHUB),
    rule("elastic-key", &["essu_"], r"essu_[A-Za-z0-9+/=_-]{40,}", GITHUB),
    rule(
        "convex-key",
        &["prod:", "dev:", "preview:"],
        r"(?:prod|dev|preview):[a-z0-9:-]+\|[A-Za-z0-9+/=]{40,}",
        "Convex docs: deploy keys",
    ),
    rule("xata-key", &["xau_"], r"xau_[A-Za-z0-9]{20,}", "Xata docs: API keys").digit(),
    rule(
        "dbt-token",
        &["dbtc_", "dbtu_", "dbts_"],
        r"dbt[cus]_[A-Za-z0-9_=-]{30,}",
        "dbt docs: access tokens",
    )
    .digit(),
    beside("algolia-key", &["algolia"], r"[0-9a-f]{32}", GITLEAKS),
    beside("confluent-secret", &["confluent"], r"[A-Za-z0-9+/]{64}", GITLEAKS).mixed(),
    beside("upstash-token", &["upstash"], r"[A-Za-z0-9]{40,64}", TRUFFLEHOG).mixed(),
    rule(
        "sentry-token",
        &["sntrys_", "sntryu_"],
        r"(?:sntrys_[A-Za-z0-9+/=_-]{40,}|sntryu_[0-9a-f]{40,})",
        GITLEAKS,
    ),
    rule(
        "sentry-dsn",
        &["://"],
        r"://([0-9a-f]{32}(?::[0-9a-f]{32})?)@[A-Za-z0-9.-]+/[0-9]+",
        "Sentry docs: DSN",
    )
    .glued(),
    beside("sentry-token", &["sentry"], r"[0-9a-f]{64}", GITLEAKS),
    rule(
        "newrelic-key",
        &["NRAK-", "NRJS-", "NRII-", "NRAA-", "NRRA-"],
        r"NR(?:AK|JS|II|AA|RA)-[A-Za-z0-9_-]{19,}",
        GITLEAKS,
    ),
    rule("newrelic-key", &["NRAL"], r"[A-Za-z0-9]{36}NRAL\b", "New Relic docs: license keys")
        .before(36),
    rule(
        "grafana-token",
        &["glc_", "glsa_"],
        r"(?:glc_[A-Za-z0-9+/]{32,}={0,3}|glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8})",
        GITLEAKS,
    ),
    rule("grafana-token", &["eyJrIjoi"], r"eyJrIjoi[A-Za-z0-9]{60,}={0,3}", GITLEAKS),
    rule(
        "honeycomb-key",
        &["hcaik_", "hcxik_", "hcalk_", "hcxlk_", "hcamk_"],
        r"hc[ax][ilm]k_[a-z0-9]{26,}",
        "Honeycomb docs: API keys",
    ),
    rule(
        "axiom-token",
        &["xaat-", "xapt-"],
        r"xa(?:at|pt)-[0-9a-f]{8}-[0-9a-f-]{27}",
        "Axiom docs: tokens",
    ),
    rule("checkly-key", &["cu_"], r"cu_[0-9a-f]{32}\b", GITHUB),
    rule(
        "healthchecks-key",
        &["hcw_", "hcr_"],
        r"hc[wr]_[A-Za-z0-9]{28}\b",
        "Healthchecks.io docs: API keys",
    ),
    rule("posthog-key", &["phx_", "phc_", "phs_"], r"ph[xcs]_[A-Za-z0-9_-]{40,}", GITHUB),
    beside(
        "datadog-key",
        &["datadog", "dd_api", "dd_app", "dd-api", "ddog", "dd_client"],
        r"(?:[0-9a-f]{40}|[0-9a-f]{32}|pub[0-9a-f]{32})",
        GITLEAKS,
    ),
    beside("rollbar-token", &["rollbar"], r"[0-9a-f]{32}", TRUFFLEHOG),
    beside("bugsnag-key", &["bugsnag"], r"[0-9a-f]{32}", TRUFFLEHOG),
    beside(
        "loggly-token",
        &["loggly"],
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        TRUFFLEHOG,
    ),
    beside(
        "splunk-token",
        &["splunk"],
        r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
        TRUFFLEHOG,
    ),
    beside(
        "sumologic-key",
        &["sumologic", "sumo_logic", "sumo logic"],
        r"[A-Za-z0-9]{64}",
        GITLEAKS,
    )
    .mixed(),
    beside("amplitude-key", &["amplitude"], r"[0-9a-f]{32}", TRUFFLEHOG),
    beside("mixpanel-secret", &["mixpanel"], r"[0-9a-f]{32}", TRUFFLEHOG),
    beside(
        "opsgenie-key",
        &["opsgenie"],
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        TRUFFLEHOG,
    ),
    beside(
        "pagerduty-key",
        &["pagerduty", "pager_duty", "pd_api"],
        r"[A-Za-z0-9+_-]{20}",
        TRUFFLEHOG,
    )
    .mixed(),
    beside(
        "uptimerobot-key",
        &["uptimerobot", "uptime_robot"],
        r"[um][0-9]{6,12}-[0-9a-f]{24}",
        TRUFFLEHOG,
    ),
];
