//! Small graphs from the literature and from the design, in `tiny/*.txt`, on the solver and on the naive evaluator.
//!
//! A line `STATE: ATOM=VALUE … | MEMBER … | MEMBER …` is a state with its labels and hyper-edges; states are numbered
//! from 0 in order, `VALUE` is 0, 1 or X, an atom that is not named is 0. A line `check FORMULA => VALUE` is the value
//! in state 0. `#` starts a comment.

use std::collections::BTreeMap;
use std::path::Path;

use mu_calculus::{AtomId, HyperGraph, Labels, Problem, StateId, parse_formula};
use three_valued::Truth;

use crate::naive;
use crate::random::{self, Edges};

#[derive(Default)]
struct Case {
    edges: Edges,
    /// Per state the values of the named atoms.
    values: Vec<BTreeMap<String, Truth>>,
    checks: Vec<(String, Truth)>,
}

fn truth(text: &str) -> Truth {
    match text {
        "0" => Truth::False,
        "1" => Truth::True,
        "X" => Truth::Unknown,
        _ => panic!("`{text}` is no truth value"),
    }
}

fn read(text: &str) -> Case {
    let mut case = Case::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("check ") {
            Some(check) => {
                let (formula, value) = check.rsplit_once("=>").expect("a check has `=>`");
                case.checks.push((formula.to_owned(), truth(value.trim())));
            }
            None => read_state(line, &mut case),
        }
    }
    case
}

fn read_state(line: &str, case: &mut Case) {
    let (number, rest) = line.split_once(':').expect("a state has `:`");
    assert_eq!(number.parse(), Ok(case.edges.len()), "states are numbered in order");
    let mut parts = rest.split('|');
    let labels = parts.next().unwrap_or_default().split_whitespace();
    let value = |label: &str| {
        let (name, value) = label.split_once('=').expect("a label has `=`");
        (name.to_owned(), truth(value))
    };
    case.values.push(labels.map(value).collect());
    let members = |part: &str| part.split_whitespace().map(|member| member.parse().expect("a number")).collect();
    case.edges.push(parts.map(members).collect());
}

fn labels(graph: &HyperGraph, case: &Case, atoms: &[String]) -> Labels {
    let mut labels = Labels::new(atoms.len(), graph.state_count());
    for (state, values) in case.values.iter().enumerate() {
        for (atom, name) in atoms.iter().enumerate() {
            let value = values.get(name).copied().unwrap_or(Truth::False);
            labels.set(AtomId(atom as u32), StateId(state as u32), value);
        }
    }
    labels
}

fn check_file(path: &Path) -> usize {
    let case = read(&std::fs::read_to_string(path).expect("the file can be read"));
    let graph = random::graph(&case.edges);
    for (text, expected) in &case.checks {
        let mut atoms: Vec<String> = Vec::new();
        let formula = parse_formula(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let bound = formula.try_map_atoms(&mut |atom| {
            let name = atom.bare_name().ok_or(())?;
            let known = atoms.iter().position(|known| known == name);
            let index = known.unwrap_or_else(|| {
                atoms.push(name.to_owned());
                atoms.len() - 1
            });
            Ok::<_, ()>(AtomId(index as u32))
        });
        let bound = bound.expect("atoms are names");
        let labels = labels(&graph, &case, &atoms);
        let normal_form = random::normal_form(&bound);
        let solution = random::solve(&Problem { graph: &graph, labels: &labels, formula: &normal_form });
        assert_eq!(solution.verdict(), *expected, "{}: {text}", path.display());
        assert_eq!(naive::evaluate(&graph, &labels, &bound)[0], *expected, "naive, {}: {text}", path.display());
    }
    case.checks.len()
}

#[test]
fn graphs_in_files_have_the_stated_values() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/tiny");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder exists").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let checks: usize = files.iter().map(|path| check_file(path)).sum();
    assert!(files.len() >= 5 && checks >= 25, "{checks} checks in {} files", files.len());
}
