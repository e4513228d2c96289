#!/usr/bin/env python3
"""Adds an analysis and a reduction that do nothing to a copy of the sources, and counts the files that this touches.

    tests/architecture/extensions/run.py        the copy must compile, and the counts must stay within the limits

The modules are beside this file. An edit puts lines behind every line of a file that has some text (or, with one string, replaces the
text); where that text is gone, the edit is to be brought up to date with the sources.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

ANALYSIS = "crates/avr-analysis/src"
MODEL = "crates/avr-model/src"


class Extension:
    """A module, the most files beside it that may be touched, and the edits of these: file, text, what comes there."""

    def __init__(self, name, module, limit, edits):
        self.name, self.module, self.limit, self.edits = name, module, limit, edits

    def files(self):
        return sorted({file for file, _, _ in self.edits})

    def apply(self, copy):
        shutil.copy(HERE / f"{self.name}.rs", copy / self.module)
        for file, text, added in self.edits:
            before = (copy / file).read_text()
            if text not in before:
                sys.exit(f"{self.name}: {file} has no '{text}' any more: bring the edit in {Path(__file__).name} up to date")
            if isinstance(added, str):
                after = before.replace(text, added)
            else:
                after = "".join(
                    line + ("".join(f"{new}\n" for new in added) if text in line else "") for line in before.splitlines(keepends=True)
                )
            (copy / file).write_text(after)


EXTENSIONS = [
    Extension(
        "no_op_analysis",
        f"{ANALYSIS}/no_op_analysis.rs",
        3,
        [
            (f"{ANALYSIS}/lib.rs", "pub mod liveness;", ["pub mod no_op_analysis;"]),
            (f"{MODEL}/firmware.rs", "use avr_analysis::iteration_order::IterationOrder;", ["use avr_analysis::no_op_analysis::NoOpAnalysis;"]),
            (f"{MODEL}/firmware.rs", "    order: IterationOrder,", ["    /// What is known before each instruction.", "    facts: NoOpAnalysis,"]),
            (f"{MODEL}/firmware.rs", "order: IterationOrder::new(&machine.program),", ["            facts: NoOpAnalysis::new(&machine.program),"]),
            # Used where states are ordered.
            (
                f"{MODEL}/firmware.rs",
                "fn order(&self, state: &AbstractState) -> ExpansionOrder {",
                ["        if let AbstractState::Running(running) = state && self.facts.is_known(running.control.pc) { return ExpansionOrder::default(); }"],
            ),
        ],
    ),
    Extension(
        "no_op_reduction",
        f"{MODEL}/reduction/no_op_reduction.rs",
        6,
        [
            (f"{MODEL}/pass.rs", "    RandomSearch,", ["    /// Nothing is left out.", "    NoOp,"]),
            (f"{MODEL}/pass.rs", "Self::RandomSearch => ", ['            Self::NoOp => "no-op",']),
            (f"{MODEL}/reduction/mod.rs", "pub(crate) mod interface;", ["pub(crate) mod no_op_reduction;"]),
            (f"{MODEL}/reduction/passes.rs", "use super::interface::Reduction;", ["use super::no_op_reduction::NoOpReduction;"]),
            (f"{MODEL}/reduction/passes.rs", "    pub(crate) handler_summaries: Option<HandlerSummaries>,", ["    /// Nothing is left out.", "    pub(crate) no_op: Option<NoOpReduction>,"]),
            (
                f"{MODEL}/reduction/passes.rs",
                "impl Passes {\n",
                [
                    "    /// The same with the reduction that leaves out nothing.",
                    "    #[must_use]",
                    "    pub fn with_no_op(mut self) -> Self {",
                    "        self.no_op = Some(NoOpReduction::default());",
                    "        self",
                    "    }",
                ],
            ),
            # Both lists of the reductions that take part: without these the copy does not compile.
            (f"{MODEL}/reduction/passes.rs", "            partial_order,\n            path_compression,", "            no_op,\n            partial_order,\n            path_compression,"),
            (f"{MODEL}/reduction/passes.rs", "handler_summaries.as_ref().map(|one| one as _),", ["            no_op.as_ref().map(|one| one as _),"]),
            (f"{MODEL}/reduction/passes.rs", "handler_summaries.as_mut().map(|one| one as _),", ["            no_op.as_mut().map(|one| one as _),"]),
            (f"{MODEL}/reduction/successors.rs", "    model.context.working.defers_certain = outer;", ["    if let Some(no_op) = &mut model.passes.no_op { return no_op.reduced(leaves); }"]),
            ("crates/avr-verify/src/pipeline/portfolio.rs", "    let passes = if reductions.handlers", ["    let passes = passes.with_no_op();"]),
        ],
    ),
]


def main():
    failed = False
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    # At one place, so that Cargo finds again what it has built.
    copy = target / "extensions"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for part in ["Cargo.toml", "Cargo.lock", "crates", "isa-tables", "tests"]:
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / part)
    for extension in EXTENSIONS:
        extension.apply(copy)
        files = extension.files()
        is_over = len(files) > extension.limit
        failed |= is_over
        print(f"{extension.name}: {len(files)} files beside its own module, at most {extension.limit}: {', '.join(files)}")
    environment = dict(os.environ, CARGO_TARGET_DIR=str(target))
    checked = subprocess.run(["cargo", "check", "--quiet", "-p", "avr-tvar"], cwd=copy, env=environment)
    failed |= checked.returncode != 0
    print("too many files, or the copy does not compile" if failed else "the copy compiles")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
