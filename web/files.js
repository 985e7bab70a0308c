// Pictures and videos that the user drops, pastes or opens.

import { $ } from "./page.js";

export function listenForFiles(onFile) {
    for (const id of ["open", "start-file"]) $(id).addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", () => {
        const [file] = $("file").files;
        $("file").value = ""; // so that the same file can be chosen again
        if (file) onFile(file);
    });

    document.addEventListener("paste", (event) => {
        const file = [...(event.clipboardData?.files ?? [])][0];
        if (!file) return;
        event.preventDefault();
        onFile(file);
    });

    // Elements inside the page enter and leave as well: count, so that the hint does not flicker.
    let depth = 0;
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    const show = (change) => {
        depth = change === 0 ? 0 : Math.max(0, depth + change);
        $("drop-here").hidden = depth === 0;
    };
    document.addEventListener("dragenter", (event) => hasFiles(event) && show(1));
    document.addEventListener("dragleave", (event) => hasFiles(event) && show(-1));
    document.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
    document.addEventListener("drop", (event) => {
        show(0);
        const [file] = event.dataTransfer?.files ?? [];
        if (!file) return;
        event.preventDefault();
        onFile(file);
    });
}
