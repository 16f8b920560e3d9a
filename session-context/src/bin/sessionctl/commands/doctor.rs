//! `sessionctl doctor`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use session_context::doctor::{DoctorOptions, Finding, Need, Outcome, examine};
use session_model::Severity;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::storage::{SessionStorage, StorageKey};

use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, count, look};
use crate::store::text_of;

/// Look for everything odd, and with --fix repair what can be repaired
///
/// Without --fix nothing is changed. A repair moves aside and never deletes, and is made only where
/// nobody else has the session open. Exit code 0: nothing to do; 5: something can be, or was,
/// repaired; 3: something needs you.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl doctor
  sessionctl doctor --fix ~/.omp/agent
  sessionctl doctor --json session.jsonl")]
pub(crate) struct Doctor {
    /// Agent directories, other directories with sessions, or sessions; default: the agent
    /// directory, or the --store
    places: Vec<PathBuf>,
    /// Make the repairs that are told otherwise
    #[arg(long)]
    fix: bool,
}

/// A storage, one session of it if only that is meant, and how it is called.
type Place = (Arc<dyn SessionStorage>, Option<StorageKey>, String);

/// How many findings want what.
#[derive(Default)]
struct Sums {
    findings: usize,
    repairable: usize,
    repaired: usize,
    needs_you: usize,
}

impl Doctor {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let json = context.json;
        let mut sums = Sums::default();
        let mut documents = Vec::new();
        for (storage, session, name) in self.places(context).await? {
            let mut options = DoctorOptions::default();
            options.owner = "sessionctl doctor".to_owned();
            options.session = session;
            options.fix = self.fix;
            let bar = bar(json);
            let findings = examine(&storage, &options, &mut |done, total| {
                bar.set_length(total as u64);
                bar.set_position(done as u64);
            })
            .await;
            bar.finish_and_clear();
            let findings = findings?;
            findings.iter().for_each(|finding| sums.take(finding));
            if json {
                let found: Vec<_> = findings.iter().map(Finding::to_json).collect();
                let place = ObjectBuilder::new().string("place", &name);
                documents.push(place.raw("findings", &RawJson::array(&found)).build());
            } else {
                context.out.text(look::STRONG, &name)?.end()?;
                findings.iter().try_for_each(|finding| print(finding, &mut context.out))?;
            }
        }
        if json {
            let number = |n: usize| to_raw_json(&n).unwrap_or_default();
            let all = ObjectBuilder::new()
                .raw("places", &RawJson::array(&documents))
                .raw("repairable", &number(sums.repairable))
                .raw("repaired", &number(sums.repaired))
                .raw("needsYou", &number(sums.needs_you))
                .build();
            context.out.json(all.as_str())?.end()?;
        } else {
            let Sums { findings, repairable, repaired, needs_you } = sums;
            let findings = count(findings, "finding", "findings");
            context.out.line(&format!(
                "{findings}: {repaired} repaired, {repairable} to repair, {needs_you} for you"
            ))?;
        }
        sums.judge()
    }

    async fn places(&self, context: &Context) -> Result<Vec<Place>, Failure> {
        if self.places.is_empty() {
            let storage = context.store.storage()?;
            let name = storage.to_string();
            return Ok(vec![(storage, None, name)]);
        }
        let mut places = Vec::new();
        for path in &self.places {
            let name = text_of(path)?.to_owned();
            places.push(if Path::new(path).is_dir() {
                let absolute = std::path::absolute(path)
                    .map_err(|source| Failure::Input { what: name.clone(), source })?;
                (context.store.open(text_of(&absolute)?)?, None, name)
            } else {
                let target = context.store.existing(&name).await?;
                (target.storage, Some(target.key), name)
            });
        }
        Ok(places)
    }
}

/// A bar on the terminal, if standard error is one.
fn bar(json: bool) -> ProgressBar {
    let target = if json { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    match ProgressStyle::with_template("{bar:30} {pos} of {len} sessions, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Sums {
    fn take(&mut self, finding: &Finding) {
        self.findings += 1;
        match (&finding.need, &finding.outcome) {
            _ if finding.needs_user() => self.needs_you += 1,
            (_, Outcome::Repaired(_)) => self.repaired += 1,
            (Need::Repair(_), _) => self.repairable += 1,
            _ => {}
        }
    }

    fn judge(&self) -> Result<(), Failure> {
        if self.needs_you > 0 {
            let found = count(self.needs_you, "finding needs", "findings need");
            return Err(Failure::ProblemsFound(format!("{found} you")));
        }
        if self.repairable > 0 {
            let found = count(self.repairable, "finding", "findings");
            return Err(Failure::Repairs(format!("{found} can be repaired with --fix")));
        }
        if self.repaired > 0 {
            let found = count(self.repaired, "finding was", "findings were");
            return Err(Failure::Repairs(format!("{found} repaired")));
        }
        Ok(())
    }
}

fn print(finding: &Finding, out: &mut Output) -> Result<(), Failure> {
    let (style, word) = match finding.code.severity() {
        Severity::Info => (look::DIM, "note"),
        Severity::Warning => (look::WARNING, "warning"),
        Severity::Loss => (look::BAD, "loss"),
    };
    let Finding { code, path, detail, need, outcome, .. } = finding;
    out.text(look::PLAIN, "  ")?.text(style, word)?;
    out.text(look::PLAIN, &format!(": {path}: {}: {detail}", code.as_str()))?.end()?;
    let line = match (outcome, need) {
        (Outcome::Repaired(done), _) => format!("done: {done}"),
        (Outcome::Failed(why), _) => format!("not repaired: {why}"),
        (Outcome::Found, Need::Repair(remedy)) => format!("with --fix: {}", remedy.as_str()),
        (Outcome::Found, Need::User(advice)) => format!("you: {advice}"),
        (Outcome::Found, Need::Nothing) => return Ok(()),
    };
    Ok(out.line(&format!("    {line}"))?)
}
