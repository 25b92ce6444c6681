// The β-space in three dimensions: a corner for each base model, and the mixture at its centre of mass, Σ βᵢ cᵢ.
// Up to four base models this shows β without loss; of more it is a projection.

/** Places for D corners: a line, a triangle, a tetrahedron, and then as evenly over a ball as may be. */
function corners(dims) {
  const exact = {
    1: [[0, 0, 0]],
    2: [[-1, 0, 0], [1, 0, 0]],
    3: [[1, 0, 0], [-0.5, 0.866, 0], [-0.5, -0.866, 0]],
    4: [[0, 0, 1], [0.943, 0, -0.333], [-0.471, 0.816, -0.333], [-0.471, -0.816, -0.333]],
  };
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

/** Draws all mixtures of the grid once; `show` moves the point. */
function newSpace(target, state) {
  const { beta, dims } = state.networks[state.network];
  const places = corners(dims);
  const every = Math.max(1, Math.ceil(state.settings / MOST_PLACES));
  const kept = Array.from({ length: Math.ceil(state.settings / every) }, (_, i) => i * every);
  const path = kept.map((setting) => placeOf(beta, setting * dims, places));
  const traces = [pathTrace(state, kept, path), edgesTrace(places), cornersTrace(places), pointTrace(placeOf(beta, 0, places))];
  Plotly.react(target, traces, spaceLayout(), { displayModeBar: false, responsive: true });
  const move = () => {
    const [x, y, z] = placeOf(betaNow(state), 0, places);
    target.setAttribute("aria-label", `the mixture lies at ${[x, y, z].map((v) => v.toFixed(2)).join(", ")}`);
    return Plotly.restyle(target, { x: [[x]], y: [[y]], z: [[z]] }, [3]);
  };
  return { show: whileVisible(target, move) };
}

/** `draw`, but not while the element is out of sight: it is the costliest drawing of the page. */
function whileVisible(target, draw) {
  let [visible, waiting] = [true, false];
  target.observer?.disconnect();
  target.observer = new IntersectionObserver(([entry]) => {
    visible = entry.isIntersecting;
    if (visible && waiting) draw();
    waiting = waiting && !visible;
  });
  target.observer.observe(target);
  return () => {
    waiting = !visible;
    if (visible) draw();
  };
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

function cornersTrace(places) {
  return {
    type: "scatter3d", mode: "markers+text", ...columnsOf(places), text: places.map((_, base) => `${base + 1}`), textposition: "top center",
    marker: { size: 4, color: cssColour("--muted") }, textfont: { color: cssColour("--ink"), size: 14 }, hoverinfo: "skip",
  };
}

function pointTrace(place) {
  const marker = { size: 9, color: cssColour("--ink"), line: { color: cssColour("--paper"), width: 2 } };
  return { type: "scatter3d", mode: "markers", ...columnsOf([place]), marker, hoverinfo: "skip" };
}

function spaceLayout() {
  const axis = { visible: false, range: [-1.15, 1.15] };
  return {
    margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false, paper_bgcolor: "rgba(0,0,0,0)", uirevision: "kept",
    scene: {
      xaxis: axis, yaxis: axis, zaxis: axis, aspectmode: "cube", dragmode: "orbit",
      camera: { eye: { x: 0.75, y: 0.75, z: 0.65 } },
    },
  };
}
