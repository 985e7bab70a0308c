"""The fields of a TensorFlow Lite file's tables (schema.fbs), and those that say what no model file can.

A flatbuffer leaves out what has its default. A field that is set and not known here, or known and refused, is refused
by its name or number, so that nothing a file says is dropped.
"""

from flatbuffers import number_types
from flatbuffers.table import Table

from .errors import ConversionError

# In the order of the schema, which numbers them; a union takes two, its type and its value.
FIELDS = {
    "Model": "version operatorCodes subgraphs description buffers metadataBuffer metadata signatureDefs "
    "externalBufferGroups externalBuffers",
    "SubGraph": "tensors inputs outputs operators name debugMetadataIndex",
    "Tensor": "shape type buffer name quantization isVariable sparsity shapeSignature hasRank variantTensors "
    "externalBuffer",
    "QuantizationParameters": "min max scale zeroPoint detailsType details quantizedDimension",
    "Buffer": "data offset size",
    "OperatorCode": "deprecatedBuiltinCode customCode version builtinCode",
    "Operator": "opcodeIndex inputs outputs builtinOptionsType builtinOptions customOptions customOptionsFormat "
    "mutatingVariableInputs intermediates largeCustomOptionsOffset largeCustomOptionsSize builtinOptions2Type "
    "builtinOptions2 debugMetadataIndex",
    "AddOptions": "fusedActivationFunction potScaleInt16",
    "ArgMaxOptions": "outputType",
    "BatchToSpaceNDOptions": "",
    "CastOptions": "inDataType outDataType",
    "ConcatenationOptions": "axis fusedActivationFunction",
    "Conv2DOptions": "padding strideW strideH fusedActivationFunction dilationWFactor dilationHFactor "
    "quantizedBiasType",
    "DepthwiseConv2DOptions": "padding strideW strideH depthMultiplier fusedActivationFunction dilationWFactor "
    "dilationHFactor",
    "DequantizeOptions": "",
    "DivOptions": "fusedActivationFunction",
    "HardSwishOptions": "",
    "MulOptions": "fusedActivationFunction",
    "PadOptions": "",
    "Pool2DOptions": "padding strideW strideH filterWidth filterHeight fusedActivationFunction",
    "QuantizeOptions": "",
    "ReducerOptions": "keepDims",
    # Two fields of its first version, the size, are deprecated: the size is an input.
    "ResizeBilinearOptions": "newHeight newWidth alignCorners halfPixelCenters",
    "ReshapeOptions": "newShape",
    "SoftmaxOptions": "beta",
    "SpaceToBatchNDOptions": "",
    "SubOptions": "fusedActivationFunction potScaleInt16",
    "TransposeConvOptions": "padding strideW strideH fusedActivationFunction quantizedBiasType",
}

# What is refused where it says something: a number by its bytes, a vector where it is not empty, a table.
VECTOR, TABLE = "vector", "table"
REFUSED = {
    "Model": {"externalBufferGroups": VECTOR, "externalBuffers": VECTOR},
    "Tensor": {"isVariable": 1, "sparsity": TABLE, "variantTensors": VECTOR, "externalBuffer": 4},
    "QuantizationParameters": {"details": TABLE},
    "Buffer": {"offset": 8},
    "Operator": {
        "mutatingVariableInputs": VECTOR,
        "intermediates": VECTOR,
        "largeCustomOptionsOffset": 8,
        "builtinOptions2": TABLE,
    },
    "ResizeBilinearOptions": {"newHeight": 4, "newWidth": 4},
}


def check_fields(kind: str, table, what: str):
    """Refuses a table with a field that is not known or not supported.

    - table: a class of the tflite package, or a flatbuffer's table
    - what: whose table it is
    """
    table = getattr(table, "_tab", table)
    names, refused = FIELDS[kind].split(), REFUSED.get(kind, {})
    vtable = table.Pos - table.Get(number_types.SOffsetTFlags, table.Pos)
    count = (table.Get(number_types.VOffsetTFlags, vtable) - 4) // 2
    for index in range(count):
        at = table.Get(number_types.VOffsetTFlags, vtable + 4 + 2 * index)
        if at and index >= len(names):
            raise ConversionError(f"{what}: {kind} has a field number {index}, which is not known")
        if at and says_something(table, at, refused.get(names[index])):
            raise ConversionError(f"{what}: {kind} with {names[index]} is not supported")


def says_something(table: Table, at: int, form) -> bool:
    """Whether a refused field is more than its default."""
    if form is None:
        return False
    if form is VECTOR:
        return table.VectorLen(at) > 0
    return form is TABLE or any(table.Bytes[table.Pos + at : table.Pos + at + form])
