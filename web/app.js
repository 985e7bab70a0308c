// Ties everything together: pictures from the source go through the pump to the server, answers to the compositor.

import { Answers } from "./answers.js";
import { paintedBackdrop } from "./backdrop.js";
import { createCompositor } from "./compositor.js";
import { Connection } from "./connection.js";
import { bindControls } from "./controls.js";
import { showConnection, showHello } from "./engine-control.js";
import { listenForFiles } from "./files.js";
import { Flight } from "./flight.js";
import { Legend } from "./legend.js";
import { classesOf, edgeRange, lookOf, maskFor, withoutSplit } from "./look.js";
import { rampBetween } from "./matte.js";
import { MatteMaker } from "./matte-maker.js";
import { badFile, RECORDING_FAILED, serverMessage } from "./messages.js";
import { Notices } from "./notices.js";
import { $, press } from "./page.js";
import { encodeJSON } from "./protocol.js";
import { Pump } from "./pump.js";
import { canRecord, Recorder, saveFile, savePNG } from "./recorder.js";
import { browserStorage, Settings } from "./settings.js";
import { SourceControl } from "./source-control.js";
import { decodePicture } from "./sources.js";
import { factsOf, shortFacts, Statistics } from "./statistics.js";
import { requestFor, Still } from "./still.js";

const FRAMES_IN_FLIGHT = 2;
const FRAMES_PER_SECOND = 60;

const query = new URLSearchParams(location.search);
const settings = new Settings(browserStorage());
const notices = new Notices($("notices"));
const compositor = createCompositor($("canvas"), query.get("compositor"));
const connection = new Connection(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/preview`);
const flight = new Flight(FRAMES_IN_FLIGHT);
// ?encoding=jpeg sends files within a machine, too.
const pump = new Pump(connection, flight, query.get("encoding") === "jpeg" ? "" : location.hostname);
const answers = new Answers(connection, flight);
const maker = new MatteMaker();
const statistics = new Statistics();
const legend = new Legend($("legend"), $("legend-empty"));
const recorder = new Recorder();
const still = new Still();
// Where the processor draws as well, a small picture leaves it time for the network.
const sources = new SourceControl(settings, notices, compositor.isSlow ? 480 : 720);

let backdrop = paintedBackdrop();
let backdropCount = 0;
let model = null;
let classes = [];
let shown = null; // the answer that the canvas shows
let isDue = false;

// Drawing

function look() {
    const isMirrored = Boolean(settings.values.mirror && shown?.frame.source?.canMirror);
    return lookOf(settings.values, classes, { isMirrored, backdrop });
}

/** A frame that was segmented for another mode has not the mask for this one: the last good picture stays. */
function canDraw() {
    return shown !== null && maskFor(settings.values.mode) in shown.masks;
}

function draw() {
    isDue = false;
    if (canDraw()) compositor.render(look());
}

/** Of a still picture the server's own result is shown, at the picture's size, as soon as it has come. */
function askForStill() {
    const { source } = sources;
    const { values } = settings;
    const frame = shown?.frame;
    const query =
        source?.isStill && connection.isOpen && frame?.source === source
            ? requestFor(values, classes, { model: model.id, width: source.width, height: source.height })
            : null;
    if (!query) {
        still.clear();
        return;
    }
    const isMirrored = Boolean(values.mirror && source.canMirror);
    still.ask(source, query, { isMirrored, backdrop: values.mode === "picture" ? backdrop : null, backdropKey: String(backdropCount) });
}

function showSplit() {
    $("picture").style.setProperty("--split", String(settings.values.comparePosition));
    $("picture").classList.toggle("is-compared", settings.values.compare);
}

function drawSoon() {
    if (!isDue) requestAnimationFrame(draw);
    isDue = true;
}

function show(answer) {
    const { frame, masks, result, roundTrip } = answer;
    if (frame.source && frame.source !== sources.source) {
        frame.bitmap.close();
        return;
    }
    shown = answer;
    const { width, height } = frame.bitmap;
    frame.width = width;
    frame.height = height;
    compositor.setFrame(frame.bitmap);
    if (masks.matte) compositor.setMatte(masks.matte);
    if (masks.categories) {
        compositor.setCategories(masks.categories.bytes, masks.categories.width, masks.categories.height);
    }
    $("picture").style.setProperty("--aspect", String(width / height));
    $("picture").hidden = false;
    $("welcome").hidden = true;
    draw();
    statistics.add({
        roundTrip: frame.source ? roundTrip : undefined,
        inference: result.inferenceMilliseconds,
        sent: frame.source ? frame.byteCount : undefined,
        received: frame.receivedBytes,
    });
    statistics.dropped = Math.max(statistics.dropped, result.droppedFrames ?? 0);
    if (result.device) $("fact-device").textContent = result.device;
    if (Array.isArray(result.shares)) legend.setShares(result.shares);
    showButtons();
    askForStill();
}

function showButtons() {
    $("save").disabled = shown === null;
    $("record").disabled = shown === null || !canRecord();
}

// Talking to the server

function sendSettings() {
    if (!connection.isOpen) return;
    const { values } = settings;
    const { hello } = connection;
    const isStill = sources.source?.isStill;
    const message = {
        model: model.id,
        // A still picture is sent once: with both masks every mode can be drawn from it.
        outputs: isStill ? ["categories", "matte"] : [maskFor(values.mode)],
        smoothing: values.smoothing,
        closesHoles: values.closeHoles,
        classes: classes.filter(({ isShown }) => isShown).map(({ index }) => index),
        maximumFramesPerSecond: Math.min(FRAMES_PER_SECOND, hello.limits?.framesPerSecond ?? FRAMES_PER_SECOND),
    };
    if (hello.devices?.some(({ id }) => id === values.device)) message.device = values.device;
    const text = JSON.stringify(message);
    if (text === sendSettings.last) return;
    sendSettings.last = text;
    connection.send(encodeJSON("settings", message));
    pump.resend();
}

function updateClasses() {
    if (!model) return;
    const { mode, classes: choices } = settings.values;
    classes = classesOf(model, choices, mode !== "overlay" && sources.source?.kind !== "picture");
    legend.setClasses(classes);
}

function chooseModel() {
    const { hello } = connection;
    const chosen = hello.models.find(({ id }) => id === settings.values.model);
    model = chosen ?? hello.models.find(({ id }) => id === hello.model) ?? hello.models[0];
    updateClasses();
}

connection.addEventListener("state", () => {
    showConnection(connection, notices);
    if (connection.state.phase === "open") {
        chooseModel();
        maker.constants = connection.hello.matte;
        showHello(connection.hello, model, settings);
        answers.restart();
        sendSettings.last = "";
        sendSettings();
        pump.restart();
    } else {
        answers.restart();
        statistics.clear();
    }
    if (connection.hello?.source === "server") sources.source?.stop();
});

connection.addEventListener("problem", ({ error }) => {
    if (error.code !== "out-of-order" && !error.fatal) notices.show("server", serverMessage(error), { isPassing: true });
});

answers.onRoom = () => pump.roomAgain();
answers.onDropped = (frame) => {
    statistics.dropped += 1;
    // Of a moving picture the next one comes by itself; a still one has to be sent again.
    if (frame?.source?.isStill && frame.source === sources.source) setTimeout(() => pump.resend(), 100);
};
answers.onAnswer = show;
answers.maker = maker;
maker.ramp = rampBetween(edgeRange(settings.values));

// What the user does

settings.addEventListener("change", ({ setting }) => {
    if (setting === "model" && connection.isOpen) chooseModel();
    if (setting === "classes" || setting === "mode") updateClasses();
    if (["mode", "model", "device", "classes", "smoothing", "closeHoles"].includes(setting)) sendSettings();
    maker.ramp = rampBetween(edgeRange(settings.values));
    askForStill();
    showSplit();
    drawSoon();
});

legend.onChoice = (label, choice) => {
    const { classes: choices } = settings.values;
    settings.set("classes", { ...choices, [label]: { ...choices[label], ...choice } });
};

sources.onSource = (source) => {
    recorder.stop();
    still.clear();
    // Without a source the picture goes; with one, the last stays until the first answer comes.
    if (!source) {
        shown = null;
        $("picture").hidden = true;
        $("welcome").hidden = false;
    }
    legend.clear();
    statistics.clear();
    updateClasses();
    sendSettings();
    pump.source = source;
    showButtons();
};

listenForFiles((file) => connection.hello?.source !== "server" && sources.openFile(file));

$("choose-backdrop").addEventListener("click", () => $("backdrop-file").click());
$("backdrop-file").addEventListener("change", async () => {
    const [file] = $("backdrop-file").files;
    $("backdrop-file").value = "";
    if (!file) return;
    try {
        backdrop = await decodePicture(file);
        backdropCount += 1;
        askForStill();
        $("backdrop-name").textContent = file.name;
        notices.clear("file");
        drawSoon();
    } catch {
        notices.show("file", badFile(file.name));
    }
});

$("save").addEventListener("click", async () => {
    if (still.blob) {
        saveFile(still.blob);
        return;
    }
    if (!canDraw()) return;
    compositor.render(withoutSplit(look()));
    await savePNG($("canvas"));
    drawSoon();
});

$("record").addEventListener("click", () => {
    if (recorder.isRecording) recorder.stop();
    else recorder.start($("canvas"));
    showRecording();
});
recorder.onEnd = showRecording;
recorder.onFailure = () => notices.show("file", RECORDING_FAILED);

function showRecording() {
    press($("record"), recorder.isRecording);
    $("record-label").textContent = recorder.isRecording ? "Stop" : "Record";
    $("recording").hidden = !recorder.isRecording;
    const seconds = recorder.isRecording ? Math.floor(recorder.seconds) : 0;
    $("recording-time").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

document.addEventListener("visibilitychange", () => {
    pump.isPaused = document.hidden;
    document.title = document.hidden ? "Paused – Silhouette" : "Silhouette";
    if (!document.hidden) connection.retryNow();
});
window.addEventListener("online", () => connection.retryNow());

setInterval(() => {
    const summary = statistics.summary();
    for (const [id, text] of Object.entries(factsOf(summary, statistics.dropped + pump.skipped))) $(id).textContent = text;
    if (connection.isOpen) $("status-detail").textContent = shortFacts(summary);
    if (recorder.isRecording) showRecording();
    if (connection.isOpen && flight.isLost(performance.now())) connection.drop();
}, 500);

$("fact-compositor").textContent = compositor.kind;
bindControls(settings);
showSplit();
connection.connect();
sources.openCameraIfAllowed();

if (query.get("test") === "1") {
    const { installTestHook } = await import("./testing.js");
    installTestHook({ pump, answers, sources, maker, classes: () => classes, compositor, connection, settings, statistics, flight, shown: () => shown });
}
