// The classes in the picture: how much of it each takes, in which colour it is drawn, and whether it is shown at all.

/** A class stays listed so long after it was last seen: a list that jumps cannot be clicked. */
const KEPT_MILLISECONDS = 4000;
/** Smaller shares are noise. */
const SMALLEST_SHARE = 0.005;
const UPDATE_EVERY_MILLISECONDS = 250;

export class Legend {
    /** Called with a class's name and {shown} or {color}. */
    onChoice = () => {};
    #list;
    #empty;
    #rows = new Map();
    #classes = [];
    #shares = new Map();
    #seen = new Map();
    #updatedAt = 0;

    constructor(list, empty) {
        this.#list = list;
        this.#empty = empty;
    }

    /** @param {ReturnType<import("./look.js").classesOf>} classes */
    setClasses(classes) {
        this.#classes = classes;
        this.#draw();
    }

    /** @param {[number, number][]} shares class and share of the picture */
    setShares(shares, now = performance.now()) {
        this.#shares = new Map(shares);
        for (const [index, share] of shares) if (share >= SMALLEST_SHARE) this.#seen.set(index, now);
        if (now - this.#updatedAt < UPDATE_EVERY_MILLISECONDS) return;
        this.#updatedAt = now;
        this.#draw(now);
    }

    /** Forgets what was seen: the source is another one. */
    clear() {
        this.#shares.clear();
        this.#seen.clear();
        this.#draw();
    }

    #draw(now = performance.now()) {
        const listed = this.#classes.filter(
            ({ index, isBackground }) =>
                !isBackground && now - (this.#seen.get(index) ?? Number.NEGATIVE_INFINITY) < KEPT_MILLISECONDS,
        );
        const names = new Set(listed.map(({ label }) => label));
        for (const [label, row] of this.#rows) {
            if (names.has(label)) continue;
            if (row.item.contains(document.activeElement)) names.add(label); // somebody is using it
            else {
                row.item.remove();
                this.#rows.delete(label);
            }
        }
        for (const entry of listed) {
            let row = this.#rows.get(entry.label);
            if (!row) {
                row = this.#createRow(entry.label);
                this.#rows.set(entry.label, row);
                this.#list.append(row.item);
            }
            this.#fill(row, entry, this.#shares.get(entry.index) ?? 0);
        }
        this.#empty.hidden = this.#rows.size > 0;
    }

    #fill(row, { label, color, isShown }, share) {
        row.share.textContent = `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)} %`;
        row.bar.style.setProperty("--share", String(share));
        row.item.style.setProperty("--color", color);
        row.item.classList.toggle("is-hidden", !isShown);
        if (row.color !== document.activeElement) row.color.value = color;
        row.toggle.setAttribute("aria-pressed", String(isShown));
        row.toggle.title = isShown ? `Treat ${label} as background` : `Show ${label}`;
        row.icon.setAttribute("href", isShown ? "#icon-shown" : "#icon-hidden");
    }

    #createRow(label) {
        const item = document.createElement("li");
        const color = Object.assign(document.createElement("input"), { type: "color" });
        color.setAttribute("aria-label", `Colour of ${label}`);
        color.addEventListener("input", () => this.onChoice(label, { color: color.value }));
        const name = Object.assign(document.createElement("span"), { className: "legend-name", textContent: label });
        const share = Object.assign(document.createElement("span"), { className: "legend-share" });
        const bar = Object.assign(document.createElement("span"), { className: "legend-bar" });
        const toggle = Object.assign(document.createElement("button"), { type: "button", className: "quiet" });
        toggle.setAttribute("aria-label", `Show ${label}`);
        toggle.addEventListener("click", () =>
            this.onChoice(label, { shown: toggle.getAttribute("aria-pressed") !== "true" }),
        );
        const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        const icon = document.createElementNS("http://www.w3.org/2000/svg", "use");
        svg.setAttribute("aria-hidden", "true");
        svg.append(icon);
        toggle.append(svg);
        item.append(color, name, share, toggle, bar);
        return { item, color, share, bar, toggle, icon };
    }
}
