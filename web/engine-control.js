// Shows whether the server is there, and which models and devices it has.

import { CONNECTION } from "./messages.js";
import { $, fillSelect } from "./page.js";

const WORDS = { connecting: "Connecting", open: "Connected", waiting: "Not connected", incompatible: "Not connected" };

export function showConnection(connection, notices) {
    const { phase, reason, again } = connection.state;
    $("status").dataset.phase = phase;
    $("status-text").textContent = again ? "Connecting again" : WORDS[phase];
    if (phase !== "open") $("status-detail").textContent = "";
    $("picture").classList.toggle("is-stale", phase !== "open");
    if (phase === "open") notices.clear("connection");
    if (phase === "waiting") {
        const action = { label: "Try now", run: () => connection.retryNow() };
        notices.show("connection", CONNECTION[reason], { action });
    }
    if (phase === "incompatible") {
        notices.show("connection", CONNECTION.incompatible, { action: { label: "Load anew", run: () => location.reload() } });
    }
}

export function showHello(hello, model, settings) {
    const name = ({ id, name: title }) => ({ id, name: title || id });
    const device = hello.devices?.find(({ id }) => id === (settings.values.device || hello.device));
    const isServerSource = hello.source === "server";

    $("fact-model").textContent = name(model).name;
    $("fact-device").textContent = device?.name ?? hello.device ?? "–";
    choose("model", hello.models.map(name), model.id, settings);
    choose("device", (hello.devices ?? []).map(name), device?.id ?? hello.device, settings);

    for (const id of ["source-buttons", "shutter", "camera-card"]) $(id).hidden = isServerSource;
    if (isServerSource) {
        $("welcome-title").textContent = "Waiting for the server’s pictures";
        $("welcome-text").textContent = `They come from ${hello.sourceName ?? "the video or camera that it was started with"}.`;
        for (const id of ["welcome-actions", "welcome-hint"]) $(id).hidden = true;
    }
}

/** A list where there are several, the plain fact where there is one. */
function choose(setting, choices, chosen, settings) {
    const hasChoice = choices.length > 1;
    $(`${setting}-choice`).hidden = !hasChoice;
    $(`${setting}-fact`).hidden = hasChoice;
    if (!hasChoice) return;
    fillSelect($(setting), choices, chosen);
    $(setting).onchange = () => settings.set(setting, $(setting).value);
}
