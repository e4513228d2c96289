//! Machines that drive inputs, on the command line: what they change, certificates, and what reports say.

use std::fs;

use avr_certificate::Certificate;
use avr_testkit::{Size, schema};
use serde_json::Value;
use tempfile::TempDir;

use crate::from_root::{self, avr_tvar, text};
use crate::sample::root;

fn image(sample: &str) -> String {
    from_root::image(sample, "Os")
}

fn report(arguments: &[&str]) -> Value {
    let output = avr_tvar(&[arguments, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

fn verdicts(report: &Value) -> Vec<&str> {
    let all = report["results"].as_array().expect("a list").iter();
    all.map(|result| result["verdict"].as_str().expect("a text")).collect()
}

/// Property files of samples beside machines that were changed.
struct Folder(TempDir);

impl Folder {
    fn with(sample: &str, machine: &str) -> Self {
        let folder = TempDir::new().expect("there is room for a folder");
        let properties = fs::read_to_string(root().join(format!("properties/{sample}.ron"))).expect("it can be read");
        let name = properties.split('"').find(|part| part.ends_with(".spec.ron")).expect("a machine is named");
        fs::write(folder.path().join(name), machine).expect("it is written");
        fs::write(folder.path().join("p.ron"), properties).expect("it is written");
        Self(folder)
    }

    fn properties(&self) -> String {
        self.0.path().join("p.ron").display().to_string()
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

fn machine(name: &str) -> String {
    fs::read_to_string(root().join(format!("properties/{name}.spec.ron"))).expect("it can be read")
}

#[test]
fn verdicts_rest_on_the_machine() {
    let firmware = image("length-master");
    let right = report(&["verify", &firmware, "properties/length-master.ron"]);
    assert_eq!(verdicts(&right), ["holds"; 3]);
    assert_eq!(right["assumptions"][0], "the machine length-master.spec.ron drives UDR0", "{right}");
    assert_eq!(schema::problems(&right, schema::REPORT), Vec::<String>::new());
    // A master that sends a length of 5 as well.
    let other = machine("length-master").replace(
        "(on: \"read(UDR0) == 4\", to: \"four\"),",
        "(on: \"read(UDR0) == 4\", to: \"four\"), (on: \"read(UDR0) == 5\", to: \"five\"),",
    );
    let other =
        other.replace("\"four\": (", "\"five\": (moves: [(on: \"read(UDR0)\", to: \"four\")]),\n        \"four\": (");
    let folder = Folder::with("length-master", &other);
    let wrong = report(&["verify", &firmware, &folder.properties()]);
    assert_eq!(verdicts(&wrong), ["holds", "violated", "holds"]);
    assert_eq!(wrong["results"][1]["evidence"]["replayed"], true);
    // Inputs that are free.
    let without = fs::read_to_string(folder.path("p.ron")).expect("it can be read");
    let without: String =
        without.lines().filter(|line| !line.contains("environment:")).map(|line| format!("{line}\n")).collect();
    fs::write(folder.path("free.ron"), without).expect("it is written");
    let free = report(&["verify", &firmware, &folder.path("free.ron")]);
    assert_eq!(verdicts(&free)[1], "violated", "{free}");
}

#[test]
fn every_strategy_respects_the_machine() {
    for (sample, expected) in [
        ("button-bounces", ["holds", "holds", "holds", "holds"]),
        ("button-bounces-hasty", ["holds", "violated", "holds", "violated"]),
    ] {
        // With decay a sample takes half a minute.
        let strategies: &[&str] = match Size::selected() {
            Size::Short => &["default", "naive", "paper"],
            Size::Long => &["default", "naive", "paper", "paper-decay"],
        };
        for strategy in strategies {
            let properties = format!("properties/{sample}.ron");
            let said = report(&["verify", &image(sample), &properties, "--strategy", strategy]);
            assert_eq!(verdicts(&said), expected, "{sample}, {strategy}");
        }
    }
}

#[test]
fn a_machine_without_a_value_makes_nothing_true() {
    let dead =
        machine("button-bounces").replace("(moves: [(on: \"read(PIND) & 0x04 == 0x04\", to: \"settling_0\")])", "()");
    let folder = Folder::with("button-bounces", &dead);
    let firmware = image("button-bounces");
    let said = report(&["verify", &firmware, &folder.properties()]);
    // A press can be counted before that.
    assert_eq!(verdicts(&said), ["violated", "unknown", "holds", "unknown"], "{said}");
    let end = &said["results"][0]["evidence"]["end"]["hazard"];
    assert_eq!(end["name"], "dead-environment", "{said}");
    let allowed = fs::read_to_string(folder.path("p.ron")).expect("it can be read");
    let allowed = allowed
        .replace("environment:", "allow: {\"dead-environment\": \"it is not looked at any longer\"}, environment:");
    fs::write(folder.path("allowed.ron"), allowed).expect("it is written");
    let said = report(&["verify", &firmware, &folder.path("allowed.ron")]);
    assert_eq!(verdicts(&said), ["holds"; 4], "{said}");
    assert!(said["ended_paths"].as_object().is_some_and(|ended| ended.contains_key("dead-environment")), "{said}");
    // Nothing is left.
    fs::write(folder.path("button-bounces.spec.ron"), "(initial: [\"up\"], states: {\"up\": (moves: [(on: \"tau\", to: \"off\")]), \"off\": (moves: [(on: \"write(PORTC)\", to: \"on\")]), \"on\": (moves: [(on: \"read(PIND)\", to: \"on\")])})")
        .expect("it is written");
    let said = report(&["verify", &firmware, &folder.path("allowed.ron")]);
    assert!(verdicts(&said).iter().all(|verdict| *verdict != "holds"), "{said}");
}

#[test]
fn certificates_carry_machines() {
    let folder = TempDir::new().expect("there is room for a folder");
    let certificate = folder.path().join("certificate").display().to_string();
    for (sample, expected) in [
        ("button-bounces", ["holds", "holds", "holds", "holds"]),
        ("button-bounces-hasty", ["holds", "violated", "holds", "violated"]),
    ] {
        let (firmware, properties) = (image(sample), format!("properties/{sample}.ron"));
        let said = report(&["verify", &firmware, &properties, "--certificate", &certificate]);
        assert_eq!(verdicts(&said), expected);
        let checked = report(&["check", &certificate, &firmware]);
        assert_eq!((&checked["valid"], verdicts(&checked)), (&true.into(), expected.to_vec()), "{checked}");
        // The same proof, for machines that do something else.
        let bytes = fs::read(&certificate).expect("it can be read");
        let proof = Certificate::read(bytes.as_slice(), usize::MAX).expect("it is a certificate");
        for (from, to) in [
            ("to: \\\"settling_0\\\"", "to: \\\"settling_5\\\""),
            ("& 0x04 == 0\\\", to: \\\"up\\\"", "& 0x04 == 4\\\", to: \\\"up\\\""),
        ] {
            let mut altered = proof.clone();
            altered.header.properties = altered.header.properties.replace(from, to);
            assert_ne!(altered.header.properties, proof.header.properties, "{from}");
            altered.write(fs::File::create(&certificate).expect("it can be written")).expect("it is written");
            let output = avr_tvar(&["check", &certificate, &firmware]);
            assert_eq!(output.status.code(), Some(1), "{from}: {}", text(&output.stdout));
        }
    }
}

#[test]
fn another_machine_is_another_assumption() {
    let folder = Folder::with("button-bounces", &machine("button-bounces"));
    let firmware = image("button-bounces");
    let baseline = folder.path("before.json");
    let before = report(&["verify", &firmware, &folder.properties()]);
    fs::write(&baseline, before.to_string()).expect("it is written");
    let arguments = ["verify", &firmware, &folder.properties(), "--baseline", &baseline, "--deny", "regressions"];
    assert_eq!(avr_tvar(&arguments).status.code(), Some(0));
    let fewer = machine("button-bounces").replace(
        "(on: \"read(PIND) & 0x04 == 0x04\", to: \"settling_5\")",
        "(on: \"read(PIND) & 0x04 == 0x04\", to: \"settling_4\")",
    );
    let fewer = fewer.replace(
        "(on: \"read(PIND) & 0x04 == 0\", to: \"up\"),",
        "(on: \"read(PIND) & 0x04 == 0\", to: \"up\"), (on: \"tau\", to: \"settling_5\"),",
    );
    fs::write(folder.path("button-bounces.spec.ron"), fewer).expect("it is written");
    let output = avr_tvar(&arguments);
    assert_eq!(output.status.code(), Some(1), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("is assumed"), "{}", text(&output.stdout));
}
