// What both pages need: their data, the drawing library, colours, and a short way to make elements.
"use strict";

const TYPES = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array,
  float32: Float32Array,
};

/** The JSON that the page carries. */
function pageContent() {
  return JSON.parse(document.getElementById("content").textContent);
}

/** base64 and gzip -> bytes, by the browser's own means. */
async function unpacked(id) {
  const holder = document.getElementById(id);
  const text = atob(holder.textContent.trim());
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  holder.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** The array that a description {type, shape, at} speaks of: its first bytes, then its second bytes, and so on. */
function arrayOf(buffer, { type, shape, at }) {
  const count = shape.reduce((product, size) => product * size, 1);
  const size = TYPES[type].BYTES_PER_ELEMENT;
  if (size === 1) return new TYPES[type](buffer, at, count);
  const [packed, joined] = [new Uint8Array(buffer, at, count * size), new Uint8Array(count * size)];
  for (let byte = 0; byte < size; byte++) {
    for (let place = 0; place < count; place++) joined[place * size + byte] = packed[byte * count + place];
  }
  return new TYPES[type](joined.buffer);
}

/** Run the drawing library, which the page carries compressed. */
async function loadLibrary() {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(await unpacked("library"));
  document.head.append(script);
}

/** element("p", {class: "muted"}, "text", child): attributes that are functions listen to events. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const darkness = matchMedia("(prefers-color-scheme: dark)");

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Colours that people with a colour-vision deficiency can tell apart (after Okabe and Ito); for each, on light
// and on dark ground. Mixing methods are blue, stronger with D.
const BLUES = {
  light: ["#5aa9dc", "#2f8fd0", "#0072b2", "#08519c", "#08306b"],
  dark: ["#4a7fb0", "#4f9bd9", "#6cb6f0", "#9ad0fa", "#cfe8ff"],
};
// Further hues for variants of what mixes, such as other maps, each stronger with D as well.
const HUES = {
  light: [BLUES.light, ["#d597bd", "#c06a9c", "#a13d84", "#76245f", "#4a1040"], ["#d9a520", "#c98f00", "#a87200", "#805600", "#553900"], ["#5fb5b3", "#379a9c", "#1f8a8f", "#0f6468", "#074144"]],
  dark: [BLUES.dark, ["#a5588a", "#c773aa", "#e48ac6", "#f0b0da", "#fad7ee"], ["#a8842f", "#cfa53f", "#f0c75e", "#f7db94", "#fcedc9"], ["#3f8f90", "#4fb0b0", "#6fd0cf", "#a2e4e2", "#d2f4f2"]],
};
const OTHERS = {
  light: { one4all: "#c65300", inverse: "#008a64", one4one: "#444444", frozen: "#a13d84" },
  dark: { one4all: "#ff8f40", inverse: "#35c9a2", one4one: "#c4c4c4", frozen: "#e48ac6" },
};

const BASES = {
  light: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d9cb1e", "#777777", "#6a51a3", "#d55e00"],
  dark: ["#6cb6f0", "#ff8f40", "#35c9a2", "#e48ac6", "#f0e442", "#c4c4c4", "#9d8df1", "#e57373"],
};

/** The colour of a base model; beyond eight they come again. */
function baseColour(base, dark = darkness.matches) {
  const shades = BASES[dark ? "dark" : "light"];
  return shades[base % shades.length];
}

// For methods without a colour of their own.
const SPARE = { light: ["#a13d84", "#8a6d00", "#000000"], dark: ["#e48ac6", "#f0c75e", "#ffffff"] };

/** A colour for every label of these entries {label, method, mixes, dims, more}: of what mixes by variant and D. */
function coloursOf(entries, dark = darkness.matches) {
  const shade = dark ? "dark" : "light";
  const mixed = entries.filter((entry) => entry.mixes);
  const variants = [...new Set(mixed.map(variantOf))];
  const dims = [...new Set(mixed.map((entry) => entry.dims))].sort((a, b) => a - b);
  const further = [...new Set(entries.filter((entry) => !entry.mixes && !(entry.method in OTHERS[shade])).map((entry) => entry.method))];
  const last = variants.length > 1 ? 3 : 4; // the last shades of several hues look all alike
  const step = (entry) => dims.length === 1 ? 2 : Math.round(dims.indexOf(entry.dims) * last / (dims.length - 1));
  const hue = (entry) => HUES[shade][variants.indexOf(variantOf(entry)) % HUES[shade].length][step(entry)];
  const other = (method) => OTHERS[shade][method] ?? SPARE[shade][further.indexOf(method) % SPARE[shade].length];
  return Object.fromEntries(entries.map((entry) => [entry.label, entry.mixes ? hue(entry) : other(entry.method)]));
}

function variantOf({ method, more }) {
  return `${method} ${more}`;
}

/** Numbers as people write them: 33,130. */
function grouped(number) {
  return number === null || number === undefined ? "–" : Number(number).toLocaleString("en");
}

/** Round numbers around these scores, within what the score can be: the ends of an axis. */
function scoreRange(values, { lowest, highest }) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const size = most - least || Math.max(Math.abs(least), Math.abs(most)) || 1;
  const power = 10 ** Math.floor(Math.log10(size) + 1e-9);
  const enough = [1, 2, 5, 10].map((part) => part * power).find((round) => round >= size * (1 - 1e-9));
  const step = Math.max(highest ?? 0, enough) / 10;
  const possible = (value) => Math.min(Math.max(value, lowest ?? -Infinity), highest ?? Infinity);
  const low = possible(step * Math.floor(least / step + 1e-9));
  const high = possible(step * Math.ceil(most / step - 1e-9));
  return [low, high > low ? high : low + step];
}

/** A score as a table says it: shares with so many digits behind the point, others with one more in all. */
function scoreText({ highest, unit }, value, digits = 4) {
  const exact = highest === null ? String(Number(value.toPrecision(digits))) : value.toFixed(digits);
  const text = Number(exact) === 0 ? exact.replace("-", "") : exact;
  return (unit ? `${text} ${unit}` : text).replace("-", "−");
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/** What an axis of scores is called, with its direction where that is not upwards. */
function scoreAxis({ label, unit, higher_is_better: upwards }) {
  return `test ${label}${unit ? ` (${unit})` : ""}${upwards ? "" : ", lower is better"}`;
}

/** Say in the page, and in the console, that it could not be shown. */
function failed(error) {
  console.error(error);
  const text = `This page could not be shown: ${error.message}. It needs a browser of 2023 or later.`;
  document.querySelector("main").prepend(element("p", { role: "alert", class: "failure" }, text));
}
