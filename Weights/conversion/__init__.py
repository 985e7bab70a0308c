"""Turns networks of other formats into Silhouette's model files (`../FORMAT.md`).

A reader for each format (`tflite_reader`, `coreml_reader`, `onnx_reader`) gives a `network`; `simplify` brings it to
the operators of a model file; `description` and `container` write it down. `converter` does all of this.
"""
