//! Steps with their times, and the summary at the end.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use crate::Result;

/// The steps of one run.
#[derive(Debug, Default)]
pub struct Report {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    name: String,
    time: Duration,
    passed: bool,
}

impl Report {
    /// Runs a step and prints how it went; a failure does not stop the run.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> Result<()>) {
        self.try_step(name, work);
    }

    /// Like [`step`](Self::step), for a step whose product a later one needs: none if it failed.
    pub fn try_step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        eprintln!("==> {name}");
        let start = Instant::now();
        let result = work();
        let time = start.elapsed();
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        if let Err(error) = &result {
            eprintln!("error: {}", error.chain());
        }
        eprintln!("<== {name}: {word}, {}\n", seconds(time));
        self.steps.push(Step { name: name.to_owned(), time, passed: result.is_ok() });
        result.ok()
    }

    /// Prints the summary and gives the exit code: success if every step passed.
    pub fn finish(self) -> ExitCode {
        eprint!("{}", self.summary());
        if self.steps.iter().all(|step| step.passed) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn summary(&self) -> String {
        let mut text = String::from("Summary\n");
        for Step { name, time, passed } in &self.steps {
            let word = if *passed { "ok" } else { "FAILED" };
            text.push_str(&format!("  {word:<6} {:>9}  {name}\n", seconds(*time)));
        }
        let failed = self.steps.iter().filter(|step| !step.passed).count();
        let total = seconds(self.steps.iter().map(|step| step.time).sum());
        text.push_str(&match failed {
            0 => format!("All {} steps ok in {total}\n", self.steps.len()),
            _ => format!("{failed} of {} steps FAILED in {total}\n", self.steps.len()),
        });
        text
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(steps: &[(&str, u64, bool)]) -> Report {
        let step = |&(name, millis, passed): &(&str, u64, bool)| Step {
            name: name.into(),
            time: Duration::from_millis(millis),
            passed,
        };
        Report { steps: steps.iter().map(step).collect() }
    }

    #[test]
    fn the_summary_lists_every_step_and_counts_failures() {
        let report = report(&[("fmt", 1_240, true), ("tidy", 61_000, false)]);
        assert_eq!(
            report.summary(),
            "Summary\n  ok         1.2 s  fmt\n  FAILED    61.0 s  tidy\n1 of 2 steps FAILED in 62.2 s\n"
        );
        assert_eq!(report.finish(), ExitCode::FAILURE);
    }

    #[test]
    fn a_run_passes_when_every_step_does() {
        let report = report(&[("fmt", 1_000, true)]);
        assert_eq!(report.summary(), "Summary\n  ok         1.0 s  fmt\nAll 1 steps ok in 1.0 s\n");
        assert_eq!(report.finish(), ExitCode::SUCCESS);
    }

    #[test]
    fn a_failed_step_does_not_stop_the_next() {
        let mut report = Report::default();
        assert_eq!(report.try_step("one", || Err::<(), _>(crate::Error::Untidy(1))), None);
        assert_eq!(report.try_step("two", || Ok(2)), Some(2));
        let names: Vec<_> = report.steps.iter().map(|s| (s.name.as_str(), s.passed)).collect();
        assert_eq!(names, [("one", false), ("two", true)]);
    }
}
