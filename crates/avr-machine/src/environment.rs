//! What a machine asks of the world while it takes a step.

use three_valued::ByteDomain;

/// Where an input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// The content of a cell before the program starts, by data address.
    Initial(u16),
    /// The bits that hardware supplies when the register at this data address is read or set by hardware.
    Register(u16),
}

/// Whether the step itself depends on an input, so that leaving it open would only move the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The value is only stored.
    Stored,
    /// The value decides where execution goes in this very step.
    Decides,
}

/// Something that happens during a step and that properties can speak of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a, V> {
    /// The program read the register or memory cell at this data address; the value read.
    Read(u16, &'a V),
    /// The program wrote the register or memory cell at this data address; the value written.
    Write(u16, &'a V),
    /// A call to this flash word address.
    Call(u32),
    /// A return to this flash word address.
    Return(u32),
    /// The entry into the handler of the interrupt with this number.
    Interrupt(u8),
}

/// What a question about the stored state is about.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a, V: ByteDomain> {
    /// A bit.
    Bit(&'a V::Bit),
    /// Whole bytes, such as an address.
    Bytes(&'a [&'a V]),
}

/// The world around the machine during one step: it supplies inputs and settles questions that the machine leaves open.
///
/// There are two kinds of open questions and they must never be confused (they have different quantifiers). An *input*
/// and a *choice* are made by the environment in this very step. A *case* is about what is already stored in the state:
/// nobody chooses it, it merely is not known.
pub trait Environment<V: ByteDomain> {
    /// The value of the input bits in `mask`; the other bits of the result are 0.
    fn input(&mut self, source: Input, mask: u8, demand: Demand) -> V;

    /// Picks one of `count` things that the environment may do in this step.
    fn choose(&mut self, count: usize) -> usize;

    /// Picks one of `count` cases that the stored state may be in. Concrete states have only one.
    fn case(&mut self, count: usize, about: Question<'_, V>) -> usize;

    /// Is told what is not known well enough when the machine cannot go on for that reason.
    fn stuck(&mut self, _about: &[&V]) {}

    /// Takes note of something that happens.
    fn event(&mut self, _event: Event<'_, V>) {}
}
