"""Runs an ONNX network in ONNX Runtime on one seeded picture: fields of flat colour with a little noise.

usage: run_onnx.py NETWORK.onnx INPUT.npy OUTPUT.npy

Both arrays are float32, height x width x channels.
"""

import sys

import numpy as np
import onnxruntime

network, input_path, output_path = sys.argv[1:]
session = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
shape = session.get_inputs()[0].shape
random = np.random.default_rng(2)
fields = np.kron(random.uniform(-1, 1, (1, 3, 9, 9)), np.ones((16, 16)))[:, :, : shape[2], : shape[3]]
picture = np.clip(fields + random.normal(0, 0.1, fields.shape), -1, 1).astype(np.float32)
result = session.run(None, {session.get_inputs()[0].name: picture})[0]
for path, values in ((input_path, picture), (output_path, result)):
    np.save(path, np.ascontiguousarray(values[0].transpose(1, 2, 0)))
