// The background picture until the user chooses one: a painted wall with light from the side.

export function paintedBackdrop() {
    const canvas = document.createElement("canvas");
    canvas.width = 1280;
    canvas.height = 800;
    const context = canvas.getContext("2d", { alpha: false });
    context.fillStyle = "#2c3a47";
    context.fillRect(0, 0, 1280, 800);
    for (const [x, y, radius, color] of [
        [300, 220, 900, "rgba(226, 190, 150, 0.85)"],
        [1050, 640, 700, "rgba(74, 104, 128, 0.9)"],
        [760, 120, 420, "rgba(246, 226, 198, 0.45)"],
        [120, 780, 520, "rgba(58, 52, 66, 0.8)"],
    ]) {
        const light = context.createRadialGradient(x, y, 0, x, y, radius);
        light.addColorStop(0, color);
        light.addColorStop(1, color.replace(/[\d.]+\)$/, "0)"));
        context.fillStyle = light;
        context.fillRect(0, 0, 1280, 800);
    }
    return canvas;
}
