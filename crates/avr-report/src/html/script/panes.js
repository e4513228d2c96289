// The panes of the stepper beside the timing diagram.
const panes = {
  run: null, position: 0, file: undefined, machine: false,

  // What happens next, in a line.
  happens(run, position) {
    const line = byId("happens");
    line.replaceChildren();
    line.className = "";
    if (position === run.count) {
      const { raw } = run;
      const article = byId("run").closest("article");
      const isGood = article.classList.contains("holds");
      line.className = isGood ? "good" : "end";
      line.append(element("b", "", raw.hazard ? `Hazard ${raw.hazard}` : isGood ? "Shown here" : "Violated here"), raw.hazard ? " in the next step" : `: ${raw.claim}`);
      if (raw.hazard_inputs.length) line.append(` ← ${raw.hazard_inputs.join(", ")}`);
      return;
    }
    const step = run.steps[position];
    const at = codeAt(step.pc);
    if (step.passed) {
      line.append(element("b", "", `${counted(step.passed, "step")} are passed over`), `: ${step.text}, ${timeText(step.cycles)}`);
      return;
    }
    line.append("Next: ");
    line.append(step.event ? element("b", "", step.event) : element("code", "", at.text));
    const place = placeText(at);
    if (place) line.append(element("span", "muted", ` ${place}`));
    if (step.inputs.length) line.append(element("b", "", ` ← ${step.inputs.join(", ")}`));
  },

  // Buttons for the steps with inputs.
  inputs(run) {
    const all = run.steps.map((step, index) => [step.inputs, index]).filter(([inputs]) => inputs.length);
    if (run.raw.hazard_inputs.length) all.push([run.raw.hazard_inputs, run.count]);
    const list = byId("inputs");
    list.replaceChildren();
    if (all.length) list.append(element("span", "muted", "Inputs:"));
    for (const [inputs, index] of all) {
      const button = element("button", "", `${run.numbers[index]}: ${inputs.join(", ")}`);
      button.type = "button";
      button.dataset.at = index;
      button.title = `step ${run.numbers[index]}`;
      button.addEventListener("click", () => stepper.go(index));
      list.append(button);
    }
    this.received(run);
  },

  // What the program took from outside, one after the other, if it took several bytes or conversions.
  received(run) {
    const told = data.streams.map(([name, low, high]) => {
      const values = [];
      let first = 0;
      for (const { reads } of run.steps) {
        for (let at = 0; at < reads.length; at += 2) {
          if (reads[at] === low) first = reads[at + 1];
          if (reads[at] === (high ?? low)) values.push(high === null ? first : 256 * reads[at + 1] + first);
        }
      }
      const text = high === null ? bytesText(values) : values.join(", ");
      return values.length > 1 ? `From the ${name} (${counted(values.length, high === null ? "byte" : "conversion")}): ${text}` : "";
    });
    byId("received").textContent = told.filter(Boolean).join("; ");
  },

  // The address whose code is shown: where the run has left all code, that of its last instruction.
  shownPc(run, position) {
    const pc = run.pc(position);
    return position > 0 && position === run.count && !listing.lineOf.has(pc) ? run.steps[position - 1].pc : pc;
  },

  // The source, or the machine code where there is none.
  source(run, position, at = codeAt(this.shownPc(run, position)), className = "here") {
    const rows = at.file === null ? [] : sourceRows(at.file);
    const pane = byId("source");
    const where = byId("where");
    where.textContent = [placeText(at) || `0x${hex(this.shownPc(run, position), 4)}`, at.name].filter(Boolean).join(" in ");
    if (rows.length === 0) return this.machineCode(run, position);
    if (this.file !== at.file || this.run !== run) {
      pane.replaceChildren(...[...rows].map((row, index) => {
        const copy = row.cloneNode(true);
        copy.classList.toggle("ran", run.ran.has(`${at.file}:${index + 1}`));
        return copy;
      }));
      [this.file, this.run] = [at.file, run];
    }
    pane.querySelectorAll(".here, .caller").forEach((row) => row.classList.remove("here", "caller"));
    const here = pane.children[at.line - 1];
    if (here) {
      here.classList.add(className);
      this.reveal(pane, here);
    }
  },

  machineCode(run, position) {
    const pane = byId("source");
    const at = listing.lineOf.get(this.shownPc(run, position));
    this.file = undefined;
    pane.replaceChildren();
    if (at === undefined) return;
    for (let index = Math.max(0, at - 60); index < Math.min(listing.lines.length, at + 60); index++) {
      const row = element("div", index === at ? "l here" : "l");
      row.append(element("code", "", listing.lines[index].replaceAll("\t", "  ") || " "));
      pane.append(row);
      if (index === at) this.reveal(pane, row);
    }
  },

  // Scrolls a pane, and never the page, so that a row is in its middle.
  reveal(pane, row) {
    pane.scrollTop = row.offsetTop - pane.clientHeight / 2 + row.offsetHeight / 2;
  },

  watch(run, position) {
    const cells = run.cells(position);
    const table = element("table");
    const row = (into, name, value, className) => {
      const line = into.insertRow();
      line.insertCell().append(name);
      line.insertCell().append(element("span", className, value));
      return line;
    };
    for (const atom of run.raw.atoms) {
      const value = run.atom(atom, position);
      row(table, element("code", "", atom[0]), value === null ? "?" : String(value), value === null ? "muted" : String(value));
    }
    const variable = (into) => (one) => {
      const line = row(into, one.name, valueText(one, cells), run.changes(position, one) ? "changed mono" : "mono");
      if (one.kind === "bytes") line.cells[1].className = "bytes";
    };
    run.raw.watch.forEach(variable(table));
    const pane = byId("watch");
    const wasOpen = pane.querySelector("details") ? pane.querySelector("details").open : run.raw.others.length <= 16;
    pane.replaceChildren(table);
    if (run.raw.others.length) {
      const more = element("details");
      const others = element("table");
      more.open = wasOpen;
      more.append(element("summary", "", `${counted(run.raw.others.length, "other")} that change${run.raw.others.length === 1 ? "s" : ""}`), others);
      run.raw.others.forEach(variable(others));
      pane.append(more);
    } else if (table.rows.length === 0) pane.append(element("span", "muted", "Nothing with a name changes."));
  },

  calls(run, position) {
    const frames = run.stacks[position];
    const list = byId("calls");
    list.replaceChildren();
    let pc = run.pc(position);
    for (let index = frames.length; index >= 0; index--) {
      const at = codeAt(pc);
      const button = element("button", "", [at.name || `0x${hex(pc, 4)}`, placeText(at)].filter(Boolean).join(", "));
      button.type = "button";
      button.addEventListener("click", () => this.source(run, position, at, index === frames.length ? "here" : "caller"));
      const entry = element("li");
      entry.append(button);
      const frame = frames[index - 1];
      if (frame && frame[1]) entry.append(" ", element("span", "chip", `interrupt ${frame[1]}`));
      list.append(entry);
      if (frame) pc = frame[0];
    }
  },

  // Registers, flags and memory.
  state(run, position) {
    if (!byId("machine").open) return;
    const cells = run.cells(position);
    const done = position > 0 ? run.steps[position - 1].changes : [];
    const changed = new Set(done.filter((_, index) => index % 2 === 0));
    const registers = byId("registers");
    registers.replaceChildren();
    const put = (text, isChanged) => registers.append(element("span", isChanged ? "changed" : "", text), " ");
    const [low, high] = data.sp;
    const pointer = cells[low] + (high === null ? 0 : 256 * cells[high]);
    put(`PC ${hex(run.pc(position), 4)}`, false);
    put(`SP ${hex(pointer, 4)}`, changed.has(low) || changed.has(high));
    put(`SREG ${[..."ITHSVNZC"].map((flag, index) => ((cells[data.sreg] >> (7 - index)) & 1 ? flag : "-")).join("")}`, changed.has(data.sreg));
    registers.append(element("br"));
    for (let index = 0; index < 32; index++) put(`r${index} ${hex(cells[index], 2)}`, changed.has(index));
    const rows = new Set([...changed, pointer + 1].map((address) => address >> 4));
    for (const step of run.steps) for (let at = 0; at < step.changes.length && rows.size < 40; at += 2) rows.add(step.changes[at] >> 4);
    const memory = byId("memory");
    memory.replaceChildren();
    for (const row of [...rows].sort((one, other) => one - other)) {
      if (row * 16 < data.sram || row * 16 >= cells.length) continue;
      const line = element("div", "", `${hex(row * 16, 4)} `);
      for (let address = row * 16; address < Math.min(row * 16 + 16, cells.length); address++) {
        line.append(element("span", changed.has(address) ? "changed" : "", hex(cells[address], 2)), " ");
      }
      memory.append(line);
    }
  },
};

// The list of steps, by lines of the source; those of the present line are shown one by one.
const stepList = {
  run: null, rows: [], filter: "all",

  show(run) {
    this.run = run;
    const wanted = {
      all: () => true,
      inputs: (index) => run.steps[index].inputs.length > 0,
      interrupts: (index) => Boolean(run.steps[index].event) && run.steps[index].event !== "asleep",
      watch: (index) => run.raw.watch.some((variable) => run.changes(index + 1, variable)) || run.raw.atoms.some((atom) => run.atom(atom, index) !== run.atom(atom, index + 1)),
    }[this.filter];
    const range = (group) => Array.from({ length: group.end - group.start }, (_, index) => group.start + index);
    const groups = this.filter === "all" ? run.groups : run.groups.flatMap(range).filter(wanted).map((index) => ({ start: index, end: index + 1 }));
    this.rows = groups.map((group) => ({ group, row: this.row(group) }));
    const end = element("div");
    end.append(element("span", "no", run.numbers[run.count]), element("span", "what", run.raw.hazard ? "hazard" : "end of the run"));
    end.addEventListener("click", () => stepper.go(run.count));
    this.rows.push({ group: { start: run.count, end: run.count + 1 }, row: end });
    byId("steps").replaceChildren(...this.rows.map(({ row }) => row));
  },

  row({ start, end }) {
    const run = this.run;
    const step = run.steps[start];
    const at = codeAt(step.pc);
    const row = element("div", step.passed ? "fold" : "");
    row.append(element("span", "no", run.numbers[start]));
    const what = element("span", "what");
    if (step.passed) what.textContent = `${counted(step.passed, "step")}: ${step.text}`;
    else if (step.event) what.textContent = step.event;
    else if (at.file === null && hasSources && end > start + 1) what.textContent = this.functions(start, end);
    else what.append(element("span", "muted", `${placeText(at) || at.name || ""} `), element("code", "", sourceText(at.file, at.line) || at.text));
    what.title = what.textContent;
    row.append(what);
    const inputs = run.steps.slice(start, end).flatMap((one) => one.inputs);
    if (inputs.length) row.append(element("span", "tag", `← ${inputs.join(", ")}`));
    row.addEventListener("click", () => stepper.go(start));
    return row;
  },

  // The functions of some steps.
  functions(start, end) {
    const names = new Set(this.run.steps.slice(start, end).map((step) => codeAt(step.pc).name).filter(Boolean));
    return `${[...names].join(", ")} (${counted(end - start, "step")} without source lines)`;
  },

  // Marks the step that is next.
  mark(position) {
    const pane = byId("steps");
    pane.querySelectorAll(".inner").forEach((row) => row.remove());
    pane.querySelectorAll(".here, .group").forEach((row) => row.classList.remove("here", "group"));
    const found = this.rows.find(({ group }) => group.start <= position && position < group.end);
    if (!found) return;
    const { group, row } = found;
    let here = row;
    if (group.end - group.start > 1) {
      row.classList.add("group");
      let last = row;
      for (let index = group.start; index < group.end; index++) {
        const inner = element("div", index === position ? "inner here" : "inner");
        const step = this.run.steps[index];
        const what = element("span", "what");
        what.append(element("code", "", step.event || codeAt(step.pc).text));
        inner.append(element("span", "no", this.run.numbers[index]), what);
        if (step.inputs.length) inner.append(element("span", "tag", `← ${step.inputs.join(", ")}`));
        inner.addEventListener("click", () => stepper.go(index));
        last.after(inner);
        last = inner;
        if (index === position) here = inner;
      }
    } else row.classList.add("here");
    panes.reveal(pane, here);
  },
};
