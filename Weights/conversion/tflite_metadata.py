"""What a .tflite file says of its input and labels: TensorFlow Lite Metadata.

The metadata is a flatbuffer of its own in one of the model's buffers; files that it names (labels) lie in a zip archive
after the model. Field numbers are those of metadata_schema.fbs (TensorFlow Lite Support, version 1.5).
"""

import io
import zipfile

from flatbuffers import number_types
from flatbuffers.table import Table

from .errors import ConversionError
from .network import Facts

MAX_LABEL_BYTES = 1 << 20
NORMALISATION = 1  # of the union ProcessUnitOptions
AXIS_LABELS = 2  # of the enumeration AssociatedFileType
COLOUR_ORDERS = {1: "RGB", 2: "GRAY"}  # ColorSpaceType
IMAGE = 2  # of the union ContentProperties


def read_metadata(model, data, input_scale) -> Facts:
    """The facts in the metadata; `input_scale` is (scale, bias) where the input's type already fixes them."""
    facts = Facts()
    if input_scale is not None:
        facts.scale, facts.bias = [input_scale[0]], [input_scale[1]]
    for index in range(model.MetadataLength()):
        entry = model.Metadata(index)
        if entry.Name() == b"TFLITE_METADATA":
            read_model_metadata(model.Buffers(entry.Buffer()).DataAsNumpy().tobytes(), data, facts)
    return facts


def read_model_metadata(metadata, data, facts):
    """Reads the flatbuffer ModelMetadata into `facts`."""
    root = Table(metadata, number_types.UOffsetTFlags.packer_type.unpack_from(metadata, 0)[0])
    facts.licence = text(root, 5)
    for graph in tables(root, 3)[:1]:
        for tensor in tables(graph, 2)[:1]:
            read_input(tensor, facts)
        for tensor in tables(graph, 3)[:1]:
            for file in tables(tensor, 6):
                if scalar(file, 2) == AXIS_LABELS and facts.labels is None:
                    facts.labels = read_labels(data, text(file, 0))


def read_input(tensor, facts):
    content = table(tensor, 3)
    if content is not None and scalar(content, 0) == IMAGE:
        facts.order = COLOUR_ORDERS.get(scalar(table(content, 1), 0))
    for unit in tables(tensor, 4):
        if scalar(unit, 0) == NORMALISATION:
            mean, deviation = floats(table(unit, 1), 0), floats(table(unit, 1), 1)
            if not mean or len(mean) != len(deviation) or 0 in deviation:
                raise ConversionError("its metadata holds a normalisation that cannot be")
            facts.scale = [1 / d for d in deviation]
            facts.bias = [-m / d for m, d in zip(mean, deviation)]


def read_labels(data, name):
    """The lines of a file in the archive after the model."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if archive.getinfo(name).file_size > MAX_LABEL_BYTES:
                raise ConversionError(f"the label file {name} in its archive is larger than {MAX_LABEL_BYTES} bytes")
            return archive.read(name).decode("utf-8").split("\n")
    except (zipfile.BadZipFile, KeyError):
        raise ConversionError(f"its metadata names the label file {name}, which its archive does not hold") from None


# Fields of a flatbuffer table by their number.


def scalar(of, number):
    at = of.Offset(4 + 2 * number)
    return of.Get(number_types.Uint8Flags, of.Pos + at) if at else 0


def text(of, number):
    at = of.Offset(4 + 2 * number)
    return of.String(of.Pos + at).decode("utf-8") if at else None


def table(of, number):
    at = of.Offset(4 + 2 * number)
    return Table(of.Bytes, of.Indirect(of.Pos + at)) if at else None


def tables(of, number):
    at = of.Offset(4 + 2 * number)
    if not at:
        return []
    start = of.Vector(at)
    return [Table(of.Bytes, of.Indirect(start + 4 * index)) for index in range(min(of.VectorLen(at), 64))]


def floats(of, number):
    at = of.Offset(4 + 2 * number) if of is not None else 0
    if not at:
        return []
    start = of.Vector(at)
    return [of.Get(number_types.Float32Flags, start + 4 * index) for index in range(min(of.VectorLen(at), 64))]
