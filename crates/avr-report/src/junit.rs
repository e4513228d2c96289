//! Results as JUnit XML, which build servers read.
//!
//! Violated is a failure. Unknown is an error and not skipped, because many gates ignore what was skipped.

use avr_verify::PropertyResult;
use quick_junit::{NonSuccessKind, Report as Suites, TestCase, TestCaseStatus, TestSuite};

use crate::escape::Escaped;
use crate::evidence::add_evidence;
use crate::fields::verdict_name;
use crate::report::{Report, Summary, remarks};
use crate::text;

impl Report<'_> {
    /// One test suite with a test case for each property, in their order.
    ///
    /// # Panics
    /// Never: it is written into memory.
    #[must_use]
    pub fn junit(&self) -> String {
        let mut suite = TestSuite::new(visible(&self.image.name));
        for result in &self.results.properties {
            suite.add_test_case(self.test_case(result));
        }
        suite.set_time(self.results.properties.iter().map(|result| result.statistics.time).max().unwrap_or_default());
        suite.add_property(("device", self.device));
        suite.add_property(("sha256", self.image.sha256.as_str()));
        suite.add_property(("stack", text::stack(self.results.stack).as_str()));
        suite.add_property(("summary", text::summary(Summary::of(self.results)).as_str()));
        for assumption in &self.results.assumptions {
            suite.add_property(("assuming", visible(assumption).as_str()));
        }
        for finding in self.finding_lines() {
            suite.add_property(("finding", visible(&finding.join("; ")).as_str()));
        }
        for change in self.told_changes().into_iter().flat_map(|(_, changes)| changes) {
            suite.add_property(("change", visible(&change).as_str()));
        }
        xml(suite)
    }

    fn test_case(&self, result: &PropertyResult) -> TestCase {
        let remarks = remarks(result).iter().map(|remark| visible(remark)).collect::<Vec<_>>().join("; ");
        let mut case = TestCase::new(visible(&result.name), status(verdict_name(&result.verdict).0, &remarks));
        case.set_classname(format!("avr-tvar.{}", result.kind));
        case.set_time(result.statistics.time);
        let mut output = format!("{}: {}\n", verdict_name(&result.verdict).0, visible(&result.formula));
        if !remarks.is_empty() {
            output.push_str(&format!("{remarks}\n"));
        }
        if let Some(evidence) = &result.evidence {
            add_evidence(&mut output, "", evidence, self.subject());
        }
        case.set_system_out(output);
        case
    }
}

/// A report with one suite.
pub(crate) fn xml(suite: TestSuite) -> String {
    let mut suites = Suites::new("avr-tvar");
    suites.add_test_suite(suite);
    let xml = suites.to_string().expect("it is written into memory");
    // The first one is that of all suites together, which the schema of Jenkins does not have.
    xml.replacen(" skipped=\"0\"", "", 1)
}

/// The outcome of the test case for a verdict.
pub(crate) fn status(verdict: &str, remarks: &str) -> TestCaseStatus {
    let kind = match verdict {
        "holds" => return TestCaseStatus::success(),
        "violated" => NonSuccessKind::Failure,
        _ => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(verdict);
    status.set_message(remarks);
    status
}

/// XML has no place for most control characters: they are shown as on a terminal.
pub(crate) fn visible(text: &str) -> String {
    Escaped(text).to_string()
}
