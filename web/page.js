// Short ways to the elements of index.html.

export const $ = (id) => document.getElementById(id);

export const isPressed = (button) => button.getAttribute("aria-pressed") === "true";

export const press = (button, isOn) => button.setAttribute("aria-pressed", String(isOn));

/** Fills a list of choices; keeps the one that is chosen where it is still there. */
export function fillSelect(select, choices, chosen) {
    select.replaceChildren(...choices.map(({ id, name }) => new Option(name, id, false, id === chosen)));
}
