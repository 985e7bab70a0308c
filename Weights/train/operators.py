"""The operators of the network, on maps of N x H x W x C: with kernels of our own on a CPU where a compiler is at hand
(a training step takes two thirds of the time), else PyTorch's."""

import ctypes
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import torch
from torch.nn import functional

NO_LIMIT = float("inf")
# With gcc, -ffast-math also makes numbers below 1e-38 zero in the whole process: no harm here.
FLAGS = ("-O3", "-march=native", "-ffast-math", "-fno-finite-math-only", "-std=c++17", "-shared", "-fPIC", "-w")


def compiled():
    """kernels.cpp, compiled for this processor; None where that cannot be."""
    if os.environ.get("SILHOUETTE_TRAIN_KERNELS") == "0":
        return None
    try:
        with tempfile.TemporaryDirectory() as folder:
            library, source = f"{folder}/kernels.so", Path(__file__).with_name("kernels.cpp")
            command = [*shlex.split(os.environ.get("CXX") or "c++"), *FLAGS, str(source), "-o", library]
            subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
            kernels = ctypes.CDLL(library)
            kernels.distance.restype = ctypes.c_double
            return kernels
    except (OSError, ValueError, AttributeError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", None) or str(error).encode()).decode(errors="replace").splitlines()
        reason = next((line for line in said if line.strip()), type(error).__name__)
        print(f"operators.py: PyTorch's own operators are used, which takes half as long again ({reason})", flush=True)
        return None


KERNELS = compiled()


def usable(x, channels):
    return KERNELS is not None and x.device.type == "cpu" and x.dtype == torch.float32 and channels % 16 == 0


def pointers(*tensors):
    """Of contiguous tensors, which the caller keeps."""
    return [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]


class Pointwise(torch.autograd.Function):
    """A 1x1 convolution, its bias, and ReLU up to a limit."""

    @staticmethod
    def forward(context, x, weight, bias, limit):
        rows = x.reshape(-1, x.shape[-1])
        result = torch.addmm(bias, rows, weight.t()).clamp_(0, limit)
        context.save_for_backward(rows, weight, result)
        context.limit, context.shape = limit, x.shape
        return result.view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(context, gradient):
        rows, weight, result = context.saved_tensors
        given, before, bias = gradient.contiguous(), torch.empty_like(result), torch.zeros_like(result[0])
        count, channels = map(ctypes.c_int64, result.shape)
        limit = ctypes.c_float(context.limit)
        KERNELS.activationBackward(count, channels, *pointers(given, result), limit, *pointers(before, bias))
        back = (before @ weight).view(context.shape) if context.needs_input_grad[0] else None
        return back, before.t() @ rows, bias, None


class Depthwise(torch.autograd.Function):
    """A depthwise 3x3 convolution, its bias, and ReLU up to a limit."""

    @staticmethod
    def forward(context, x, weight, bias, stride, dilation, limit):
        pictures, height, width, channels = x.shape
        sides = (height - 1) // stride + 1, (width - 1) // stride + 1
        shape = (ctypes.c_int64 * 8)(pictures, height, width, channels, stride, dilation, *sides)
        taps, result = weight.reshape(channels, 9).t().contiguous(), x.new_empty(pictures, *sides, channels)
        KERNELS.depthwise(shape, *pointers(x, taps, bias), ctypes.c_float(limit), *pointers(result))
        context.save_for_backward(x, taps, result)
        context.shape, context.limit = shape, limit
        return result

    @staticmethod
    def backward(context, gradient):
        x, taps, result = context.saved_tensors
        given, back, weights = gradient.contiguous(), torch.zeros_like(x), torch.empty_like(taps)
        bias, limit = torch.empty_like(taps[0]), ctypes.c_float(context.limit)
        inputs, outputs = pointers(given, result, x, taps), pointers(back, weights, bias)
        KERNELS.depthwiseBackward(context.shape, *inputs, limit, *outputs)
        return back, weights.t().reshape(-1, 1, 3, 3), bias, None, None, None


class Distance(torch.autograd.Function):
    """The mean of (found - wanted)^2 / spread."""

    @staticmethod
    def forward(context, found, wanted, spread):
        found, wanted, slope = found.contiguous(), wanted.contiguous(), torch.empty_like(found)
        factors, channels = 1 / (spread * found.numel()), found.shape[-1]
        sizes = map(ctypes.c_int64, (found.numel() // channels, channels))
        result = KERNELS.distance(*sizes, *pointers(found, wanted, factors, slope))
        context.save_for_backward(slope)
        return found.new_tensor(result)

    @staticmethod
    def backward(context, gradient):
        (slope,) = context.saved_tensors
        return slope * (2 * gradient), None, None


def distance(found, wanted, spread):
    """The mean of (found - wanted)^2 / spread; spread: one value for each channel, which come last."""
    if usable(found, found.shape[-1]):
        return Distance.apply(found, wanted, spread)
    return ((found - wanted).square() / spread).mean()


def pointwise(x, weight, bias, limit=None):
    """x: N x H x W x C; weight: outputs x C. `limit` None: no activation; else ReLU up to it."""
    if limit is None:
        return functional.linear(x, weight, bias)
    if usable(x, len(weight)):
        return Pointwise.apply(x, weight, bias, limit)
    return functional.linear(x, weight, bias).clamp(0, limit)


def depthwise(x, weight, bias, stride, dilation, limit):
    """x: N x H x W x C; weight: C x 1 x 3 x 3."""
    if usable(x, len(weight)):
        return Depthwise.apply(x.contiguous(), weight, bias, stride, dilation, limit)
    y = functional.conv2d(x.permute(0, 3, 1, 2), weight, bias, stride, dilation, dilation, len(weight))
    return y.clamp(0, limit).permute(0, 2, 3, 1)
