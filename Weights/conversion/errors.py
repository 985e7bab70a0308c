"""The one error that a user of the converter sees."""

from contextlib import contextmanager


class ConversionError(Exception):
    """What is wrong with which file, layer or flag, in one line."""


def unsupported(layer: str, operator: str, what: str, only: str = "") -> ConversionError:
    """The refusal of what a layer says and no model file can express.

    - what: the attribute or input by the name that its format gives it, and its value
    - only: what would be taken
    """
    return ConversionError(f"layer {layer}: {operator} with {what} is not supported{only and ', only ' + only}")


@contextmanager
def naming(layer: str, operator: str):
    """Lets each error about the layer name its operator too."""
    try:
        yield
    except ConversionError as error:
        prefix, text = f"layer {layer}: ", str(error)
        if not text.startswith(prefix) or operator in text[len(prefix) :]:
            raise
        raise ConversionError(f"{prefix}{operator}: {text[len(prefix) :]}") from None
