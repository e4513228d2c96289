"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const hex = (value, digits) => value.toString(16).padStart(digits, "0");
  const svg = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const bytes = (text) => Uint8Array.from(text.match(/../g) || [], (pair) => parseInt(pair, 16));
  const lineOf = new Map();
  data.listing.forEach(([pc], index) => { if (pc !== null) lineOf.set(pc, index); });

  // A run, with the state after its first `position` steps.
  class Run {
    constructor(section, run) {
      this.run = run;
      this.section = section;
      this.part = (name) => section.querySelector(`[data-part="${name}"]`);
      this.slider = this.part("slider");
      this.slider.max = run.steps.length;
      this.levels = this.waves();
      section.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => {
        const moves = { first: 0, back: this.position - 1, next: this.position + 1, last: run.steps.length };
        this.show(moves[button.dataset.move]);
      }));
      this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
      section.addEventListener("keydown", (event) => {
        if (event.target === this.slider) return;
        if (event.key === "ArrowRight") this.show(this.position + 1);
        if (event.key === "ArrowLeft") this.show(this.position - 1);
      });
      this.drawWaves();
      this.show(0);
    }

    cells(position) {
      const cells = bytes(this.run.cells);
      for (const step of this.run.steps.slice(0, position)) {
        for (const [address, value] of step.changes) cells[address] = value;
      }
      return cells;
    }

    show(position) {
      this.position = Math.max(0, Math.min(position, this.run.steps.length));
      this.slider.value = this.position;
      const done = this.run.steps[this.position - 1];
      const next = this.run.steps[this.position];
      const pc = next ? next.pc : this.run.end_pc;
      this.part("position").textContent = this.position + this.run.first;
      this.part("done").textContent = done ? `step ${done.step}: ${done.action}${done.inputs.length ? " <- " + done.inputs.join(", ") : ""}` : this.run.start;
      this.part("next").textContent = next ? next.action : this.run.end;
      this.part("line").textContent = next && next.line ? next.line : "";
      this.showState(this.cells(this.position), new Set(done ? done.changes.map(([address]) => address) : []), pc);
      this.showCode(pc);
      this.cursor.setAttribute("transform", `translate(${this.x(this.position)} 0)`);
    }

    showState(cells, changed, pc) {
      const registers = this.part("registers");
      registers.replaceChildren();
      const put = (name, value, isChanged) => registers.append(element("span", isChanged ? "changed" : "", `${name} ${value}`), " ");
      put("PC", hex(pc, 4), false);
      const [low, high, status] = [data.sp[0], data.sp[1], data.sreg];
      const pointer = cells[low] + (high === null ? 0 : 256 * cells[high]);
      put("SP", hex(pointer, 4), changed.has(low) || changed.has(high));
      const flags = [..."ITHSVNZC"].map((flag, index) => (cells[status] >> (7 - index)) & 1 ? flag : "-").join("");
      put("SREG", flags, changed.has(status));
      registers.append(element("br"));
      for (let index = 0; index < 32; index++) put(`r${index}`, hex(cells[index], 2), changed.has(index));
      this.showMemory(cells, changed, pointer);
    }

    // Rows of memory that the run changes, and the one that SP points to.
    showMemory(cells, changed, pointer) {
      const rows = new Set(this.run.rows);
      rows.add((pointer + 1) >> 4);
      const memory = this.part("memory");
      memory.replaceChildren();
      for (const row of [...rows].sort((one, other) => one - other)) {
        if (row * 16 < data.sram || row * 16 >= cells.length) continue;
        const line = element("div", "", hex(row * 16, 4) + " ");
        for (let address = row * 16; address < Math.min(row * 16 + 16, cells.length); address++) {
          const mark = [changed.has(address) ? "changed" : "", address === pointer + 1 ? "here" : ""].join(" ").trim();
          line.append(element("span", mark, hex(cells[address], 2)), " ");
        }
        memory.append(line);
      }
      const outputs = this.part("ports");
      outputs.textContent = data.ports.map((port) => `PORT${port.letter} ${hex(cells[port.output], 2)} DDR${port.letter} ${hex(cells[port.direction], 2)}`).join("   ");
    }

    showCode(pc) {
      const code = this.part("code");
      code.replaceChildren();
      const at = lineOf.get(pc);
      if (at === undefined) return;
      for (let index = Math.max(0, at - 12); index < Math.min(data.listing.length, at + 13); index++) {
        code.append(element("div", index === at ? "here" : "", data.listing[index][1] || " "));
      }
    }

    // The levels of the pins that matter before each step and at the end.
    waves() {
      const cells = bytes(this.run.cells);
      const levels = new Map();
      const pins = new Uint8Array(256);
      const note = () => {
        for (const port of data.ports) {
          const level = (cells[port.output] & cells[port.direction]) | (pins[port.pins] & ~cells[port.direction]);
          for (let bit = 0; bit < 8; bit++) {
            const name = `P${port.letter}${bit}`;
            if (!levels.has(name)) levels.set(name, []);
            levels.get(name).push((level >> bit) & 1);
          }
        }
      };
      note();
      for (const step of this.run.steps) {
        for (const [address, value] of step.changes) cells[address] = value;
        for (const [address, value] of step.reads) pins[address] = value;
        note();
      }
      return [...levels].filter(([, bits]) => bits.some((bit) => bit !== bits[0]));
    }

    x(position) {
      return 60 + (position * 900) / Math.max(1, this.run.steps.length);
    }

    drawWaves() {
      const drawing = this.part("waves");
      if (this.levels.length === 0) this.part("still").textContent = "No pin changes its level.";
      const height = 22 * this.levels.length + 6;
      drawing.setAttribute("viewBox", `0 0 970 ${height}`);
      this.levels.forEach(([name, bits], row) => {
        const y = (bit) => 22 * row + (bit ? 6 : 20);
        let path = `M ${this.x(0)} ${y(bits[0])}`;
        for (let position = 1; position < bits.length; position++) {
          if (bits[position] !== bits[position - 1]) path += ` H ${this.x(position)} V ${y(bits[position])}`;
        }
        drawing.append(svg("text", { x: 4, y: 22 * row + 18 }, name));
        drawing.append(svg("path", { class: "wave", d: `${path} H ${this.x(bits.length - 1)}` }));
      });
      this.cursor = svg("line", { class: "cursor", y1: 0, y2: height });
      drawing.append(this.cursor);
    }
  }

  document.querySelectorAll("[data-run]").forEach((section) => new Run(section, data.runs[Number(section.dataset.run)]));
  document.querySelectorAll(".routine").forEach((routine) => routine.addEventListener("click", () => {
    document.querySelectorAll(".routine").forEach((other) => other.classList.toggle("chosen", other === routine));
    document.getElementById("routine").textContent = routine.dataset.about;
  }));
  document.body.dataset.ready = "yes";
})();
