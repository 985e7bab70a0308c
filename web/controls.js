// Ties the inputs of the page to the settings of the same name.

import { $, press } from "./page.js";

const FRACTIONS = ["opacity", "blur", "tightness", "edge"];
const SWITCHES = ["mirror", "closeHoles"];
const COLORS = ["color", "gradientTop", "gradientBottom"];

export function bindControls(settings) {
    for (const radio of document.querySelectorAll("input[name=mode]")) {
        radio.addEventListener("change", () => radio.checked && settings.set("mode", radio.value));
    }
    for (const name of FRACTIONS) $(name).addEventListener("input", () => settings.set(name, Number($(name).value) / 100));
    for (const name of COLORS) $(name).addEventListener("input", () => settings.set(name, $(name).value));
    for (const name of SWITCHES) $(name).addEventListener("change", () => settings.set(name, $(name).checked));
    $("compare-toggle").addEventListener("click", () => settings.set("compare", !settings.values.compare));
    $("compare-range").addEventListener("input", () =>
        settings.set("comparePosition", Number($("compare-range").value) / 1000),
    );
    const show = () => showSettings(settings.values);
    settings.addEventListener("change", show);
    show();
}

function showSettings(values) {
    for (const radio of document.querySelectorAll("input[name=mode]")) radio.checked = radio.value === values.mode;
    for (const option of document.querySelectorAll("[data-modes]")) {
        option.hidden = !option.dataset.modes.split(" ").includes(values.mode);
    }
    for (const name of FRACTIONS) {
        const percent = Math.round(values[name] * 100);
        if (Number($(name).value) !== percent) $(name).value = percent;
        $(name).style.setProperty("--filled", `${percent}%`);
        $(name).nextElementSibling.textContent = `${percent} %`;
    }
    for (const name of COLORS) $(name).value = values[name];
    for (const name of SWITCHES) $(name).checked = values[name];
    press($("compare-toggle"), values.compare);
    $("compare").hidden = !values.compare;
    $("compare-range").value = Math.round(values.comparePosition * 1000);
    $("compare").style.setProperty("--split", String(values.comparePosition));

    const root = document.documentElement.style;
    root.setProperty("--chosen-color", values.color);
    root.setProperty("--chosen-top", values.gradientTop);
    root.setProperty("--chosen-bottom", values.gradientBottom);
}
