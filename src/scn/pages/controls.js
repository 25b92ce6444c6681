// Controls for a setting: a dial for a circle, a slider otherwise. Both are sliders to a screen reader.

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * A control for one parameter: its places have these values and words; `moved(place)` when a person moves it.
 * Returns {root, show(place)}.
 */
function newControl(parameter, values, words, moved, purpose) {
  const make = parameter.periodic ? newDial : newSlider;
  const shown = element("output", {});
  const input = make(parameter, values, words, moved, purpose);
  const name = element("div", { class: "name" }, element("span", {}, parameter.name), shown);
  return {
    root: element("div", { class: `control ${parameter.periodic ? "circle" : "linear"}` }, name, input.root),
    show(place) {
      shown.textContent = words[place];
      input.show(place);
    },
  };
}

function newSlider(parameter, values, words, moved, purpose) {
  const root = element("input", {
    type: "range", min: 0, max: values.length - 1, step: 1, "aria-label": `${purpose}: ${parameter.name}`,
    input: () => moved(Number(root.value)),
  });
  return {
    root,
    show(place) {
      root.value = place;
      root.setAttribute("aria-valuetext", words[place]);
    },
  };
}

/** Places go round counter-clockwise from the top, where 0 is, as an image turns. */
function newDial(parameter, values, words, moved, purpose) {
  const count = values.length;
  const zero = Math.min(Math.max(0, parameter.low), parameter.high);
  const offset = count * (zero - values[0]) / (parameter.high - parameter.low);
  const hand = svg("line", { class: "hand", x1: 0, y1: 0, x2: 0, y2: -34 });
  const knob = svg("circle", { class: "knob", cx: 0, cy: -36, r: 9 });
  const pointer = svg("g", {}, hand, knob);
  const ticks = Array.from({ length: 12 }, (_, i) => svg("line", {
    class: "tick", x1: 0, x2: 0, y1: -48, y2: i % 3 ? -45 : -42, transform: `rotate(${30 * i})`,
  }));
  const root = svg("svg", {
    class: "dial", viewBox: "-52 -52 104 104", role: "slider", tabindex: 0, "aria-valuemin": parameter.low,
    "aria-valuemax": parameter.high, "aria-label": `${purpose}: ${parameter.name}`,
  }, svg("circle", { class: "ring", cx: 0, cy: 0, r: 49 }), ...ticks, pointer);
  let now = 0;
  const show = (place) => {
    now = place;
    pointer.setAttribute("transform", `rotate(${-360 * (place - offset) / count})`);
    root.setAttribute("aria-valuenow", values[place]);
    root.setAttribute("aria-valuetext", words[place]);
  };
  listenToPointer(root, (turn) => moved(modulo(Math.round(turn * count + offset), count)));
  root.addEventListener("keydown", (event) => {
    const next = placeAfterKey(event.key, now, count, true);
    if (next === null) return;
    event.preventDefault();
    now = next; // the next key may come before the next frame
    moved(next);
  });
  return { root, show };
}

function modulo(value, count) {
  return ((value % count) + count) % count;
}

/** Mouse, pen and touch alike: `turned(share)` of a whole turn, counter-clockwise from the top. */
function listenToPointer(root, turned) {
  const follow = (event) => {
    const box = root.getBoundingClientRect();
    const right = event.clientX - (box.left + box.width / 2);
    const up = box.top + box.height / 2 - event.clientY;
    if (right || up) turned(Math.atan2(-right, up) / (2 * Math.PI));
  };
  root.addEventListener("pointerdown", (event) => {
    root.setPointerCapture(event.pointerId);
    root.focus({ preventScroll: true });
    event.preventDefault();
    follow(event);
  });
  root.addEventListener("pointermove", (event) => {
    if (root.hasPointerCapture(event.pointerId)) follow(event);
  });
}

/** Where a key moves a control, or null for a key that it does not know. A circle goes on at its end. */
function placeAfterKey(key, now, count, periodic) {
  const far = Math.max(1, Math.round(count / 12));
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: far, PageDown: -far };
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (!(key in steps)) return null;
  const next = now + steps[key];
  return periodic ? modulo(next, count) : Math.min(Math.max(next, 0), count - 1);
}
