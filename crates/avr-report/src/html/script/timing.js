// The timing diagram of a run: atoms, interrupts, inputs, pins and variables over clock cycles. Folds have a width of their own.
const timing = {
  run: null, zoom: 1, xs: [], lanes: [],
  HEIGHT: 26, TOP: 24, GAP: 30, LANES: 24, END: 26,

  show(run) {
    this.run = run;
    this.zoom = 1;
    this.lanes = [...this.atoms(run), ...this.functions(run), ...this.interrupts(run), ...this.inputs(run), ...this.pins(run), ...this.variables(run)].slice(0, this.LANES);
    const labels = element("div", "labels");
    const head = element("div", "head", data.clock ? "time" : "clock cycles");
    head.style.height = `${this.TOP}px`;
    labels.append(head);
    for (const lane of this.lanes) {
      const label = element("div", "", lane.name);
      label.title = lane.name;
      labels.append(label);
    }
    this.scroll = element("div", "scroll");
    byId("timing").replaceChildren(labels, this.scroll);
    this.draw();
  },

  positions(run) {
    return Array.from({ length: run.count + 1 }, (_, position) => position);
  },

  atoms(run) {
    const values = (atom) => this.positions(run).map((position) => run.atom(atom, position));
    return run.raw.atoms.map((atom) => ({ kind: "atom", name: atom[0], values: values(atom) }));
  },

  functions(run) {
    const name = (position) => codeAt(run.pc(position)).name || "";
    const values = this.positions(run).map(name);
    return values.some(Boolean) ? [{ kind: "bus", name: "function", values }] : [];
  },

  interrupts(run) {
    const name = (stack) => stack.reduce((last, frame) => frame[1] || last, "");
    const values = run.stacks.map(name);
    return values.some(Boolean) ? [{ kind: "busy", name: "interrupts", values }] : [];
  },

  inputs(run) {
    const marks = run.steps.map((step, index) => [step.inputs.length, index]).filter(([count]) => count).map(([, index]) => index);
    return marks.length ? [{ kind: "inputs", name: "inputs", marks }] : [];
  },

  // The levels of the pins that change: what a port drives, or what was read last.
  pins(run) {
    const cells = bytes(run.raw.cells);
    const levels = new Map();
    const pins = new Uint8Array(65536);
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
    for (const step of run.steps) {
      for (let at = 0; at < step.changes.length; at += 2) cells[step.changes[at]] = step.changes[at + 1];
      for (let at = 0; at < step.reads.length; at += 2) pins[step.reads[at]] = step.reads[at + 1];
      note();
    }
    return [...levels].filter(([, bits]) => bits.some((bit) => bit !== bits[0])).map(([name, values]) => ({ kind: "wave", name, values }));
  },

  variables(run) {
    const all = [...run.raw.watch, ...run.raw.others.filter((one) => one.start >= data.sram)].filter((one) => one.kind !== "bytes");
    const lanes = all.map((variable) => ({ kind: "bus", name: variable.name, variable, values: [] }));
    const cells = bytes(run.raw.cells);
    const note = () => lanes.forEach((lane) => lane.values.push(valueText(lane.variable, cells)));
    note();
    for (const step of run.steps) {
      for (let at = 0; at < step.changes.length; at += 2) cells[step.changes[at]] = step.changes[at + 1];
      note();
    }
    return lanes;
  },

  // The places of all positions: in proportion to time, except for folds.
  place(width) {
    const { run } = this;
    const folds = run.steps.filter((step) => step.passed).length;
    const shown = run.steps.reduce((sum, step) => sum + (step.passed ? 0 : step.cycles), 0);
    this.scale = Math.max(0.001, width - 16 - this.END - folds * this.GAP) / Math.max(1, shown);
    this.xs = [10];
    for (const step of run.steps) this.xs.push(this.xs[this.xs.length - 1] + (step.passed ? this.GAP : step.cycles * this.scale));
    return this.xs[this.xs.length - 1] + this.END + 6;
  },

  draw() {
    const { run, xs } = this;
    const width = Math.floor(this.place(Math.max(240, this.scroll.clientWidth || 700) * this.zoom));
    const height = this.TOP + this.HEIGHT * this.lanes.length + 6;
    const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "timing diagram" });
    this.axis(drawing, height);
    const start = run.raw.loop_start;
    if (start !== null) {
      const x = this.xs[run.positionOf(start)];
      drawing.append(svg("rect", { class: "loop", x, y: this.TOP - 4, width: this.xs[run.count] - x + this.END, height: height - this.TOP }));
    }
    run.steps.forEach((step, index) => {
      if (!step.passed) return;
      const gap = svg("rect", { class: "gap", x: this.xs[index] + 4, y: this.TOP - 2, width: this.GAP - 8, height: height - this.TOP - 4 });
      gap.append(svg("title", {}, `${counted(step.passed, "step")}: ${step.text}, ${timeText(step.cycles)}`));
      drawing.append(gap);
    });
    this.lanes.forEach((lane, row) => this.lane(drawing, lane, this.TOP + this.HEIGHT * row));
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: height });
    drawing.append(this.cursor);
    drawing.addEventListener("click", (event) => stepper.go(this.positionAt(event.clientX - drawing.getBoundingClientRect().left)));
    this.scroll.replaceChildren(drawing);
  },

  // Times at round places, in each part between folds anew.
  axis(drawing, height) {
    const { run } = this;
    const unit = data.clock ? data.clock / 1e6 : 1;
    const rough = 90 / this.scale / unit;
    const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-6)));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) * unit;
    let last = -90;
    for (let index = 0; index < run.count; index++) {
      if (run.steps[index].passed) continue;
      const [from, to] = [run.times[index], run.times[index + 1]];
      for (let tick = Math.ceil(from / step); tick * step < to || (index + 1 === run.count && tick * step === to); tick++) {
        const x = this.xs[index] + (tick * step - from) * this.scale;
        if (x < last + 74) continue;
        last = x;
        const text = data.clock ? timeText(tick * step) : Math.round(tick * step).toLocaleString("en");
        drawing.append(svg("line", { class: "grid", x1: x, x2: x, y1: this.TOP - 6, y2: height }), svg("text", { class: "tick", x: x + 3, y: 13 }, text));
      }
    }
  },

  lane(drawing, lane, y) {
    if (lane.kind === "wave" || lane.kind === "atom") return this.levels(drawing, lane, y);
    if (lane.kind === "inputs") {
      for (const index of lane.marks) {
        const mark = svg("path", { class: "input", d: `M${this.xs[index] - 4} ${y + 20} h8 l-4 -9 z` });
        mark.append(svg("title", {}, `step ${this.run.numbers[index]}: ${this.run.steps[index].inputs.join(", ")}`));
        drawing.append(mark);
      }
      return;
    }
    this.stretches(lane.values, (from, to, value) => {
      if (value === "") return;
      const [x, end] = [from, Math.max(from + 1, to)];
      const box = svg("rect", { class: lane.kind === "busy" ? "busy" : "bus", x, y: y + 5, width: end - x, height: 16, rx: 2 });
      box.append(svg("title", {}, `${lane.name} ${value}`));
      drawing.append(box);
      if (value.length * 6.1 + 6 < end - x) drawing.append(svg("text", { class: "value", x: x + 4, y: y + 17 }, value));
    });
  },

  levels(drawing, lane, y) {
    const level = (value) => y + (value === null ? 13 : value ? 6 : 21);
    let path = "";
    this.stretches(lane.values, (from, to, value) => {
      path += `${path ? " L" : "M"}${from} ${level(value)} H${to}`;
    });
    drawing.append(svg("path", { class: lane.kind, d: path }));
  },

  // Calls back for each stretch with one value, with its ends; the last state has some room.
  stretches(values, found) {
    let from = 0;
    for (let index = 1; index <= values.length; index++) {
      if (index < values.length && values[index] === values[from]) continue;
      found(this.xs[from], index < values.length ? this.xs[index] : this.xs[index - 1] + this.END, values[from]);
      from = index;
    }
  },

  positionAt(x) {
    let best = 0;
    this.xs.forEach((other, position) => { if (Math.abs(other - x) < Math.abs(this.xs[best] - x)) best = position; });
    return best;
  },

  mark(position) {
    const x = this.xs[position];
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    const { scrollLeft, clientWidth } = this.scroll;
    if (x < scrollLeft || x > scrollLeft + clientWidth) this.scroll.scrollLeft = x - clientWidth / 2;
  },

  resize(factor) {
    this.zoom = factor === 0 ? 1 : Math.min(64, Math.max(1, this.zoom * factor));
    this.draw();
    this.mark(stepper.position);
    this.scroll.scrollLeft = this.xs[stepper.position] - this.scroll.clientWidth / 2;
  },
};
