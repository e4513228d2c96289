//! Contracts of functions: names become addresses, and conditions become sets of contents.

use std::collections::BTreeSet;

use avr_image::{Symbol, SymbolKind};
use avr_isa::{ControlFlow, DataAddress, FlashByteAddress, FlashWordAddress};
use avr_machine::{BodyEvents, Contract, Machine, Returned};
use mu_calculus::{Comparison, ExprKind, Formula, parse_predicate};

use super::returned::{contents, joined};
use super::{Binder, Binding};
use crate::atom::{Atom, AtomKind, AtomTable};
use crate::conformance::PlacedText;
use crate::contract_error::ContractError;
use crate::definitions::Definitions;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::file::{FunctionContract, PropertyFile};
use crate::reads::CellsRead;
use crate::view::Event;

/// Binds the contracts of a property file, for a machine that has none yet.
///
/// # Errors
/// If one of them names something that does not exist or does not suit, if its condition is true of nothing or of
/// contents that are too many to list, if its function is entered by jumps, or if the file has something that contracts do not go with.
pub fn bind_contracts(
    file: &PropertyFile,
    binding: &Binding<'_>,
    machine: &Machine,
) -> Result<Vec<Contract>, PropertyError> {
    let Some(first) = file.contracts.first() else { return Ok(Vec::new()) };
    let others = [
        (!file.machines.is_empty(), "machines of the environment"),
        (!file.stacks.is_empty(), "stacks of tasks"),
        (!file.environment.is_empty(), "resets that may come at any moment"),
        (!file.forbid_findings.is_empty(), "findings that are forbidden"),
        (file.ends_paths(), "hazards that are allowed and end paths"),
    ];
    if let Some((_, what)) = others.into_iter().find(|(is_there, _)| *is_there) {
        return Err(at(&first.function, ContractError::NotWith(what)));
    }
    let mut bound: Vec<Contract> = Vec::new();
    for contract in &file.contracts {
        let contract = BinderOfContract { binding, machine, contract }.bind()?;
        if bound.iter().any(|other| other.entry == contract.entry) {
            let place = file.contracts[bound.len()].function.place.clone();
            return Err(PropertyErrorKind::Duplicate(contract.name).at_place(place));
        }
        bound.push(contract);
    }
    Ok(bound)
}

fn at(text: &PlacedText, error: ContractError) -> PropertyError {
    PropertyErrorKind::Contract(error).at_place(text.place.clone())
}

/// Binds one contract.
struct BinderOfContract<'a> {
    binding: &'a Binding<'a>,
    machine: &'a Machine,
    contract: &'a FunctionContract,
}

impl BinderOfContract<'_> {
    fn bind(&self) -> Result<Contract, PropertyError> {
        let function = &self.contract.function;
        let (entry, own) = self.entry()?;
        if entry == FlashByteAddress(self.binding.start).word() {
            return Err(at(function, ContractError::Start(function.text.clone())));
        }
        if let Some(place) = self.jump_to(entry, own) {
            return Err(at(function, ContractError::Jump { function: function.text.clone(), place }));
        }
        let mut writes = Vec::new();
        for text in &self.contract.writes {
            writes.extend(self.written(text)?);
        }
        writes.sort_unstable();
        writes.dedup();
        let name = function.text.clone();
        let events = self.contract.events.as_ref().map(|texts| self.events(texts, entry)).transpose()?;
        let mut contract = Contract { name, entry, writes, stack: self.contract.stack, returns: Vec::new(), events };
        if let Some(text) = &self.contract.returns {
            contract.returns = self.returned(text, &contract)?;
        }
        Ok(contract)
    }

    /// The entry, and the code of the function as far as symbols tell.
    fn entry(&self) -> Result<(FlashWordAddress, Option<&Symbol>), PropertyError> {
        let function = &self.contract.function;
        let is_code = |address: FlashByteAddress| {
            address.is_word_aligned() && self.machine.program.control_flow(address.word()).is_some()
        };
        let no_function = || at(function, ContractError::NoFunction(function.text.clone()));
        if let Some(address) = number(&function.text) {
            let address = FlashByteAddress(address);
            let named = self.binding.image.symbols.code().find(|symbol| symbol.place.flash() == Some(address));
            return if is_code(address) { Ok((address.word(), named)) } else { Err(no_function()) };
        }
        let symbols = &self.binding.image.symbols;
        let symbol = symbols.find_where(&function.text, Symbol::is_code).map_err(|error| {
            // Something of another kind that has this name is worth telling.
            match symbols.find(&function.text) {
                Ok(_) => no_function(),
                Err(_) => PropertyErrorKind::Symbol(error).at_place(function.place.clone()),
            }
        })?;
        let address = symbol.place.flash().filter(|address| is_code(*address)).ok_or_else(no_function)?;
        Ok((address.word(), Some(symbol)))
    }

    /// The flash byte address of a jump to the entry from the code of another function, if there is one.
    fn jump_to(&self, entry: FlashWordAddress, own: Option<&Symbol>) -> Option<u32> {
        let image = self.binding.image;
        let starts: BTreeSet<u32> = image.symbols.code().filter_map(|it| Some(it.place.flash()?.0)).collect();
        // Code in assembly has symbols without a size: they extend to the next one.
        let extent = |symbol: &Symbol| {
            let start = symbol.place.flash()?.0;
            let next = || starts.range(start + 1..).next().copied();
            Some(start..if symbol.size == 0 { next().unwrap_or(start + 1) } else { start + symbol.size })
        };
        let own = own.and_then(extent).unwrap_or(entry.byte().0..entry.byte().0 + 1);
        let program = &self.machine.program;
        for range in image.symbols.code().filter_map(extent) {
            let mut place = range.start;
            while place < range.end {
                let address = FlashByteAddress(place).word();
                let jumps = program.control_flow(address).and_then(ControlFlow::jump_target) == Some(entry);
                if jumps && !own.contains(&place) {
                    return Some(place);
                }
                place += 2 * program.words_at(address);
            }
        }
        None
    }

    /// The events that the function with this entry may cause.
    fn events(&self, texts: &[PlacedText], own: FlashWordAddress) -> Result<BodyEvents, PropertyError> {
        let (mut events, mut called) = (BodyEvents::default(), BTreeSet::from([own]));
        let sram_start = self.machine.sram().start;
        for text in texts {
            let (condition, atoms) = self.atoms(&text.text, text)?;
            let event = match (condition, atoms.as_slice()) {
                (Formula::Atom(_), [atom]) => match atom.kind() {
                    AtomKind::Event(event, None) => Some(event.clone()),
                    _ => None,
                },
                _ => None,
            };
            match event {
                Some(Event::Read(cells)) if cells.end <= sram_start => events.reads.push(cells),
                Some(Event::Write(cells)) if cells.end <= sram_start => events.writes.push(cells),
                Some(Event::Call(entry)) => _ = called.insert(FlashByteAddress(entry.address).word()),
                _ => return Err(at(text, ContractError::NotAnEvent(text.text.clone()))),
            }
        }
        let functions = self.binding.image.symbols.code().filter(|symbol| symbol.kind == SymbolKind::Function);
        let entries: BTreeSet<FlashWordAddress> =
            functions.filter_map(|symbol| Some(symbol.place.flash()?.word())).collect();
        events.not_called = entries.difference(&called).copied().collect();
        Ok(events)
    }

    /// The data addresses of what a text of `writes` names.
    fn written(&self, text: &PlacedText) -> Result<Vec<DataAddress>, PropertyError> {
        let not_writable = || at(text, ContractError::NotWritable(text.text.clone()));
        let cells = self.cells(text)?.ok_or_else(not_writable)?;
        let sram = self.machine.sram();
        let is_writable = |cell: &DataAddress| sram.contains(cell) || self.machine.is_mere_storage(*cell);
        if !cells.is_empty() && cells.iter().all(is_writable) { Ok(cells) } else { Err(not_writable()) }
    }

    /// The cells of a variable, a register, or a part of memory; none if a text names something else.
    fn cells(&self, text: &PlacedText) -> Result<Option<Vec<DataAddress>>, PropertyError> {
        let symbols = &self.binding.image.symbols;
        if let Ok(symbol) = symbols.find(&text.text)
            && let Some(first) = symbol.place.data()
        {
            let cells = |size: u32| u16::try_from(size).ok().map(|size| (0..size).map(|byte| first.wrapping_add(byte)));
            return Ok(cells(symbol.size).map(Iterator::collect));
        }
        let comparison = format!("{} == 0", text.text);
        let atoms = self.atoms(&comparison, text).map_err(PropertyError::without_formula)?.1;
        let [atom] = atoms.as_slice() else { return Ok(None) };
        match (atom.kind(), atom.cells()) {
            (AtomKind::CellEquals { .. } | AtomKind::Compare(_), CellsRead::These(cells)) if !atom.reads_pc() => {
                Ok(Some(cells.into_iter().map(|(cell, _)| cell).collect()))
            }
            _ => Ok(None),
        }
    }

    /// The contents that cells may have at the return.
    fn returned(&self, text: &PlacedText, contract: &Contract) -> Result<Vec<Returned>, PropertyError> {
        let (condition, atoms) = self.atoms(&text.text, text)?;
        let mut all = Vec::new();
        for (cells, parts) in joined(&condition, &atoms).map_err(|error| at(text, error))? {
            if let Some(kept) = cells.iter().find(|cell| !contract.changed().any(|changed| changed == **cell)) {
                return Err(at(text, ContractError::NotChanged(self.name_of(*kept))));
            }
            let names = || cells.iter().rev().map(|cell| self.name_of(*cell)).collect::<Vec<_>>().join(", ");
            let returned =
                contents(&cells, &parts, &atoms).ok_or_else(|| at(text, ContractError::TooManyContents(names())))?;
            if returned.products.is_empty() {
                return Err(at(text, ContractError::Unsatisfiable(names())));
            }
            all.push(returned);
        }
        Ok(all)
    }

    fn name_of(&self, cell: DataAddress) -> String {
        let binding = self.binding;
        if cell < DataAddress::IO {
            return format!("r{}", cell.0);
        }
        let register = binding.device.register_at(cell).map(|register| register.name.to_owned());
        let object = || binding.image.symbols.object_at(cell).map(|located| located.symbol.display_name().to_owned());
        register.or_else(object).unwrap_or_else(|| format!("mem[{cell:#06x}]"))
    }

    /// A condition over the numbers of its atoms, and the atoms.
    fn atoms(&self, condition: &str, text: &PlacedText) -> Result<(Formula<usize>, Vec<Atom>), PropertyError> {
        let placed = |error: PropertyError| error.of_property(&self.contract.function.text, Some(&text.place));
        let parsed = parse_predicate(condition)
            .map_err(|error| placed(PropertyErrorKind::Formula(error.kind).at(error.span, condition)))?;
        let (definitions, mut table) = (Definitions::new(), AtomTable::new());
        let mut binder = Binder::new(&definitions, self.binding, &mut table);
        let mut literals = Vec::new();
        for comparison in parsed.atoms() {
            let literal =
                binder.comparison(comparison, condition).map_err(|(kind, span)| placed(kind.at(span, condition)))?;
            literals.push((comparison.clone(), literal));
        }
        let signed = signed(&parsed, &literals.iter().map(|(it, literal)| (it, literal.negated)).collect::<Vec<_>>());
        let number = |comparison: &Comparison| {
            let found = literals.iter().find(|(known, _)| known == comparison);
            found.expect("every comparison was bound").1.atom.index()
        };
        let numbered = signed.try_map_atoms(&mut |comparison| Ok::<_, PropertyError>(number(comparison)))?;
        drop(binder);
        Ok((numbered, table.atoms().to_vec()))
    }
}

/// The number that a text is.
fn number(text: &str) -> Option<u32> {
    let Ok(Formula::Atom(comparison)) = parse_predicate(&format!("{text} == 0")) else { return None };
    let mu_calculus::ComparisonKind::Compare(_, expression, _) = comparison.kind else { return None };
    match expression.kind {
        ExprKind::Integer(number) => u32::try_from(number).ok(),
        _ => None,
    }
}

/// The condition with `!` in front of comparisons whose atom is their negation.
fn signed(condition: &Formula<Comparison>, negated: &[(&Comparison, bool)]) -> Formula<Comparison> {
    match condition {
        Formula::Atom(comparison) if negated.contains(&(comparison, true)) => Formula::Not(Box::new(condition.clone())),
        _ => {
            let parts =
                condition.try_map_children(&mut |part| Ok::<_, std::convert::Infallible>(signed(part, negated)));
            parts.unwrap_or_else(|never| match never {})
        }
    }
}
