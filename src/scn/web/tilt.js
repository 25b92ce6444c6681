// The tilt of a phone as the angle of its camera's image. Gravity says where up is on the screen; a phone that is
// turned clockwise sees the world turned counter-clockwise, by the angle that the transform calls so.

const FLAT = 0.25; // of gravity in the plane of the screen: with less of it no way is up
const PATIENCE = 1500; // milliseconds until a sensor that says nothing counts as none
const NO_SENSOR = "No tilt arrives: this device has no sensor for it, or the browser keeps it back. Turn the dial instead.";
const UNASKED = "A browser tells the tilt only to pages from https:// or from this device itself. Turn the dial instead.";
const REFUSED = "The tilt was refused. On an iPhone close this page, open it again and allow motion and orientation when "
  + "asked; elsewhere allow motion sensors in the settings of the page. Until then turn the dial.";

/** Degrees counter-clockwise, 0 to 360, from the angles of the event and of the screen; null for a phone that lies flat. */
function tiltAngle({ beta, gamma }, screenAngle = 0, mirrored = false) {
  const [pitch, roll] = [beta * Math.PI / 180, gamma * Math.PI / 180];
  const right = -Math.cos(pitch) * Math.sin(roll); // of the direction up, on the screen as it is when upright
  const up = Math.sin(pitch);
  if (Math.hypot(right, up) < FLAT) return null;
  const turned = Math.atan2(-right, up) * 180 / Math.PI + screenAngle; // the picture turns with the screen
  return modulo(mirrored ? -turned : turned, 360);
}

class Tilt {
  /** `moved(angle)` with every reading, null for a phone that lies flat; `silent(text)` when none comes. */
  constructor(moved, silent) {
    this.silent = silent;
    this.mirrored = false;
    this.heard = false;
    this.listener = (event) => {
      if (event.beta === null || event.gamma === null) return;
      this.heard = true;
      moved(tiltAngle(event, screen.orientation?.angle ?? window.orientation ?? 0, this.mirrored));
    };
  }

  /** Must be called by a tap: an iPhone asks the person then. */
  async start() {
    if (!("DeviceOrientationEvent" in window) || !isSecureContext) throw new Error(UNASKED);
    if (typeof DeviceOrientationEvent.requestPermission === "function") {
      const answer = await DeviceOrientationEvent.requestPermission().catch(() => "denied");
      if (answer !== "granted") throw new Error(REFUSED);
    }
    this.heard = false;
    window.addEventListener("deviceorientation", this.listener);
    this.waiting = setTimeout(() => { if (!this.heard) this.silent(NO_SENSOR); }, PATIENCE);
  }

  stop() {
    clearTimeout(this.waiting);
    window.removeEventListener("deviceorientation", this.listener);
  }
}
