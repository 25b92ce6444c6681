// The page: one state, changed by taps, turns and frames of the camera; what it says follows from the state.

const FRAME = 50; // milliseconds from one look through the camera to the next

class Page {
  constructor(state) {
    this.state = state;
    this.waiting = false;
    this.camera = new Camera(byId("video"));
    this.tilt = new Tilt((angle) => this.tilted(angle), (text) => this.note("tilt", text, true));
    this.cards = new Cards(state);
    this.newControls();
    this.newThumbnails();
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
    const { state } = this;
    this.waiting = false;
    this.look();
    state.parameters.forEach((parameter, p) => this.controls[p].show(nearestPlace(parameter, this.axes[p], state.used[p])));
    this.cards.show(state);
    showMixture(state);
    byId("tilt").checked = state.following;
    clearTimeout(this.speaking);
    if (state.mode === "samples") this.speaking = setTimeout(() => this.speak(), 600);
  }

  /** Give what is shown to every network. */
  look() {
    const { state } = this;
    const number = state.measured ? 0 : nearestRow(state.parameters, state.settings, state.setting);
    const onGrid = state.mode === "samples" && !state.measured;
    state.used = onGrid ? state.settings[number] : state.setting;
    const values = state.mode === "camera" ? this.cameraValues() : embeddedValues(state, state.sample, number);
    if (values) drawValues(byId("seen"), state.kind, values, state.inputs.shape);
    state.predictions = state.networks.map((network) => {
      network.configure(state.used, state.alphaOf);
      if (!values) return null;
      const x = state.mode === "samples" ? embeddedInput(state, network, state.sample, number) : network.net.normalise(values);
      return network.net.prediction(network.net.infer(x));
    });
    this.captions();
  }

  cameraValues() {
    const picture = this.camera.picture();
    if (!picture) return null;
    const view = byId("view");
    sized(view, picture.width, picture.height);
    view.getContext("2d").putImageData(picture, 0, 0);
    return Float32Array.from(preparedBytes(picture, this.state.inputs.shape, this.state.inverted), (value) => value / 255);
  }

  captions() {
    const { state } = this;
    const camera = state.mode === "camera";
    const truth = camera ? "" : truthText(state, state.samples[state.sample]);
    byId("seen-caption").textContent = camera ? `x, ${state.inputs.shape[2]}×${state.inputs.shape[1]}` : truth;
    byId("seen").setAttribute("aria-label", camera ? "x, as the networks see it" : `test sample, ${truth}, under ${settingText(state, state.used)}`);
  }

  /** One sentence for screen readers, when things have come to rest. */
  speak() {
    const { state } = this;
    const said = this.cards.cards.map(({ said }, place) => `${state.networks[place].label} predicts ${said.textContent}`);
    byId("status").textContent = `${settingText(state, state.used)}: ${said.join("; ")}`;
  }

  newControls() {
    const { state } = this;
    this.axes = state.parameters.map((parameter) => controlAxis(state, parameter));
    this.controls = state.parameters.map((parameter, p) => {
      const words = this.axes[p].map((value) => valueText(parameter, value));
      return newControl({ ...parameter, name: nameText(parameter.name) }, this.axes[p], words, (place) => this.turned(p, place), "setting");
    });
    byId("controls").replaceChildren(...this.controls.map(({ root }) => root));
  }

  /** By hand: the tilt is followed no longer, if it was this parameter's. */
  turned(p, place) {
    if (p === this.state.tilt && this.state.following) this.follow(false);
    this.change((state) => { state.setting = state.setting.with(p, this.axes[p][place]); });
  }

  tilted(angle) {
    if (!this.state.following) return;
    this.note("tilt", angle === null ? "The device lies flat, so that no way is up: hold it upright." : "");
    if (angle !== null) this.change((state) => { state.setting = state.setting.with(state.tilt, angle); });
  }

  newThumbnails() {
    const { state } = this;
    const first = state.measured ? 0 : nearestRow(state.parameters, state.settings, state.setting);
    const buttons = state.samples.map((sample, place) => {
      const canvas = element("canvas", { class: state.kind === "image" ? "" : "drawn", "aria-hidden": "true" });
      drawValues(canvas, state.kind, embeddedValues(state, place, first), state.inputs.shape, true);
      return element("button", {
        type: "button", title: truthText(state, sample), "aria-pressed": place === state.sample ? "true" : "false",
        "aria-label": `sample ${place + 1}, ${truthText(state, sample)}, number ${sample.index} of the test data`, click: () => this.choose(place),
      }, canvas);
    });
    byId("samples").replaceChildren(...buttons);
  }

  /** Another sample; one that came with a measurement is shown under it. */
  choose(place) {
    [...byId("samples").children].forEach((button, p) => button.setAttribute("aria-pressed", p === place ? "true" : "false"));
    this.change((state) => {
      state.sample = place;
      state.setting = state.samples[place].measured ?? state.setting;
    });
  }

  listen() {
    byId("mode-samples").addEventListener("click", () => this.show("samples"));
    byId("mode-camera").addEventListener("click", () => this.openCamera());
    byId("tilt").addEventListener("change", ({ target }) => this.follow(target.checked));
    byId("invert").addEventListener("change", ({ target }) => this.change((state) => { state.inverted = target.checked; }));
    byId("measure").addEventListener("click", () => this.measure());
    darkness.addEventListener("change", () => {
      this.cards = new Cards(this.state);
      this.newThumbnails();
      this.redraw();
    });
  }

  /** A sentence for people about the camera or the tilt; "" for none. */
  note(about, text, gone = false) {
    byId(`${about}-note`).textContent = text;
    byId(`${about}-note`).hidden = !text;
    if (gone) this.follow(false, text);
  }

  /** Begin or end to take the angle from the tilt. Beginning needs a tap, for phones that ask. */
  async follow(wanted, text = "") {
    this.tilt.stop();
    this.note("tilt", text);
    this.change((state) => { state.following = wanted; });
    if (!wanted) return;
    try {
      await this.tilt.start();
    } catch (error) {
      this.note("tilt", error.message, true);
    }
  }

  /** The tilt first: an iPhone lets a page ask for it only at once after a tap. */
  async openCamera() {
    if (this.state.mode === "camera" || this.opening) return;
    this.opening = true;
    this.note("camera", "");
    if (this.state.tilt !== null) await this.follow(true);
    try {
      await this.camera.open();
      this.tilt.mirrored = this.camera.mirrored;
      this.show("camera");
      this.frames();
    } catch (error) {
      this.note("camera", error.message);
      if (this.state.following) this.follow(false);
    }
    this.opening = false;
  }

  show(mode) {
    const camera = mode === "camera";
    if (!camera) this.camera.close();
    if (!camera && !this.state.following) this.note("tilt", "");
    byId("mode-samples").setAttribute("aria-pressed", String(!camera));
    byId("mode-camera").setAttribute("aria-pressed", String(camera));
    document.querySelector(".stage").classList.toggle("camera", camera);
    byId("view-figure").hidden = byId("invert-switch").hidden = !camera;
    byId("invert-note").hidden = !(camera && this.state.dark);
    byId("sample-choice").hidden = camera;
    this.state.mode = mode;
    this.newControls();
    this.change(() => {});
  }

  /** Look again and again, as often as a person can follow. */
  frames() {
    if (this.state.mode !== "camera") return;
    this.change(() => {});
    setTimeout(() => this.frames(), FRAME);
  }

  async measure() {
    const { state } = this;
    byId("measure").disabled = true;
    for (const network of state.networks) network.times = await timesOf(state, network);
    byId("measure").disabled = false;
    showTimes(state);
    this.change(() => {});
  }
}

function fixedParts(state) {
  byId("title").textContent = state.title;
  byId("lead").textContent = leadText(state);
  byId("modes").hidden = !state.camera;
  byId("tilt-switch").hidden = state.tilt === null;
  byId("invert").checked = state.inverted;
  byId("seen").classList.toggle("drawn", state.kind !== "image");
  document.querySelector(".stage").classList.toggle("turns", state.parameters.length === 1 && state.parameters[0].periodic);
  document.querySelector(".stage").classList.toggle("wide", state.kind !== "image");
  byId("facts").replaceChildren(...factTexts(state).map((text) => element("p", {}, text)));
  showTimes(state);
}

async function showPage() {
  const content = pageContent();
  const buffer = await unpacked("arrays");
  const state = newState(content, buffer, await newNetworks(content, buffer));
  state.checked = differenceFromTorch(state, buffer);
  fixedParts(state);
  window.page = new Page(state);
  window.page.outputs = (network, sample, setting) => [...embeddedOutputs(state, state.networks[network], sample, setting)];
  window.page.prepared = preparedBytes;
  window.page.tiltAngle = tiltAngle;
  await window.page.measure();
  document.body.dataset.ready = "yes";
}

showPage().catch(failed);
