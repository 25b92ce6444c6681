// β in three dimensions, in two ways. "Centre of mass": a corner for each base model, and the mixture at Σ βᵢ cᵢ; up
// to four base models this loses nothing, of more it is a projection. "Over the setting": a curve or a surface for
// each base model, with a dot on each.

/** Places for D corners: a line, a triangle, a tetrahedron, and then as evenly over a ball as may be; base models that
 * have places along one parameter stand in their order, round a circle or along an arc. */
function corners(dims, around) {
  const exact = {
    1: [[0, 0, 0]],
    2: [[-1, 0, 0], [1, 0, 0]],
    3: [[1, 0, 0], [-0.5, 0.866, 0], [-0.5, -0.866, 0]],
    4: [[0, 0, 1], [0.943, 0, -0.333], [-0.471, 0.816, -0.333], [-0.471, -0.816, -0.333]],
  };
  if (around && !exact[dims]) {
    const whole = around === "circle" ? dims : 1.25 * (dims - 1);
    return Array.from({ length: dims }, (_, i) => [Math.cos(2 * Math.PI * i / whole), Math.sin(2 * Math.PI * i / whole), 0]);
  }
  const golden = Math.PI * (3 - Math.sqrt(5));
  return exact[dims] ?? Array.from({ length: dims }, (_, i) => {
    const height = 1 - (2 * i + 1) / dims;
    const radius = Math.sqrt(1 - height * height);
    return [radius * Math.cos(golden * i), radius * Math.sin(golden * i), height];
  });
}

function placeOf(beta, at, places) {
  return [0, 1, 2].map((axis) => places.reduce((sum, place, base) => sum + beta[at + base] * place[axis], 0));
}

/** [{x}, ...] as plotly wants it: three lists. */
function columnsOf(points) {
  return { x: points.map((p) => p[0]), y: points.map((p) => p[1]), z: points.map((p) => p[2]) };
}

const MOST_PLACES = 1500;

// Round a circle of settings: it ends with the colour it begins with.
const CIRCLE = ["#3b6fd4", "#8a4fbf", "#c9427f", "#e0762f", "#c9a91c", "#5f9e3a", "#2f93a8", "#3b6fd4"].map((c, i) => [i / 7, c]);

/**
 * Draws a scene {traces, layout, points(state), colours, key(state)} once; `show` moves the dots that lie over it.
 * To draw all of it again for them would take most of the time of a step. Only where what is drawn depends on
 * the setting (`key`), is it drawn again when a person has come to rest.
 */
function newSpace(target, dots, state) {
  if (target.view !== state.view) { // or else the axes of one view would stay in the other
    Plotly.purge(target);
    Object.assign(target, { view: state.view, drawn: null });
  }
  let scene = SCENES[state.view](state);
  const marks = scene.colours.map((colour) => element("i", { style: `background:${colour}` }));
  dots.replaceChildren(...marks);
  const draw = () => Plotly.react(target, scene.traces, scene.layout, { displayModeBar: false, responsive: true });
  draw();
  const plot = target._fullLayout.scene._scene;
  if (!plot.glplot) return withoutSpace(dots);
  const move = () => scene.points(state).forEach((point, place) => {
    const [right, down] = projected(plot.glplot.cameraParams, point.map((value, axis) => value * plot.dataScale[axis]));
    marks[place].style.left = `${100 * right}%`;
    marks[place].style.top = `${100 * down}%`;
  });
  target.drawn ??= plot.glplot.onrender; // what plotly itself does there
  plot.glplot.onrender = () => {
    target.drawn?.();
    move();
    state.cameras[state.view] = target.layout.scene.camera = plot.getCamera(); // or a new size would reset it
  };
  let [shown, waiting] = [scene.key(state), 0];
  const show = () => {
    move();
    target.setAttribute("aria-label", `the mixture: ${Array.from(betaNow(state), (share) => share.toFixed(2)).join(", ")}`);
    if (scene.key(state) === shown) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      shown = scene.key(state);
      scene = SCENES[state.view](state);
      draw();
    }, 150);
  };
  return { show };
}

/** Some browsers have no WebGL; everything else on the page works there as well. */
function withoutSpace(dots) {
  dots.replaceChildren();
  byId("space-caption").textContent = "This picture needs WebGL, which this browser does not have or has switched off.";
  return { show() {} };
}

/** Where a point of the scene is seen, as shares of the picture's width and height. */
function projected({ model, view, projection }, point) {
  const times = (matrix, from) => [0, 1, 2, 3].map((row) => from.reduce((sum, value, column) => sum + matrix[4 * column + row] * value, 0));
  const [x, y, , w] = [model, view, projection].reduce((at, matrix) => times(matrix, at), [...point, 1]);
  return [(1 + x / w) / 2, (1 - y / w) / 2];
}

const SCENES = { mass: massScene, setting: settingScene };

/** How base models with places along the one parameter stand in a row; null where they do not. */
function orderOf(state) {
  if (!state.networks[state.network].places || state.parameters.length > 1) return null;
  return state.parameters[0].periodic ? "circle" : "arc";
}

/** The mixtures of the whole grid between the corners. */
function massScene(state) {
  const { beta, dims } = state.networks[state.network];
  const places = corners(dims, orderOf(state));
  const every = Math.max(1, Math.ceil(state.settings / MOST_PLACES));
  const kept = Array.from({ length: Math.ceil(state.settings / every) }, (_, i) => i * every);
  const path = kept.map((setting) => placeOf(beta, setting * dims, places));
  const axis = { visible: false, range: [-1.15, 1.15] };
  return {
    traces: [pathTrace(state, kept, path), edgesTrace(places), ...cornerTraces(places)],
    layout: spaceLayout(state, { xaxis: axis, yaxis: axis, zaxis: axis }),
    points: () => [placeOf(betaNow(state), 0, places)],
    colours: [cssColour("--ink")],
    key: () => "",
  };
}

/** β over the first parameter, or over the first two with the others where they stand. */
function settingScene(state) {
  const { dims } = state.networks[state.network];
  const bases = Array.from({ length: dims }, (_, base) => base);
  const colours = bases.map((base) => baseColour(base));
  const shape = (state.parameters.length > 1 ? surfaces : state.parameters[0].periodic ? cylinder : ribbons)(state, bases, colours);
  return {
    ...shape,
    layout: spaceLayout(state, shape.axes),
    points: () => { const beta = betaNow(state); return bases.map((base) => shape.place(configuredPlaces(state), base, beta[base])); },
    colours,
    key: () => configuredPlaces(state).slice(2).join(),
  };
}

/** β of a base model with the first parameters at these places and the others where they stand. */
function betaAt(state, places, base) {
  const { beta, dims } = state.networks[state.network];
  const all = [...places, ...configuredPlaces(state).slice(places.length)];
  return beta[settingNumber(all, state.sizes) * dims + base];
}

/** A circle of settings: curves around a cylinder whose height is β. */
function cylinder(state, bases, colours) {
  const [count] = state.sizes;
  const place = ([at], base, share) => [Math.cos(2 * Math.PI * at / count), Math.sin(2 * Math.PI * at / count), share];
  const round = Array.from({ length: count + 1 }, (_, i) => i % count);
  const quarters = [0, 1, 2, 3].map((quarter) => Math.round(quarter * count / 4));
  const [floor] = shareAxis(state).range;
  const labels = {
    type: "scatter3d", mode: "text", ...columnsOf(quarters.map((at) => place([at], 0, 0).map((value, axis) => axis < 2 ? 1.25 * value : floor))),
    text: quarters.map((at) => valueText(state.parameters[0], at)), textfont: { color: cssColour("--muted"), size: 12 }, hoverinfo: "skip",
  };
  const ring = { ...lineTrace(round.map((at) => place([at], 0, 0)), cssColour("--line")), line: { width: 2, color: cssColour("--line") } };
  const curves = bases.map((base) => lineTrace(round.map((at) => place([at], base, betaAt(state, [at], base))), colours[base]));
  const flat = { visible: false, range: [-1.3, 1.3] };
  return { place, traces: [ring, labels, ...curves], axes: { xaxis: flat, yaxis: flat, zaxis: shareAxis(state) } };
}

/** One parameter with two ends: a curve for each base model, one behind the other. */
function ribbons(state, bases, colours) {
  const [{ values }] = state.parameters;
  const place = ([at], base, share) => [values[at], base + 1, share];
  const traces = bases.map((base) => lineTrace(values.map((_, at) => place([at], base, betaAt(state, [at], base))), colours[base]));
  return { place, traces, axes: { xaxis: valueAxis(state.parameters[0]), yaxis: sceneAxis("base", { dtick: 1 }), zaxis: shareAxis(state) } };
}

function surfaces(state, bases, colours) {
  const [across, along] = state.parameters;
  const place = ([i, j], base, share) => [across.values[i], along.values[j], share];
  const traces = bases.map((base) => ({
    type: "surface", x: across.values, y: along.values, z: along.values.map((_, j) => across.values.map((_, i) => betaAt(state, [i, j], base))),
    colorscale: [[0, colours[base]], [1, colours[base]]], showscale: false, opacity: 0.8, hoverinfo: "skip",
  }));
  return { place, traces, axes: { xaxis: valueAxis(across), yaxis: valueAxis(along), zaxis: shareAxis(state) } };
}

function lineTrace(points, color) {
  return { type: "scatter3d", mode: "lines", ...columnsOf(points), line: { width: 6, color }, hoverinfo: "skip" };
}

function sceneAxis(text, more) {
  const [ink, line] = [cssColour("--muted"), cssColour("--line")];
  return { title: { text, font: { color: ink, size: 12 } }, tickfont: { color: ink, size: 11 }, gridcolor: line, zerolinecolor: line, showspikes: false, ...more };
}

function valueAxis({ name, low, high }) {
  return sceneAxis(name, { range: [low, high], nticks: 5 });
}

function shareAxis(state) {
  const { least } = state.networks[state.network];
  return sceneAxis("β", { range: [least < -0.001 ? Math.floor(10 * least) / 10 : 0, 1], nticks: 5 });
}

/** One parameter: its path; several: a cloud. The colour is the first parameter. */
function pathTrace(state, kept, path) {
  const [{ values, periodic }] = state.parameters;
  const stride = state.settings / state.sizes[0];
  const colour = kept.map((setting) => values[Math.floor(setting / stride)]);
  const single = state.parameters.length === 1;
  if (single && periodic) {
    path = [...path, path[0]];
    colour.push(state.parameters[0].high);
  }
  const colorscale = periodic ? CIRCLE : "Viridis";
  return {
    type: "scatter3d", mode: single ? "lines" : "markers", ...columnsOf(path), hoverinfo: "skip",
    line: { width: 6, color: colour, colorscale }, marker: { size: 2.5, opacity: 0.7, color: colour, colorscale },
  };
}

/** The edges between corners, where there are few. */
function edgesTrace(places) {
  const points = [];
  if (places.length <= 4) {
    places.forEach((a, i) => places.slice(i + 1).forEach((b) => points.push(a, b, [null, null, null])));
  }
  return { type: "scatter3d", mode: "lines", ...columnsOf(points), line: { width: 2, color: cssColour("--line") }, hoverinfo: "skip" };
}

/** A mark for each corner, and numbers for as many as have room. */
function cornerTraces(places) {
  const every = Math.ceil(places.length / 16);
  const named = places.map((_, base) => base).filter((base) => base % every === 0);
  const common = { type: "scatter3d", hoverinfo: "skip" };
  return [
    { ...common, mode: "markers", ...columnsOf(places), marker: { size: 4, color: cssColour("--muted") } },
    { ...common, mode: "text", ...columnsOf(named.map((base) => places[base])), text: named.map((base) => `${base + 1}`), textposition: "top center", textfont: { color: cssColour("--ink"), size: 14 } },
  ];
}

function spaceLayout(state, axes) {
  return {
    margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false, paper_bgcolor: "rgba(0,0,0,0)", uirevision: state.view,
    scene: { ...axes, aspectmode: "cube", dragmode: "orbit", camera: state.cameras[state.view] },
  };
}

/** From where each view is first seen. */
const CAMERAS = { mass: { eye: { x: 0.75, y: 0.75, z: 0.65 } }, setting: { eye: { x: 1.55, y: -1.55, z: 0.85 }, center: { x: 0, y: 0, z: -0.15 } } };
