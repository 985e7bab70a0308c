// The picture on the screen: a frame, the masks that belong to it, and the look that the user has chosen.

import { CanvasCompositor } from "./compositor-canvas.js";
import { WebGLCompositor } from "./compositor-webgl.js";

/**
 * WebGL2 where a graphics processor does it. Otherwise, and where `preferred` says so, the canvas: WebGL2 by the processor
 * takes ten times as long.
 * @param {"webgl" | "2d" | undefined} preferred "webgl": whoever does it
 */
export function createCompositor(canvas, preferred) {
    const isWebGL = preferred ? preferred === "webgl" : hasGraphicsProcessor();
    return (isWebGL && WebGLCompositor.create(canvas)) || new CanvasCompositor(canvas);
}

/** Asks on a canvas of its own: one that has had WebGL can never have another context. */
function hasGraphicsProcessor() {
    const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
    if (!gl) return false;
    // Some browsers see no caveat in a processor that plays a graphics processor: its name tells.
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    const name = gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
