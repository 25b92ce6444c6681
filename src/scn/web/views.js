// What the page says of its networks: predictions, mixtures, times, and the facts at its foot.

const MOST_ROWS = 3; // classes of a card
const MOST_BARS = 16; // base models; beyond that the largest coefficients

function byId(id) {
  return document.getElementById(id);
}

/** A value of a parameter in words: 37°, 0.8, 3 pixels. */
function valueText({ unit, low, high }, value) {
  const rounded = unit === "degrees" ? Math.round(value) : Number(value.toPrecision(3));
  const shown = high - low > 50 ? Math.round(value) : rounded;
  if (unit === "degrees") return `${shown}°`.replace("-", "−");
  return `${shown} ${unit}`.trim().replace("-", "−");
}

function settingText({ parameters }, setting) {
  return setting.map((value, p) => `${parameters[p].name} ${valueText(parameters[p], value)}`).join(", ");
}

function milliseconds(time) {
  return time === undefined ? "…" : time === null ? "–" : `${Number(time.toPrecision(2))} ms`;
}

function nameText(name) {
  return name.replaceAll("_", " ");
}

function bar(share, below = false) {
  const filled = element("i");
  filled.style.transform = `scaleX(${Math.min(Math.max(share, 0), 1)})`;
  return element("div", { class: below ? "bar below" : "bar", "aria-hidden": "true" }, filled);
}

/** What a network is told, in a few words. */
function roleText(state, network) {
  if (network.configurable) return `configured for ${settingText(state, network.setting ?? state.setting)}`;
  if (network.fixed) return `configured once, for ${settingText(state, network.fixed)}`;
  return network.own ? "told the setting with its input" : "one network for all settings";
}

/** One card for each network, side by side. */
class Cards {
  constructor(state) {
    const colours = coloursOf(state.networks.map(({ label, method, mixes, dims }) => ({ label, method, mixes, dims, more: "" })));
    this.cards = state.networks.map((network) => this.newCard(network, colours[network.label]));
    byId("cards").replaceChildren(...this.cards.map(({ root }) => root));
  }

  newCard(network, colour) {
    const parts = Object.fromEntries(["role", "said", "verdict", "score"].map((name) => [name, element("p", { class: name })]));
    parts.rows = element("ul", { class: "rows" });
    const { role, said, verdict, rows, score } = parts;
    const root = element("article", { class: "card" }, element("h3", {}, network.label), role, said, verdict, rows, score);
    root.style.setProperty("--own", colour);
    return { root, ...parts };
  }

  show(state) {
    state.networks.forEach((network, place) => {
      const card = this.cards[place];
      const found = state.predictions[place];
      const truth = state.mode === "samples" ? state.samples[state.sample].label : null;
      card.role.textContent = roleText(state, network);
      card.score.textContent = scoreSentence(state, network);
      if (!found) return this.empty(card);
      const drawn = found.kind === "classes" ? classRows(network, found, truth) : valueRows(network, found, truth);
      card.said.textContent = drawn.said;
      card.verdict.textContent = drawn.verdict;
      card.verdict.classList.toggle("wrong", drawn.wrong);
      card.rows.replaceChildren(...drawn.rows);
    });
  }

  empty(card) {
    card.said.textContent = "–";
    card.verdict.textContent = "no input yet";
    card.verdict.classList.remove("wrong");
    card.rows.replaceChildren();
  }
}

function row(name, value, share) {
  const text = nameText(name);
  const line = element("div", { class: "name" }, element("span", { title: text }, text), element("span", {}, value));
  return element("li", { class: share === null ? "values" : null }, line, share === null ? null : bar(share));
}

/** The likeliest classes; of a test sample, whether the first is right. */
function classRows({ net }, { place, probabilities }, truth) {
  const { names } = net.about.outputs;
  const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]).slice(0, MOST_ROWS);
  const rows = order.map((at) => row(names[at], `${(100 * probabilities[at]).toFixed(0)} %`, probabilities[at]));
  const wrong = truth !== null && place !== truth;
  const verdict = truth === null ? "" : wrong ? `wrong: it is ${nameText(names[truth])}` : "right";
  return { said: nameText(names[place]), verdict, wrong, rows };
}

/** Values in their units, each with the true one of a test sample. */
function valueRows({ net }, { values, units }, truth) {
  const { names } = net.about.outputs;
  const text = (value, at) => `${Number(value.toPrecision(3))} ${units?.[at] ?? ""}`.trim().replace("-", "−");
  const known = units && truth !== null;
  const rows = values.map((value, at) => row(names[at], known ? `${text(value, at)}, true ${text(truth[at], at)}` : text(value, at), null));
  if (values.length > 1) return { said: "", verdict: "", wrong: false, rows };
  return { said: text(values[0], 0), verdict: known ? `true: ${text(truth[0], 0)}` : "", wrong: false, rows: [] };
}

/** The score that the test found nearest to this setting, and the mean over all of them. */
function scoreSentence(state, { scores }) {
  if (!scores) return "not evaluated";
  const { params, values, mean } = scores;
  const now = state.used ?? state.setting;
  const apart = params.map((setting) => Math.max(...setting.map((value, p) => distance(state.parameters[p], value, now[p]))));
  const at = apart.indexOf(Math.min(...apart));
  const { label } = state.score;
  return `test ${label}: ${scoreText(state.score, values[at], 3)} at ${settingText(state, params[at])}, mean ${scoreText(state.score, mean, 3)}`;
}

/** How far apart two values of a parameter are, as a share of its range; round a circle, the shorter way. */
function distance({ low, high, periodic }, a, b) {
  const share = Math.abs(a - b) / (high - low);
  return periodic ? Math.min(modulo(share, 1), 1 - modulo(share, 1)) : share;
}

/** Bars for β; of many base models the largest. */
function showMixture(state) {
  const network = state.networks.find(({ configurable }) => configurable);
  byId("mixture").hidden = !network;
  if (!network?.setting) return;
  const beta = [...network.net.beta];
  const order = [...beta.keys()].sort((a, b) => Math.abs(beta[b]) - Math.abs(beta[a])).slice(0, beta.length > MOST_BARS ? 8 : MOST_BARS);
  const most = Math.max(1, ...beta.map(Math.abs));
  byId("beta").replaceChildren(...order.sort((a, b) => a - b).map((base) => {
    const filled = bar(Math.abs(beta[base]) / most, beta[base] < 0);
    filled.style.setProperty("--own", baseColour(base));
    const text = beta[base].toFixed(3).replace(/^-0\.000$/, "0.000").replace("-", "−");
    return element("div", { class: "share" }, element("span", {}, `base ${base + 1}`), filled, element("span", { "data-value": beta[base] }, text));
  }));
  const rest = beta.length - order.length;
  byId("beta-note").textContent = `${network.label}, ${settingText(state, network.setting)}` + (rest ? `; ${rest} more base models have smaller coefficients` : "");
}

function showTimes(state) {
  const head = element("tr", {}, ...["", "configure", "answer", "module"].map((text) => element("th", { scope: "col" }, text)));
  const body = state.networks.map(({ label, times, bytes }) => element("tr", {},
    element("th", { scope: "row" }, label), element("td", {}, milliseconds(times?.configure)),
    element("td", {}, milliseconds(times?.infer)), element("td", {}, `${grouped(Math.round(bytes / 1000))} kB`)));
  byId("times").replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  byId("times-note").textContent = "Medians of repeated calls as this page makes them, checks and copies included.";
}
