// What a reader must know to believe the page: what x is, where the samples come from, how near it is to torch.

const SAID = { image: "images", wave: "sounds", reading: "readings" };

function leadText(state) {
  const mixed = state.networks.find(({ configurable }) => configurable);
  const what = state.parameters.map(({ name }) => nameText(name)).join(", ");
  const mixes = mixed ? ` The weights of ${mixed.label} are mixed anew whenever its setting (${what}) changes.` : "";
  const networks = state.networks.length > 1 ? "Two networks" : "A network";
  return `${networks} running in this page, as WebAssembly: nothing leaves the device.${mixes}`;
}

function factTexts(state) {
  return [cameraText(state), samplesText(state), testText(state), torchText(state)].filter(Boolean);
}

/** How x is made of a picture, in the order in which it is done. */
function cameraText({ camera, networks, tilt }) {
  if (!camera) return "";
  const { shape: [channels, height, width], normalisation: { mean, deviation } } = networks[0].net.about;
  const list = (values) => values.map((value) => Number(value.toPrecision(4))).join(", ");
  const grey = channels === 1 ? "made grey (0.299 red, 0.587 green, 0.114 blue), " : "";
  const tilted = tilt === null ? "" : " The tilt is felt by gravity: a phone turned clockwise sees the world turned counter-clockwise.";
  return `x from the camera: the square in the middle, ${grey}resized to ${width}×${height} by a bilinear filter as in training, `
    + `brought to 0…1, less ${list(mean)}, by ${list(deviation)}.${tilted}`;
}

function samplesText({ kind, samples, data, settings, measured, inputs, parameters }) {
  const bits = { 255: " with 8 bits", 32767: " with 16 bits" }[inputs.scale] ?? "";
  const how = measured
    ? `each with the ${parameters.map(({ name }) => name).join(", ")} that was measured with it`
    : `changed in Python for ${grouped(settings.length)} setting${settings.length === 1 ? "" : "s"} (preset ${data.preset}) and kept${bits}`;
  return `Test samples: ${samples.length} of the ${grouped(data.counts.test)} test ${SAID[kind]} of ${data.name}, ${how}. Trained on ${grouped(data.trained)}.`;
}

function testText({ networks, score, camera }) {
  const known = networks.filter(({ scores }) => scores);
  if (!known.length) return "These runs were not evaluated: `scn evaluate RUN` does it, and exporting again shows the score.";
  const said = known.map(({ label, scores }) => `${label} ${scoreText(score, scores.mean)} on ${grouped(scores.samples)} test samples`);
  return `Mean ${score.label} over all settings: ${said.join("; ")}.${camera ? " It was measured on test data, not on what a camera sees." : ""}`;
}

function torchText({ checked, networks }) {
  const rounded = networks[0].net.about.weights === "float32" ? "" : ` (weights here are ${networks[0].net.about.weights}, torch's are float32)`;
  return `Compared in this browser: for ${checked.count} of these inputs the outputs differ from torch's by at most ${checked.most.toExponential(1)}${rounded}.`;
}
