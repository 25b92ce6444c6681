// What is drawn anew at every step beside the sample: predictions, mixture and weights.

const MOST_CLASSES = 12; // rows; of more classes the likeliest are shown

const PREDICTIONS = {
  classes: { table: newProbabilities, said: classText },
  values: { table: newValues, said: valuesText },
};

/** A table with a column for every network, by what is predicted: {root, show(state)}. */
function newPredictions(state) {
  return PREDICTIONS[state.outputs.kind].table(state);
}

/** The prediction of a network in words. */
function predictionText(state, values) {
  return PREDICTIONS[state.outputs.kind].said(state, values);
}

function newProbabilities(state) {
  const { names } = state.outputs;
  const many = names.length > MOST_CLASSES;
  const columns = outputsNow(state).map(({ label, method }) => newColumn(label, method));
  const rows = Array.from({ length: Math.min(names.length, MOST_CLASSES) }, () => newRow(columns));
  const head = element("tr", {}, element("th", { scope: "col" }, "class"), ...columns.map(({ head }) => head));
  const body = element("tbody", {}, ...rows.map(({ root }) => root));
  return {
    root: element("table", { class: "predictions" }, element("thead", {}, head), body),
    show(state) {
      const outputs = outputsNow(state);
      const truth = state.samples[state.sample].label;
      const classes = many ? likeliest(outputs, truth, rows.length) : rows.map((_, place) => place);
      outputs.forEach(({ label, values }, place) => columns[place].show(state, label, values, truth));
      rows.forEach((row, place) => row.show(state, outputs, classes[place], classes[place] === truth));
    },
  };
}

/** Values: for every target a row for each network, with a dot for what it predicts and a line for the truth. */
function newValues(state) {
  const networks = outputsNow(state);
  const targets = state.outputs.names.map((_, target) => newTarget(state, networks, target));
  const head = ["network", "", "predicts", "off by"].map((name) => element("th", { scope: "col" }, name));
  return {
    root: element("table", { class: "predictions values" }, element("thead", {}, element("tr", {}, ...head)), ...targets.map(({ root }) => root)),
    show(state) {
      const { label } = state.samples[state.sample];
      for (const target of targets) target.show(outputsNow(state), label);
    },
  };
}

function newColumn(label, method) {
  const name = element("span", {}, label);
  const said = element("span", { class: "said" });
  const chip = element("span", { class: "chip", "aria-hidden": "true", "data-role": method });
  return {
    method,
    head: element("th", { scope: "col" }, chip, name, said),
    show(state, label, values, truth) {
      const best = values.indexOf(Math.max(...values));
      name.textContent = label;
      said.textContent = `predicts ${state.outputs.names[best]} ${best === truth ? "✓" : "✗"}`;
    },
  };
}

function classText(state, values) {
  const best = values.indexOf(Math.max(...values));
  return `${state.outputs.names[best]} with ${(values[best] / state.outputs.levels).toFixed(2)}`;
}

function valuesText({ outputs }, values) {
  return Array.from(values, (value, target) => amountText(outputs, target, value)).join(", ");
}

/** The ends of a scale that holds a target of all samples, true and predicted under any setting. */
function targetRange(state, target) {
  const { length } = state.outputs.names;
  let [low, high] = [Infinity, -Infinity];
  const widen = (value) => { low = Math.min(low, value); high = Math.max(high, value); };
  for (const { label } of state.samples) widen(label[target]);
  for (const { own } of [...state.networks, ...(state.rigid ? [state.rigid] : [])]) {
    for (let place = target; place < own.length; place += length) widen(own[place]);
  }
  return [low, high > low ? high : low + 1];
}

function newTarget(state, networks, target) {
  const [low, high] = targetRange(state, target);
  const share = (value) => `${100 * Math.min(Math.max((value - low) / (high - low), 0), 1)}%`;
  const truth = element("th", { scope: "rowgroup", colspan: 4 });
  const rows = networks.map(({ method }) => newValueRow(method));
  return {
    root: element("tbody", {}, element("tr", { class: "truth" }, truth), ...rows.map(({ root }) => root)),
    show(outputs, labels) {
      const { names } = state.outputs;
      truth.textContent = `${names[target]}: true value ${amountText(state.outputs, target, labels[target])}`;
      rows.forEach((row, place) => row.show(outputs[place].label, outputs[place].values[target], labels[target], share));
    },
  };
}

function newValueRow(method) {
  const [name, number, off] = [element("span", {}), element("td", {}), element("td", {})];
  const [dot, line] = [element("i", { "data-role": method }), element("b", {})];
  const chip = element("span", { class: "chip", "aria-hidden": "true", "data-role": method });
  const scale = element("td", { "aria-hidden": "true" }, element("div", { class: "scale" }, line, dot));
  return {
    root: element("tr", {}, element("th", { scope: "row" }, chip, name), scale, number, off),
    show(label, value, truth, share) {
      name.textContent = label;
      [dot.style.left, line.style.left] = [share(value), share(truth)];
      number.textContent = digitsOf(value);
      number.dataset.value = value;
      off.textContent = digitsOf(Math.abs(value - truth));
    },
  };
}

function newRow(columns) {
  const name = element("th", { scope: "row" });
  const cells = columns.map(({ method }) => {
    const bar = element("i", { "data-role": method });
    const number = element("span", {});
    const cell = element("div", { class: "cell" }, element("div", { class: "bar", "aria-hidden": "true" }, bar), number);
    return { bar, number, root: element("td", {}, cell) };
  });
  const root = element("tr", {}, name, ...cells.map((cell) => cell.root));
  return {
    root,
    show(state, outputs, index, isTruth) {
      const { names, levels } = state.outputs;
      name.textContent = names[index];
      root.classList.toggle("truth", isTruth);
      cells.forEach(({ bar, number }, place) => showShare(bar, number, outputs[place].values[index] / levels));
    },
  };
}

function showShare(bar, number, share) {
  bar.style.transform = `scaleX(${share})`;
  number.textContent = share.toFixed(3);
  number.dataset.value = share;
}

/** The true class and those that any network finds likeliest, in the order of the classes. */
function likeliest(outputs, truth, count) {
  const best = Array.from(outputs[0].values, (_, index) => Math.max(...outputs.map(({ values }) => values[index])));
  const order = best.map((_, index) => index).sort((a, b) => (b === truth) - (a === truth) || best[b] - best[a] || a - b);
  return order.slice(0, count).sort((a, b) => a - b);
}

const [MOST_SHARES, FEWER_SHARES] = [16, 8]; // rows of the mixture; of more base models so many that matter most

/** A bar for every base model, or for those that matter most: {rows, show(state)}. */
function newMixture(state) {
  const { dims, read } = state.networks[state.network];
  const rows = Array.from({ length: dims > MOST_SHARES ? Math.min(FEWER_SHARES, read) : dims }, () => {
    const [bar, number, name] = [element("i", {}), element("span", {}), element("span", {})];
    const track = element("div", { class: "bar", "aria-hidden": "true" }, bar);
    return { bar, number, name, root: element("div", { class: "share" }, name, track, number) };
  });
  const rest = element("p", { class: "caption" });
  return {
    rows: [...rows.map(({ root }) => root), ...(dims > MOST_SHARES ? [rest] : [])],
    show(state) {
      const beta = betaNow(state);
      mattering(beta, rows.length).forEach((base, place) => showBase(rows[place], base, beta[base], dims > MOST_SHARES));
      rest.textContent = restText(beta, rows.length);
    },
  };
}

/** The numbers of so many base models with the largest coefficients, in their order. */
function mattering(beta, most) {
  const all = Array.from(beta, (_, base) => base);
  return all.sort((a, b) => Math.abs(beta[b]) - Math.abs(beta[a]) || a - b).slice(0, most).sort((a, b) => a - b);
}

/** What the bars leave out. */
function restText(beta, shown) {
  const used = beta.filter((share) => share !== 0).length;
  return `Mixed: ${used} of ${beta.length} base models` + (used > shown ? `; these ${shown} have the largest coefficients.` : "; the others have no part.");
}

/** A coefficient below zero is a striped bar; where `sparse`, a base model without a part is not shown. */
function showBase({ bar, number, name, root }, base, share, sparse) {
  root.style.visibility = sparse && share === 0 ? "hidden" : "";
  name.textContent = `base ${base + 1}`;
  bar.style.background = share < 0 ? `repeating-linear-gradient(90deg, ${baseColour(base)} 0 3px, transparent 3px 6px)` : baseColour(base);
  bar.style.transform = "none";
  bar.style.width = `${100 * Math.min(Math.abs(share), 1)}%`;
  const text = share.toFixed(3);
  number.textContent = Number(text) === 0 ? "0.000" : text.replace("-", "−");
  number.dataset.value = share;
}

/** The first weights: a picture for every unit, mixed here and now from the base models that matter. */
function newWeights(canvas, state) {
  const { weights } = state.networks[state.network];
  canvas.hidden = !weights;
  if (!weights) return { mixed: new Float32Array(0), show() {} };
  const [tiles, height, width] = weights.shape;
  const across = Math.min(tiles, canvas.parentElement.clientWidth > 500 ? 16 : 8);
  sized(canvas, across * (width + 1) - 1, Math.ceil(tiles / across) * (height + 1) - 1);
  // A weight is at most 20 pixels wide, and a picture at least 48 high, on the screen.
  canvas.style.maxWidth = `${20 * canvas.width}px`;
  canvas.style.height = canvas.width > 8 * canvas.height ? "48px" : "";
  const context = canvas.getContext("2d");
  const picture = context.createImageData(canvas.width, canvas.height);
  const { mixed, mixWith } = newMixing(weights);
  return {
    mixed,
    show(state) {
      mixWith(betaNow(state));
      paintTiles(picture, mixed, { tiles, height, width, across }, weightColours(weights.largest));
      context.putImageData(picture, 0, 0);
    },
  };
}

/** θ = Σ βᵢθᵢ; of a compact subspace the product of two such, and what is shared added to it: {mixed, mixWith(beta)}. */
function newMixing({ inner, outer, shared, rank }) {
  const room = (part) => new Float32Array(part.values.length / part.sets);
  const within = room(inner);
  if (!outer) return { mixed: within, mixWith: (beta) => mix(beta, inner, within) };
  const around = room(outer);
  const pixels = within.length / rank;
  const mixed = new Float32Array(around.length / rank * pixels);
  return {
    mixed,
    mixWith(beta) {
      mix(beta, inner, within);
      mix(beta, outer, around);
      if (shared) mix(beta, shared, mixed);
      else mixed.fill(0);
      addProduct(around, within, pixels, mixed);
    },
  };
}

/** mixed += around · within: (units, rank) times (rank, pixels). */
function addProduct(around, within, pixels, mixed) {
  const rank = within.length / pixels;
  around.forEach((factor, place) => {
    const [to, from] = [Math.floor(place / rank) * pixels, (place % rank) * pixels];
    for (let pixel = 0; pixel < pixels; pixel++) mixed[to + pixel] += factor * within[from + pixel];
  });
}

/** Only base models with a coefficient are read; what all share is as it is. */
function mix(beta, { values, scale, sets }, mixed) {
  mixed.fill(0);
  const shares = sets === 1 ? [1] : beta;
  shares.forEach((share, base) => {
    if (share === 0) return;
    const [factor, first] = [share * scale, base * mixed.length];
    for (let place = 0; place < mixed.length; place++) mixed[place] += factor * values[first + place];
  });
}

/** Blue below zero, orange above, the ground at zero: weight -> colour as one number. */
function weightColours(most) {
  const [below, ground, above] = darkness.matches
    ? [[86, 180, 255], [29, 33, 38], [255, 160, 60]]
    : [[0, 90, 170], [250, 250, 250], [190, 80, 0]];
  const table = new Uint32Array(511);
  for (let step = -255; step <= 255; step++) {
    const [end, part] = [step < 0 ? below : above, Math.sqrt(Math.abs(step) / 255)];
    const [red, green, blue] = ground.map((value, channel) => Math.round(value + part * (end[channel] - value)));
    table[step + 255] = (255 << 24) | (blue << 16) | (green << 8) | red;
  }
  return (weight) => table[255 + Math.max(-255, Math.min(255, Math.round(weight / most * 255)))];
}

function paintTiles(picture, mixed, { tiles, height, width, across }, colourOf) {
  const pixels = new Uint32Array(picture.data.buffer);
  for (let tile = 0; tile < tiles; tile++) {
    const [left, top] = [(tile % across) * (width + 1), Math.floor(tile / across) * (height + 1)];
    for (let row = 0; row < height; row++) {
      const [from, to] = [(tile * height + row) * width, (top + row) * picture.width + left];
      for (let column = 0; column < width; column++) pixels[to + column] = colourOf(mixed[from + column]);
    }
  }
}
