//! Kinds of secrets by their publishers' shapes, made anew in each run.

mod ai;
mod cloud;
mod code;
mod forms;
mod made;
mod services;
mod shape;

use crate::rng::Rng;

/// Name, shape, and where the shape is published.
pub type Row = (&'static str, &'static str, &'static str);

pub struct Kind {
    pub name: &'static str,
    pub source: &'static str,
    make: Box<dyn Fn(&mut Rng) -> Made>,
}

impl Kind {
    pub fn make(&self, rng: &mut Rng) -> Made {
        (self.make)(rng)
    }
}

/// A secret as it stands in a text.
pub struct Made {
    pub text: String,
    /// What must not be seen, each by itself.
    pub parts: Vec<String>,
}

impl Made {
    pub fn new(text: String, parts: Vec<String>) -> Self {
        Self { text, parts }
    }

    fn with(self, change: impl FnOnce(String) -> String) -> Self {
        Self { text: change(self.text), ..self }
    }

    /// Name and value, if the text is an assignment alone.
    pub fn setting(&self) -> Option<(&str, &str)> {
        let (name, value) = self.text.split_once('=')?;
        let is_name = |c: char| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit();
        (name.chars().all(is_name) && !value.contains(char::is_whitespace)).then_some((name, value))
    }
}

/// All kinds.
pub fn all() -> Vec<Kind> {
    let tables = [ai::ROWS, cloud::ROWS, code::ROWS, services::ROWS, forms::ROWS];
    let shaped = tables.into_iter().flatten().map(|&(name, shape, source)| Kind {
        name,
        source,
        make: Box::new(move |rng| shape::make(shape, rng)),
    });
    shaped.chain(made::kinds()).collect()
}
