//! What a kind of secret looks like.

/// A kind of secret, and one of the shapes it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    /// Letters, one of which is in every secret of this shape, case aside. The pattern is only
    /// tried where they stand; what is rare here is fast.
    pub(super) marks: &'static [&'static str],
    /// The secret is the first group that is there, or all of it.
    pub(super) regex: &'static str,
    /// Where the shape is published.
    pub(super) source: &'static str,
    /// How many bytes before its mark a match may begin; 0: at the mark.
    pub(super) before: usize,
    /// Whether a letter or digit may stand right before a match.
    pub(super) glued: bool,
    pub(super) needs: Needs,
    /// Whether the pattern is that of a value which its mark is the name of, and nothing else tells.
    pub(super) beside: bool,
    /// Whether what stands around the secret tells of it, and not its own form: the secret may be
    /// any word then.
    pub(super) told: bool,
}

/// What a secret needs beside its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// A digit, or capitals among small letters: words joined by hyphens look like some keys.
    Digit,
    /// A digit and a letter: a count or an address is no secret.
    DigitAndLetter,
    /// A digit, a capital and a small letter: a path or a digest is no secret.
    Mixed,
    /// A digit, capitals, or signs within: a plain word is none.
    Odd,
    /// Base64 of text with a colon in it.
    UserAndPassword,
}

impl Rule {
    pub(super) const fn digit(self) -> Self {
        Self { needs: Needs::Digit, ..self }
    }

    pub(super) const fn mixed(self) -> Self {
        Self { needs: Needs::Mixed, ..self }
    }

    pub(super) const fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    pub(super) const fn before(self, before: usize) -> Self {
        Self { before, ..self }
    }

    pub(super) const fn glued(self) -> Self {
        Self { glued: true, ..self }
    }

    pub(super) const fn told(self) -> Self {
        Self { told: true, ..self }
    }
}

/// Returns a rule that needs nothing beside its shape.
pub(super) const fn rule(
    kind: &'static str,
    marks: &'static [&'static str],
    regex: &'static str,
    source: &'static str,
) -> Rule {
    Rule {
        kind,
        marks,
        regex,
        source,
        before: 0,
        glued: false,
        needs: Needs::Nothing,
        beside: false,
        told: false,
    }
}

/// Returns a rule for a secret that only the name beside it tells of: `heroku_api_key: …`.
pub(super) const fn beside(
    kind: &'static str,
    names: &'static [&'static str],
    value: &'static str,
    source: &'static str,
) -> Rule {
    let rule = rule(kind, names, value, source);
    Rule { needs: Needs::DigitAndLetter, beside: true, ..rule }
}
