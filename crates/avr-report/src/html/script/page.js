// The stepper: one for all runs.
const stepper = {
  runs: [], run: null, position: 0,

  show(number) {
    this.runs[number] = this.runs[number] || new Run(data.runs[number]);
    this.run = this.runs[number];
    document.querySelectorAll("#ways button").forEach((button) => button.setAttribute("aria-current", Number(button.dataset.run) === number));
    byId("begins").textContent = this.run.raw.begins || "";
    byId("slider").max = this.run.count;
    byId("watch").replaceChildren();
    panes.inputs(this.run);
    stepList.show(this.run);
    timing.show(this.run);
    this.go(this.run.count);
  },

  go(position) {
    const { run } = this;
    this.position = Math.max(0, Math.min(position, run.count));
    byId("slider").value = this.position;
    byId("position").textContent = `step ${run.numbers[this.position].toLocaleString("en")} of ${run.raw.all.toLocaleString("en")}, ${timeText(run.times[this.position])}`;
    document.querySelectorAll("#inputs button").forEach((button) => button.setAttribute("aria-current", Number(button.dataset.at) === this.position));
    panes.happens(run, this.position);
    panes.source(run, this.position);
    panes.watch(run, this.position);
    panes.calls(run, this.position);
    panes.state(run, this.position);
    stepList.mark(this.position);
    timing.mark(this.position);
  },

  move(name) {
    const { run, position } = this;
    const group = run.groupAt(position);
    const lineBack = group < 0 ? run.groups[run.groups.length - 1] : run.groups[position > run.groups[group].start ? group : group - 1];
    const moves = {
      first: 0, back: position - 1, next: position + 1, last: run.count,
      "line-back": lineBack ? lineBack.start : 0, "line-next": group < 0 ? run.count : run.groups[group].end,
    };
    this.go(moves[name]);
  },
};

// The property whose detail is shown.
const articles = [...document.querySelectorAll(".detail > article")];
const entries = [...document.querySelectorAll(".list li")];
const choose = (article) => {
  articles.forEach((other) => { other.hidden = other !== article; });
  entries.forEach((entry) => entry.querySelector("a").setAttribute("aria-current", entry.querySelector("a").hash === `#${article.id}`));
  const run = byId("run");
  if (!run) return;
  run.hidden = article.dataset.run === undefined;
  article.append(run);
  if (run.hidden) return;
  const [start, count] = [Number(article.dataset.run), Number(article.dataset.runs)];
  const ways = byId("ways");
  ways.hidden = count === 1;
  ways.replaceChildren(...Array.from({ length: count }, (_, index) => {
    const button = element("button", "", data.runs[start + index].name);
    button.type = "button";
    button.dataset.run = start + index;
    button.addEventListener("click", () => stepper.show(start + index));
    return button;
  }));
  stepper.show(start);
};

const first = () => {
  const named = articles.find((article) => `#${article.id}` === location.hash);
  const suits = [(one) => one.classList.contains("violated") && one.dataset.run !== undefined, (one) => one.classList.contains("violated"),
    (one) => one.classList.contains("unknown"), (one) => one.dataset.run !== undefined, () => true];
  return named || suits.map((suit) => articles.find(suit)).find(Boolean);
};

// Filters of the list of properties.
let verdict = "";
const filter = () => {
  const text = byId("search").value.toLowerCase();
  entries.forEach((entry) => {
    const suits = verdict === "" || entry.dataset.verdict === verdict;
    entry.hidden = !suits || !entry.textContent.toLowerCase().includes(text);
  });
  byId("nothing").hidden = entries.some((entry) => !entry.hidden);
  byId("all").hidden = verdict === "" && text === "";
  document.querySelectorAll(".tile[data-filter]").forEach((tile) => tile.setAttribute("aria-pressed", tile.dataset.filter === verdict));
};

document.querySelectorAll("[data-filter]").forEach((button) => button.addEventListener("click", () => {
  verdict = button.dataset.filter === verdict ? "" : button.dataset.filter;
  if (button.id === "all") [verdict, byId("search").value] = ["", ""];
  filter();
  const shown = entries.find((entry) => !entry.hidden && verdict !== "");
  if (shown) choose(document.querySelector(shown.querySelector("a").hash));
}));
byId("search").addEventListener("input", filter);
entries.forEach((entry) => entry.addEventListener("click", (event) => {
  event.preventDefault();
  const link = entry.querySelector("a");
  choose(document.querySelector(link.hash));
  history.replaceState(null, "", link.hash);
}));

if (byId("run")) {
  document.querySelectorAll("[data-move]").forEach((button) => button.addEventListener("click", () => stepper.move(button.dataset.move)));
  document.querySelectorAll("[data-time]").forEach((button) => button.addEventListener("click", () => timing.resize({ in: 2, out: 0.5, fit: 0 }[button.dataset.time])));
  byId("slider").addEventListener("input", () => stepper.go(Number(byId("slider").value)));
  byId("machine").addEventListener("toggle", () => panes.state(stepper.run, stepper.position));
  byId("steps-filter").addEventListener("change", () => {
    stepList.filter = byId("steps-filter").value;
    stepList.show(stepper.run);
    stepList.mark(stepper.position);
  });
  byId("run").addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT"].includes(event.target.tagName)) return;
    const move = { ArrowRight: event.shiftKey ? "line-next" : "next", ArrowLeft: event.shiftKey ? "line-back" : "back", Home: "first", End: "last" }[event.key];
    if (!move) return;
    event.preventDefault();
    stepper.move(move);
  });
  addEventListener("resize", () => { if (!byId("run").hidden && stepper.run) timing.resize(1); });
}

// Coverage and machine code.
if (byId("gaps")) byId("gaps").addEventListener("change", () => byId("coverage").classList.toggle("only-gaps", byId("gaps").checked));
const decorate = () => {
  const code = byId("code");
  if (code.dataset.ready) return;
  code.dataset.ready = "yes";
  const classes = { 0: "", 1: "hit", 2: "miss" };
  code.replaceChildren(...listing.lines.slice(0, data.marks.length).map((text, index) => element("div", classes[data.marks[index]], text)));
};
byId("listing").addEventListener("toggle", decorate);
byId("find").addEventListener("input", () => {
  decorate();
  const text = byId("find").value.toLowerCase();
  const rows = [...byId("code").children];
  const found = rows.filter((row) => {
    const suits = text !== "" && row.textContent.toLowerCase().includes(text);
    row.classList.toggle("found", suits);
    return suits;
  });
  byId("found").textContent = text === "" ? "" : counted(found.length, "line");
  if (found.length) byId("code").scrollTop = found[0].offsetTop - byId("code").offsetTop - 40;
});

// The graph: zoom, search, and what is said about its parts.
if (byId("canvas")) {
  const canvas = byId("canvas");
  const drawing = canvas.querySelector("svg");
  const [width, height] = [drawing.viewBox.baseVal.width, drawing.viewBox.baseVal.height];
  let scale = 1;
  const zoom = (wanted) => {
    scale = Math.min(3, Math.max(0.1, wanted));
    drawing.setAttribute("width", width * scale);
    drawing.setAttribute("height", height * scale);
  };
  const fit = () => zoom(Math.min(1, (canvas.clientWidth - 2) / width));
  document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
    if (button.dataset.zoom === "fit") fit();
    else zoom(scale * (button.dataset.zoom === "in" ? 1.25 : 0.8));
  }));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(scale * (event.deltaY < 0 ? 1.1 : 0.9));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse") return;
    const [x, y, left, top] = [event.clientX, event.clientY, canvas.scrollLeft, canvas.scrollTop];
    const drag = (to) => {
      canvas.classList.add("dragged");
      canvas.scrollTo(left - to.clientX + x, top - to.clientY + y);
    };
    const end = () => {
      canvas.classList.remove("dragged");
      removeEventListener("pointermove", drag);
      removeEventListener("pointerup", end);
    };
    addEventListener("pointermove", drag);
    addEventListener("pointerup", end);
  });
  const parts = [...drawing.querySelectorAll("[data-about]")];
  parts.forEach((part) => part.addEventListener("click", (event) => {
    event.stopPropagation();
    parts.forEach((other) => other.classList.toggle("chosen", other === part));
    byId("about").textContent = part.dataset.about;
  }));
  byId("seek").addEventListener("input", () => {
    const text = byId("seek").value.toLowerCase();
    const found = parts.filter((part) => {
      const suits = text !== "" && part.dataset.name.toLowerCase().includes(text);
      part.classList.toggle("found", suits);
      return suits;
    });
    byId("sought").textContent = text === "" ? "" : `${found.length} found`;
    if (!found.length) return;
    const [box, around] = [found[0].getBoundingClientRect(), canvas.getBoundingClientRect()];
    canvas.scrollBy(box.left - around.left - 40, box.top - around.top - 40);
  });
  fit();
}

if (articles.length) choose(first());
document.body.dataset.ready = "yes";
