"""A node of an ONNX graph, held against the definition of its operator.

Nothing that a node says is dropped: what its definition does not have is refused here, and so is what the reader of the
operator has not asked for, unless `HARMLESS` tells why it changes nothing.
"""

import onnx
from onnx import helper

from .errors import ConversionError, unsupported

# What is left out, and why the result is the same without it.
HARMLESS = {
    "BatchNormalization": {"attribute momentum": "only training uses it"},
    "Cast": {
        "attribute saturate": "it is about float8, which is refused",
        "attribute round_mode": "it is about float8, which is refused",
    },
    "Dropout": {
        "attribute ratio": "only training uses it",
        "attribute seed": "only training uses it",
        "input ratio": "only training uses it",
        "output mask": "a layer that reads it is refused",
    },
    "MaxPool": {"attribute storage_order": "it is about the indices, which are refused"},
    "ReduceMean": {"attribute noop_with_empty_axes": "empty axes are refused"},
    "Resize": {
        "attribute cubic_coeff_a": "the cubic mode is refused",
        "attribute extrapolation_value": "tf_crop_and_resize, which uses it, is refused",
        "attribute nearest_mode": "the nearest mode is refused",
        "input roi": "tf_crop_and_resize, which uses it, is refused",
    },
}


class Node:
    """The attributes and inputs of one node; remembers which were asked for."""

    def __init__(self, proto: onnx.NodeProto, name: str, version: int):
        self.proto, self.op, self.name = proto, proto.op_type, name
        self.inputs, self.outputs = list(proto.input), list(proto.output)
        try:
            self.schema = onnx.defs.get_schema(self.op, version, "")
        except onnx.defs.SchemaError:
            raise ConversionError(f"layer {name}: operator set {version} has no operator {self.op}") from None
        self.attributes, self.asked = {}, set()
        self.check_attributes(version)
        self.check_names(version)

    def check_attributes(self, version):
        for attribute in self.proto.attribute:
            known = self.schema.attributes.get(attribute.name)
            if known is None:
                raise ConversionError(
                    f"layer {self.name}: {self.op} has no attribute {attribute.name} in operator set {version}"
                )
            if attribute.ref_attr_name or attribute.type != int(known.type.value):
                raise ConversionError(
                    f"layer {self.name}: the attribute {attribute.name} of {self.op} is no {known.type.name}"
                )
            if attribute.name in self.attributes:
                raise ConversionError(f"layer {self.name}: {self.op} has the attribute {attribute.name} twice")
            self.attributes[attribute.name] = plain(helper.get_attribute_value(attribute))
        for key, known in self.schema.attributes.items():
            if known.required and key not in self.attributes:
                raise ConversionError(f"layer {self.name}: {self.op} without its attribute {key}")

    def check_names(self, version):
        """The number of inputs and outputs, and those that must be there."""
        least, most = self.schema.min_input, self.schema.max_input
        if not least <= len(self.inputs) <= most:
            raise ConversionError(
                f"layer {self.name}: {self.op} with {len(self.inputs)} inputs, but operator set {version} gives it "
                f"{least if least == most else f'at least {least}' if len(self.inputs) < least else f'at most {most}'}"
            )
        optional = onnx.defs.OpSchema.FormalParameterOption.Optional
        for index, value in enumerate(self.inputs):
            if not value and self.formal(self.schema.inputs, index).option != optional:
                raise ConversionError(f"layer {self.name}: {self.op} without its input {self.input_name(index)}")
        if not self.outputs or not self.outputs[0]:
            raise ConversionError(f"layer {self.name}: {self.op} without an output")
        if len(self.outputs) > self.schema.max_output:
            raise ConversionError(f"layer {self.name}: {self.op} with {len(self.outputs)} outputs")
        if self.proto.overload:
            raise unsupported(self.name, self.op, f"overload {self.proto.overload}")

    @staticmethod
    def formal(parameters, index):
        """The definition of an input or output; the last one may stand for many."""
        return parameters[min(index, len(parameters) - 1)]

    def input_name(self, index):
        return self.formal(self.schema.inputs, index).name

    def get(self, key, default=None):
        """An attribute, or what its definition has for it where it is left out, or the default."""
        self.asked.add(f"attribute {key}")
        if key in self.attributes:
            return self.attributes[key]
        if key in self.schema.attributes:
            value = self.schema.attributes[key].default_value
            if value.type != onnx.AttributeProto.UNDEFINED:
                return plain(helper.get_attribute_value(value))
        return default

    def only(self, key, *supported):
        """Refuses other values of an attribute than these; where it is left out there is nothing to refuse."""
        value = self.get(key, supported[0])
        if value not in supported:
            raise unsupported(self.name, self.op, f"{key} {value}", " or ".join(map(str, supported)))
        return value

    def has_input(self, index):
        return index < len(self.inputs) and bool(self.inputs[index])

    def ask_input(self, index):
        """Marks an input as read."""
        if index < len(self.inputs):
            self.asked.add(f"input {self.input_name(index)}")

    def finish(self):
        """Refuses what nobody has asked for."""
        said = [f"attribute {key}" for key in self.attributes]
        said += [f"input {self.input_name(index)}" for index, value in enumerate(self.inputs) if value]
        said += [f"output {self.formal(self.schema.outputs, i).name}" for i, v in enumerate(self.outputs) if i and v]
        for what in said:
            if what not in self.asked and what not in HARMLESS.get(self.op, {}):
                raise unsupported(self.name, self.op, f"the {what}")


def plain(value):
    """An attribute's value as Python has it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, (int, float, onnx.TensorProto, onnx.SparseTensorProto)) else list(value)
