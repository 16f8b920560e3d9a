//! Tokens of forges, of registries of packages, and of what builds and delivers programs.

use super::sources::{GITHUB, GITLEAKS, NOSEYPARKER, TRUFFLEHOG};
use crate::redact::rule::{Rule, beside, rule};

pub(super) const RULES: &[Rule] = &[
    rule(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
        "GitHub Docs: token formats",
    )
    .glued(),
    rule(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glptt-", "glrt-", "glrtr-", "glcbt-", "glft-", "glimt-",
            "glagent-", "glsoat-", "glffct-", "gloas-", "glwt-",
        ],
        r"gl(?:pat|dt|ptt|rt|rtr|cbt|ft|imt|agent|soat|ffct|oas|wt)-[A-Za-z0-9_.-]{20,}",
        "GitLab Docs: token prefixes",
    )
    .digit(),
    rule(
        "gitlab-token",
        &["GR1348941"],
        r"GR1348941[A-Za-z0-9_-]{20,}",
        "GitLab Docs: token prefixes",
    ),
    rule("bitbucket-token", &["ATBB"], r"ATBB[A-Za-z0-9_=.-]{24,}", NOSEYPARKER),
    rule(
        "atlassian-token",
        &["ATATT3", "ATCTT3", "ATSTT3"],
        r"AT[ACS]TT3[A-Za-z0-9_=-]{60,}",
        GITLEAKS,
    ),
    rule("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36,}", GITLEAKS),
    rule("pypi-token", &["pypi-"], r"pypi-[A-Za-z0-9_-]{32,}", "PyPI docs: API tokens").digit(),
    rule("rubygems-key", &["rubygems_"], r"rubygems_[0-9a-f]{48}", GITLEAKS),
    rule("nuget-key", &["oy2"], r"oy2[a-z0-9]{43}\b", TRUFFLEHOG),
    rule("crates-token", &["cio"], r"cio[A-Za-z0-9]{32}\b", NOSEYPARKER),
    rule(
        "docker-token",
        &["dckr_pat_", "dckr_oat_"],
        r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}",
        GITHUB,
    ),
    rule(
        "jfrog-token",
        &["AKCp", "cmVmdGtuOj"],
        r"(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtuOj[A-Za-z0-9]{50,})",
        GITLEAKS,
    ),
    rule("clojars-token", &["CLOJARS_"], r"CLOJARS_[A-Za-z0-9]{60}", GITLEAKS),
    rule("packagist-token", &["packagist_"], r"packagist_[a-z]{3}_[0-9a-f]{40,}", TRUFFLEHOG),
    rule("sonar-token", &["sqp_", "squ_", "sqa_"], r"sq[pua]_[0-9a-f]{40}", GITLEAKS),
    beside("sonar-token", &["sonar"], r"[0-9a-f]{40}", TRUFFLEHOG),
    rule(
        "snyk-token",
        &["snyk_uat.", "snyk_sat.", "snyk_uat_", "snyk_sat_"],
        r"snyk_[us]at[._][A-Za-z0-9._-]{30,}",
        "Snyk docs: authentication",
    ),
    beside(
        "snyk-token",
        &["snyk"],
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        GITLEAKS,
    ),
    beside(
        "codecov-token",
        &["codecov"],
        r"(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Za-z0-9]{32})",
        GITLEAKS,
    ),
    beside("semgrep-token", &["semgrep"], r"[0-9a-f]{64}", "Semgrep docs: tokens"),
    rule(
        "circleci-token",
        &["CCIPAT_", "CCIPRJ_"],
        r"CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}",
        "CircleCI docs: API tokens",
    ),
    beside("circleci-token", &["circleci", "circle_", "circle-"], r"[0-9a-f]{40}", TRUFFLEHOG),
    beside("travis-token", &["travis"], r"[A-Za-z0-9_-]{22}", GITLEAKS).mixed(),
    rule(
        "buildkite-token",
        &["bkua_", "bkat_", "bkct_", "bkaj_", "bkpi_"],
        r"bk(?:ua|at|ct|aj|pi)_[A-Za-z0-9_-]{40,}",
        TRUFFLEHOG,
    ),
    beside("jenkins-token", &["jenkins"], r"11[0-9a-f]{32}", NOSEYPARKER),
    rule(
        "teamcity-token",
        &["eyJ0eXAiOiAiVENWMiJ9"],
        r"eyJ0eXAiOiAiVENWMiJ9\.[A-Za-z0-9_-]{30,}\.[A-Za-z0-9_-]{40,}",
        NOSEYPARKER,
    ),
    rule(
        "launchdarkly-key",
        &["sdk-", "api-", "mob-"],
        r"(?:sdk|api|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        TRUFFLEHOG,
    ),
    rule("octopus-key", &["API-"], r"API-[A-Z0-9]{25,27}\b", GITLEAKS).digit(),
    rule(
        "harness-token",
        &["pat.", "sat."],
        r"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",
        GITLEAKS,
    ),
    rule("deno-token", &["ddp_", "ddo_"], r"dd[po]_[A-Za-z0-9]{36}", "Deno docs: access tokens"),
    rule("valtown-token", &["vtwn_"], r"vtwn_[A-Za-z0-9]{24,}", "Val Town docs: API tokens"),
    rule("prefect-key", &["pnu_", "pnb_"], r"pn[ub]_[A-Za-z0-9]{36}\b", GITLEAKS),
    rule("readme-key", &["rdme_"], r"rdme_[a-z0-9]{60,}", GITLEAKS),
    rule("postman-key", &["PMAK-"], r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", GITLEAKS),
    rule("postman-key", &["PMAT-"], r"PMAT-[A-Z0-9]{26}", TRUFFLEHOG),
    rule(
        "django-secret-key",
        &["django-insecure-"],
        r"django-insecure-[^\s'\x22\x60\\]{20,}",
        "Django documentation: SECRET_KEY",
    ),
    rule(
        "localstack-token",
        &["ls-"],
        r"ls-[A-Za-z]{4}[0-9]{4}-[A-Za-z0-9]{4}-[A-Za-z0-9]{4}-[A-Za-z0-9]{4}-[A-Za-z0-9]{12,16}\b",
        "LocalStack docs: auth tokens",
    ),
    rule(
        "sidekiq-secret",
        &["contribsys"],
        r"(?i:contribsys(?:__|\.)com)[^\n]{0,8}?[=:\x22' \t]+([0-9a-f]{8}:[0-9a-f]{8})\b",
        GITLEAKS,
    ),
    beside(
        "codeclimate-token",
        &["codeclimate", "code_climate", "cc_test_reporter"],
        r"[0-9a-f]{64}",
        TRUFFLEHOG,
    ),
    beside("gitea-token", &["gitea", "forgejo", "codeberg"], r"[0-9a-f]{40}", TRUFFLEHOG),
    beside("rapidapi-key", &["rapidapi", "rapid_api"], r"[A-Za-z0-9]{50}", GITLEAKS).mixed(),
];
