// The networks of the page: each is a module of its own, is given the inputs that the page carries, is compared
// with torch and timed. A configuration is made only when the setting has changed.

const ENOUGH = 30; // milliseconds that repetitions of a call take together: clocks of browsers are coarse
const ROUNDS = 3;

class ShownNetwork {
  constructor(entry, net, own) {
    Object.assign(this, entry);
    this.net = net;
    this.own = own; // inputs of its own, where it is shown something else than the changed sample
    this.setting = null;
  }

  get configurable() {
    return this.net.about.configurable;
  }

  /** Configure for a setting, unless it is the one of before; `alpha` where the module cannot encode. */
  configure(setting, alpha) {
    if (!this.configurable || this.setting?.every((value, p) => value === setting[p])) return;
    if (this.net.about.encodes) this.net.configure(setting);
    else this.net.configureAlpha(alpha(setting));
    this.setting = [...setting];
  }
}

async function newNetworks(content, buffer) {
  return Promise.all(content.networks.map(async (entry) => {
    const net = await load(arrayOf(buffer, entry.module));
    return new ShownNetwork(entry, net, entry.own && arrayOf(buffer, entry.own));
  }));
}

/** Number `sample` under setting number `setting`, as a network takes it. */
function embeddedInput(state, network, sample, setting) {
  const size = network.net.inputs;
  const first = (sample * state.settings.length + setting) * size;
  if (network.own) return network.own.subarray(first, first + size);
  return network.net.normalise(embeddedValues(state, sample, setting));
}

/** The same before it is normalised. */
function embeddedValues({ inputs, settings }, sample, setting) {
  const first = (sample * settings.length + setting) * inputs.each;
  return Float32Array.from(inputs.values.subarray(first, first + inputs.each), (value) => value / inputs.scale);
}

/** The outputs of a network for an input that the page carries. */
function embeddedOutputs(state, network, sample, setting) {
  network.configure(settingOf(state, sample, setting), state.alphaOf);
  return network.net.infer(embeddedInput(state, network, sample, setting));
}

/** What a sample is configured for: what was measured with it, or the setting it was changed by. */
function settingOf({ samples, settings }, sample, setting) {
  return samples[sample].measured ?? settings[setting];
}

/** The largest difference between the page and torch, over the inputs that torch was asked about; and their number. */
function differenceFromTorch(state, buffer) {
  let [most, count] = [0, 0];
  for (const network of state.networks) {
    const expected = arrayOf(buffer, network.checks.outputs);
    network.checks.places.forEach(([sample, setting], row) => {
      const outputs = embeddedOutputs(state, network, sample, setting);
      outputs.forEach((value, at) => { most = Math.max(most, Math.abs(value - expected[row * outputs.length + at])); });
      count++;
    });
  }
  return { most, count };
}

/** Milliseconds of a call: the median of some rounds, each long enough for the clock. */
async function timed(call) {
  const found = [];
  let count = 1;
  while (found.length < ROUNDS) {
    const start = performance.now();
    for (let i = 0; i < count; i++) call(i);
    const time = performance.now() - start;
    if (time >= ENOUGH) found.push(time / count);
    else count = Math.ceil(count * (time > 1 ? 1.2 * ENOUGH / time : 8));
    await new Promise((done) => setTimeout(done)); // the page lives meanwhile
  }
  return found.sort((a, b) => a - b)[ROUNDS >> 1];
}

/** {configure, infer} in milliseconds; configurations go to and fro between two settings. */
async function timesOf(state, network) {
  const x = embeddedInput(state, network, 0, 0);
  const ends = [settingOf(state, 0, 0), state.parameters.map(({ neutral }) => neutral)];
  const configure = network.configurable ? await timed((i) => {
    network.setting = null;
    network.configure(ends[i % 2], state.alphaOf);
  }) : null;
  network.configure(ends[0], state.alphaOf);
  const infer = await timed(() => network.net.infer(x));
  return { configure, infer };
}
