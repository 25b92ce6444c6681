// The score over each parameter, the others at the evaluated setting nearest to where they stand.

const FRAME = { width: 400, height: 190, left: 42, right: 10, top: 8, bottom: 24 };

/** Who has a curve: {label, role, params, values, dashed}. */
function seriesOf(state) {
  const chosen = state.networks[state.network];
  const found = [{ label: chosen.label, role: "scn", ...chosen.scores }];
  if (state.rigid) found.push({ label: state.rigid.label, role: "one4all", ...state.rigid.scores });
  found.push({ label: frozenLabel(state), role: "frozen", dashed: true, ...chosen.frozen });
  return found;
}

/** {figures, legend, show(state)}. */
function newCurves(state) {
  const series = seriesOf(state);
  const all = series.flatMap(({ values }) => values);
  const range = scoreRange(all, state.score);
  const curves = state.parameters.map((parameter, place) => newCurve(state, parameter, place, series, range));
  const entries = series.map(({ label, role, dashed }) => {
    const here = element("b", {});
    const chip = element("span", { class: dashed ? "chip dashed" : "chip", "data-role": role, "aria-hidden": "true" });
    return { here, root: element("span", {}, chip, `${label} `, here) };
  });
  const chance = isShown(state.chance, range) ? [element("span", { class: "muted" }, `chance ${scoreText(state.score, state.chance, 3)}`)] : [];
  return {
    figures: curves.map(({ root }) => root),
    legend: [...entries.map(({ root }) => root), ...chance],
    show(state) {
      curves.forEach((curve) => curve.show(state));
      series.forEach((one, place) => { entries[place].here.textContent = hereText(state, one); });
    },
  };
}

/** Whether the level of chance lies on an axis from one end to the other. */
function isShown(chance, [low, high]) {
  return typeof chance === "number" && chance >= low && chance <= high;
}

/** A network that is configured for a wrong setting was not tested so. */
function hereText(state, one) {
  const here = state.wrong && one.role === "scn" ? null : scoreHere(state, one);
  return here === null ? "–" : scoreText(state.score, here, 3);
}

function valuesAt(state, places) {
  return places.map((place, parameter) => state.parameters[parameter].values[place]);
}

/** The difference of two values as a share of the range; round a circle, the shorter way. */
function apart(parameter, a, b) {
  const share = Math.abs(a - b) / (parameter.high - parameter.low);
  return parameter.periodic ? Math.min(share % 1, 1 - share % 1) : share;
}

/** The row of a table of settings nearest to these values; `left` is a parameter that does not count. */
function nearestRow(state, params, values, left = -1) {
  let [best, least] = [0, Infinity];
  params.forEach((setting, row) => {
    let distance = 0;
    setting.forEach((value, p) => { if (p !== left) distance += apart(state.parameters[p], value, values[p]); });
    if (distance < least) [best, least] = [row, distance];
  });
  return best;
}

/** The score where the control in use stands, between two settings that were tested; null beyond them. */
function scoreHere(state, one) {
  const value = state.parameters[state.active].values[state.at[state.active]];
  const points = slice(state, one, state.active);
  const next = points.findIndex(([place]) => place >= value - 1e-9);
  if (next < 0) return null;
  const [[right, after], [left, before]] = [points[next], points[Math.max(next - 1, 0)]];
  if (next === 0) return right - value < 1e-6 ? after : null;
  return before + (after - before) * (value - left) / (right - left);
}

/** The points (value, score) along one parameter. */
function slice(state, { params, values }, place) {
  const nearest = params[nearestRow(state, params, valuesAt(state, state.at), place)];
  const rows = params.map((setting, row) => row).filter((row) => params[row].every((v, p) => p === place || v === nearest[p]));
  const points = rows.map((row) => [params[row][place], values[row]]).sort((a, b) => a[0] - b[0]);
  const { periodic, low, high } = state.parameters[place];
  if (periodic && points.length > 1) points.push([points[0][0] + high - low, points[0][1]]);
  return points;
}

function newCurve(state, parameter, place, series, range) {
  const { width, height, left, right, top, bottom } = FRAME;
  const x = (value) => left + (value - parameter.low) / (parameter.high - parameter.low) * (width - left - right);
  const y = (value) => top + (range[1] - value) / (range[1] - range[0]) * (height - top - bottom);
  const lines = series.map(({ role, dashed }) => svg("polyline", {
    class: "series", "data-role": role, ...(dashed ? { "stroke-dasharray": "6 4" } : {}),
  }));
  const marker = svg("line", { class: "marker", y1: top, y2: height - bottom });
  const assumed = svg("line", { class: "marker assumed", y1: top, y2: height - bottom });
  const chance = isShown(state.chance, range)
    ? [svg("line", { class: "chance", x1: left, x2: width - right, y1: y(state.chance), y2: y(state.chance) })] : [];
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" }, ...axes(parameter, range, x, y), ...chance, ...lines, assumed, marker);
  const unit = parameter.unit ? ` (${parameter.unit})` : "";
  const root = element("figure", { class: "curve" }, picture, element("figcaption", {}, `${parameter.name}${unit}`));
  let drawn = "";
  const show = (state) => {
    const others = state.at.filter((_, p) => p !== place).join();
    if (others !== drawn || !lines[0].hasAttribute("points")) {
      drawn = others;
      series.forEach((one, s) => lines[s].setAttribute("points", slice(state, one, place).map(([v, a]) => `${x(v).toFixed(1)},${y(a).toFixed(1)}`).join(" ")));
    }
    moveMarker(marker, x(parameter.values[state.at[place]]));
    assumed.style.display = state.wrong ? "" : "none";
    moveMarker(assumed, x(parameter.values[configuredPlaces(state)[place]]));
    picture.setAttribute("aria-label", `${state.score.label} over ${parameter.name}, now at ${valueText(parameter, state.at[place])}`);
  };
  return { root, show };
}

function moveMarker(line, x) {
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
}

/** As many digits as tell the ends of the axis apart. */
function levelText(value, [low, high]) {
  const span = high - low;
  return value.toFixed(Math.max(span <= 1 ? 2 : 0, 1 - Math.floor(Math.log10(span) + 1e-9))).replace("-", "−");
}

function axes(parameter, range, x, y) {
  const { width, left, right } = FRAME;
  const middle = (range[0] + range[1]) / 2;
  const levels = [range[0], middle, range[1]].flatMap((value) => [
    svg("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
    svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, levelText(value, range)),
  ]);
  const values = [0, 0.25, 0.5, 0.75, 1].map((share) => parameter.low + share * (parameter.high - parameter.low));
  const places = values.map((value, place) => svg("text", {
    x: x(value), y: FRAME.height - 8, "text-anchor": ["start", "middle", "middle", "middle", "end"][place],
  }, Number(value.toPrecision(3)).toString().replace("-", "−")));
  return [...levels, ...places];
}
