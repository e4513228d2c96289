//! Writing certificates.

use std::io::{self, BufWriter, Write};

use avr_machine::{
    Comparison, Control, Copies, Difference, Frame, FrameKind, Hazard, HazardKind, MaskedCopy, Operand, Relation,
};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use three_valued::TvByte;

use crate::content::{
    Advice, Basis, Certificate, Claim, Decided, Depth, Edges, Header, Labels, PredicateLiteral, PredicateTerms, Proof,
    Running, Seen, Space, State, Store, Strategy, Upper, Verdict,
};
use crate::map::{ClosedSet, Entry, Equal, Exit, Handler, Invariant, Map};
use crate::symbolic::{
    Coming, Head, LoopClaim, Loops, Passing, RankClaim, Ranks, Rounds, Symbolic, SymbolicProof, Term, WaitsFor,
};

/// The first bytes of every certificate; the line end shows files that were transferred as text.
pub(crate) const MAGIC: &[u8] = b"avr-tvar certificate\r\n";

/// The number from which on those of promises are written, behind those of interrupts.
pub(crate) const PROMISED: u32 = 256;

/// The version of the format.
pub(crate) const VERSION: u8 = 8;

impl Certificate {
    /// Writes the certificate.
    ///
    /// # Errors
    /// If the bytes cannot be written.
    pub fn write(&self, mut output: impl Write) -> io::Result<()> {
        output.write_all(MAGIC)?;
        output.write_all(&[VERSION])?;
        let mut sink = Sink { output: BufWriter::new(ZlibEncoder::new(output, Compression::default())) };
        sink.header(&self.header)?;
        sink.list(self.predicates.as_slice(), Sink::predicates)?;
        sink.store(&self.store)?;
        sink.list(&self.spaces, Sink::space)?;
        sink.list(self.map.as_slice(), Sink::map)?;
        sink.list(&self.claims, Sink::claim)?;
        sink.upper(self.stack.upper.as_ref())?;
        sink.depth(self.stack.lower.as_ref())?;
        sink.output.into_inner()?.finish()?.flush()
    }
}

struct Sink<W> {
    output: W,
}

impl<W: Write> Sink<W> {
    fn byte(&mut self, value: u8) -> io::Result<()> {
        self.output.write_all(&[value])
    }

    /// Seven bits a byte, the least significant first.
    fn number(&mut self, value: u64) -> io::Result<()> {
        let mut bytes = [0; 10];
        let mut length = 0;
        let mut rest = value;
        loop {
            let more = rest >= 0x80;
            bytes[length] = (rest & 0x7f) as u8 | u8::from(more) << 7;
            length += 1;
            rest >>= 7;
            if !more {
                return self.output.write_all(&bytes[..length]);
            }
        }
    }

    /// A number that is near another one.
    fn near(&mut self, value: u32, other: u32) -> io::Result<()> {
        let difference = i64::from(value) - i64::from(other);
        self.number(((difference << 1) ^ (difference >> 63)) as u64)
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T) -> io::Result<()>) -> io::Result<()> {
        self.number(items.len() as u64)?;
        items.iter().try_for_each(|item| write(self, item))
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.output.write_all(text.as_bytes())
    }

    fn option(&mut self, value: Option<u32>) -> io::Result<()> {
        self.number(value.map_or(0, |value| u64::from(value) + 1))
    }

    fn cell(&mut self, cell: &TvByte) -> io::Result<()> {
        // Ranges come from facts, of which certificates do not speak.
        debug_assert!(!cell.is_ranged(), "{cell} has a range");
        self.output.write_all(&[cell.known_mask(), cell.value()])
    }

    fn header(&mut self, header: &Header) -> io::Result<()> {
        self.output.write_all(&header.sha256)?;
        self.text(&header.device)?;
        self.option(header.start)?;
        self.text(&header.properties)?;
        self.list(&header.more_properties, |sink, text| sink.text(text))?;
        self.byte(header.inherent.into())?;
        self.list(&header.eeprom, |sink, (address, byte)| {
            sink.number(address.0.into())?;
            sink.byte(*byte)
        })
    }

    fn predicates(&mut self, predicates: &PredicateTerms) -> io::Result<()> {
        self.list(&predicates.compared, |sink, Comparison { left, right }| {
            sink.number(left.bytes.len() as u64)?;
            [left, right].into_iter().try_for_each(|number| {
                number.bytes.iter().try_for_each(|operand| sink.operand(operand))?;
                sink.number(number.plus.into())
            })
        })?;
        self.number(predicates.telling.into())?;
        self.list(&predicates.clauses, |sink, clause| {
            clause.iter().try_for_each(|PredicateLiteral { pair, predicate, is_negated }| {
                sink.number((*pair).into())?;
                sink.byte(*predicate)?;
                sink.byte((*is_negated).into())
            })
        })
    }

    fn operand(&mut self, operand: &Operand) -> io::Result<()> {
        match operand {
            Operand::Cell(cell) => {
                self.byte(0)?;
                self.number(cell.0.into())
            }
            Operand::Constant(value) => {
                self.byte(1)?;
                self.byte(*value)
            }
            Operand::Masked(cell, mask) => {
                self.byte(2)?;
                self.number(cell.0.into())?;
                self.byte(*mask)
            }
        }
    }

    fn store(&mut self, store: &Store) -> io::Result<()> {
        self.list(&store.pages, |sink, page| page.iter().try_for_each(|cell| sink.cell(cell)))?;
        self.list(&store.blocks, |sink, block| block.iter().try_for_each(|page| sink.number((*page).into())))?;
        self.number(store.memory_blocks as u64)?;
        self.number(store.memory_count() as u64)?;
        store.memories.iter().try_for_each(|block| self.number((*block).into()))?;
        self.list(&store.calls, |sink, link| {
            sink.number(link.below.into())?;
            sink.frame(&link.frame)
        })?;
        self.list(&store.did, |sink, did| sink.list(did, Self::seen))?;
        self.list(&store.advice, Self::advice)
    }

    fn frame(&mut self, frame: &Frame) -> io::Result<()> {
        self.number(frame.position.0.into())?;
        self.number(frame.return_address.0.into())?;
        self.option(match frame.kind {
            FrameKind::Call => None,
            FrameKind::Interrupt(number) => Some(number.into()),
        })?;
        self.byte(frame.stack)?;
        self.number(frame.left)
    }

    fn seen(&mut self, seen: &Seen) -> io::Result<()> {
        self.number(seen.event.into())?;
        self.byte(seen.certain.into())?;
        self.cell(&seen.value)
    }

    fn advice(&mut self, advice: &Advice) -> io::Result<()> {
        for bits in [&advice.inputs, &advice.initial, &advice.cases] {
            self.list(bits, |sink, (cell, mask)| {
                sink.number(cell.0.into())?;
                sink.byte(*mask)
            })?;
        }
        self.byte(advice.all.into())
    }

    fn space(&mut self, space: &Space) -> io::Result<()> {
        self.number(space.states.len() as u64)?;
        let mut before = Running { memory: 0, calls: 0, control: Control::default(), did: 0, advice: 0 };
        for state in &space.states {
            self.state(state, &before)?;
            if let State::Running(running) = state {
                before = *running;
            }
        }
        (0..space.states.len() as u32).try_for_each(|state| self.edges(&space.edges, state))?;
        self.labels(&space.labels)
    }

    fn state(&mut self, state: &State, before: &Running) -> io::Result<()> {
        match state {
            State::Start { advice } => {
                self.byte(0)?;
                self.number((*advice).into())
            }
            State::Running(running) => {
                self.byte(1)?;
                self.running(running, before)
            }
            State::Hazard { hazard, pc } => {
                self.byte(2)?;
                self.hazard(hazard)?;
                self.number(pc.0.into())
            }
            State::Anything => self.byte(3),
        }
    }

    fn running(&mut self, running: &Running, before: &Running) -> io::Result<()> {
        self.near(running.memory, before.memory)?;
        self.near(running.calls, before.calls)?;
        self.near(running.control.pc.0, before.control.pc.0)?;
        self.control(&running.control)?;
        self.number(running.did.into())?;
        self.number(running.advice.into())
    }

    fn control(&mut self, control: &Control) -> io::Result<()> {
        let has_windows = control.windows.iter().chain(&control.automata).any(|left| *left > 0);
        let Control { interrupt_delay, fresh_request, sleeping, torn, settling, in_startup, .. } = *control;
        let has_copies = control.copies != Copies::default();
        let flags = [interrupt_delay, fresh_request, sleeping, has_windows, torn, settling, in_startup, has_copies];
        let bits = flags.iter().zip(0..).map(|(flag, bit)| u8::from(*flag) << bit).sum::<u8>();
        self.byte(bits)?;
        self.byte(control.stack)?;
        if has_windows {
            self.output.write_all(&control.windows)?;
            self.output.write_all(&control.automata)?;
        }
        if has_copies { self.copies(&control.copies) } else { Ok(()) }
    }

    fn copies(&mut self, copies: &Copies) -> io::Result<()> {
        self.list(copies.pairs(), |sink, (to, from)| {
            sink.number(to.0.into())?;
            sink.number(from.0.into())
        })?;
        self.list(copies.masked(), |sink, MaskedCopy { register, mask, from }| {
            sink.byte(*register)?;
            sink.byte(*mask)?;
            sink.number(from.0.into())
        })?;
        let sum = copies.sum();
        self.byte(sum.bytes)?;
        if sum.bytes > 0 {
            self.byte(sum.first)?;
            self.byte(sum.left)?;
            self.number(sum.plus.into())?;
            sum.cells().iter().try_for_each(|cell| self.number(cell.0.into()))?;
        }
        let Relation { number, flags, is_complete } = copies.relation();
        self.byte(number)?;
        self.byte(flags)?;
        self.byte(is_complete.into())?;
        let Difference { number, first, left } = copies.difference();
        [number, first, left].into_iter().try_for_each(|byte| self.byte(byte))
    }

    fn hazard(&mut self, hazard: &Hazard) -> io::Result<()> {
        let kind = HazardKind::ALL.iter().position(|kind| *kind == hazard.kind);
        self.number(kind.expect("every kind is listed") as u64)?;
        self.option(hazard.address)
    }

    fn edges(&mut self, edges: &Edges, state: u32) -> io::Result<()> {
        let all = edges.of(state);
        self.number(all.len() as u64)?;
        for members in all {
            self.list(members, |sink, member| sink.near(*member, state))?;
        }
        Ok(())
    }

    fn labels(&mut self, labels: &Labels) -> io::Result<()> {
        self.number(labels.atoms() as u64)?;
        self.output.write_all(labels.packed())
    }

    fn claim(&mut self, claim: &Claim) -> io::Result<()> {
        match claim {
            Claim::Undecided => self.byte(0),
            Claim::Decided(decided) => {
                self.byte(1)?;
                self.decided(decided)
            }
            Claim::Uncertified(reason) => {
                self.byte(2)?;
                self.text(reason)
            }
            Claim::Invariant(part) => {
                self.byte(3)?;
                self.option(*part)
            }
            Claim::Symbolic(symbolic) => {
                self.byte(4)?;
                self.symbolic(symbolic)
            }
            Claim::Confined(closed) => {
                self.byte(5)?;
                self.closed_set(closed)
            }
        }
    }

    fn closed_set(&mut self, ClosedSet { stimulus, steps, map }: &ClosedSet) -> io::Result<()> {
        self.text(stimulus)?;
        self.number(*steps)?;
        self.map(map)
    }

    fn symbolic(&mut self, symbolic: &Symbolic) -> io::Result<()> {
        match &symbolic.proof {
            SymbolicProof::Everywhere => self.byte(0)?,
            SymbolicProof::Loops(proofs) => {
                self.byte(1)?;
                self.list(proofs, Self::loops)?;
            }
            SymbolicProof::Ranks(coming) => {
                self.byte(2)?;
                self.coming(coming)?;
            }
        }
        self.option(symbolic.vacuous)
    }

    fn coming(&mut self, coming: &Coming) -> io::Result<()> {
        self.list(&coming.parts, Self::ranks)?;
        self.list(&coming.fair, Self::loops)
    }

    fn ranks(&mut self, ranks: &Ranks) -> io::Result<()> {
        self.list(&ranks.idle, |sink, Passing { head, passed }| {
            sink.head(head)?;
            sink.list(passed, Self::head)
        })?;
        self.list(&ranks.claims, Self::rank_claim)
    }

    fn rank_claim(&mut self, claim: &RankClaim) -> io::Result<()> {
        self.head(&claim.head)?;
        self.byte(claim.is_triggering.into())?;
        self.list(&claim.passed, Self::head)?;
        self.number(claim.group.into())?;
        self.list(&claim.rank, Self::term)?;
        self.option(claim.waits_for.map(|event| match event {
            WaitsFor::Interrupt(number) => number.into(),
            WaitsFor::Promised(number) => PROMISED + u32::from(number),
        }))
    }

    fn loops(&mut self, loops: &Loops) -> io::Result<()> {
        self.list(&loops.first, Self::rounds)?;
        self.list(&loops.claims, Self::loop_claim)
    }

    fn loop_claim(&mut self, claim: &LoopClaim) -> io::Result<()> {
        self.head(&claim.head)?;
        self.byte(claim.is_conditional.into())?;
        self.list(&claim.passed, Self::head)?;
        self.number(claim.group.into())?;
        self.list(&claim.rank, Self::term)?;
        self.list(&claim.rounds, Self::rounds)
    }

    fn head(&mut self, head: &Head) -> io::Result<()> {
        self.number(head.pc.0.into())?;
        self.number(head.calls.into())
    }

    fn term(&mut self, term: &Term) -> io::Result<()> {
        match term {
            Term::Cells(cells) => {
                self.byte(0)?;
                self.list(cells, |sink, cell| sink.number(cell.0.into()))
            }
            Term::Constant(value, width) => {
                self.byte(1)?;
                self.number(*value)?;
                self.byte(*width)
            }
            Term::Difference(one, other) => {
                self.byte(2)?;
                self.term(one)?;
                self.term(other)
            }
        }
    }

    fn rounds(&mut self, rounds: &Rounds) -> io::Result<()> {
        self.number(rounds.count.into())?;
        self.byte(rounds.interrupts.is_some().into())?;
        rounds.interrupts.iter().try_for_each(|order| self.list(order, |sink, number| sink.byte(*number)))?;
        self.list(&rounds.held, |sink, (register, levels)| {
            sink.number(register.0.into())?;
            sink.cell(levels)
        })?;
        self.list(&rounds.sequences, |sink, (register, levels)| {
            sink.number(register.0.into())?;
            sink.list(levels, |sink, level| sink.byte(*level))
        })
    }

    fn decided(&mut self, decided: &Decided) -> io::Result<()> {
        self.byte((decided.verdict == Verdict::Violated).into())?;
        self.list(&decided.proofs, Self::proof)?;
        self.option(decided.vacuous.as_ref().map(|vacuous| vacuous.part))?;
        decided.vacuous.iter().try_for_each(|vacuous| self.list(&vacuous.proofs, Self::proof))
    }

    fn upper(&mut self, upper: Option<&Upper>) -> io::Result<()> {
        match upper {
            None => self.byte(0),
            Some(Upper::Map(bytes)) => {
                self.byte(1)?;
                self.number((*bytes).into())
            }
            Some(Upper::Space(depth)) => {
                self.byte(2)?;
                self.depth(Some(depth))
            }
        }
    }

    fn depth(&mut self, depth: Option<&Depth>) -> io::Result<()> {
        self.option(depth.map(|depth| depth.bytes))?;
        depth.map_or(Ok(()), |depth| self.proof(&depth.proof))
    }

    fn proof(&mut self, proof: &Proof) -> io::Result<()> {
        self.number(proof.space.into())?;
        self.byte((proof.basis == Basis::Model).into())?;
        self.strategy(&proof.strategy)
    }

    fn strategy(&mut self, strategy: &Strategy) -> io::Result<()> {
        self.list(&strategy.choices, |sink, (node, states)| {
            sink.number((*node).into())?;
            sink.number(states.len() as u64)?;
            let mut before = 0;
            for (state, choice) in states {
                sink.near(*state, before)?;
                sink.number((*choice).into())?;
                before = *state;
            }
            Ok(())
        })
    }

    fn map(&mut self, map: &Map) -> io::Result<()> {
        self.list(&map.pages, |sink, page| {
            let bytes = |cell: &TvByte| [cell.known_mask(), cell.value(), cell.low(), cell.high()];
            page.iter().try_for_each(|cell| sink.output.write_all(&bytes(cell)))
        })?;
        self.list(&map.blocks, |sink, block| block.iter().try_for_each(|page| sink.number((*page).into())))?;
        self.list(&map.calls, |sink, frames| sink.list(frames, Self::frame))?;
        let mut before = (0, Vec::new());
        self.list(&map.entries, |sink, entry| {
            sink.entry(entry, &before)?;
            before = (entry.control.pc.0, entry.invariant.memory.clone());
            Ok(())
        })?;
        self.list(&map.exits, Self::exit)
    }

    fn entry(&mut self, entry: &Entry, (pc, memory): &(u32, Vec<u32>)) -> io::Result<()> {
        self.byte(entry.handler.is_some().into())?;
        entry.handler.iter().try_for_each(|handler| self.handler(handler))?;
        self.near(entry.control.pc.0, *pc)?;
        self.control(&entry.control)?;
        self.number(entry.calls.into())?;
        self.invariant(&entry.invariant, memory)
    }

    fn exit(&mut self, exit: &Exit) -> io::Result<()> {
        self.handler(&exit.handler)?;
        self.near(exit.control.pc.0, 0)?;
        self.control(&exit.control)?;
        self.invariant(&exit.invariant, &[])
    }

    fn handler(&mut self, handler: &Handler) -> io::Result<()> {
        self.byte(handler.interrupt)?;
        self.number(handler.pointer.0.into())
    }

    /// The content of a state, with the blocks of its memory by their differences from those of another one.
    fn invariant(&mut self, invariant: &Invariant, memory: &[u32]) -> io::Result<()> {
        self.number(invariant.memory.len() as u64)?;
        let before = memory.iter().copied().chain(std::iter::repeat(0));
        invariant.memory.iter().zip(before).try_for_each(|(block, before)| self.near(*block, before))?;
        self.list(&invariant.equalities, |sink, (cell, equal)| {
            sink.number(cell.0.into())?;
            sink.equal(equal)
        })?;
        self.list(&invariant.ranges, |sink, range| {
            sink.list(&range.bytes, |sink, byte| sink.equal(byte))?;
            range.when.iter().try_for_each(|interval| {
                sink.byte(interval.is_some().into())?;
                interval.map_or(Ok(()), |(low, high)| {
                    sink.number(low.into())?;
                    sink.number(high.into())
                })
            })
        })?;
        self.list(&invariant.equations, |sink, equation| {
            sink.list(&equation.bytes, |sink, (byte, coefficient)| {
                sink.equal(byte)?;
                sink.number((*coefficient).into())
            })?;
            sink.number(equation.carry.into())?;
            sink.number(equation.constant.into())
        })
    }

    fn equal(&mut self, equal: &Equal) -> io::Result<()> {
        let (kind, cell) = match equal {
            Equal::Of(cell) => (0, cell),
            Equal::Entry(cell) => (1, cell),
            Equal::Result(register) => (2, register),
        };
        self.byte(kind)?;
        self.number(cell.0.into())
    }
}
