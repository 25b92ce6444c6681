// Puts the explorer together: controls change the state, and the next frame shows it.

const byId = (id) => document.getElementById(id);
const SWEEP = 9000; // milliseconds for a whole range

/** Everything that is drawn again when another network, or light and dark, is chosen. */
function newViews(state) {
  captions(state);
  const views = {
    predictions: newPredictions(state), mixture: newMixture(state), curves: newCurves(state),
    weights: newWeights(byId("weights"), state), space: newSpace(byId("space"), byId("space-dots"), state),
  };
  byId("prediction-table").replaceChildren(views.predictions.root);
  byId("beta").replaceChildren(...views.mixture.rows);
  byId("score-legend").replaceChildren(...views.curves.legend);
  byId("curves").replaceChildren(...views.curves.figures);
  paintRoles();
  return views;
}

function captions(state) {
  const { dims, weights, label } = state.networks[state.network];
  byId("weights-caption").textContent = weightsCaption(weights);
  showSpaceViews(state);
  byId("space-caption").textContent = spaceCaption(state, dims);
  byId("lead").textContent =
    `${label}: the setting configures the network, θ = Σ βᵢθᵢ with β = h(α). Turn it and watch. `
    + `Tested on ${grouped(state.data.tested)} samples of ${state.data.name}, preset ${state.data.preset}.`;
}

function weightsCaption(weights) {
  if (!weights) return "The weights of these base models are too many for this page.";
  const { name, formula, shape, units } = weights;
  const count = shape[0] > 1 ? shape[0] : shape[1];
  return `${name}: ${formula}, mixed as you watch; blue below zero, orange above.` + (count < units ? ` The first ${count} of ${units} units.` : "");
}

/** Coefficients below zero have no centre of mass: such a network is shown over α alone. */
function showSpaceViews(state) {
  const outside = state.networks[state.network].least < -0.001;
  const [mass] = byId("space-view").options;
  mass.disabled = mass.hidden = outside;
  state.view = outside ? "setting" : state.wanted;
  byId("space-view").value = state.view;
}

function spaceCaption(state, dims) {
  if (state.view === "mass") {
    const lost = dims > 4 ? " With more than four this is a projection." : "";
    return `Each numbered corner is a base model, the dot is the mixture: their centre of mass.${lost} Drag to turn it.`;
  }
  const [first, second] = state.parameters.map(({ name }) => name);
  const over = second ? `A surface for each base model over ${first} and ${second}${state.parameters.length > 2 ? ", the others as set" : ""}` : `A curve for each base model over ${first}`;
  return `${over}, in the colours of the bars; its height is β. Drag to turn it.`;
}

/** Colours by role, for everything that carries one. */
function paintRoles() {
  const colours = roleColours();
  for (const marked of document.querySelectorAll("[data-role]")) {
    const colour = colours[marked.dataset.role] ?? colours.scn;
    if (marked.classList.contains("dashed")) marked.style.borderTopColor = colour;
    else if (marked instanceof SVGElement) marked.style.stroke = colour;
    else marked.style.background = colour;
  }
}

/** The controls of the input, or those of what a sensor that errs says; `places` on the fine grid of each. */
function newControls(state, target, places, purpose, moved) {
  const controls = state.parameters.map((parameter, p) => {
    const words = places[p].map((place) => valueText(parameter, place));
    return newControl(parameter, places[p].map((place) => parameter.values[place]), words, (place) => moved(p, place), purpose);
  });
  target.classList.toggle("several", controls.length > 1);
  target.replaceChildren(...controls.map(({ root }) => root));
  return controls;
}

class Explorer {
  constructor(state) {
    this.state = state;
    this.waiting = false;
    this.views = newViews(state);
    const all = state.parameters.map(({ values }) => values.map((_, place) => place));
    this.controls = newControls(state, byId("controls"), all, "setting of the input",
      (p, place) => this.change((s) => { s.at[p] = place; s.active = p; }));
    this.assumed = newControls(state, byId("wrong-controls"), state.coarse, "setting the network is configured for",
      (p, place) => this.change((s) => { s.assumed[p] = place; }));
    this.thumbnails = this.newThumbnails();
    this.listen();
    this.redraw();
  }

  /** Change the state and show it in the next frame, however many changes come before it. */
  change(by) {
    by(this.state);
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.redraw());
  }

  redraw() {
    const { state, views } = this;
    this.waiting = false;
    drawSample(byId("sample"), state.drawing, state.sample, inputSetting(state));
    if (state.drawing.kind === "points") drawSeen(byId("seen"), state.drawing, state.sample, inputSetting(state));
    this.controls.forEach((control, p) => control.show(state.at[p]));
    this.assumed.forEach((control, p) => control.show(state.assumed[p]));
    for (const view of Object.values(views)) view.show(state);
    this.words();
  }

  words() {
    const { state } = this;
    const sample = state.samples[state.sample];
    const { measured } = sample;
    const truth = truthText(state, sample);
    const own = measured ? `, measured at ${measured.map((value, p) => numberText(state.parameters[p], value)).join(", ")} ${state.parameters[0].unit}` : "";
    const both = state.drawing.kind === "points" ? "the cloud, and the image of it that the network is shown; " : "";
    byId("sample-caption").textContent = `${both}true ${truth}${own}`
      + (state.wrong ? ` · configured for ${inWords(state, configuredPlaces(state))}` : "");
    byId("sample").setAttribute("aria-label", `test sample of ${truth} under ${inWords(state, state.at)}`);
    byId("seen").setAttribute("aria-label", "its image, which the network is shown");
    byId("weights").setAttribute("aria-label", `weights of the network configured for ${inWords(state, configuredPlaces(state))}`);
    const play = byId("play");
    play.textContent = state.playing ? "❚❚ Pause" : `▶ Play ${state.parameters[state.active].name}`;
    play.setAttribute("aria-pressed", state.playing);
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => this.speak(), 500);
  }

  /** One sentence for screen readers, when things have come to rest. */
  speak() {
    const { state } = this;
    const said = outputsNow(state).map(({ label, values }) => `${label} predicts ${predictionText(state, values)}`);
    const assumed = state.wrong ? `, configured for ${inWords(state, configuredPlaces(state))}` : "";
    byId("status").textContent = `${inWords(state, state.at)}${assumed}: ${said.join("; ")}`;
  }

  newThumbnails() {
    const { state } = this;
    const buttons = state.samples.map((sample, place) => {
      const truth = truthText(state, sample);
      const canvas = element("canvas", { class: state.drawing.kind === "image" ? "" : "drawn", "aria-hidden": "true" });
      return element("button", {
        type: "button", "aria-label": `sample ${place + 1}, ${truth}, number ${sample.index} of the test data`,
        title: truth.replace(/^class /, ""), "aria-pressed": place === state.sample ? "true" : "false", click: () => this.choose(place),
      }, canvas);
    });
    byId("samples").replaceChildren(...buttons);
    this.drawThumbnails();
    return buttons;
  }

  drawThumbnails() {
    const first = settingNumber(finePlaces(this.state, this.state.start), this.state.sizes);
    [...byId("samples").querySelectorAll("canvas")].forEach((canvas, place) => drawSample(canvas, this.state.drawing, place, first));
  }

  /** Another sample; one that came with a measurement is shown under it. */
  choose(place) {
    this.thumbnails.forEach((button, p) => button.setAttribute("aria-pressed", p === place ? "true" : "false"));
    this.change((state) => {
      state.sample = place;
      if (state.measured) state.at = nearestPlaces(state, state.samples[place].measured);
    });
  }

  listen() {
    const { state } = this;
    byId("network").addEventListener("change", (event) => {
      state.network = Number(event.target.value);
      this.views = newViews(state);
      this.change(() => {});
    });
    byId("space-view").addEventListener("change", (event) => {
      state.wanted = event.target.value;
      this.views = newViews(state);
      this.change(() => {});
    });
    byId("wrong").addEventListener("change", (event) => this.change((s) => {
      s.wrong = event.target.checked;
      s.assumed = s.at.map((place, p) => nearestAssumed(s, p, place));
      byId("wrong-controls").hidden = !s.wrong;
    }));
    byId("play").addEventListener("click", () => this.toggle());
    document.addEventListener("keydown", (event) => this.key(event));
    darkness.addEventListener("change", () => {
      this.views = newViews(state);
      this.drawThumbnails();
      this.redraw();
    });
  }

  /** Keys that no control has taken: arrows turn the control in use, space plays. */
  key(event) {
    const plays = event.key === " " && event.target.matches(".dial, input[type=range]");
    if ((event.target !== document.body && !plays) || event.ctrlKey || event.metaKey || event.altKey) return;
    const { state } = this;
    if (event.key === " ") this.toggle();
    const next = placeAfterKey(event.key, state.at[state.active], state.sizes[state.active], state.parameters[state.active].periodic);
    if (next !== null) this.change((s) => { s.at[s.active] = next; });
    if (next !== null || event.key === " ") event.preventDefault();
  }

  toggle() {
    this.change((state) => { state.playing = !state.playing; });
    if (this.state.playing) this.play();
  }

  /** Sweep the control in use: round and round a circle, to and fro otherwise. */
  play() {
    let [last, forward] = [performance.now(), 1];
    const mine = this.sweep = Symbol(); // another one may have begun before this one saw that it should end
    const tick = (now) => {
      const { state } = this;
      if (!state.playing || this.sweep !== mine) return;
      const [count, { periodic }] = [state.sizes[state.active], state.parameters[state.active]];
      if (now - last >= Math.max(30, SWEEP / count)) {
        last = now;
        const next = state.at[state.active] + forward;
        if (!periodic && (next < 0 || next >= count)) forward = -forward;
        this.change((s) => { s.at[s.active] = periodic ? modulo(next, count) : Math.min(Math.max(s.at[s.active] + forward, 0), count - 1); });
      }
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
}

function nearestPlaces(state, measured) {
  return state.parameters.map(({ values }, p) => nearest(values, measured[p]));
}

/** The place of the coarser grid nearest to one of the fine grid; round a circle, the shorter way. */
function nearestAssumed({ parameters, coarse }, p, place) {
  const { values } = parameters[p];
  const away = coarse[p].map((other) => apart(parameters[p], values[other], values[place]));
  return nearest(away, 0);
}

/** The place of the value nearest to this one. */
function nearest(values, wanted) {
  return values.reduce((best, value, place) => Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? place : best, 0);
}

function fixedParts(state) {
  byId("title").textContent = state.title;
  byId("note").textContent = state.note;
  byId("scores-title").textContent = `${capital(state.score.label)} on the test data${state.score.higher_is_better ? "" : " (lower is better)"}`;
  const kind = { image: "", wave: "wide", reading: "wide", points: "smooth" }[state.drawing.kind];
  if (kind) byId("sample").classList.add(kind);
  byId("seen").hidden = state.drawing.kind !== "points";
  const same = (network) => state.networks.filter(({ label }) => label === network.label).length > 1;
  const options = state.networks.map((network, place) => element("option", { value: place }, same(network) ? network.run : network.label));
  byId("network").replaceChildren(...options);
  byId("network-choice").hidden = options.length < 2;
  state.network = options.length - 1;
  byId("network").value = state.network;
  if (state.measured) {
    state.at = nearestPlaces(state, state.samples[0].measured);
    byId("wrong-note").textContent = "The setting was measured with each sample: turning it configures the network for another one.";
  }
}

async function showExplorer() {
  const state = newState(pageContent(), await unpacked("arrays"));
  await loadLibrary();
  fixedParts(state);
  window.explorer = new Explorer(state);
  document.body.dataset.ready = "yes";
}

showExplorer().catch(failed);
