// Drawings of a sample under a setting, by its kind. Each draws number `sample` under setting number `setting`.

const DRAWERS = { image: drawImage, wave: drawWave, points: drawPoints, reading: drawReading };

function drawSample(canvas, drawing, sample, setting) {
  DRAWERS[drawing.kind](canvas, drawing, sample, setting);
}

/** The pixels as they are; the style of the page makes them larger. */
function drawImage(canvas, { values, valuesShape }, sample, setting) {
  const [, settings, height, width, channels] = valuesShape;
  const first = (sample * settings + setting) * height * width * channels;
  paintPixels(canvas, width, height, (pixel) => {
    const at = first + pixel * channels;
    return channels >= 3 ? [values[at], values[at + 1], values[at + 2]] : [values[at], values[at], values[at]];
  });
}

/** Every pixel in the colour, [red, green, blue] up to 255, of its number. */
function paintPixels(canvas, width, height, colourOf) {
  sized(canvas, width, height);
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  for (let pixel = 0; pixel < height * width; pixel++) {
    picture.data.set(colourOf(pixel), 4 * pixel);
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

/** Calls `each(right, up, near)` for every `step`-th point of a cloud, turned by the setting's matrix. */
function eachPoint({ points, pointsShape, matrices }, sample, setting, step, each) {
  const [, count] = pointsShape;
  const m = matrices.subarray(9 * setting, 9 * setting + 9);
  for (let point = 0; point < count; point += step) {
    const at = 3 * (sample * count + point);
    each(...turned(m, points[at] / 32767, points[at + 1] / 32767, points[at + 2] / 32767));
  }
}

/** A cloud of points seen along the third axis: nearer points are brighter. */
function drawPoints(canvas, drawing, sample, setting) {
  const size = canvas.closest("#samples") ? 96 : 480;
  sized(canvas, size, size);
  const context = canvas.getContext("2d");
  context.fillStyle = "#000";
  context.fillRect(0, 0, size, size);
  const dot = Math.max(1, size / 130);
  eachPoint(drawing, sample, setting, Math.max(1, Math.floor(drawing.pointsShape[1] / DOTS)), (right, up, near) => {
    context.fillStyle = DEPTHS[Math.round(Math.min(Math.max((near + 1) / 2, 0), 1) * (DEPTHS.length - 1))];
    context.fillRect((right + 1) * size / 2 - dot / 2, (1 - up) * size / 2 - dot / 2, dot, dot);
  });
}

// How a pixel changes with a point that falls into it, and the light it has in the end, for each kind of image.
const IMAGES = {
  depth: { add: (now, near) => Math.max(now, (near + 2) / 3), light: (value) => value },
  count: { add: (now) => now + 1, light: (value, { crowded }) => 1 - Math.exp(-value / crowded) },
};

/** The image of the cloud that the network is shown, as the transform makes it. */
function drawSeen(canvas, drawing, sample, setting) {
  const { size, image } = drawing;
  const values = new Float32Array(size * size);
  const place = (value) => Math.min(Math.max(Math.trunc(value * size / 2), 0), size - 1);
  eachPoint(drawing, sample, setting, 1, (right, up, near) => {
    const pixel = place(1 - up) * size + place(right + 1);
    values[pixel] = IMAGES[image].add(values[pixel], near);
  });
  paintPixels(canvas, size, size, (pixel) => Array(3).fill(Math.round(255 * Math.min(IMAGES[image].light(values[pixel], drawing), 1))));
}

const DOTS = 1024; // of a drawn cloud
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
