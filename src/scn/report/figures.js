// The interactive figures of the report. Each function returns plotly traces and a layout of its own.

/** Colours, fonts and margins of every figure, for light or dark ground. */
function figureLayout(dark, more) {
  const ink = dark ? "#e8ebee" : "#1b1f24";
  const line = dark ? "#3a424b" : "#d5dbe1";
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
  const polar = { bgcolor: "rgba(0,0,0,0)", radialaxis: { ...axis, angle: 22, tickangle: 22, nticks: 5, tickfont: { size: 11 } }, angularaxis: axis };
  return merged({
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: 13 },
    margin: { l: 60, r: 16, t: 16, b: 56 }, autosize: true, xaxis: axis, yaxis: axis, polar,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, xanchor: "left" }, hovermode: "closest",
  }, more);
}

/** Objects in objects are merged, everything else is replaced. */
function merged(base, more) {
  const found = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const both = value && found[key] && typeof value === "object" && !Array.isArray(value);
    found[key] = both ? merged(found[key], value) : value;
  }
  return found;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean over seeds at every place; places that a run did not reach are left out. */
function meanOver(seeds) {
  const longest = Math.max(0, ...seeds.map((seed) => seed.length));
  return Array.from({ length: longest }, (_, place) => {
    const known = seeds.map((seed) => seed[place]).filter((value) => value !== null && value !== undefined);
    return known.length ? mean(known) : null;
  });
}

const DASHES = ["solid", "dash", "dot", "dashdot"];

/** A dash for every label of the rows: by variant of what mixes, and one more for each further network of a colour. */
function dashesOf(rows, colours) {
  const variants = [...new Set(rows.filter(({ mixes }) => mixes).map(variantOf))];
  return Object.fromEntries(rows.map((row) => {
    const alike = rows.filter((one) => colours[one.label] === colours[row.label] && (!row.mixes || variantOf(one) === variantOf(row)));
    const variant = Math.max(0, variants.indexOf(variantOf(row)));
    return [row.label, DASHES[(variant + Math.floor(variant / 4) + alike.indexOf(row)) % 4]];
  }));
}

/** The axis of a parameter; angles are marked every quarter of a turn. */
function parameterAxis(parameter) {
  const quarters = parameter.periodic && parameter.unit === "degrees" ? { dtick: 90, tick0: 0 } : {};
  return { title: { text: withUnit(parameter) }, ...quarters };
}

function withUnit(parameter) {
  return parameter.unit ? `${parameter.name} (${parameter.unit})` : parameter.name;
}

/** The mean score along one parameter, over all settings of the others and all seeds. */
function alongParameter(entry, place) {
  const sums = new Map();
  entry.params.forEach((setting, row) => {
    const kept = sums.get(setting[place]) ?? [];
    kept.push(...entry.seeds.map((seed) => seed[row]));
    sums.set(setting[place], kept);
  });
  const places = [...sums.keys()].sort((a, b) => a - b);
  return { places, values: places.map((value) => mean(sums.get(value))) };
}

function scoreFigures(content, colours, dark) {
  const { parameters, scores } = content;
  const circle = parameters.length === 1 && parameters[0].periodic;
  return [
    ...(parameters.length === 2 ? scoreMaps(content, scores, dark) : []),
    ...lineFigures(content, scores, colours, dark),
    ...(circle ? [{ title: "the same around the circle", ...scorePolar(content, colours, dark) }] : []),
    ...sizeFigures(content, colours, dark),
  ];
}

/** Networks that stay as they were configured once. */
function specialisationFigures(content, colours, dark) {
  const { entries } = content.specialisation;
  if (content.parameters.length === 2) return scoreMaps(content, entries, dark);
  return lineFigures(content, entries, colours, dark);
}

/** A figure for each parameter. */
function lineFigures(content, entries, colours, dark) {
  if (!entries.length) return [];
  return content.parameters.map((parameter, place) => ({
    title: `${content.score.label} over ${parameter.name}` + (content.parameters.length > 1 ? ", mean over the others" : ""),
    ...scoreLines(content, entries, place, colours, dark),
  }));
}

function scoreLines(content, entries, place, colours, dark) {
  const traces = entries.map((entry) => {
    const { places, values } = alongParameter(entry, place);
    return {
      type: "scatter", mode: entry.points ? "markers" : places.length > 40 ? "lines" : "lines+markers",
      x: places, y: values, name: entry.label,
      line: { color: colours[entry.label], width: 2, dash: content.dashes[entry.label] },
      marker: { color: colours[entry.label], size: entry.points ? 9 : 5, symbol: entry.points ? "diamond" : "circle" },
      hovertemplate: `%{x:.4g}: %{y:${hoverFormat(content.score)}}<extra>%{fullData.name}</extra>`,
    };
  });
  const axes = { xaxis: parameterAxis(content.parameters[place]), yaxis: { title: { text: scoreAxis(content.score) } } };
  return { traces, layout: figureLayout(dark, { ...axes, ...chanceLine(content, traces.flatMap(({ y }) => y), dark) }) };
}

/** How plotly writes a score. */
function hoverFormat({ highest }) {
  return highest === null ? ".4g" : ".4f";
}

/** A dotted line at what a constant prediction reaches, if it lies among these values. */
function chanceLine({ chance }, values, dark) {
  if (chance === null || chance < Math.min(...values) || chance > Math.max(...values)) return {};
  const color = dark ? "#a9b3bd" : "#535c66";
  const text = { text: "chance", x: 1, xref: "paper", xanchor: "right", y: chance, yanchor: "bottom", showarrow: false, font: { color, size: 11 } };
  return {
    shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: chance, y1: chance, line: { color, width: 1.5, dash: "dot" } }],
    annotations: [text],
  };
}

const SIZES = { stored: "stored (bytes of float32)", theta: "θ (bytes of float32)", operations: "multiply-accumulates of a prediction" };

/** The score against each size in which networks differ. Networks for one setting each are left out: one is not enough. */
function sizeFigures(content, colours, dark) {
  const rows = content.rows.filter((row) => !content.scores.find(({ label }) => label === row.label)?.points);
  return Object.entries(SIZES).flatMap(([name, title]) => {
    const sizes = rows.map((row) => row.sizes[name]);
    if (sizes.includes(null) || new Set(sizes.filter((size) => size > 0)).size < 2) return [];
    const scale = sizeScale(sizes);
    const traces = rows.map((row) => ({
      type: "scatter", mode: "markers", x: [scale.place(row.sizes[name])], y: [row.mean], name: row.label, customdata: [row.sizes[name]],
      error_y: { array: [row.std], visible: row.seeds > 1 }, marker: { color: colours[row.label], size: 10, symbol: symbolOf(rows, row, colours) },
      hovertemplate: `%{customdata:,}: %{y:${hoverFormat(content.score)}}<extra>%{fullData.name}</extra>`,
    }));
    const titles = { xaxis: { title: { text: title }, ...scale.axis }, yaxis: { title: { text: scoreAxis(content.score) } } };
    return [{ title: `${content.score.label} against size: ${title}`, traces, layout: figureLayout(dark, titles) }];
  });
}

/** A mark of another kind for each further network of a colour that another has already. */
function symbolOf(entries, entry, colours) {
  const alike = entries.filter((one) => colours[one.label] === colours[entry.label]);
  return ["circle", "square", "triangle-up", "cross"][alike.indexOf(entry) % 4];
}

/** Sizes by their logarithm, with a place of its own for nothing at all, to the left of the others. */
function sizeScale(sizes) {
  const known = sizes.filter((size) => size > 0).map(Math.log10);
  const nothing = Math.floor(2 * Math.min(...known)) / 2 - 0.5;
  const powers = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
  const near = powers.filter((size) => Math.log10(size) >= Math.min(...known) - 0.35 && Math.log10(size) <= Math.max(...known) + 0.35);
  const kept = near.length > 9 ? near.filter((size) => /^1/.test(size)) : near;
  const shown = sizes.includes(0) ? [0, ...kept] : kept;
  const place = (size) => size > 0 ? Math.log10(size) : nothing;
  return { place, axis: { tickmode: "array", tickvals: shown.map(place), ticktext: shown.map(shortNumber), zeroline: false } };
}

function shortNumber(size) {
  const unit = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([much]) => size >= much);
  return unit ? `${size / unit[0]}${unit[1]}` : `${size}`;
}

/** Around the circle. The scale begins a little below the lowest value, so that differences show. */
function scorePolar(content, colours, dark) {
  const { low, high, unit } = content.parameters[0];
  const degrees = (value) => 360 * (value - low) / (high - low) + (low < 0 ? low : 0);
  const all = content.scores.flatMap((entry) => entry.seeds.flat());
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const traces = content.scores.map((entry) => {
    const { places, values } = alongParameter(entry, 0);
    const closed = !entry.points && places.length > 1;
    return {
      type: "scatterpolar", mode: entry.points ? "markers" : "lines", name: entry.label,
      theta: [...places, ...(closed ? [places[0]] : [])].map(degrees), r: [...values, ...(closed ? [values[0]] : [])],
      line: { color: colours[entry.label], width: 2, dash: content.dashes[entry.label] },
      marker: { color: colours[entry.label], size: 9, symbol: "diamond" },
      customdata: [...places, ...(closed ? [places[0]] : [])],
      hovertemplate: `%{customdata:.4g}: %{r:${hoverFormat(content.score)}}<extra>%{fullData.name}</extra>`,
    };
  });
  const eighths = [...Array(8).keys()].map((place) => low + place * (high - low) / 8);
  const angularaxis = unit === "degrees" ? {}
    : { tickmode: "array", tickvals: eighths.map(degrees), ticktext: eighths.map((value) => `${+value.toPrecision(4)} ${unit}`) };
  const { lowest, highest } = content.score;
  const more = highest === null ? 0.05 * (most - least || most || 1) : 0.01;
  const range = [Math.max(lowest ?? -Infinity, least - 0.15 * (most - least) - more), Math.min(highest ?? Infinity, most + more)];
  return { traces, layout: figureLayout(dark, { polar: { radialaxis: { range }, angularaxis }, legend: { y: 1.12 }, margin: { l: 40, r: 40, b: 40 } }) };
}

/** Two parameters: one map for each network, all on one scale. */
function scoreMaps({ score, parameters }, entries, dark) {
  const curves = entries.filter((entry) => !entry.points);
  const values = curves.flatMap((entry) => entry.seeds.flat());
  const [zmin, zmax] = [Math.min(...values), Math.max(...values)];
  return curves.map((entry) => {
    const average = meanOver(entry.seeds);
    const [x, y] = [0, 1].map((place) => entry.params.map((setting) => setting[place]));
    const traces = [{
      type: "heatmap", x, y, z: average, zmin, zmax, colorscale: "Cividis", reversescale: !score.higher_is_better,
      colorbar: { title: { text: score.label }, thickness: 12 }, hovertemplate: `%{x:.4g}, %{y:.4g}: %{z:${hoverFormat(score)}}<extra></extra>`,
    }];
    const [xaxis, yaxis] = parameters.map(parameterAxis);
    return { title: entry.label, traces, layout: figureLayout(dark, { xaxis, yaxis }) };
  });
}

function spreadFigures(content, colours, dark) {
  const violin = (name, y, colour, points) => ({
    type: "violin", name, y, box: { visible: true }, meanline: { visible: true }, points, line: { color: colour }, spanmode: "hard",
    hoverinfo: "y+name",
  });
  const traces = content.scores.flatMap((entry) => [
    violin(entry.label, entry.seeds.flat(), colours[entry.label], entry.points ? "all" : false),
    ...content.searched.filter(({ of }) => of === entry.label)
      .map(({ label, values }) => violin(label, values, colours[entry.label], values.length < 10 ? "all" : false)),
  ]);
  const chance = chanceLine(content, traces.flatMap(({ y }) => y), dark);
  const layout = figureLayout(dark, { showlegend: false, yaxis: { title: { text: scoreAxis(content.score) } }, margin: { b: 40 }, ...chance });
  return [{ title: `${content.score.label} of each network`, wide: true, traces, layout }];
}

/** β over each parameter: the shares of the base models, one above the other; they sum to 1. Coefficients that
 * may be negative cannot be stacked: they are lines. */
function betaFigures(content, dark) {
  return content.beta.flatMap((entry) => entry.axes.map((axis, place) => {
    const least = Math.min(...axis.beta.flat());
    const stacked = least > -0.001;
    const traces = axis.beta.map((share, base) => ({
      type: "scatter", mode: "lines", x: axis.values, y: share, name: `base ${base + 1}`,
      line: { width: stacked ? 0.5 : 1.5, color: baseColour(base, dark) },
      ...(stacked ? { stackgroup: "beta", fillcolor: baseColour(base, dark) } : {}),
      hovertemplate: "%{y:.3f}<extra>%{fullData.name}</extra>",
    }));
    const many = axis.beta.length > 16;
    const layout = figureLayout(dark, {
      hovermode: many ? "closest" : "x unified", xaxis: parameterAxis(content.parameters[place]),
      yaxis: { title: { text: stacked ? "share of each base, β" : "coefficient of each base, β" }, ...(stacked ? { range: [0, 1] } : {}) },
      showlegend: !many,
    });
    return { title: `${entry.label}, seed ${entry.seed}`, traces, layout };
  }));
}

function trainingFigures(content, colours, dark) {
  return content.training.flatMap(({ title, entries }) => {
    const traces = entries.map((entry) => trainingCurve(content, entry, colours)).filter(Boolean);
    if (!traces.length) return [];
    return [{ title, traces, layout: figureLayout(dark, { xaxis: { title: { text: "epoch" } }, yaxis: { title: { text: title } } }) }];
  });
}

function trainingCurve(content, entry, colours) {
  const values = meanOver(entry.seeds);
  if (!values.some((value) => value !== null)) return null;
  return {
    type: "scatter", mode: "lines", name: entry.label, x: values.map((_, place) => place + 1), y: values,
    line: { color: colours[entry.label], width: 2, dash: content.dashes[entry.label] },
    hovertemplate: "epoch %{x}: %{y:.4g}<extra>%{fullData.name}</extra>",
  };
}
