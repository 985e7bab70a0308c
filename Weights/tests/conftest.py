"""What the tests share: where reference files lie, and running networks in other engines."""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

WEIGHTS = Path(__file__).resolve().parent.parent
ROOT = WEIGHTS.parent
FIXTURES = ROOT / "Tests" / "Fixtures"
SHARED = Path(os.environ.get("SILHOUETTE_SHARED") or ROOT.parent / "shared")

sys.path.insert(0, str(WEIGHTS))

from conversion.converter import convert  # noqa: E402
from conversion.model_file import ModelFile  # noqa: E402
from conversion.network import Facts  # noqa: E402
from conversion.to_onnx import to_onnx  # noqa: E402


def shared(*parts):
    """A reference file, or a skip that says which one is missing."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is absent; SILHOUETTE_SHARED says where the reference files lie")
    return path


def run_onnx(model, inputs, outputs=None):
    """Results of an ONNX model by name, ONNX Runtime without graph optimisation; `outputs` may name inner tensors."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if outputs is not None:
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        del copy.graph.output[:]
        copy.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in outputs)
        model = copy
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def run_converted(model: ModelFile, tensor):
    """The result of every layer of a model file, by output name; `tensor` is normalised, NCHW."""
    return run_onnx(to_onnx(model, every_tensor=True), {model.document["input"]["name"]: tensor})


def litert(data, tensor):
    """Every tensor of a .tflite file by the converter's name, as float32 (dequantised), and the output alone."""
    # The interpreter prints on standard error; pytest captures it.
    from ai_edge_litert.interpreter import Interpreter
    from conversion.tflite_file import TFLiteFile

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that keeping all tensors takes memory
        interpreter = Interpreter(model_content=data, experimental_preserve_all_tensors=True, num_threads=2)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], tensor)
    interpreter.invoke()

    def value(detail):
        values = interpreter.get_tensor(detail["index"])
        scale, zero = detail["quantization"]
        return (values.astype(np.float32) - zero) * np.float32(scale) if scale else values

    names = TFLiteFile(data).names
    tensors = {}
    for detail in interpreter.get_tensor_details():
        # The scratch memory of operators comes after the file's tensors.
        if detail["index"] < len(names) and len(detail["shape"]) == 4:
            try:
                tensors[names[detail["index"]]] = value(detail)
            except ValueError:  # it has no values, as what an optimisation left out
                continue
    return tensors, value(interpreter.get_output_details()[0])


def error(found, expected):
    """The largest difference, relative where values are larger than 1."""
    return float(np.max(np.abs(found - expected) / np.maximum(1, np.abs(expected))))


@pytest.fixture
def convert_onnx(tmp_path):
    """Converts an ONNX model with harmless facts, and gives it as a ModelFile."""

    def run(model, **facts):
        source, target = tmp_path / "network.onnx", tmp_path / "network.safetensors"
        source.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
        defaults = {"scale": [1.0], "bias": [0.0], "order": "RGB", "kind": "logits"}
        if "labels" not in facts:
            facts["labels"] = [f"class {index}" for index in range(facts.pop("classes", 4))]
        convert(str(source), str(target), Facts(**(defaults | facts)))
        return ModelFile(str(target))

    return run
