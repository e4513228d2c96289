//! Reading certificates.

use std::io::{BufRead, BufReader, Read};

use avr_isa::{DataAddress, EepromAddress, FlashWordAddress, Register};
use avr_machine::{
    Comparison, Control, Copies, Difference, Frame, FrameKind, Hazard, HazardKind, MaskedCopy, Number, Operand,
    PAGE_CELLS, Relation, Sum,
};
use flate2::bufread::ZlibDecoder;
use three_valued::TvByte;

use crate::content::{
    Advice, BLOCK_PAGES, Basis, Certificate, Claim, Decided, Depth, Edges, Header, Labels, Link, Page,
    PredicateLiteral, PredicateTerms, Proof, Running, Seen, Space, Stack, State, Store, Strategy, Upper, Vacuous,
    Verdict,
};
use crate::error::{ReadError, ReadErrorKind};
use crate::map::{
    ClosedSet, Entry, Equal, Exit, Handler, Invariant, LinearEquation, MAP_BLOCK_PAGES, Map, NumberRange,
};
use crate::source::{Source, damaged, failed};
use crate::symbolic::{
    Coming, Head, LoopClaim, Loops, Passing, RankClaim, Ranks, Rounds, Symbolic, SymbolicProof, Term, WaitsFor,
};
use crate::write::{MAGIC, PROMISED, VERSION};

/// The memory that the content of a certificate may take unless the caller says otherwise, in bytes.
pub const DEFAULT_MEMORY: usize = 4 << 30;

/// The most differences that are nested in a number of a rank.
pub(crate) const MAX_TERM_DEPTH: usize = 4;

/// The most bytes of a number about which there are predicates.
const MAX_NUMBER_BYTES: usize = 4;

/// The most blocks that a memory has: 64 KiB of cells.
const MAX_MEMORY_BLOCKS: usize = (1 << 16) / (PAGE_CELLS * BLOCK_PAGES) + 1;

impl Certificate {
    /// Reads a certificate whose content takes at most `memory` bytes.
    ///
    /// Every number in it refers to something: members are states, states consist of what is stored, and so on.
    ///
    /// # Errors
    /// If the bytes are no certificate, are damaged, or need too much memory.
    pub fn read(mut input: impl BufRead, memory: usize) -> Result<Self, ReadError> {
        read_start(&mut input)?;
        let mut source = Source::new(BufReader::new(ZlibDecoder::new(input)), memory);
        let header = source.header()?;
        let predicates = match source.flag()? {
            true => Some(source.predicates()?),
            false => None,
        };
        let store = source.store()?;
        let spaces = source.list(|source| source.space(&store))?;
        let map = match source.flag()? {
            true => Some(source.map()?),
            false => None,
        };
        let calls = map.as_ref().map_or(0, |map| map.calls.len());
        let claims = source.list(|source| source.claim(&spaces, calls))?;
        let stack = Stack { upper: source.upper(&spaces)?, lower: source.depth(&spaces)? };
        let rests_on_map = claims.iter().any(|claim| matches!(claim, Claim::Invariant(_) | Claim::Symbolic(_)))
            || matches!(stack.upper, Some(Upper::Map(_)));
        if rests_on_map && map.is_none() {
            return Err(damaged("a claim rests on invariants, and there are none"));
        }
        let mut rest = source.finish()?.into_inner().into_inner();
        match rest.read(&mut [0]).map_err(failed)? {
            0 => Ok(Self { header, predicates, store, spaces, map, claims, stack }),
            _ => Err(damaged("something follows after its end")),
        }
    }
}

fn read_start(input: &mut impl Read) -> Result<(), ReadError> {
    let mut start = [0; MAGIC.len() + 1];
    let mut length = 0;
    while length < start.len() {
        match input.read(&mut start[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    if length < start.len() || !start.starts_with(MAGIC) {
        return Err(ReadErrorKind::NotACertificate.into());
    }
    match start[MAGIC.len()] {
        VERSION => Ok(()),
        found => Err(ReadErrorKind::Version { found, known: VERSION }.into()),
    }
}

impl<R: Read> Source<R> {
    fn header(&mut self) -> Result<Header, ReadError> {
        let mut sha256 = [0; 32];
        self.fill(&mut sha256)?;
        let header = Header {
            sha256,
            device: self.text()?,
            start: self.option()?,
            properties: self.text()?,
            more_properties: self.list(Self::text)?,
            inherent: self.flag()?,
            eeprom: self.list(|source| Ok((EepromAddress(source.u16()?), source.byte()?)))?,
        };
        if !header.eeprom.is_sorted_by(|(a, _), (b, _)| a < b) {
            return Err(damaged("the content of the EEPROM is out of order"));
        }
        Ok(header)
    }

    fn predicates(&mut self) -> Result<PredicateTerms, ReadError> {
        let compared = self.list(|source| {
            let bytes = source.below(MAX_NUMBER_BYTES + 1, "size of numbers")? as usize;
            let number = |source: &mut Self| -> Result<Number, ReadError> {
                Ok(Number { bytes: source.items(bytes, Self::operand)?, plus: source.u32()? })
            };
            Ok(Comparison { left: number(source)?, right: number(source)? })
        })?;
        if compared.iter().any(|one| one.left.bytes.is_empty()) {
            return Err(damaged("a number has no bytes"));
        }
        let telling = self.u32()?;
        let literal = |source: &mut Self| -> Result<PredicateLiteral, ReadError> {
            let pair = source.below(compared.len(), "pair of numbers")?;
            Ok(PredicateLiteral { pair, predicate: source.byte()?, is_negated: source.flag()? })
        };
        let clauses = self.list(|source| Ok([literal(source)?, literal(source)?]))?;
        Ok(PredicateTerms { compared, telling, clauses })
    }

    fn operand(&mut self) -> Result<Operand, ReadError> {
        match self.byte()? {
            0 => Ok(Operand::Cell(DataAddress(self.u16()?))),
            1 => Ok(Operand::Constant(self.byte()?)),
            2 => Ok(Operand::Masked(DataAddress(self.u16()?), self.byte()?)),
            _ => Err(damaged("a byte of a number is of no kind")),
        }
    }

    fn cell(&mut self) -> Result<TvByte, ReadError> {
        let (known, value) = (self.byte()?, self.byte()?);
        if value & !known != 0 {
            return Err(damaged("an unknown bit has a value"));
        }
        Ok(TvByte::new(value, known))
    }

    fn pages(&mut self, cell: fn(&mut Self) -> Result<TvByte, ReadError>) -> Result<Vec<Page>, ReadError> {
        self.list(|source| {
            let mut page = [TvByte::UNKNOWN; PAGE_CELLS];
            for one in &mut page {
                *one = cell(source)?;
            }
            Ok(page)
        })
    }

    /// Blocks of so many pages each, of those that are there.
    fn blocks<const PAGES: usize>(&mut self, pages: usize) -> Result<Vec<[u32; PAGES]>, ReadError> {
        self.list(|source| {
            let mut block = [0; PAGES];
            for page in &mut block {
                *page = source.below(pages, "page")?;
            }
            Ok(block)
        })
    }

    fn store(&mut self) -> Result<Store, ReadError> {
        let pages = self.pages(Self::cell)?;
        let blocks = self.blocks::<BLOCK_PAGES>(pages.len())?;
        let memory_blocks = self.below(MAX_MEMORY_BLOCKS + 1, "size of memories")? as usize;
        let count = self.length()?.checked_mul(memory_blocks).ok_or_else(|| damaged("there are too many memories"))?;
        let memories = self.items(count, |source| source.below(blocks.len(), "block"))?;
        let mut number = 0;
        let calls = self.list(|source| {
            number += 1;
            Ok(Link { below: source.below(number, "call string")?, frame: source.frame()? })
        })?;
        let did = self.list(Self::did)?;
        let advice = self.list(Self::advice)?;
        Ok(Store { pages, blocks, memory_blocks, memories, calls, did, advice })
    }

    fn frame(&mut self) -> Result<Frame, ReadError> {
        Ok(Frame {
            position: DataAddress(self.u16()?),
            return_address: FlashWordAddress(self.u32()?),
            kind: match self.option()?.map(u8::try_from) {
                None => FrameKind::Call,
                Some(Ok(number)) => FrameKind::Interrupt(number),
                Some(Err(_)) => return Err(damaged("there is no such interrupt")),
            },
            stack: self.byte()?,
            left: self.number()?,
        })
    }

    fn did(&mut self) -> Result<Vec<Seen>, ReadError> {
        let seen =
            self.list(|source| Ok(Seen { event: source.u32()?, certain: source.flag()?, value: source.cell()? }))?;
        match seen.is_sorted_by(|a, b| a.event < b.event) {
            true => Ok(seen),
            false => Err(damaged("events are out of order")),
        }
    }

    fn advice(&mut self) -> Result<Advice, ReadError> {
        let bits = |source: &mut Self| source.list(|source| Ok((DataAddress(source.u16()?), source.byte()?)));
        Ok(Advice { inputs: bits(self)?, initial: bits(self)?, cases: bits(self)?, all: self.flag()? })
    }

    fn space(&mut self, store: &Store) -> Result<Space, ReadError> {
        let mut before = Running { memory: 0, calls: 0, control: Control::default(), did: 0, advice: 0 };
        let states = self.list(|source| {
            let state = source.state(store, &before)?;
            if let State::Running(running) = state {
                before = running;
            }
            Ok(state)
        })?;
        if u32::try_from(states.len()).is_err() {
            return Err(damaged("there are too many states"));
        }
        let mut edges = Edges::new();
        for state in 0..states.len() as u32 {
            self.edges(&mut edges, state, states.len())?;
        }
        let atoms = self.length()?;
        let length =
            Labels::stride(atoms).checked_mul(states.len()).ok_or_else(|| damaged("there are too many labels"))?;
        let labels = Labels::from_packed(atoms, self.bytes(length)?);
        Ok(Space { states, edges, labels })
    }

    fn state(&mut self, store: &Store, before: &Running) -> Result<State, ReadError> {
        match self.byte()? {
            0 => Ok(State::Start { advice: self.below(store.advice.len(), "advice")? }),
            1 => Ok(State::Running(self.running(store, before)?)),
            2 => Ok(State::Hazard { hazard: self.hazard()?, pc: FlashWordAddress(self.u32()?) }),
            3 => Ok(State::Anything),
            _ => Err(damaged("there is no such kind of state")),
        }
    }

    fn running(&mut self, store: &Store, before: &Running) -> Result<Running, ReadError> {
        let memory = self.near(before.memory)?;
        let calls = self.near(before.calls)?;
        if memory as usize >= store.memory_count() || calls as usize > store.calls.len() {
            return Err(damaged("there is no such memory or call string"));
        }
        let pc = FlashWordAddress(self.near(before.control.pc.0)?);
        let control = self.control(pc)?;
        let did = self.below(store.did.len(), "list of events")?;
        let advice = self.below(store.advice.len(), "advice")?;
        Ok(Running { memory, calls, control, did, advice })
    }

    fn control(&mut self, pc: FlashWordAddress) -> Result<Control, ReadError> {
        let bits = self.byte()?;
        let flag = |bit: u8| bits >> bit & 1 == 1;
        let mut control = Control {
            pc,
            interrupt_delay: flag(0),
            fresh_request: flag(1),
            sleeping: flag(2),
            torn: flag(4),
            settling: flag(5),
            in_startup: flag(6),
            stack: self.byte()?,
            ..Control::default()
        };
        if flag(3) {
            self.fill(&mut control.windows)?;
            self.fill(&mut control.automata)?;
        }
        if flag(7) {
            control.copies = self.copies()?;
        }
        Ok(control)
    }

    fn copies(&mut self) -> Result<Copies, ReadError> {
        let pairs = self.list(|source| Ok((DataAddress(source.u16()?), DataAddress(source.u16()?))))?;
        let masked = self.list(|source| {
            Ok(MaskedCopy { register: source.byte()?, mask: source.byte()?, from: DataAddress(source.u16()?) })
        })?;
        let are_registers = masked.iter().all(|copy| Register::new(copy.register).is_some());
        let copies = Copies::of(&pairs, &masked).filter(|_| are_registers);
        let copies = copies.ok_or_else(|| damaged("there are no such copies"))?;
        let mut sum = Sum { bytes: self.byte()?, ..Sum::default() };
        if sum.bytes > 0 {
            (sum.first, sum.left, sum.plus) = (self.byte()?, self.byte()?, self.u32()?);
            let cells = sum.cells.get_mut(..usize::from(sum.bytes)).ok_or_else(|| damaged("a sum is too long"))?;
            cells.iter_mut().try_for_each(|cell| self.u16().map(|number| *cell = DataAddress(number)))?;
            if sum.registers().any(|register| Register::at(register).is_none()) {
                return Err(damaged("a sum is in no registers"));
            }
        }
        let relation = Relation { number: self.byte()?, flags: self.byte()?, is_complete: self.flag()? };
        let difference = Difference { number: self.byte()?, first: self.byte()?, left: self.byte()? };
        if difference.number != 0 && (Register::new(difference.first).is_none() || difference.left == 0) {
            return Err(damaged("a difference is in no registers"));
        }
        Ok(copies.with_sum(sum).with_relation(relation).with_difference(difference))
    }

    fn hazard(&mut self) -> Result<Hazard, ReadError> {
        let kind = self.below(HazardKind::ALL.len(), "hazard")?;
        Ok(Hazard { kind: HazardKind::ALL[kind as usize], address: self.option()? })
    }

    fn edges(&mut self, edges: &mut Edges, state: u32, states: usize) -> Result<(), ReadError> {
        self.charge(size_of::<u32>())?;
        for _ in 0..self.length()? {
            let members = self.list(|source| {
                let member = source.near(state)?;
                let exists = (member as usize) < states;
                exists.then_some(member).ok_or_else(|| damaged("a hyper-edge leads to no state"))
            })?;
            if members.is_empty() {
                return Err(damaged("a hyper-edge leads nowhere"));
            }
            self.charge(size_of::<u32>())?;
            edges.add(members);
        }
        edges.finish_state();
        Ok(())
    }

    /// A claim, where the map has so many call strings.
    fn claim(&mut self, spaces: &[Space], calls: usize) -> Result<Claim, ReadError> {
        match self.byte()? {
            0 => Ok(Claim::Undecided),
            1 => Ok(Claim::Decided(self.decided(spaces)?)),
            2 => Ok(Claim::Uncertified(self.text()?)),
            3 => Ok(Claim::Invariant(self.option()?)),
            4 => Ok(Claim::Symbolic(self.symbolic(calls)?)),
            5 => Ok(Claim::Confined(Box::new(self.closed_set()?))),
            _ => Err(damaged("there is no such kind of claim")),
        }
    }

    fn closed_set(&mut self) -> Result<ClosedSet, ReadError> {
        Ok(ClosedSet { stimulus: self.text()?, steps: self.number()?, map: self.map()? })
    }

    fn symbolic(&mut self, calls: usize) -> Result<Symbolic, ReadError> {
        let proof = match self.byte()? {
            0 => SymbolicProof::Everywhere,
            1 => SymbolicProof::Loops(self.list(|source| source.loops(calls))?),
            2 => SymbolicProof::Ranks(Coming {
                parts: self.list(|source| source.ranks(calls))?,
                fair: self.list(|source| source.loops(calls))?,
            }),
            _ => return Err(damaged("there is no such kind of proof")),
        };
        Ok(Symbolic { proof, vacuous: self.option()? })
    }

    fn loops(&mut self, calls: usize) -> Result<Loops, ReadError> {
        Ok(Loops { first: self.list(Self::rounds)?, claims: self.list(|source| source.loop_claim(calls))? })
    }

    fn ranks(&mut self, calls: usize) -> Result<Ranks, ReadError> {
        let idle = self.list(|source| {
            Ok(Passing { head: source.head(calls)?, passed: source.list(|source| source.head(calls))? })
        })?;
        Ok(Ranks { idle, claims: self.list(|source| source.rank_claim(calls))? })
    }

    fn rank_claim(&mut self, calls: usize) -> Result<RankClaim, ReadError> {
        let claim = RankClaim {
            head: self.head(calls)?,
            is_triggering: self.flag()?,
            passed: self.list(|source| source.head(calls))?,
            group: self.u32()?,
            rank: self.list(|source| source.term(MAX_TERM_DEPTH))?,
            waits_for: None,
        };
        let waits_for = self.option()?.map(|number| match u8::try_from(number) {
            Ok(number) => Ok(WaitsFor::Interrupt(number)),
            Err(_) => match u8::try_from(number - PROMISED) {
                Ok(number) => Ok(WaitsFor::Promised(number)),
                Err(_) => Err(damaged("there is no such interrupt or promise")),
            },
        });
        Ok(RankClaim { waits_for: waits_for.transpose()?, ..claim })
    }

    fn loop_claim(&mut self, calls: usize) -> Result<LoopClaim, ReadError> {
        Ok(LoopClaim {
            head: self.head(calls)?,
            is_conditional: self.flag()?,
            passed: self.list(|source| source.head(calls))?,
            group: self.u32()?,
            rank: self.list(|source| source.term(MAX_TERM_DEPTH))?,
            rounds: self.list(Self::rounds)?,
        })
    }

    fn head(&mut self, calls: usize) -> Result<Head, ReadError> {
        Ok(Head { pc: FlashWordAddress(self.u32()?), calls: self.below(calls, "call string")? })
    }

    /// A number in which differences are nested so deep at most.
    fn term(&mut self, depth: usize) -> Result<Term, ReadError> {
        self.charge(size_of::<Term>())?;
        match self.byte()? {
            0 => Ok(Term::Cells(self.list(|source| Ok(DataAddress(source.u16()?)))?)),
            1 => Ok(Term::Constant(self.number()?, self.byte()?)),
            2 => {
                let below = depth.checked_sub(1).ok_or_else(|| damaged("a number of a rank is too deep"))?;
                Ok(Term::Difference(Box::new(self.term(below)?), Box::new(self.term(below)?)))
            }
            _ => Err(damaged("there is no such kind of number")),
        }
    }

    fn rounds(&mut self) -> Result<Rounds, ReadError> {
        let rounds = Rounds {
            count: self.u32()?,
            interrupts: match self.flag()? {
                true => Some(self.list(Self::byte)?),
                false => None,
            },
            held: self.list(|source| Ok((DataAddress(source.u16()?), source.cell()?)))?,
            sequences: self.list(|source| Ok((DataAddress(source.u16()?), source.list(Self::byte)?)))?,
        };
        let is_sorted = rounds.held.is_sorted_by(|(one, _), (other, _)| one < other)
            && rounds.sequences.is_sorted_by(|(one, _), (other, _)| one < other);
        match rounds.count {
            0 => Err(damaged("a strategy has no rounds")),
            _ if !is_sorted => Err(damaged("the inputs of a strategy are out of order")),
            _ => Ok(rounds),
        }
    }

    fn decided(&mut self, spaces: &[Space]) -> Result<Decided, ReadError> {
        Ok(Decided {
            verdict: if self.flag()? { Verdict::Violated } else { Verdict::Holds },
            proofs: self.list(|source| source.proof(spaces))?,
            vacuous: match self.option()? {
                Some(part) => Some(Vacuous { part, proofs: self.list(|source| source.proof(spaces))? }),
                None => None,
            },
        })
    }

    fn upper(&mut self, spaces: &[Space]) -> Result<Option<Upper>, ReadError> {
        match self.byte()? {
            0 => Ok(None),
            1 => Ok(Some(Upper::Map(self.u32()?))),
            2 => Ok(self.depth(spaces)?.map(Upper::Space)),
            _ => Err(damaged("there is no such kind of bound")),
        }
    }

    fn depth(&mut self, spaces: &[Space]) -> Result<Option<Depth>, ReadError> {
        let Some(bytes) = self.option()? else { return Ok(None) };
        Ok(Some(Depth { bytes, proof: self.proof(spaces)? }))
    }

    fn proof(&mut self, spaces: &[Space]) -> Result<Proof, ReadError> {
        let space = self.below(spaces.len(), "state space")?;
        let states = spaces[space as usize].states.len();
        let basis = if self.flag()? { Basis::Model } else { Basis::Hardware };
        Ok(Proof { space, basis, strategy: self.strategy(states)? })
    }

    fn strategy(&mut self, states: usize) -> Result<Strategy, ReadError> {
        let choices = self.list(|source| {
            let node = source.u32()?;
            let mut before = 0;
            let choices = source.list(|source| {
                before = source.near(before)?;
                if before as usize >= states {
                    return Err(damaged("a choice is made in no state"));
                }
                Ok((before, source.u32()?))
            })?;
            Ok((node, choices))
        })?;
        let sorted = choices.is_sorted_by(|(a, _), (b, _)| a < b)
            && choices.iter().all(|(_, states)| states.is_sorted_by(|(a, _), (b, _)| a < b));
        if sorted { Ok(Strategy { choices }) } else { Err(damaged("choices are out of order")) }
    }

    fn ranged_cell(&mut self) -> Result<TvByte, ReadError> {
        let byte = self.cell()?;
        let (low, high) = (self.byte()?, self.byte()?);
        byte.within(low, high).ok_or_else(|| damaged("a cell has no value"))
    }

    fn map(&mut self) -> Result<Map, ReadError> {
        let pages = self.pages(Self::ranged_cell)?;
        let blocks = self.blocks::<MAP_BLOCK_PAGES>(pages.len())?;
        let calls = self.list(|source| source.list(Self::frame))?;
        let mut before = (0, Vec::new());
        let entries = self.list(|source| {
            let entry = source.entry(&before, (blocks.len(), calls.len()))?;
            before = (entry.control.pc.0, entry.invariant.memory.clone());
            Ok(entry)
        })?;
        let exits = self.list(|source| source.exit(blocks.len()))?;
        Ok(Map { pages, blocks, calls, entries, exits })
    }

    fn entry(&mut self, (pc, memory): &(u32, Vec<u32>), (blocks, calls): (usize, usize)) -> Result<Entry, ReadError> {
        let handler = match self.flag()? {
            true => Some(self.handler()?),
            false => None,
        };
        let pc = FlashWordAddress(self.near(*pc)?);
        let control = self.control(pc)?;
        let calls = self.below(calls, "call string")?;
        Ok(Entry { handler, control, calls, invariant: self.invariant(memory, blocks)? })
    }

    fn exit(&mut self, blocks: usize) -> Result<Exit, ReadError> {
        let handler = self.handler()?;
        let pc = FlashWordAddress(self.near(0)?);
        Ok(Exit { handler, control: self.control(pc)?, invariant: self.invariant(&[], blocks)? })
    }

    fn handler(&mut self) -> Result<Handler, ReadError> {
        Ok(Handler { interrupt: self.byte()?, pointer: DataAddress(self.u16()?) })
    }

    /// The content of a state, whose memory is told by its differences from another one.
    fn invariant(&mut self, before: &[u32], blocks: usize) -> Result<Invariant, ReadError> {
        let mut before = before.iter().copied().chain(std::iter::repeat(0));
        let memory = self.list(|source| {
            let block = source.near(before.next().unwrap_or_default())?;
            let exists = (block as usize) < blocks;
            exists.then_some(block).ok_or_else(|| damaged("there is no such block"))
        })?;
        let equalities = self.list(|source| {
            let cell = DataAddress(source.u16()?);
            Ok((cell, source.equal()?))
        })?;
        let ranges = self.list(|source| {
            let bytes = source.list(|source| source.equal())?;
            Ok(NumberRange { bytes, when: [source.interval()?, source.interval()?] })
        })?;
        let equations = self.list(|source| {
            let bytes = source.list(|source| Ok((source.equal()?, source.u32()?)))?;
            Ok(LinearEquation { bytes, carry: source.u32()?, constant: source.u32()? })
        })?;
        Ok(Invariant { memory, equalities, ranges, equations })
    }

    fn equal(&mut self) -> Result<Equal, ReadError> {
        let kind = self.byte()?;
        let cell = DataAddress(self.u16()?);
        match kind {
            0 => Ok(Equal::Of(cell)),
            1 => Ok(Equal::Entry(cell)),
            2 => Ok(Equal::Result(cell)),
            _ => Err(damaged("a byte is equal to something that is none")),
        }
    }

    fn interval(&mut self) -> Result<Option<(u32, u32)>, ReadError> {
        Ok(if self.flag()? { Some((self.u32()?, self.u32()?)) } else { None })
    }
}
