//! Results for a system as JUnit XML: a test case for each property, with the meanings of those for one image.

use avr_system::{PropertyResult, Verdict};
use quick_junit::{TestCase, TestSuite};

use super::{SystemReport, verdict_name};
use crate::junit::{status, visible, xml};
use crate::text;

/// The most moments of a run that a test case shows.
const SHOWN: usize = 400;

impl SystemReport<'_> {
    /// One test suite with a test case for each property, in their order.
    ///
    /// # Panics
    /// Never: it is written into memory.
    #[must_use]
    pub fn junit(&self) -> String {
        let mut suite = TestSuite::new(visible(self.path));
        for result in &self.results.properties {
            suite.add_test_case(self.test_case(result));
        }
        for (entry, node) in self.file.nodes.iter().zip(self.nodes) {
            let firmware = format!("{} on {}, {}", node.image.name, node.device.name, node.image.sha256);
            suite.add_property((format!("node {}", entry.name.text).as_str(), visible(&firmware).as_str()));
        }
        suite.add_property(("summary", text::summary(self.summary()).as_str()));
        for assumption in self.assumptions {
            suite.add_property(("assuming", visible(assumption).as_str()));
        }
        xml(suite)
    }

    fn test_case(&self, result: &PropertyResult) -> TestCase {
        let verdict = verdict_name(&result.verdict);
        let remarks = self.remarks(result).iter().map(|remark| visible(remark)).collect::<Vec<_>>().join("; ");
        let mut case = TestCase::new(visible(&result.name), status(verdict, &remarks));
        case.set_classname(format!("avr-tvar.{}", result.kind));
        let mut output = format!("{verdict}: {}\n", visible(&result.name));
        match &result.verdict {
            Verdict::Violated(run) => {
                self.run_lines(run, SHOWN).iter().for_each(|line| output.push_str(&format!("{}\n", visible(line))));
            }
            Verdict::Holds | Verdict::Unknown(_) if remarks.is_empty() => {}
            Verdict::Holds | Verdict::Unknown(_) => output.push_str(&format!("{remarks}\n")),
        }
        case.set_system_out(output);
        case
    }
}
