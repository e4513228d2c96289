"use strict";
document.documentElement.classList.add("js");
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const hex = (value, digits) => value.toString(16).padStart(digits, "0");
const bytes = (text) => Uint8Array.from(text.match(/../g) || [], (pair) => parseInt(pair, 16));
const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const element = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};
const svg = (name, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
};
// Three digits that count, without zeros at the end.
const short = (number) => String(Number(number.toPrecision(number >= 1000 ? 6 : 4)));
// A time in clock cycles as text: in seconds where the clock is known.
const timeText = (cycles) => {
  if (!data.clock) return counted(cycles, "cycle");
  const micro = (cycles * 1e6) / data.clock;
  if (micro < 1e3) return `${short(micro)} µs`;
  return micro < 1e6 ? `${short(micro / 1e3)} ms` : `${short(micro / 1e6)} s`;
};
// The parts of an instruction by its address: text, file, line and function.
const codeAt = (pc) => {
  const [text, file, line, fn] = data.code[pc] || ["", null, 0, null];
  return { text, file, line, name: fn === null ? null : data.functions[fn] };
};
const fileName = (file) => document.querySelector(`#file-${file} .path`).textContent;
const baseName = (file) => fileName(file).split("/").pop();
const sourceRows = (file) => document.querySelectorAll(`#file-${file} .source > .l`);
const sourceText = (file, line) => {
  const row = file === null ? undefined : sourceRows(file)[line - 1];
  return row ? row.querySelector("code").textContent.trim() : "";
};
const placeText = ({ file, line }) => (file === null ? "" : `${baseName(file)}:${line}`);
// True if debug information tells places in sources.
const hasSources = document.querySelector("details.file") !== null;
// The machine code, line by line, with the line of each address.
const listing = { lines: byId("code").textContent.split("\n"), lineOf: new Map() };
listing.lines.forEach((text, index) => {
  const found = /^\s*([0-9a-f]+):/.exec(text);
  if (found && text.includes("\t")) listing.lineOf.set(parseInt(found[1], 16), index);
});
