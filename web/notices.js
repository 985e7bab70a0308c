// Cards over the picture that say what is wrong, one for each subject ("camera", "connection", "file", "server").

export class Notices {
    #list;
    #cards = new Map();

    /** @param {HTMLElement} list a live region: a screen reader speaks what appears in it */
    constructor(list) {
        this.#list = list;
    }

    /**
     * @param {{title: string, text: string}} message
     * @param {{action?: {label: string, run: () => void}, isPassing?: boolean}} more `isPassing`: goes away by itself
     */
    show(subject, message, { action, isPassing = false } = {}) {
        const key = JSON.stringify([message, action?.label]);
        if (this.#cards.get(subject)?.key === key) return;
        this.clear(subject);
        const card = document.createElement("div");
        card.className = "notice";
        card.dataset.subject = subject;
        const words = document.createElement("div");
        words.append(element("strong", message.title), element("p", message.text));
        card.append(words);
        if (action) card.append(button(action.label, action.run));
        card.append(button("Close", () => this.clear(subject), "quiet"));
        this.#list.append(card);
        const timer = isPassing ? setTimeout(() => this.clear(subject), 8000) : 0;
        this.#cards.set(subject, { card, key, timer });
    }

    clear(subject) {
        const shown = this.#cards.get(subject);
        if (!shown) return;
        clearTimeout(shown.timer);
        shown.card.remove();
        this.#cards.delete(subject);
    }
}

function element(name, text) {
    return Object.assign(document.createElement(name), { textContent: text });
}

function button(label, run, className = "") {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: label, className });
    made.addEventListener("click", run);
    return made;
}
