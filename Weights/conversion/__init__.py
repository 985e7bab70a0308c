"""Turns networks of other formats into Silhouette's model files (`../FORMAT.md`).

A reader a format (`tflite_reader`, `coreml_reader`, `onnx_reader`) gives a `network`, `simplify` brings it to the operators
of the format, `description` and `container` write it down; `converter` does all of this.
"""
