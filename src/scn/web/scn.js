// A network of `scn export --to web`, for a page of one's own.
//
//   import { load } from "./scn.js";
//   const net = await load("scn.wasm");
//   net.configure([30]);                     // in the units of net.about.parameters; only when it has changed
//   const logits = net.infer(net.normalise(pixels));
//
// Everything is computed here, by the module: nothing is asked of the network (the other one).

/** What was wrong, with which value, and what to do. */
export class ScnError extends Error {
  constructor(message) {
    super(message);
    this.name = "ScnError";
  }
}

/** The network in a .wasm file: by its address, as a Response, or as bytes. */
export async function load(source) {
  const bytes = await bytesOf(source);
  let module;
  try {
    module = await WebAssembly.compile(bytes);
  } catch (error) {
    throw new ScnError(`${nameOf(source)} is no WebAssembly that this browser can run: ${error.message}`);
  }
  const [section] = WebAssembly.Module.customSections(module, "scn");
  if (!section) throw new ScnError(`${nameOf(source)} holds no network: \`scn export RUN --to web\` writes one`);
  const about = JSON.parse(new TextDecoder().decode(section));
  if (about.format > 1) throw new ScnError(`${nameOf(source)} is of a newer scn (format ${about.format}): take the scn.js beside it`);
  const { exports } = await WebAssembly.instantiate(module, {});
  return new Network(about, exports);
}

/** One network, configured for at most one setting at a time. `about` says all that is known of it. */
export class Network {
  #calls;
  #views;
  #configured;

  constructor(about, calls) {
    this.about = about;
    this.#calls = calls;
    this.#configured = !about.configurable;
    const view = (name, size) => calls[name] && new Float32Array(calls.memory.buffer, calls[name](), size);
    this.#views = {
      x: view("x", product(about.shape)),
      outputs: view("outputs", about.outputs.names.length),
      params: view("params", about.parameters.length),
      alpha: view("alpha", about.alpha_size),
      beta: view("beta", about.dims),
    };
  }

  /** How many values `infer` takes. */
  get inputs() {
    return this.#views.x.length;
  }

  /** Mix the weights for a setting: one number for each of about.parameters, in their units. */
  configure(params) {
    this.#requireConfigurable();
    if (!this.about.encodes) {
      throw new ScnError("how these parameters become alpha is known in Python alone: call configureAlpha(alpha)");
    }
    const named = this.about.parameters.map(({ name }) => name).join(", ");
    fill(this.#views.params, typeof params === "number" ? [params] : params, `the setting (${named})`);
    if (this.#calls.encode() !== 0) throw new ScnError(`the setting is out of range: ${this.#outside().join("; ")}`);
    this.#mix();
  }

  /** Mix the weights for alpha, which is what the map of the network sees: of an angle, its cosine and sine. */
  configureAlpha(alpha) {
    this.#requireConfigurable();
    const before = this.#views.alpha.slice();
    fill(this.#views.alpha, alpha, "alpha");
    try {
      this.#mix();
    } catch (error) {
      this.#views.alpha.set(before); // whose configuration stays
      throw error;
    }
  }

  /** The mixing coefficients of the last configuration, one for each base model. */
  get beta() {
    this.#requireConfigurable();
    this.#requireConfigured();
    this.#calls.mixture();
    return this.#views.beta.slice();
  }

  /** From values of about.shape, 0 to 1 of an image and -1 to 1 of a sound, to what `infer` takes. */
  normalise(values) {
    const { mean, deviation } = this.about.normalisation;
    requireLength(values, this.inputs, "x");
    const each = this.inputs / mean.length;
    return Float32Array.from(values, (value, place) => {
      const channel = Math.floor(place / each);
      return Math.fround(Math.fround(value) - Math.fround(mean[channel])) / Math.fround(deviation[channel]);
    });
  }

  /** The outputs for normalised values x, in the order of about.shape: logits, of a classifier. */
  infer(x) {
    this.#requireConfigured();
    fill(this.#views.x, x, "x");
    const status = this.#calls.infer();
    if (status !== 0) throw new ScnError(`the network refused x with the status ${status}`);
    return this.#views.outputs.slice();
  }

  /**
   * What outputs mean: {kind: "classes", place, name, probabilities}, {kind: "targets", values, names, units},
   * or {kind: "outputs", values}.
   */
  prediction(outputs) {
    const { kind, names, units, mean, deviation } = this.about.outputs;
    requireLength(outputs, names.length, "outputs");
    if (kind === "classes") {
      const place = outputs.reduce((best, value, at) => value > outputs[best] ? at : best, 0);
      return { kind, place, name: names[place], probabilities: softmax(outputs) };
    }
    if (kind === "targets") {
      return { kind, names, units, values: Array.from(outputs, (value, at) => value * deviation[at] + mean[at]) };
    }
    return { kind, values: Array.from(outputs) };
  }

  #mix() {
    if (this.#calls.configure() !== 0) {
      throw new ScnError(`no setting has this alpha: [${[...this.#views.alpha].join(", ")}]; the last good configuration stays`);
    }
    this.#configured = true;
  }

  #requireConfigurable() {
    if (!this.about.configurable) {
      throw new ScnError(`${this.about.name} is one network for all settings: there is nothing to configure`);
    }
  }

  #requireConfigured() {
    if (!this.#configured) throw new ScnError("the network is not configured yet: call configure(params) first");
  }

  /** What of the params is out of range, in words. */
  #outside() {
    const params = this.#views.params;
    const said = ({ name, low, high, unit }, value) => `${name} is ${value}, but goes from ${low} to ${high} ${unit}`.trim();
    const out = this.about.parameters.filter(({ low, high, periodic }, p) => !periodic && !(params[p] >= low && params[p] <= high));
    const wrong = out.length ? out : this.about.parameters;
    return wrong.map((parameter) => said(parameter, params[this.about.parameters.indexOf(parameter)]));
  }
}

async function bytesOf(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  let response = source;
  if (typeof source === "string" || source instanceof URL) {
    try {
      response = await fetch(source);
    } catch (error) {
      throw new ScnError(`${source} cannot be read (${error.message}): a page reads files from a server, such as \`python -m http.server\``);
    }
  }
  if (!(response instanceof Response)) throw new ScnError("load takes an address, a Response or bytes");
  if (!response.ok) throw new ScnError(`${nameOf(source)} cannot be read: the server says ${response.status}`);
  return response.arrayBuffer();
}

function nameOf(source) {
  if (source instanceof Response) return source.url || "the response";
  return typeof source === "string" || source instanceof URL ? String(source) : "the file";
}

/** Put numbers where the module reads them; what is no number, or too few of them, is refused before. */
function fill(view, values, named) {
  requireLength(values, view.length, named);
  for (let place = 0; place < view.length; place++) {
    if (!Number.isFinite(values[place])) throw new ScnError(`${named} holds ${values[place]} at place ${place}: it must be finite numbers`);
  }
  view.set(values);
}

function requireLength(values, count, named) {
  if (values?.length !== count) throw new ScnError(`${named} must have ${count} value${count === 1 ? "" : "s"}, but has ${values?.length ?? "none"}`);
}

function softmax(outputs) {
  const most = Math.max(...outputs);
  const powers = Array.from(outputs, (value) => Math.exp(value - most));
  const sum = powers.reduce((total, value) => total + value, 0);
  return powers.map((value) => value / sum);
}

function product(sizes) {
  return sizes.reduce((total, size) => total * size, 1);
}
