// What is drawn anew at every step beside the sample: answers, mixture, weights and accuracy.

const MOST_CLASSES = 12; // rows; of more classes the likeliest are shown

/** A table with a column for every network: {root, show(state)}. */
function newAnswers(state) {
  const many = state.classes.length > MOST_CLASSES;
  const columns = answersNow(state).map(({ label, method }) => newColumn(label, method));
  const rows = Array.from({ length: Math.min(state.classes.length, MOST_CLASSES) }, () => newRow(columns));
  const head = element("tr", {}, element("th", { scope: "col" }, "class"), ...columns.map(({ head }) => head));
  const body = element("tbody", {}, ...rows.map(({ root }) => root));
  const root = element("table", { class: "answers" }, element("thead", {}, head), body);
  return {
    root,
    show(state) {
      const answers = answersNow(state);
      const truth = state.samples[state.sample].label;
      const classes = many ? likeliest(answers, truth, rows.length) : rows.map((_, place) => place);
      answers.forEach(({ label, values }, place) => columns[place].show(state, label, values, truth));
      rows.forEach((row, place) => row.show(state, answers, classes[place], classes[place] === truth));
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
      said.textContent = `says ${state.classes[best]} ${best === truth ? "✓" : "✗"}`;
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
    show(state, answers, index, isTruth) {
      name.textContent = state.classes[index];
      root.classList.toggle("truth", isTruth);
      cells.forEach(({ bar, number }, place) => showShare(bar, number, answers[place].values[index] / state.levels));
    },
  };
}

function showShare(bar, number, share) {
  bar.style.transform = `scaleX(${share})`;
  number.textContent = share.toFixed(3);
  number.dataset.value = share;
}

/** The true class and those that any network finds likeliest, in the order of the classes. */
function likeliest(answers, truth, count) {
  const best = Array.from(answers[0].values, (_, index) => Math.max(...answers.map(({ values }) => values[index])));
  const order = best.map((_, index) => index).sort((a, b) => (b === truth) - (a === truth) || best[b] - best[a] || a - b);
  return order.slice(0, count).sort((a, b) => a - b);
}

/** A bar for every base model: {root, show(state)}. */
function newMixture(state) {
  const { dims } = state.networks[state.network];
  const rows = Array.from({ length: dims }, (_, base) => {
    const bar = element("i", { style: `background:${baseColour(base)}` });
    const number = element("span", {});
    const track = element("div", { class: "bar", "aria-hidden": "true" }, bar);
    return { bar, number, root: element("div", { class: "share" }, element("span", {}, `base ${base + 1}`), track, number) };
  });
  return {
    rows: rows.map(({ root }) => root),
    show(state) {
      const beta = betaNow(state);
      rows.forEach(({ bar, number }, base) => showShare(bar, number, beta[base]));
    },
  };
}

/** θ = Σ βᵢθᵢ for the first weights: a picture for every unit, mixed here and now. */
function newWeights(canvas, state) {
  const { weights } = state.networks[state.network];
  const [, tiles, height, width] = weights.shape;
  const across = Math.min(tiles, canvas.parentElement.clientWidth > 500 ? 16 : 8);
  sized(canvas, across * (width + 1) - 1, Math.ceil(tiles / across) * (height + 1) - 1);
  // A weight is at most 20 pixels wide, and a picture at least 48 high, on the screen.
  canvas.style.maxWidth = `${20 * canvas.width}px`;
  canvas.style.height = canvas.width > 8 * canvas.height ? "48px" : "";
  const context = canvas.getContext("2d");
  const picture = context.createImageData(canvas.width, canvas.height);
  const mixed = new Float32Array(tiles * height * width);
  return {
    mixed,
    show(state) {
      mix(betaNow(state), weights, mixed);
      const colours = weightColours(weights.scale * 32767);
      paintTiles(picture, mixed, { tiles, height, width, across }, colours);
      context.putImageData(picture, 0, 0);
    },
  };
}

function mix(beta, { values, scale }, mixed) {
  mixed.fill(0);
  beta.forEach((share, base) => {
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
