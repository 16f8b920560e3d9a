//! How well an entry answers a query.

/// How soon further occurrences of a word stop to count, and how much long texts are held against
/// them: the customary values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What is newest counts for half as much again, and half of that is gone after so long.
const HALF_LIFE_MS: f64 = 30.0 * 24.0 * 3600.0 * 1000.0;

/// The texts an entry is one of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corpus {
    /// How many there are.
    pub texts: u64,
    /// How many words all of them have.
    pub words: u64,
    /// When the latest was written, in milliseconds since the epoch.
    pub latest_ms: i64,
}

/// Rates entries that answer a query.
///
/// This is BM25, raised for what was written lately.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// How rare each clause is.
    rarities: Vec<f64>,
    mean_words: f64,
    latest_ms: i64,
}

impl Ranking {
    /// A rating among these texts, of which so many have each clause.
    pub fn new(corpus: &Corpus, having: &[u64]) -> Self {
        let texts = corpus.texts.max(1) as f64;
        let rarity = |having: &u64| {
            let having = (*having as f64).min(texts);
            (1.0 + (texts - having + 0.5) / (having + 0.5)).ln()
        };
        Self {
            rarities: having.iter().map(rarity).collect(),
            mean_words: (corpus.words as f64 / texts).max(1.0),
            latest_ms: corpus.latest_ms,
        }
    }

    /// Rates an entry; higher is better.
    ///
    /// The weights tell how often it has each clause, as in [`Match`](super::Match).
    pub fn score(&self, weights: impl Iterator<Item = u32>, words: u32, written_ms: i64) -> f64 {
        let length = K1 * (1.0 - B + B * f64::from(words) / self.mean_words);
        let clause = |(weight, rarity): (u32, &f64)| {
            let often = f64::from(weight) / f64::from(super::matching::WHOLE);
            rarity * often * (K1 + 1.0) / (often + length)
        };
        let sum: f64 = weights.zip(&self.rarities).map(clause).sum();
        let age = self.latest_ms.saturating_sub(written_ms).max(0) as f64;
        sum * (1.0 + 0.5 * (-age / HALF_LIFE_MS).exp2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24 * 3600 * 1000;

    fn rated(weight: u32, having: u64, words: u32, written_ms: i64) -> f64 {
        let corpus = Corpus { texts: 1000, words: 100_000, latest_ms: 100 * DAY };
        Ranking::new(&corpus, &[having]).score([weight].into_iter(), words, written_ms)
    }

    #[test]
    fn better_answers_are_rated_higher() {
        let usual = rated(2, 10, 100, 0);
        assert!(rated(4, 10, 100, 0) > usual, "more often");
        assert!(rated(1, 10, 100, 0) < usual, "only a beginning");
        assert!(rated(2, 5, 100, 0) > usual, "a rarer word");
        assert!(rated(2, 10, 50, 0) > usual, "a shorter text");
        assert!(rated(2, 10, 100, 90 * DAY) > usual, "lately");
        assert!(rated(2, 10, 100, 200 * DAY) <= usual * 1.5, "not above the latest");
    }

    #[test]
    fn odd_figures_are_rated_too() {
        let ranking = Ranking::new(&Corpus::default(), &[u64::MAX]);
        let odd = ranking.score([u32::MAX].into_iter(), u32::MAX, i64::MIN);
        assert!(odd.is_finite() && odd >= 0.0, "{odd}");
    }
}
