// What the page knows and what a person has chosen. Everything was computed in advance, for every setting of a
// grid: `own` holds the outputs of a network configured for the setting of its input, (S, N, C); `pairs` those of
// a network configured for another one of a coarser grid, (K, S, N, C). Outputs are levels of probabilities, or values.

/** The content of the page with its arrays, and the choices a person makes. */
function newState(content, buffer) {
  const array = (description) => arrayOf(buffer, description);
  const network = (one) => ({
    ...one,
    own: array(one.own),
    pairs: one.pairs && array(one.pairs),
    beta: one.beta && array(one.beta),
    weights: one.weights && weightsWithArrays(one.weights, array),
  });
  const sizes = content.parameters.map((parameter) => parameter.values.length);
  return {
    ...content,
    drawing: withArrays(content.drawing, array),
    networks: content.networks.map(network),
    rigid: content.rigid && network(content.rigid),
    sizes,
    settings: sizes.reduce((product, size) => product * size, 1),
    network: 0,
    sample: 0,
    at: finePlaces(content, content.start), // the place of the input on the grid, for each parameter
    assumed: [...content.start], // what a sensor that errs says, on the coarser grid
    wrong: false,
    active: 0, // the parameter that keys and play move
    playing: false,
    wanted: "mass", // how a person wants the β-space drawn
    view: "mass", // how it is drawn
    cameras: { ...CAMERAS }, // from where a person looks at each view
  };
}

/** What the first weights are mixed from: `inner`, and of a compact subspace `outer` and `shared`. */
function weightsWithArrays(weights, array) {
  const part = (one) => one && { scale: one.scale, sets: one.values.shape[0], values: array(one.values) };
  return { ...weights, inner: part(weights.inner), outer: part(weights.outer), shared: part(weights.shared) };
}

function withArrays(drawing, array) {
  const found = { ...drawing };
  for (const name of ["values", "points", "matrices"]) {
    if (drawing[name]) Object.assign(found, { [name]: array(drawing[name]), [`${name}Shape`]: drawing[name].shape });
  }
  return found;
}

/** The number of a setting whose places along each parameter are given; the last changes fastest. */
function settingNumber(places, sizes) {
  return places.reduce((number, place, parameter) => number * sizes[parameter] + place, 0);
}

function inputSetting(state) {
  return settingNumber(state.at, state.sizes);
}

/** Places on the coarser grid -> the same on the fine one. */
function finePlaces({ coarse }, places) {
  return places.map((place, parameter) => coarse[parameter][place]);
}

/** The number of a setting of the coarser grid. */
function coarseNumber({ coarse }, places) {
  return settingNumber(places, coarse.map(({ length }) => length));
}

/** The setting that the network is configured for, as places on the fine grid. */
function configuredPlaces(state) {
  return state.wrong ? finePlaces(state, state.assumed) : state.at;
}

function configuredSetting(state) {
  return settingNumber(configuredPlaces(state), state.sizes);
}

/** The values of these places, as a person says them: "angle 30 degrees". */
function inWords(state, places) {
  return state.parameters.map((parameter, p) => `${parameter.name} ${valueText(parameter, places[p])}`).join(", ");
}

function valueText(parameter, place) {
  const unit = parameter.unit === "degrees" ? "°" : parameter.unit && ` ${parameter.unit}`;
  return numberText(parameter, parameter.values[place]) + unit;
}

/** A value without its unit; what is 0 but for rounding is 0. */
function numberText({ low, high }, value) {
  return Math.abs(value) < 1e-6 * (high - low) ? "0" : digitsOf(value);
}

function digitsOf(value) {
  return Number(value.toPrecision(4)).toString().replace("-", "−");
}

function betaNow(state) {
  const { beta, dims } = state.networks[state.network];
  const at = configuredSetting(state) * dims;
  return beta.subarray(at, at + dims);
}

function ownOutputs(state, network) {
  const { length } = state.outputs.names;
  const at = (state.sample * state.settings + inputSetting(state)) * length;
  return network.own.subarray(at, at + length);
}

/** The outputs of a network configured for number k of the coarser grid. */
function pairOutputs(state, network, k) {
  const { length } = state.outputs.names;
  const at = ((k * state.samples.length + state.sample) * state.settings + inputSetting(state)) * length;
  return network.pairs.subarray(at, at + length);
}

/** What each network makes of the input, in the order of the columns: {label, method, values}. */
function outputsNow(state) {
  const chosen = state.networks[state.network];
  const ours = state.wrong ? pairOutputs(state, chosen, coarseNumber(state, state.assumed)) : ownOutputs(state, chosen);
  const found = [{ ...named(chosen), values: ours }];
  if (state.rigid) found.push({ ...named(state.rigid), values: ownOutputs(state, state.rigid) });
  found.push({ label: frozenLabel(state), method: "frozen", values: pairOutputs(state, chosen, coarseNumber(state, state.start)) });
  return found;
}

/** The truth about a sample: "class cat", or "value 20.5 °C". */
function truthText({ outputs }, { label }) {
  if (outputs.kind === "classes") return `class ${outputs.names[label]}`;
  return outputs.names.map((name, place) => `${name} ${amountText(outputs, place, label[place])}`).join(", ");
}

function amountText({ units }, place, value) {
  return units[place] ? `${digitsOf(value)} ${units[place]}` : digitsOf(value);
}

function named({ label, method }) {
  return { label, method };
}

function frozenLabel(state) {
  const places = finePlaces(state, state.start);
  const first = state.parameters.map((parameter, p) => valueText(parameter, places[p])).join(", ");
  return `frozen at ${first}`;
}

/** Colours by role: the SCN, the network that does not adapt, and the frozen one. */
function roleColours() {
  const shade = darkness.matches ? "dark" : "light";
  return { scn: BLUES[shade][2], ...OTHERS[shade] };
}
