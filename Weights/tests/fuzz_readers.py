#!/usr/bin/env python3
"""Fuzzes the converter's readers with files that are damaged or lie.

    nice .venv/bin/python Weights/tests/fuzz_readers.py [--runs N] [--seconds S] [--seed SEED] [--format FORMAT]

Every run mutates one of the small networks that the tests build, in its bytes or in its structure, and converts it.
Right are a model file and a ConversionError of one line. Another exception, more than a few seconds, more memory than
the limit and a line that is none are findings: the file is kept in .build/fuzz/readers, and the exit code is 1. Where
Python itself dies, .build/fuzz/readers/last is the file. The same seed and index give the same file.
"""

import argparse
import faulthandler
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

import onnx  # noqa: E402
from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from conversion import coreml_reader  # noqa: E402, F401  silences coremltools, so before its own import
from conversion.converter import convert_bytes  # noqa: E402
from conversion.errors import ConversionError  # noqa: E402
from conversion.network import Facts  # noqa: E402
from coremltools.proto import Model_pb2  # noqa: E402

FINDINGS = TESTS.parent.parent / ".build" / "fuzz" / "readers"
FACTS = Facts(scale=[1], bias=[0], order="RGB", labels=["a", "b", "c", "d"], kind="logits")
SECONDS = 10  # a run of a small network takes a hundredth
MEMORY = 4 << 30  # address space; the libraries alone take 2 GB of it
GROWTH = 1 << 30  # bytes that a run may add to the largest ever resident memory
NUMBERS = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    16,
    127,
    128,
    255,
    256,
    4096,
    65_535,
    65_536,
    1 << 24,
    1 << 31,
    (1 << 31) - 1,
    1 << 40,
]
NUMBERS += [(1 << 63) - 1, (1 << 64) - 1]


class TooSlow(BaseException):
    """Not an Exception, so that no `except` of the converter takes it."""


def seeds():
    """(format, bytes) of the small networks of the tests."""
    import test_coreml
    import test_onnx
    import test_tflite
    from onnx_graphs import OnnxGraph
    from test_damage import NETWORKS
    from tflite_graphs import TFLiteGraph

    found = [(name.partition(".")[2], build()) for build, name in NETWORKS.values()]
    for case in test_onnx.CASES:
        graph = OnnxGraph()
        found.append(("onnx", graph.model(case(graph)).SerializeToString()))
    for case in test_tflite.CASES:
        graph = TFLiteGraph()
        found.append(("tflite", graph.data(case(graph))))
    for build in test_coreml.SEEDS:
        graph = test_coreml.CoreMLGraph()
        found.append(("mlmodel", graph.data(build(graph))))
    return found


# Mutations


def change_bytes(data, random):
    """Flips, sets, cuts, inserts, repeats and swaps bytes."""
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 4, 16])):
        if not data:
            break
        at, length = random.randrange(len(data)), random.choice([1, 2, 4, 8, 64])
        kind = random.randrange(8)
        if kind < 2:
            data[at] ^= 1 << random.randrange(8)
        elif kind == 2:
            data[at] = random.randrange(256)
        elif kind == 3:
            at = at // 4 * 4  # numbers of a flatbuffer lie at multiples of their size
            data[at : at + 4] = (random.choice(NUMBERS) & 0xFFFFFFFF).to_bytes(4, "little")
        elif kind == 4:
            del data[at : at + length]
        elif kind == 5:
            data[at:at] = random.randbytes(length)
        elif kind == 6:
            other = random.randrange(len(data))
            data[at : at + length] = data[other : other + length]
        else:
            data = data[: max(1, at)] if random.randrange(4) == 0 else data + data[at : at + length]
    return bytes(data)


def change_number(value, random):
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return random.choice([0.0, -1.0, 1e-45, 3e38, float("inf"), float("nan"), -value, value * 2])
    return random.choice([*NUMBERS, -1, -2, -(1 << 31), value + 1, value - 1, value * 2, -value])


def change_text(value, random, names):
    return random.choice([*names, "", value + "_", "a" * 600, "x\n\x00\x1b[31m", "\N{SNOWMAN}"])


def change_message(message, random):
    """Changes a protocol buffer somewhere in its structure, which stays well-formed."""
    places, names = [], []
    left = [message]
    while left:
        inner = left.pop()
        for field in inner.DESCRIPTOR.fields:
            places.append((inner, field))
        for field, value in inner.ListFields():
            if field.message_type is not None and not field.message_type.GetOptions().map_entry:
                left += value if field.is_repeated else [value]
            elif field.type == field.TYPE_STRING:
                names += value if field.is_repeated else [value]
    for _ in range(random.choice([1, 1, 2, 3])):
        inner, field = random.choice(places)
        if random.randrange(4) and not any(known is field for known, _ in inner.ListFields()):
            continue  # mostly what is there
        try:
            change_field(inner, field, random, names)
        except (TypeError, ValueError, AttributeError, OverflowError):
            continue  # out of the field's range


def change_field(message, field, random, names):
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return
    if random.randrange(6) == 0:
        message.ClearField(field.name)
    elif field.is_repeated and field.message_type is not None:
        kind = random.randrange(3)
        if kind == 0 or not len(value):
            value.add()
        elif kind == 1:
            value.add().CopyFrom(value[random.randrange(len(value))])
        else:
            del value[random.randrange(len(value))]
    elif field.message_type is not None:
        value.SetInParent()
    elif field.is_repeated:
        if len(value) and random.randrange(3):
            place = random.randrange(len(value))
            value[place] = change_scalar(field, value[place], random, names)
        elif len(value) and random.randrange(2):
            del value[random.randrange(len(value))]
        else:
            value.append(change_scalar(field, value[0] if len(value) else field.default_value or 0, random, names))
    else:
        setattr(message, field.name, change_scalar(field, value, random, names))


def change_scalar(field, value, random, names):
    if field.type == field.TYPE_STRING:
        return change_text(value if isinstance(value, str) else "", random, names)
    if field.type == field.TYPE_BYTES:
        return change_bytes(value if isinstance(value, bytes) and value else b"\0", random)
    if field.type == field.TYPE_ENUM:
        return random.choice([*(value.number for value in field.enum_type.values), 99])
    return change_number(value, random)


def change_objects(model, random):
    """Changes a TensorFlow Lite model somewhere in its structure."""
    places, left = [], [model]
    while left:
        inner = left.pop()
        for key, value in vars(inner).items():
            places.append((inner, key))
            for part in value if isinstance(value, list) else [value]:
                if hasattr(part, "__dict__"):
                    left.append(part)
    for _ in range(random.choice([1, 1, 2, 3])):
        inner, key = random.choice(places)
        value = getattr(inner, key)
        if isinstance(value, (bool, int, float)):
            setattr(inner, key, change_number(value, random))
        elif isinstance(value, bytes):
            setattr(inner, key, random.choice([b"", value + b"_", b"\xff\x00", b"x" * 600]))
        elif value is None:
            continue
        elif hasattr(value, "__len__") and not hasattr(value, "__dict__") and len(value):
            value = list(value)
            place = random.randrange(len(value))
            kind = random.randrange(3)
            if kind == 0:
                del value[place]
            elif kind == 1:
                value.append(value[place])
            elif hasattr(value[place], "__dict__"):
                value[place] = value[random.randrange(len(value))]
            else:
                value[place] = change_number(int(value[place]), random)
            setattr(inner, key, value)
        else:
            setattr(inner, key, None)


def change_structure(form, data, random):
    """The file with another structure; None where the change cannot be written down."""
    if form == "tflite":
        import flatbuffers

        model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data))
        change_objects(model, random)
        builder = flatbuffers.Builder(1024)
        try:
            builder.Finish(model.Pack(builder), b"TFL3")
        except Exception:  # numbers out of the range of their field
            return None
        return bytes(builder.Output())
    message = onnx.ModelProto() if form == "onnx" else Model_pb2.Model()
    message.ParseFromString(data)
    change_message(message, random)
    return message.SerializeToString()


def mutated(found, seed, index):
    """(format, bytes) of one run."""
    generator = random.Random(f"{seed} {index}")
    form = generator.choice(sorted({form for form, _ in found}))
    form, data = generator.choice([entry for entry in found if entry[0] == form])
    changed = change_structure(form, data, generator) if generator.randrange(2) else None
    if changed is None or generator.randrange(8) == 0:
        changed = change_bytes(changed or data, generator)
    return form, changed


def stop(number, frame):
    raise TooSlow


def run(form, data):
    """What came of it: `model`, `refused`, or what is wrong."""
    name = "network." + form
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        convert_bytes(data, name, FACTS)
        result = "model"
    except ConversionError as error:
        line = str(error)
        result = "refused"
        if not line.startswith(name + ": ") or not line.isprintable() or len(line) > 1100:
            result = f"no line: {line[:2000]!r}"
        elif "not enough memory" in line:
            result = "memory"
    except TooSlow:
        result = "slow: " + "".join(traceback.format_exc().splitlines(keepends=True)[-8:])
    except BaseException:
        result = "exception: " + traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    return f"memory: {grown >> 20} MiB more" if grown > GROWTH else result


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000, help="how many files (default: 100000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after that time")
    parser.add_argument("--seed", type=int, default=1, help="another one gives other files (default: 1)")
    parser.add_argument("--only", type=int, metavar="INDEX", help="this one run alone")
    parser.add_argument("--format", choices=["onnx", "tflite", "mlmodel"], help="files of this format alone")
    parser.add_argument("--findings", type=Path, default=FINDINGS, metavar="DIR", help="default: .build/fuzz/readers")
    options = parser.parse_args(arguments)
    found = [entry for entry in seeds() if options.format in (None, entry[0])]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, stop)
    faulthandler.enable()
    options.findings.mkdir(parents=True, exist_ok=True)
    counts, findings, slowest = Counter(), 0, (0.0, 0)
    begin, place = time.monotonic(), f"seed {options.seed}"
    indices = range(options.runs) if options.only is None else [options.only]
    for index in indices:
        if time.monotonic() - begin > options.seconds:
            break
        if index % 1000 == 0:
            print(f"{place}, run {index}: {dict(sorted(counts.items()))}", flush=True)
        form, data = mutated(found, options.seed, index)
        (options.findings / "last").write_bytes(data)
        start = time.monotonic()
        result = run(form, data)
        slowest = max(slowest, (time.monotonic() - start, index))
        counts[f"{form} {result.partition(':')[0]}"] += 1
        if result not in ("model", "refused"):
            findings += 1
            (options.findings / f"{options.seed}-{index}.{form}").write_bytes(data)
            print(f"{place}, run {index}, {form}: {result}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{place}: {counts.total()} runs in {time.monotonic() - begin:.0f} s, {findings} findings, "
        f"{dict(sorted(counts.items()))}; the slowest, {slowest[1]}, took {slowest[0]:.2f} s; {peak} MiB at most"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    os.chdir(TESTS)
    sys.exit(main(sys.argv[1:]))
