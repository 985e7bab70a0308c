"""Facts about files that say too little of themselves, by their SHA-256."""

from .network import Facts

VOC_LABELS = [
    "background",
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
]

KNOWN = {
    # First published by the TensorFlow Lite project.
    "68a539782c2c6a72f8aac3724600124a85ed977162b44e84cbae5db717c933c6": Facts(
        name="deeplabv3_257_mv_gpu",
        scale=[1 / 127.5],
        bias=[-1],
        order="RGB",
        labels=VOC_LABELS,
        kind="logits",
        licence="Apache-2.0",
        upstream="https://storage.googleapis.com/download.tensorflow.org/models/tflite/gpu/deeplabv3_257_mv_gpu.tflite",
    ),
    # The input's scale is in the graph.
    "f79872bbc59f2c74dd70f2460280edbf94a8a38d5f870952fade2dd4ee361b46": Facts(
        name="DeepLabV3Int8LUT",
        labels=VOC_LABELS,
        kind="logits",
        licence="Apache-2.0",
        upstream="https://ml-assets.apple.com/coreml/models/Image/ImageSegmentation/DeepLabV3/DeepLabV3Int8LUT.mlmodel",
    ),
    # The input's scale is its quantisation.
    "350af47fd346ea6d74b58833a351f583ba860e9806ec5bd292ff8d8f1f249398": Facts(
        name="deeplabv3_mnv2_pascal_quant",
        order="RGB",
        labels=VOC_LABELS,
        kind="logits",
        licence="Apache-2.0",
        upstream="https://github.com/google-coral/test_data/blob/104342d2d3480b3e66203073dac24f4e2dbb4c41/"
        "deeplabv3_mnv2_pascal_quant.tflite",
    ),
    "9ee168ec7c8f2a16c56fe8e1cfbc514974cbbb7e434051b455635f1bd1462f5c": Facts(
        name="selfie_segmentation",
        scale=[1 / 255],
        bias=[0],
        order="RGB",
        labels=["background", "person"],
        kind="probabilities",
        licence="Apache-2.0",
        upstream="https://pypi.org/project/mediapipe/0.10.14/: mediapipe/modules/selfie_segmentation/"
        "selfie_segmentation.tflite",
    ),
}
