// From what a camera sees to x, as Python prepares data: the square in the middle, grey where the data are grey,
// resized by Pillow's bilinear filter, in its whole numbers, so that the same picture gives the same x to the bit.

const PRECISION = 22; // bits behind the point of a filter's weights

/** RGBA bytes (width x height) -> planes of bytes of the largest square in the middle: one of grey, or three. */
function squarePlanes({ data, width, height }, channels) {
  const side = Math.min(width, height);
  const [left, top] = [(width - side) >> 1, (height - side) >> 1];
  const planes = Array.from({ length: channels }, () => new Uint8Array(side * side));
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const at = 4 * ((top + row) * width + left + column);
      const to = row * side + column;
      if (channels === 1) planes[0][to] = grey(data[at], data[at + 1], data[at + 2]);
      else for (let channel = 0; channel < channels; channel++) planes[channel][to] = data[at + channel];
    }
  }
  return { planes, side };
}

/** As Pillow's mode L: 0.299 red, 0.587 green, 0.114 blue, rounded. */
function grey(red, green, blue) {
  return (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16;
}

/** For each place of the result: where its first source is, and whole-number weights of it and those behind. */
function filterOf(from, to) {
  const scale = from / to;
  const support = Math.max(scale, 1);
  return Array.from({ length: to }, (_, place) => {
    const centre = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const last = Math.min(from, Math.trunc(centre + support + 0.5));
    const weights = Array.from({ length: last - first }, (_, i) => Math.max(0, 1 - Math.abs((first + i - centre + 0.5) * (1 / support))));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return { first, weights: weights.map((weight) => Math.trunc(0.5 + weight / sum * (1 << PRECISION))) };
  });
}

/** Rows of `from` bytes -> rows of `filter.length` bytes, written as columns: called twice it resizes both ways. */
function resizedRows(plane, rows, from, filter) {
  const out = new Uint8Array(rows * filter.length);
  for (let row = 0; row < rows; row++) {
    filter.forEach(({ first, weights }, place) => {
      let sum = 1 << (PRECISION - 1);
      const start = row * from + first;
      for (let i = 0; i < weights.length; i++) sum += plane[start + i] * weights[i];
      out[place * rows + row] = Math.min(255, Math.max(0, sum >> PRECISION));
    });
  }
  return out;
}

/** A square plane -> height x width. */
function resizedPlane(plane, side, height, width) {
  if (side === width && side === height) return plane;
  const turned = resizedRows(plane, side, side, filterOf(side, width));
  return resizedRows(turned, width, side, filterOf(side, height));
}

/** The bytes that a network's input is made of, in the order of its shape [channels, height, width]. */
function preparedBytes(picture, [channels, height, width], inverted) {
  const { planes, side } = squarePlanes(picture, channels);
  const found = new Uint8Array(channels * height * width);
  planes.forEach((plane, channel) => found.set(resizedPlane(plane, side, height, width), channel * height * width));
  return inverted ? found.map((value) => 255 - value) : found;
}
