"""What ONNX and Core ML files have in common: they are protocol buffers."""

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from .errors import ConversionError


def refuse_unknown_fields(message: Message):
    """Refuses fields that a newer version of the format has: what they say would be left out without a word."""
    left = [message]
    while left:
        message = left.pop()
        for field in UnknownFieldSet(message):
            raise ConversionError(
                f"its {message.DESCRIPTOR.name} has a field number {field.field_number}, which is not known: the file "
                "is damaged, or of a newer version of its format"
            )
        for field, value in message.ListFields():
            if field.message_type is None:
                continue
            if not field.is_repeated:
                left.append(value)
            elif field.message_type.GetOptions().map_entry:
                left += [entry for entry in value.values() if isinstance(entry, Message)]
            else:
                left += value
