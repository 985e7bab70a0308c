// The picture on the screen: a frame, the masks that belong to it, and the look that the user has chosen.

import { CanvasCompositor } from "./compositor-canvas.js";
import { WebGLCompositor } from "./compositor-webgl.js";

/**
 * WebGL2 where a graphics processor does it. Otherwise, and where `preferred` says so, the canvas: WebGL2 by the processor
 * takes ten times as long.
 * @param {"webgl" | "2d" | undefined} preferred "webgl": whoever does it
 */
export function createCompositor(canvas, preferred) {
    const webgl = preferred === "2d" ? null : WebGLCompositor.create(canvas, preferred !== "webgl");
    return webgl ?? new CanvasCompositor(canvas);
}
