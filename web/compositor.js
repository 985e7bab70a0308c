// The picture on the screen: a frame, the masks that belong to it, and the look that the user has chosen.

import { CanvasCompositor } from "./compositor-canvas.js";
import { WebGLCompositor } from "./compositor-webgl.js";

/** @param {"webgl" | "2d"} preferred */
export function createCompositor(canvas, preferred = "webgl") {
    return (preferred === "webgl" && WebGLCompositor.create(canvas)) || new CanvasCompositor(canvas);
}
