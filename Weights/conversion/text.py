"""Names and other text as a model file may hold them."""

# The reader takes up to 512 bytes; a tensor's name is a layer's and a few characters more.
MAX_BYTES = 480


def clean(text: str) -> str:
    """The text on one line, of printable characters only, and not too long. Usual names stay as they are."""
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "?" for c in text).split())
    return line.encode("utf-8", "replace")[:MAX_BYTES].decode("utf-8", "ignore")


def unique(text: str, taken: set) -> str:
    """A clean name that is not taken yet; it is then."""
    name, count = clean(text) or "unnamed", 2
    if name in taken:
        stem = name.encode("utf-8")[: MAX_BYTES - 8].decode("utf-8", "ignore")
        while (name := f"{stem}_{count}") in taken:
            count += 1
    taken.add(name)
    return name
