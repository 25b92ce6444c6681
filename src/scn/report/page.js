// Fills the report with its content.

const SECTIONS = {
  results: "Results", samples: "Input", scores: "Scores", spread: "Spread", specialisation: "Specialisation", beta: "Mixing",
  trained: "What was trained", training: "Training", costs: "Costs", repeat: "Repeat",
};

/** The columns of the results: the score, others that were measured beside it, and sizes. */
function resultColumns({ score, further }) {
  const text = (value) => scoreText(score, value);
  return [
    ["network", (row) => row.label],
    ["D", (row) => row.mixes ? row.dims : "–"],
    ["map", (row) => row.map ?? "–"],
    ["subspace", (row) => row.subspace ?? "–"],
    [score.label, (row) => row.seeds > 1 ? `${text(row.mean)} ± ${text(row.std)}` : text(row.mean)],
    ["at its worst setting", (row) => text(row.worst)],
    ["settings tested", (row) => grouped(row.settings)],
    ...further.map((other) => [other.label, (row) => other.key in row.further ? scoreText(other, row.further[other.key]) : "–"]),
    ["seeds", (row) => row.seeds],
    ["weights for one prediction", (row) => grouped(row.inference)],
    ["weights stored", (row) => grouped(row.parameters)],
  ];
}

const SIZE_COLUMNS = [
  ["network", (row) => row.label],
  ["weights for one prediction", (row) => grouped(row.inference)],
  ["weights stored", (row) => grouped(row.parameters)],
  ["stored as float32 (bytes)", (row) => grouped(row.sizes.stored)],
  ["weights configured, θ", (row) => grouped(row.configured || null)],
  ["θ as float32 (bytes)", (row) => grouped(row.sizes.theta || null)],
  ["base models read for it", (row) => row.mixes ? `${row.read} of ${row.dims}` : "–"],
  ["multiply-accumulates of a prediction", (row) => grouped(row.sizes.operations)],
  ["of a change of α", (row) => grouped(row.account.change)],
  ["flash (bytes; * counted)", (row) => byteCount(row, "flash")],
  ["RAM (bytes; * counted)", (row) => byteCount(row, "ram")],
  ["is given", (row) => row.account.given],
  ["labels of", (row) => row.account.labels],
];

/** Bytes by the C export, or, with a star, counted. */
function byteCount(row, name) {
  return grouped(row.account[name]) + (row.account.exported ? "" : " *");
}

const DEVICE_COLUMNS = [
  ["device", (row) => row.target ?? "–"],
  ["flash (bytes)", (row) => grouped(row.flash)],
  ["RAM (bytes)", (row) => grouped(row.ram)],
  ["instructions for β", (row) => grouped(row.hypernet)],
  ["for θ", (row) => grouped(row.configure)],
  ["for a prediction", (row) => grouped(row.infer)],
];

function pairs(list, target) {
  target.replaceChildren(...list.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function table(columns, rows, colours, target) {
  const head = columns.map(([name]) => element("th", { scope: "col" }, name));
  const body = rows.map((row) => {
    const cells = columns.map(([, value], place) => place
      ? element("td", {}, String(value(row)))
      : element("th", { scope: "row" }, element("span", { class: "swatch", style: `background:${colours[row.label]}` }), value(row)));
    return element("tr", {}, ...cells);
  });
  target.replaceChildren(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

function showWarnings(list) {
  const shown = list.map((text) => element("p", { class: "warning" }, text));
  document.getElementById("warning-list").replaceChildren(...shown);
  document.getElementById("warnings").hidden = list.length === 0;
}

function showNotes(content) {
  const single = content.rows.every((row) => row.seeds === 1);
  document.getElementById("result-note").textContent =
    `${capital(content.score.label)} is the mean over all ${content.measured ? "test samples" : "settings"}` + (single
      ? "; each network was trained once, so there is no spread over seeds."
      : ", then over seeds, ± the standard deviation over seeds. The worst setting is that of each seed, as a mean.")
    + (content.score.higher_is_better ? "" : " Lower is better.")
    + (content.chance === null ? "" : ` A constant prediction reaches ${scoreText(content.score, content.chance)}.`)
    + (content.measured ? ` Settings that fewer than ${content.enough} samples were measured near do not count as the worst and are not in the figures.` : "");
  document.getElementById("scores-title").textContent = `${capital(content.score.label)} under each setting`;
  document.getElementById("spread-title").textContent = `${capital(content.score.label)} over all settings`;
  document.getElementById("scores-note").textContent =
    "Means over seeds. Hover for values, click a name to hide a curve, drag to zoom, double-click to go back."
    + (content.parameters.length > 1 ? " Curves are means over the settings of the other parameters." : "");
  document.getElementById("searched-note").hidden = content.searched.length === 0;
  const { configured, samples } = content.specialisation;
  document.getElementById("specialisation-note").textContent =
    `Each SCN configured for ${configured} and left so, on ${grouped(samples)} test samples: the narrower, the more special it is, `
    + "and the more a wrong setting costs.";
  document.getElementById("beta-note").textContent =
    "θ = Σ βᵢθᵢ: the share of each base model in the configured network; coefficients that may be negative are lines"
    + (content.parameters.length > 1 ? ", along one parameter with the others in the middle of their range." : ".");
  document.getElementById("cost-note").textContent = content.costs.some((row) => row.target)
    ? "Instructions: for β (the map), for θ (mixing, only when the setting changes), for one prediction."
    : "Flash, RAM and instructions are not known yet: `scn device RUN` measures them.";
}

function showRepeat(repeat) {
  document.getElementById("commands").textContent = repeat.commands.join("\n");
  pairs([
    ["seeds", repeat.seeds.join(", ")],
    ["trained with", repeat.versions.join(", ")],
    ["this page by", repeat.page.join(", ")],
    ["data (sha256)", repeat.checksum.join(", ") || "not recorded"],
  ], document.getElementById("versions"));
  document.getElementById("copy").addEventListener("click", copyCommands);
}

/** By selection where the clipboard is closed to files. */
async function copyCommands() {
  const commands = document.getElementById("commands");
  const said = document.getElementById("copied");
  try {
    await navigator.clipboard.writeText(commands.textContent);
    said.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(commands);
    said.textContent = "selected: press Ctrl+C";
  }
}

const OPTIONS = { displayModeBar: false, responsive: true };

/** Draw one kind of figure, again and again: for dark, light and paper. */
function draw(id, figures) {
  const target = document.getElementById(id);
  // All places before the first drawing: how wide one is depends on how many there are.
  if (!target.children.length) target.append(...figures.map(emptyFigure));
  figures.forEach((figure, index) => Plotly.react(target.children[index].lastChild, figure.traces, figure.layout, OPTIONS));
  target.closest("section").hidden = figures.length === 0;
}

const FEW = 8; // names that a legend has room for in a figure of ordinary size

/** Where a legend has many names the figure is wide, and higher by what the rows of them take. */
function emptyFigure({ title, wide, traces, layout }) {
  const names = layout.showlegend === false ? 0 : traces.length;
  const many = names > FEW;
  const more = many ? `height: calc(21rem + ${Math.ceil(names / 4) * 20}px)` : null;
  return element("figure", { class: wide || many ? "wide" : "" },
    element("figcaption", {}, title), element("div", { role: "img", "aria-label": title, style: more }));
}

function drawAll(content, dark) {
  const colours = coloursOf(content.rows, dark);
  content.dashes = dashesOf(content.rows, colours);
  table(resultColumns(content), content.rows, colours, document.getElementById("result-table"));
  const measured = content.costs.some((row) => row.target);
  table(measured ? [...SIZE_COLUMNS, ...DEVICE_COLUMNS] : SIZE_COLUMNS, content.costs, colours, document.getElementById("cost-table"));
  draw("score-figures", scoreFigures(content, colours, dark));
  draw("spread-figures", spreadFigures(content, colours, dark));
  draw("specialisation-figures", specialisationFigures(content, colours, dark));
  draw("beta-figures", betaFigures(content, dark));
  draw("training-figures", trainingFigures(content, colours, dark));
}

function showContents() {
  const links = Object.entries(SECTIONS).filter(([id]) => !document.getElementById(id).hidden);
  document.getElementById("contents").replaceChildren(
    ...links.map(([id, name]) => element("a", { href: `#${id}` }, name)));
}

async function showReport() {
  const content = pageContent();
  document.getElementById("title").textContent = content.title;
  document.getElementById("summary").textContent = content.summary;
  pairs(content.facts, document.getElementById("facts"));
  document.getElementById("samples").hidden = content.samples === null;
  if (content.samples) document.getElementById("sample-picture").src = content.samples;
  showWarnings(content.warnings);
  showNotes(content);
  showRepeat(content.repeat);
  await loadLibrary();
  drawAll(content, darkness.matches);
  showContents();
  darkness.addEventListener("change", () => drawAll(content, darkness.matches));
  addEventListener("beforeprint", () => drawAll(content, false));
  addEventListener("afterprint", () => drawAll(content, darkness.matches));
  document.body.dataset.ready = "yes";
}

showReport().catch(failed);
