// Drawings of a sample under a setting, by its kind. Each draws number `sample` under setting number `setting`.

const DRAWERS = { image: drawImage, wave: drawWave, points: drawPoints, reading: drawReading };

function drawSample(canvas, drawing, sample, setting) {
  DRAWERS[drawing.kind](canvas, drawing, sample, setting);
}

/** The pixels as they are; the style of the page makes them larger. */
function drawImage(canvas, { values, valuesShape }, sample, setting) {
  const [, settings, height, width, channels] = valuesShape;
  sized(canvas, width, height);
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  const first = (sample * settings + setting) * height * width * channels;
  for (let pixel = 0; pixel < height * width; pixel++) {
    const at = first + pixel * channels;
    const colour = channels >= 3 ? [values[at], values[at + 1], values[at + 2]] : [values[at], values[at], values[at]];
    picture.data.set(colour, 4 * pixel);
    picture.data[4 * pixel + 3] = 255;
  }
  context.putImageData(picture, 0, 0);
}

/** The lowest and highest value of each column, as a band. */
function drawWave(canvas, { values, valuesShape }, sample, setting) {
  const [, settings, columns] = valuesShape;
  sized(canvas, 2 * columns, columns);
  const context = cleared(canvas);
  const first = (sample * settings + setting) * columns * 2;
  const middle = canvas.height / 2;
  const height = (level) => middle - level / 127 * (middle - 4);
  context.fillStyle = roleColours().scn;
  for (let column = 0; column < columns; column++) {
    const before = first + 2 * Math.max(column - 1, 0); // what lies between two columns belongs to the second
    const low = Math.min(values[first + 2 * column], values[before + 1]);
    const high = Math.max(values[first + 2 * column + 1], values[before]);
    context.fillRect(2 * column, height(high), 2, Math.max(canvas.closest("#samples") ? 8 : 2, height(low) - height(high)));
  }
}

/** A cloud of points, turned by the setting's matrix and seen along the third axis: nearer points are brighter. */
function drawPoints(canvas, { points, pointsShape, matrices }, sample, setting) {
  const size = canvas.closest("#samples") ? 96 : 480;
  sized(canvas, size, size);
  const context = canvas.getContext("2d");
  context.fillStyle = "#000";
  context.fillRect(0, 0, size, size);
  const m = matrices.subarray(9 * setting, 9 * setting + 9);
  const [, count] = pointsShape;
  const dot = Math.max(1, size / 130);
  for (let point = 0; point < count; point++) {
    const at = 3 * (sample * count + point);
    const [right, up, near] = turned(m, points[at] / 32767, points[at + 1] / 32767, points[at + 2] / 32767);
    context.fillStyle = DEPTHS[Math.round(Math.min(Math.max((near + 1) / 2, 0), 1) * (DEPTHS.length - 1))];
    context.fillRect((right + 1) * size / 2 - dot / 2, (1 - up) * size / 2 - dot / 2, dot, dot);
  }
}

const DEPTHS = Array.from({ length: 32 }, (_, i) => `hsl(205 70% ${18 + 2.1 * i}%)`);

/** A matrix, row by row, times a point. */
function turned(m, x, y, z) {
  return [m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z];
}

/** A bar for every reading of a sensor. */
function drawReading(canvas, { values, valuesShape, most }, sample) {
  const [, count] = valuesShape;
  const small = canvas.closest("#samples");
  sized(canvas, small ? 96 : 480, small ? 96 : 240);
  const context = cleared(canvas);
  const width = canvas.width / count;
  const zero = Math.min(...values) < 0 ? canvas.height / 2 : canvas.height - 4;
  context.fillStyle = roleColours().scn;
  for (let place = 0; place < count; place++) {
    const height = values[sample * count + place] / most * (zero - 4);
    context.fillRect((place + 0.15) * width, Math.min(zero, zero - height), 0.7 * width, Math.max(1, Math.abs(height)));
  }
}

function sized(canvas, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

function cleared(canvas) {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  return context;
}
