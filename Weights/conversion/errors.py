"""The one error that a user of the converter sees."""


class ConversionError(Exception):
    """What is wrong with which file, layer or flag, in one line."""
