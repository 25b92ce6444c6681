// The state of the page: what is shown, under which setting; and the places of settings on the page's grid.

function newState(content, buffer, networks) {
  const { axes, settings } = gridOf(content.parameters);
  const values = arrayOf(buffer, content.inputs.values);
  const [samples, count] = content.inputs.values.shape;
  const state = {
    ...content, networks, settings: content.measured ? [content.parameters.map(({ neutral }) => neutral)] : settings, axes,
    inputs: { values, scale: content.inputs.scale, each: values.length / samples / count, shape: content.inputs.values.shape.slice(2) },
    mode: "samples", sample: 0, following: false, inverted: content.dark, predictions: [],
    setting: content.samples[0].measured ?? content.parameters.map(({ neutral }) => neutral),
  };
  const alphas = content.alphas && arrayOf(buffer, content.alphas);
  state.alphaOf = (setting) => alphaOf(state, settings, alphas, setting);
  return state;
}

/** All combinations of the parameters' values, the last changing fastest. */
function gridOf(parameters) {
  const axes = parameters.map(({ values }) => values);
  const settings = axes.reduce((rows, axis) => rows.flatMap((before) => axis.map((value) => [...before, value])), [[]]);
  return { axes, settings };
}

/** For networks whose module cannot encode: alpha of a sample's measurement, or of the nearest setting of the grid. */
function alphaOf({ parameters, samples, networks }, settings, alphas, setting) {
  const own = samples.find(({ measured }) => measured?.every((value, p) => value === setting[p]));
  if (own) return own.alpha;
  const size = networks[0].net.about.alpha_size;
  const row = nearestRow(parameters, settings, setting);
  return alphas.subarray(row * size, (row + 1) * size);
}

function nearestRow(parameters, settings, wanted) {
  const apart = settings.map((setting) => setting.reduce((sum, value, p) => sum + distance(parameters[p], value, wanted[p]), 0));
  return apart.indexOf(Math.min(...apart));
}

/** The place of an axis nearest to a value. */
function nearestPlace(parameter, axis, wanted) {
  const apart = axis.map((value) => distance(parameter, value, wanted));
  return apart.indexOf(Math.min(...apart));
}

/** The values that a control goes through: those of the inputs, or finer ones where no input depends on it. */
function controlAxis({ mode, measured, networks }, parameter) {
  const encodes = networks.every(({ net }) => !net.about.configurable || net.about.encodes);
  if ((mode === "samples" && !measured) || !encodes) return parameter.values;
  const { low, high, periodic } = parameter;
  const steps = periodic ? 360 : 200;
  return Array.from({ length: steps + (periodic ? 0 : 1) }, (_, i) => low + (high - low) * i / steps);
}

/** What is known of a sample: its class, or values in their units; and what was measured with it. */
function truthText(state, { label, measured }) {
  const truth = labelText(state, label);
  return measured ? `${truth}, measured at ${settingText(state, measured)}` : truth;
}

function labelText({ networks }, label) {
  const { names, units } = networks[0].net.about.outputs;
  if (!Array.isArray(label)) return nameText(names[label]);
  return label.map((value, at) => `${nameText(names[at])} ${Number(value.toPrecision(3))} ${units?.[at] ?? ""}`.trim()).join(", ");
}
