"""Core ML layers. Core ML does not run here: ONNX Runtime or the format's own words say what a layer must give."""

from conversion.coreml_reader import Reader  # silences coremltools, so before its own import  # isort: skip
import numpy as np
import pytest
from conftest import error, run_converted, run_onnx
from conversion import shapes
from conversion.converter import convert_bytes, read_network
from conversion.errors import ConversionError
from conversion.model_file import ModelFile
from conversion.network import Facts
from coremltools.proto import Model_pb2
from onnx_graphs import OnnxGraph

FACTS = Facts(labels=["a", "b", "c", "d"], kind="logits")
HEIGHT, WIDTH = 9, 11


class CoreMLGraph:
    """Collects layers of a network on a picture of 11 x 9 pixels."""

    def __init__(self, colours=20):
        self.model, self.random = Model_pb2.Model(), np.random.default_rng(7)
        self.model.specificationVersion = 1
        source = self.model.description.input.add()
        source.name = "image"
        source.type.imageType.width, source.type.imageType.height = WIDTH, HEIGHT
        source.type.imageType.colorSpace = colours
        self.model.neuralNetwork.SetInParent()

    def layer(self, kind, inputs):
        layers = self.model.neuralNetwork.layers
        layer = layers.add()
        layer.name = layer_output = f"{kind}_{len(layers) - 1}"
        layer.input.extend(inputs)
        layer.output.append(layer_output)
        getattr(layer, kind).SetInParent()
        return getattr(layer, kind), layer_output

    def conv(self, x, inputs, outputs, kernel=3, groups=1):
        p, output = self.layer("convolution", [x])
        p.outputChannels, p.kernelChannels, p.nGroups = outputs, inputs // groups, groups
        p.kernelSize.extend([kernel, kernel])
        p.same.SetInParent()
        p.hasBias = True
        weight = self.random.uniform(-1, 1, (outputs, inputs // groups, kernel, kernel)).astype(np.float32)
        bias = self.random.uniform(-1, 1, outputs).astype(np.float32)
        p.weights.floatValue.extend(weight.ravel())
        p.bias.floatValue.extend(bias)
        return p, output, weight, bias

    def data(self, output):
        self.model.description.output.add().name = output
        return self.model.SerializeToString()


def converted(data, tmp_path, facts=FACTS):
    _, result = convert_bytes(data, "network.mlmodel", facts)
    path = tmp_path / "network.safetensors"
    path.write_bytes(result)
    return ModelFile(str(path))


def compare(g, output, h, expected, tmp_path, operators=None):
    """The Core ML network must give what the ONNX network gives."""
    model, picture = converted(g.data(output), tmp_path), np.random.default_rng(1).uniform(-2, 2, (1, 3, HEIGHT, WIDTH))
    picture = picture.astype(np.float32)
    if operators is not None:
        found = [" ".join(filter(None, (layer["op"], layer.get("activation")))) for layer in model.layers]
        assert found == operators
    theirs = run_onnx(h.model(expected), {"picture": picture})[expected]
    assert error(run_converted(model, picture)[model.document["output"]["name"]], theirs) < 2e-5


def test_convolutions(tmp_path):
    g, h = CoreMLGraph(), OnnxGraph(HEIGHT, WIDTH)
    p, x, w, b = g.conv("image", 3, 6, kernel=4)
    p.stride.extend([2, 1])
    y = h.node("Conv", "picture", h.constant(w), h.constant(b), strides=[2, 1], auto_pad="SAME_UPPER")
    p, x, w, b = g.conv(x, 6, 6, kernel=2)
    p.same.asymmetryMode = 1
    y = h.node("Conv", y, h.constant(w), h.constant(b), auto_pad="SAME_LOWER")
    p, x, w, b = g.conv(x, 6, 6, groups=6)
    p.dilationFactor.extend([2, 1])
    for start, end in ((2, 1), (0, 3)):
        edge = p.valid.paddingAmounts.borderAmounts.add()
        edge.startEdgeSize, edge.endEdgeSize = start, end
    y = h.node("Conv", y, h.constant(w), h.constant(b), group=6, dilations=[2, 1], pads=[2, 0, 1, 3])
    p, x, w, b = g.conv(x, 6, 4, groups=2)
    y = h.node("Conv", y, h.constant(w), h.constant(b), group=2, pads=[1, 1, 1, 1])
    compare(g, x, h, y, tmp_path, ["conv2d", "conv2d", "depthwiseConv2d", "conv2d"])


def test_deconvolution(tmp_path):
    g, h = CoreMLGraph(), OnnxGraph(HEIGHT, WIDTH)
    p, x, w, _ = g.conv("image", 4, 3, kernel=3)  # stored as input x output channels
    p.outputChannels, p.kernelChannels, p.isDeconvolution = 4, 3, True
    del p.bias.floatValue[:]
    p.bias.floatValue.extend([0.5, -0.5, 0.25, 1])
    p.valid.SetInParent()
    p.stride.extend([2, 3])
    y = h.node("ConvTranspose", "picture", h.constant(w), h.constant([0.5, -0.5, 0.25, 1]), strides=[2, 3])
    compare(g, x, h, y, tmp_path, ["transposeConv2d"])


def test_relu6_spelt_out(tmp_path):
    g, h = CoreMLGraph(), OnnxGraph(HEIGHT, WIDTH)
    _, x, w, b = g.conv("image", 3, 4)
    p, x = g.layer("activation", [x])
    p.ReLU.SetInParent()
    p, x = g.layer("activation", [x])
    p.linear.alpha = -1
    p, x = g.layer("unary", [x])
    p.type, p.alpha, p.scale = 7, -6, 1
    p, x = g.layer("activation", [x])
    p.linear.alpha = -1
    y = h.node("Conv", "picture", h.constant(w), h.constant(b), pads=[1, 1, 1, 1])
    compare(g, x, h, h.node("Clip", y, h.constant(0.0), h.constant(6.0)), tmp_path, ["conv2d relu6"])


def test_norms_scales_and_gates(tmp_path):
    g, h = CoreMLGraph(), OnnxGraph(HEIGHT, WIDTH)
    _, x, w, b = g.conv("image", 3, 4)
    y = h.node("Conv", "picture", h.constant(w), h.constant(b), pads=[1, 1, 1, 1])
    p, x = g.layer("batchnorm", [x])
    p.channels, p.epsilon = 4, 1e-3
    values = [g.random.uniform(0.5, 2, 4).astype(np.float32) for _ in range(4)]
    for field, value in zip((p.gamma, p.beta, p.mean, p.variance), values):
        field.floatValue.extend(value)
    y = h.node("BatchNormalization", y, *map(h.constant, values), epsilon=1e-3)
    gate, g_gate = g.layer("activation", [x])
    gate.sigmoidHard.alpha, gate.sigmoidHard.beta = 1 / 6, 0.5
    _, x = g.layer("multiply", [x, g_gate])
    y = h.node("Mul", y, h.node("HardSigmoid", y, alpha=1 / 6, beta=0.5))
    p, x = g.layer("scale", [x])
    p.shapeScale.extend([4, 1, 1])
    p.scale.floatValue.extend([1, 2, 3, -4])
    p.hasBias = True
    p.shapeBias.extend([1])
    p.bias.floatValue.extend([0.5])
    y = h.node("Add", h.node("Mul", y, h.constant([[[1]], [[2]], [[3]], [[-4]]])), h.constant(0.5))
    p, x = g.layer("activation", [x])
    p.sigmoid.SetInParent()
    compare(g, x, h, h.node("Sigmoid", y), tmp_path, ["conv2d hardSwish", "depthwiseConv2d sigmoid"])


def test_pools_and_concat(tmp_path):
    g, h = CoreMLGraph(), OnnxGraph(HEIGHT, WIDTH)
    ends = []
    for kind, exclude, attributes in (
        (0, False, {}),
        (1, True, {"count_include_pad": 0}),
        (1, False, {"count_include_pad": 1}),
    ):
        p, x = g.layer("pooling", ["image"])
        p.type, p.avgPoolExcludePadding = kind, exclude
        p.kernelSize.extend([3, 2])
        p.stride.extend([2, 2])
        for start, end in ((1, 1), (1, 0)):
            edge = p.valid.paddingAmounts.borderAmounts.add()
            edge.startEdgeSize, edge.endEdgeSize = start, end
        y = h.node(
            "MaxPool" if kind == 0 else "AveragePool",
            "picture",
            kernel_shape=[3, 2],
            strides=[2, 2],
            pads=[1, 1, 1, 0],
            **attributes,
        )
        ends.append((x, y))
    _, x = g.layer("concat", [end[0] for end in ends])
    p, x, w, b = g.conv(x, 9, 4, kernel=1)
    y = h.node("Conv", h.node("Concat", *[end[1] for end in ends], axis=1), h.constant(w), h.constant(b))
    p, pooled = g.layer("pooling", [x])
    p.type, p.globalPooling = 1, True
    p.valid.SetInParent()
    _, x = g.layer("add", [x, pooled])
    compare(g, x, h, h.node("Add", y, h.node("GlobalAveragePool", y)), tmp_path)


@pytest.mark.parametrize("mode,convention", [(0, "align_corners"), (1, "align_corners"), (2, "asymmetric")])
def test_resizes(mode, convention, tmp_path):
    g, h = CoreMLGraph(), OnnxGraph(HEIGHT, WIDTH)
    _, x, w, b = g.conv("image", 3, 4)
    y = h.node("Conv", "picture", h.constant(w), h.constant(b), pads=[1, 1, 1, 1])
    p, x = g.layer("resizeBilinear", [x])
    p.targetSize.extend([20, 15])
    p.mode.samplingMethod = mode
    y = h.node(
        "Resize",
        y,
        "",
        "",
        h.constant([1, 4, 20, 15], np.int64),
        mode="linear",
        coordinate_transformation_mode=convention,
    )
    compare(g, x, h, y, tmp_path, ["conv2d", "resizeBilinear"])


@pytest.mark.parametrize("bits", [1, 3, 4, 8])
@pytest.mark.parametrize("form", ["table", "linear", "linear for each channel"])
def test_packed_weights(bits, form, tmp_path):
    g = CoreMLGraph()
    p, x, w, _ = g.conv("image", 3, 4)
    codes = np.random.default_rng(bits).integers(0, 1 << bits, w.size)
    text = "".join(f"{code:0{bits}b}" for code in codes)  # Core ML: the highest bit first, without gaps
    text += "0" * (-len(text) % 8)
    del p.weights.floatValue[:]
    p.weights.rawValue = int(text, 2).to_bytes(len(text) // 8, "big")
    p.weights.quantization.numberOfBits = bits
    if form == "table":
        table = np.random.default_rng(9).uniform(-1, 1, 1 << bits).astype(np.float32)
        p.weights.quantization.lookupTableQuantization.floatValue.extend(table)
        expected = table[codes].reshape(w.shape)
    else:
        scale = [0.5, 0.25, 0.125, 2] if "each" in form else [0.5]
        bias = [-1, 0, 1, 2] if "each" in form else [-1]
        p.weights.quantization.linearQuantization.scale.extend(scale)
        p.weights.quantization.linearQuantization.bias.extend(bias)
        expected = (codes.reshape(len(scale), -1) * np.array(scale)[:, None] + np.array(bias)[:, None]).reshape(w.shape)
    found = converted(g.data(x), tmp_path).tensor("convolution_0.weight")
    assert np.abs(found - expected).max() < 1e-6


def test_codes_are_counted_as_what_they_become_before_they_do(monkeypatch):
    def bytes_of(layers):
        g = CoreMLGraph()
        value = "image"
        for _ in range(layers):
            p, value, w, _ = g.conv(value, 3, 3)
            del p.weights.floatValue[:]
            p.weights.rawValue = bytes(-(-w.size // 8))
            p.weights.quantization.numberOfBits = 1
            p.weights.quantization.lookupTableQuantization.floatValue.extend([0, 1])
        return g.data(value), 4 * w.size + 4 * 3  # the bias is not packed

    two, _ = bytes_of(2)
    three, each = bytes_of(3)
    monkeypatch.setattr(shapes, "MAX_WEIGHT_BYTES", 2 * each)
    read_network(two, ".mlmodel")
    made = []
    unpacked = Reader.dequantised
    monkeypatch.setattr(Reader, "dequantised", lambda *given: made.append(1) or unpacked(*given))
    with pytest.raises(ConversionError, match=r"layer convolution_2: .*the weights up to it take more than"):
        read_network(three, ".mlmodel")
    assert len(made) == 2


def test_half_precision_weights(tmp_path):
    g = CoreMLGraph()
    p, x, w, _ = g.conv("image", 3, 4)
    del p.weights.floatValue[:]
    p.weights.float16Value = w.astype("<f2").tobytes()
    assert (converted(g.data(x), tmp_path).tensor("convolution_0.weight") == w.astype(np.float16)).all()


def test_preprocessing_is_the_scale_and_bias(tmp_path):
    g = CoreMLGraph(colours=30)
    scaler = g.model.neuralNetwork.preprocessing.add().scaler
    scaler.channelScale, scaler.redBias, scaler.greenBias, scaler.blueBias = 0.5, 1, 2, 3
    p, x = g.layer("multiply", ["image"])
    p.alpha = 4
    size = converted(g.data(g.conv(x, 3, 4)[1]), tmp_path).document["input"]
    assert (size["order"], size["scale"], size["bias"]) == ("BGR", [2, 2, 2], [12, 8, 4])


def test_labels_of_the_preview(tmp_path):
    g = CoreMLGraph()
    g.model.description.metadata.userDefined["com.apple.coreml.model.preview.params"] = '{"labels": ["w","x","y","z"]}'
    document = converted(g.data(g.conv("image", 3, 4)[1]), tmp_path, Facts()).document
    assert document["labels"] == ["w", "x", "y", "z"] and document["output"]["kind"] == "logits"


def every_layer(g):
    """A network with each kind of layer that the reader knows."""
    x = g.conv("image", 3, 4)[1]
    p, y = g.layer("batchnorm", [x])
    p.channels = 4
    for field in (p.gamma, p.beta, p.mean, p.variance):
        field.floatValue.extend([1, 2, 3, 4])
    p, y = g.layer("activation", [y])
    p.sigmoidHard.alpha, p.sigmoidHard.beta = 0.2, 0.5
    y = g.layer("multiply", [x, y])[1]
    p, y = g.layer("scale", [y])
    p.shapeScale.extend([4, 1, 1])
    p.scale.floatValue.extend([1, 2, 3, 4])
    p, y = g.layer("bias", [y])
    p.shape.append(1)
    p.bias.floatValue.append(0.5)
    p, y = g.layer("clip", [y])
    p.minVal, p.maxVal = -3, 3
    p, y = g.layer("unary", [y])
    p.type, p.alpha = 7, -2
    p, c = g.layer("loadConstant", [])
    p.shape.extend([4, 1, 1])
    p.data.floatValue.extend([1, 2, 3, 4])
    y = g.layer("add", [y, c])[1]
    p, z = g.layer("reduce", [y])
    p.mode, p.axis = 1, 1
    p, pooled = g.layer("pooling", [y])
    p.valid.SetInParent()
    p, pooled = g.layer("resizeBilinear", [pooled])
    p.targetSize.extend([HEIGHT, WIDTH])
    y = g.layer("concat", [g.layer("add", [y, z])[1], pooled])[1]
    p, y = g.layer("padding", [y])
    p.constant.value = 0
    for _ in range(2):
        p.paddingAmounts.borderAmounts.add().startEdgeSize = 1
    p, y, _, _ = g.conv(y, 8, 4)
    p, y, _, _ = g.conv(y, 4, 4)
    p.isDeconvolution = True
    p.valid.SetInParent()
    return g.layer("softmax", [y])[1]


def coded_weights(g):
    """Weights of four bits, and labels."""
    p, x, w, _ = g.conv("image", 3, 4)
    del p.weights.floatValue[:]
    p.weights.rawValue = bytes(range(w.size // 2))
    p.weights.quantization.numberOfBits = 4
    p.weights.quantization.lookupTableQuantization.floatValue.extend(range(16))
    p, x = g.layer("reduce", [x])
    p.mode, p.axis = 9, 2
    g.model.neuralNetwork.preprocessing.add().scaler.channelScale = 0.5
    return x


SEEDS = (every_layer, coded_weights)  # for fuzz_readers.py


@pytest.mark.parametrize("build", SEEDS, ids=lambda build: build.__name__)
def test_networks_to_fuzz(build, tmp_path):
    g = CoreMLGraph()
    assert converted(g.data(build(g)), tmp_path).layers


def refuse_layer(kind, **fields):
    def build(g):
        p, output = g.layer(kind, [g.conv("image", 3, 4)[1]])
        for key, value in fields.items():
            setattr(p, key, value)
        return output

    return build


REFUSED = {
    "an unknown operator": (refuse_layer("lrn"), "layer lrn_1: operator lrn is not supported"),
    "an unknown function": (refuse_layer("unary", type=4), "layer unary_1: unary function EXP is not supported"),
    "instance normalisation": (
        refuse_layer("batchnorm", instanceNormalization=True),
        "layer batchnorm_1: batchnorm: instance",
    ),
    "a sum": (refuse_layer("reduce", mode=0), "layer reduce_1: reduce SUM along CHW is not supported"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case):
    build, message = REFUSED[case]
    g = CoreMLGraph()
    with pytest.raises(ConversionError, match="^network.mlmodel: " + message):
        convert_bytes(g.data(build(g)), "network.mlmodel", FACTS)


def test_refuses_another_kind_of_model():
    model = Model_pb2.Model()
    model.mlProgram.SetInParent()
    with pytest.raises(ConversionError, match="of the kind mlProgram, expected a neural network"):
        convert_bytes(model.SerializeToString(), "network.mlmodel", FACTS)
