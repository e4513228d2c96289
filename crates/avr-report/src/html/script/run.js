// A run: its steps as the page has them, and the state after each. A fold stands for many steps and counts as one.
class Run {
  constructor(raw) {
    this.raw = raw;
    this.count = raw.steps.length;
    this.steps = raw.steps.map(([pc, cycles = 0, changes = 0, reads = 0, event = 0, inputs = 0, calls = 0, passed = 0, text = 0]) => ({
      pc, cycles, changes: changes || [], reads: reads || [], event, inputs: inputs || [], calls, passed, text,
    }));
    // After so many steps of the page: steps of the run, clock cycles, and the functions under way.
    this.numbers = [0];
    this.times = [0];
    this.stacks = [[]];
    this.steps.forEach((step, index) => {
      this.numbers.push(this.numbers[index] + (step.passed || 1));
      this.times.push(this.times[index] + step.cycles);
      const before = this.stacks[index];
      this.stacks.push(step.calls ? [...before.slice(0, step.calls[0]), ...step.calls.slice(1)] : before);
    });
    this.kept = [bytes(raw.cells)];
    this.groups = this.grouped();
    this.ran = new Set(this.steps.filter((step) => !step.passed).map((step) => codeAt(step.pc)).map((at) => `${at.file}:${at.line}`));
  }

  // The content of data memory after so many steps; every 64th is kept.
  cells(position) {
    const every = 64;
    for (let index = this.kept.length; index <= Math.floor(position / every); index++) {
      this.kept.push(this.changed(this.kept[index - 1], (index - 1) * every, index * every));
    }
    const base = Math.floor(position / every);
    return this.changed(this.kept[base], base * every, position);
  }

  changed(cells, from, to) {
    const after = cells.slice();
    for (let index = from; index < to; index++) {
      const { changes } = this.steps[index];
      for (let at = 0; at < changes.length; at += 2) after[changes[at]] = changes[at + 1];
    }
    return after;
  }

  // The address of the instruction that is next.
  pc(position) {
    return position < this.count ? this.steps[position].pc : this.raw.end_pc;
  }

  // Steps in a row that belong to one line of one function, and are shown as one.
  grouped() {
    const groups = [];
    let last = "";
    this.steps.forEach((step, index) => {
      const at = codeAt(step.pc);
      const special = step.passed || (step.event && step.event !== "asleep");
      const place = at.file === null ? (hasSources ? "" : step.pc) : `${at.line} ${at.name}`;
      const key = special ? `special ${index}` : `${at.file} ${place} ${this.stacks[index].length}`;
      if (key === last) groups[groups.length - 1].end = index + 1;
      else groups.push({ start: index, end: index + 1 });
      last = key;
    });
    return groups;
  }

  groupAt(position) {
    return this.groups.findIndex((group) => group.start <= position && position < group.end);
  }

  // The value of an atom: true, false, or null where it is not known.
  atom([, changes], position) {
    const number = this.numbers[position];
    let [low, high] = [0, changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (changes[middle][0] <= number) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? null : changes[low - 1][1];
  }

  // The position at or before a step of the run.
  positionOf(number) {
    let position = this.numbers.findIndex((other) => other > number);
    if (position < 0) position = this.numbers.length;
    return Math.max(0, position - 1);
  }

  // The step into a position changed one of these bytes.
  changes(position, variable) {
    if (position === 0) return false;
    const { changes } = this.steps[position - 1];
    return changes.some((address, index) => index % 2 === 0 && address >= variable.start && address < variable.start + variable.bytes);
  }
}

// Bytes in hexadecimal digits, and as text where they are one.
const bytesText = (all) => {
  const isText = all.some((byte) => byte >= 32) && all.every((byte) => byte === 0 || byte === 10 || byte === 13 || (byte >= 32 && byte < 127));
  const text = isText ? ` "${all.filter((byte) => byte >= 32).map((byte) => String.fromCharCode(byte)).join("")}"` : "";
  return all.map((byte) => hex(byte, 2)).join(" ") + text;
};

// The value of a variable as text.
const valueText = (variable, cells) => {
  const { start, bytes: size, kind } = variable;
  if (kind === "bytes") {
    return bytesText([...cells.slice(start, start + size)]);
  }
  let value = 0n;
  for (let index = size - 1; index >= 0; index--) value = (value << 8n) | BigInt(cells[start + index] || 0);
  if (kind === "io") return `0x${hex(Number(value), 2)}`;
  if (kind === "signed") value = BigInt.asIntN(8 * size, value);
  const character = size === 1 && value > 32n && value < 127n ? ` '${String.fromCharCode(Number(value))}'` : "";
  return `${value}${character}`;
};
