// Drawings of what a network is given, before it is normalised: an image, a waveform or readings.

const DRAWERS = { image: drawImage, wave: drawWave, reading: drawReading };

function drawValues(canvas, kind, values, shape, small) {
  DRAWERS[kind](canvas, values, shape, small);
}

/** The pixels as they are, (C, H, W) from 0 to 1; the style of the page makes them larger. */
function drawImage(canvas, values, [channels, height, width]) {
  sized(canvas, width, height);
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  const plane = height * width;
  for (let pixel = 0; pixel < plane; pixel++) {
    for (let colour = 0; colour < 3; colour++) {
      picture.data[4 * pixel + colour] = Math.round(255 * values[(channels >= 3 ? colour * plane : 0) + pixel]);
    }
    picture.data[4 * pixel + 3] = 255;
  }
  context.putImageData(picture, 0, 0);
}

/** The lowest and highest value of each column, as a band; the loudest fills the height. */
function drawWave(canvas, values, _, small) {
  sized(canvas, small ? 96 : 480, small ? 96 : 240);
  const context = cleared(canvas);
  const loudest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-3);
  const [middle, each] = [canvas.height / 2, values.length / canvas.width];
  for (let column = 0; column < canvas.width; column++) {
    const part = values.subarray(Math.floor(column * each), Math.max(Math.floor((column + 1) * each), Math.floor(column * each) + 1));
    const [low, high] = [Math.min(...part), Math.max(...part)].map((value) => middle - value / loudest * (middle - 3));
    context.fillRect(column, high, 1, Math.max(small ? 4 : 1.5, low - high));
  }
}

/** A bar for every reading. */
function drawReading(canvas, values, _, small) {
  sized(canvas, small ? 96 : 480, small ? 96 : 240);
  const context = cleared(canvas);
  const most = values.reduce((found, value) => Math.max(found, Math.abs(value)), 1e-6);
  const zero = Math.min(...values) < 0 ? canvas.height / 2 : canvas.height - 4;
  const width = canvas.width / values.length;
  values.forEach((value, place) => {
    const height = value / most * (zero - 4);
    context.fillRect((place + 0.15) * width, Math.min(zero, zero - height), 0.7 * width, Math.max(1, Math.abs(height)));
  });
}

function sized(canvas, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

function cleared(canvas) {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = cssColour("--accent");
  return context;
}
