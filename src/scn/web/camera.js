// The camera: asked for by a tap, closed when it is not shown. What goes wrong is a sentence that says what to do.

const REFUSALS = {
  NotAllowedError: "The camera was refused. Allow it for this page (the sign beside the address), then choose Camera again.",
  NotFoundError: "This device has no camera. The test samples show the same networks.",
  OverconstrainedError: "This device has no camera that fits. The test samples show the same networks.",
  NotReadableError: "Another program is using the camera. Close that program, then choose Camera again.",
};
const CLOSED = "A browser gives the camera only to pages from https:// or from this device itself. "
  + "Put this file on any https server, or open it by localhost, and choose Camera again.";
const MOST_SIDE = 480; // pixels of the picture that is worked on

class Camera {
  constructor(video) {
    this.video = video;
    this.canvas = document.createElement("canvas");
    this.stream = null;
  }

  get mirrored() {
    return this.stream?.getVideoTracks()[0]?.getSettings().facingMode === "user";
  }

  /** Open it, the one on the back of a phone; an error's message is for people. */
  async open() {
    if (!navigator.mediaDevices?.getUserMedia) throw new Error(CLOSED);
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({
        audio: false, video: { facingMode: { ideal: "environment" }, width: { ideal: 640 }, height: { ideal: 480 } },
      });
    } catch (error) {
      throw new Error(REFUSALS[error.name] ?? `The camera could not be opened: ${error.message || error.name}. Try again, or use the test samples.`);
    }
    this.video.srcObject = this.stream;
    await this.video.play();
  }

  close() {
    this.stream?.getTracks().forEach((track) => track.stop());
    this.stream = this.video.srcObject = null;
  }

  /** The square in the middle of the picture of this moment as RGBA bytes; null where there is none yet. */
  picture() {
    const { videoWidth: width, videoHeight: height } = this.video;
    if (!width || !height) return null;
    const side = Math.min(width, height);
    const size = Math.min(side, MOST_SIDE);
    sized(this.canvas, size, size);
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(this.video, (width - side) / 2, (height - side) / 2, side, side, 0, 0, size, size);
    return context.getImageData(0, 0, size, size);
  }
}
