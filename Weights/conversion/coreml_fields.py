"""The fields of Core ML's messages (Model.proto, NeuralNetwork.proto) that the reader knows; others are refused.

A field is honoured where the reader uses it: it may still refuse a value of it. It is harmless where the result is the
same without it.
"""

from google.protobuf.message import Message

from .errors import ConversionError

HONOURED = {
    "Model": "description neuralNetwork",
    "ModelDescription": "input output metadata",
    "FeatureDescription": "name type",
    "FeatureType": "imageType",
    "ImageFeatureType": "width height colorSpace",
    "Metadata": "license userDefined",
    "NeuralNetwork": "layers preprocessing",
    "NeuralNetworkPreprocessing": "featureName scaler",
    "NeuralNetworkImageScaler": "channelScale blueBias greenBias redBias grayBias",
    "NeuralNetworkLayer": "name input output activation add batchnorm bias clip concat convolution loadConstant "
    "multiply padding pooling reduce resizeBilinear scale softmax unary",
    "ActivationParams": "linear ReLU sigmoid sigmoidHard",
    "ActivationLinear": "alpha beta",
    "ActivationReLU": "",
    "ActivationSigmoid": "",
    "ActivationSigmoidHard": "alpha beta",
    "AddLayerParams": "alpha",
    "BatchnormLayerParams": "channels computeMeanVar instanceNormalization epsilon gamma beta mean variance",
    "BiasLayerParams": "shape bias",
    "ClipLayerParams": "minVal maxVal",
    "ConcatLayerParams": "sequenceConcat",
    "ConvolutionLayerParams": "outputChannels kernelChannels nGroups kernelSize stride dilationFactor valid same "
    "isDeconvolution hasBias weights bias outputShape",
    "LoadConstantLayerParams": "shape data",
    "MultiplyLayerParams": "alpha",
    "PaddingLayerParams": "constant reflection replication paddingAmounts",
    "PaddingConstant": "value",
    "PaddingReflection": "",
    "PaddingReplication": "",
    "PoolingLayerParams": "type kernelSize stride valid same includeLastPixel avgPoolExcludePadding globalPooling",
    "ValidCompletePadding": "paddingAmounts",
    "ReduceLayerParams": "mode axis",
    "ResizeBilinearLayerParams": "targetSize mode",
    "SamplingMode": "samplingMethod",
    "ScaleLayerParams": "shapeScale scale hasBias shapeBias bias",
    "SoftmaxLayerParams": "",
    "UnaryFunctionLayerParams": "type alpha shift scale",
    "ValidPadding": "paddingAmounts",
    "SamePadding": "asymmetryMode",
    "BorderAmounts": "borderAmounts",
    "EdgeSizes": "startEdgeSize endEdgeSize",
    "WeightParams": "floatValue float16Value rawValue quantization",
    "QuantizationParams": "numberOfBits linearQuantization lookupTableQuantization",
    "LinearQuantizationParams": "scale bias",
    "LookUpTableQuantizationParams": "floatValue",
}

HARMLESS = {
    "Model": {
        "specificationVersion": "what a later version can say more is in fields of its own",
        "isUpdatable": "only training uses it",
    },
    "ModelDescription": {
        "trainingInput": "only training uses it",
        "predictedFeatureName": "only classifiers, which are refused, have it",
        "predictedProbabilitiesName": "only classifiers, which are refused, have it",
    },
    "FeatureDescription": {"shortDescription": "it is text"},
    "FeatureType": {"isOptional": "the picture is always given"},
    "ImageFeatureType": {
        "enumeratedSizes": "width and height are one of them",
        "imageSizeRange": "width and height are within it",
    },
    "Metadata": {
        "shortDescription": "it is text",
        "versionString": "it is text",
        "author": "it is text",
    },
    "NeuralNetwork": {
        "arrayInputShapeMapping": "the input is a picture",
        "imageInputShapeMapping": "both mappings have channels, rows and columns last",
        "updateParams": "only training uses it",
    },
    "NeuralNetworkLayer": {
        "inputTensor": "shapes follow from the layers",
        "outputTensor": "shapes follow from the layers",
        "isUpdatable": "only training uses it",
    },
    "ReduceLayerParams": {"epsilon": "LOGSUM, which uses it, is refused"},
    "UnaryFunctionLayerParams": {"epsilon": "INVERSE and RSQRT, which use it, are refused"},
    "WeightParams": {"isUpdatable": "only training uses it"},
}


def check_fields(message: Message, what: str, skip=()):
    """Refuses what the message, and each within it, says in fields that are not known.

    - skip: fields of the message itself that are checked elsewhere
    """
    kind = message.DESCRIPTOR.name
    for field, value in message.ListFields():
        if field.name in skip or field.name in HARMLESS.get(kind, {}):
            continue
        if field.name not in HONOURED.get(kind, "").split():
            raise ConversionError(f"{what}: {kind} with {field.name} is not supported")
        if field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for inner in value if field.is_repeated else [value]:
                check_fields(inner, what)
