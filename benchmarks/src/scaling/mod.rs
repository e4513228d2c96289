//! How states and times grow with the size of a program: `benchmarks/run scaling`.

mod document;
mod draw;
mod points;
mod suite;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::error::Error;
use crate::machine::{Machine, load};
use crate::subject::Subject;
use points::{Curves, SCHEMA};
use suite::Family;

/// Measure how states and times grow with the size of a program, and draw curves.
#[derive(Clone, Debug, Args)]
pub struct Scaling {
    #[command(flatten)]
    subject: Subject,
    /// Limit of CPU time for each point, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    limit: u64,
    /// Only families with this text in their name; the others stay as they were measured before
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Measure nothing, draw what was measured before
    #[arg(long)]
    draw: bool,
}

/// Measures what is asked for, and writes the results, the curves and their page.
///
/// # Errors
/// When something cannot be read, run or written.
pub fn run(arguments: &Scaling) -> Result<(), Error> {
    let repository = &arguments.subject.repository;
    let families = suite::read(&repository.join("benchmarks/scaling/suite.ron"))?;
    let place = repository.join("benchmarks/results/scaling.json");
    let mut curves =
        if arguments.draw || !arguments.only.is_empty() { Curves::read(&place)? } else { Curves::default() };
    if !arguments.draw {
        measure(arguments, &families, &mut curves)?;
        write(&place, &curves.json())?;
    }
    let folder = repository.join("docs/scaling");
    std::fs::create_dir_all(&folder).map_err(|source| Error::File { path: folder, source })?;
    for (path, text) in drawn(repository, &families, &curves)? {
        write(&path, &text)?;
    }
    Ok(())
}

/// The files that show the curves, with their content.
fn drawn(repository: &Path, families: &[Family], curves: &Curves) -> Result<Vec<(PathBuf, String)>, Error> {
    let svg = |family: &Family| {
        let path = repository.join("docs/scaling").join(format!("{}.svg", family.name));
        Ok((path, draw::svg(family, curves)?))
    };
    let mut files = families.iter().map(svg).collect::<Result<Vec<_>, Error>>()?;
    let page = repository.join("docs/performance.md");
    let text = std::fs::read_to_string(&page).map_err(|source| Error::File { path: page.clone(), source })?;
    files.push((page.clone(), document::with_tables(&text, families, curves).ok_or(Error::NoPlace { path: page })?));
    Ok(files)
}

fn measure(arguments: &Scaling, families: &[Family], curves: &mut Curves) -> Result<(), Error> {
    curves.schema = SCHEMA.to_owned();
    let Subject { repository, ours, revision, date } = &arguments.subject;
    curves.date.clone_from(date);
    curves.revision.clone_from(revision);
    curves.machine = Machine::this();
    curves.load_before = load();
    curves.limit_seconds = arguments.limit;
    let chosen: Vec<&Family> = families.iter().filter(|family| family.name.contains(&arguments.only)).collect();
    if chosen.is_empty() {
        return Err(Error::NothingSelected { filter: arguments.only.clone() });
    }
    for family in chosen {
        curves.points.retain(|point| point.family != family.name);
        for question in &family.questions {
            for size in &family.sizes {
                let limit = Duration::from_secs(arguments.limit);
                let point = points::measure(repository, ours, family, question, *size, limit)?;
                eprintln!("{}", point.line());
                curves.points.push(point);
            }
        }
    }
    let place = |name: &str| families.iter().position(|family| family.name == name);
    curves.points.sort_by_key(|point| place(&point.family));
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::File { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::{drawn, points::Curves, suite};
    use std::path::Path;

    #[test]
    fn what_is_committed_is_drawn_from_what_was_measured() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let families = suite::read(&repository.join("benchmarks/scaling/suite.ron")).unwrap();
        let curves = Curves::read(&repository.join("benchmarks/results/scaling.json")).unwrap();
        for family in &families {
            let of_family = curves.points.iter().filter(|point| point.family == family.name).count();
            assert_eq!(of_family, family.questions.len() * family.sizes.len(), "{}", family.name);
        }
        for (path, text) in drawn(&repository, &families, &curves).unwrap() {
            let committed = std::fs::read_to_string(&path).unwrap();
            assert!(committed == text, "benchmarks/run scaling --draw would change {}", path.display());
        }
    }
}
