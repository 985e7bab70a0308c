"""Weights/train on made-up pictures: packing, a teacher, training, resuming, exporting, measuring."""

import argparse
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import WEIGHTS
from PIL import Image

torch = pytest.importorskip("torch", reason="PyTorch is absent; Weights/train/requirements.txt names it")

TRAIN = WEIGHTS / "train"
sys.path.insert(0, str(TRAIN))

import checkpoint  # noqa: E402
import evaluate  # noqa: E402
import export  # noqa: E402
import metrics  # noqa: E402
import operators  # noqa: E402
import pack  # noqa: E402
import prepare  # noqa: E402
import train  # noqa: E402
from conversion.errors import ConversionError  # noqa: E402
from conversion.known import VOC_LABELS  # noqa: E402
from conversion.model_file import ModelFile  # noqa: E402
from keeper import load_checkpoint, validate  # noqa: E402
from layers import Depthwise, Pointwise, Stem, upsample  # noqa: E402
from model import DeepLabV3, cost  # noqa: E402
from samples import Samples  # noqa: E402
from store import CLASSES, GRID, PERSON, VOID, Store  # noqa: E402
from tasks import PORTRAIT, SCENE  # noqa: E402
from teacher import WIDE, load_teacher  # noqa: E402
from trainee import Trainee  # noqa: E402

NARROW = [1, 1, 1, 1, 1, 1, 0.5]
SMALL = ("--expansions", "1,1,1,1,1,1,0.5", "--head", "32", "--batch", "8")
VIEWS = ("--views", "129,97m")


def run_training(*arguments):
    """In a process of its own, as it handles signals and begins further processes."""
    subprocess.run([sys.executable, str(TRAIN / "train.py"), *map(str, arguments)], check=True, timeout=600)


def write_pair(folder, name, kind, random, masked=True):
    """A disc of class 15 (or 8) on a plain ground."""
    height, width = 40 + random.integers(30), 50 + random.integers(30)
    y, x = np.mgrid[:height, :width]
    inside = (y - height / 2) ** 2 + (x - width / 3) ** 2 < (height / 3) ** 2
    picture = np.where(inside[..., None], random.integers(120, 255, 3), random.integers(0, 100, 3)).astype(np.uint8)
    images = folder / kind / "images" if kind != "unlabelled" else folder / kind
    images.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(images / f"{name}.jpg", quality=95)
    if masked:
        (folder / kind / "masks").mkdir(exist_ok=True)
        mask = np.where(inside, 15 if kind == "ccp" else 8, 0).astype(np.uint8)
        mask[0] = VOID
        Image.fromarray(mask).save(folder / kind / "masks" / f"{name}.png")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder in the layout of the training pictures."""
    folder, random = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for index in range(60):
        write_pair(folder, f"a{index}", "voc", random)
    for index in range(4):
        write_pair(folder, f"b{index}", "ccp", random)
        write_pair(folder, f"c{index}", "unlabelled", random, masked=False)
    return folder


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    """An untrained network of the teacher's shape as a model file."""
    torch.manual_seed(0)
    net = DeepLabV3(**WIDE)
    pictures = torch.rand(4, 33, 33, 3) * 2 - 1
    with torch.no_grad():
        settle_alone(net, pictures)
        net.classes.weight.mul_(3)
    facts = export.Facts(scale=[1 / 127.5], bias=[-1], order="RGB", labels=VOC_LABELS, name="teacher")
    path = tmp_path_factory.mktemp("teacher") / "teacher.safetensors"
    path.write_bytes(export.model_bytes(net, 65, facts, {}))
    return path


def settle_alone(net, pictures):
    """Gives the results of a network's layers a standard size, with noise for what is wanted of each block."""
    x = pictures
    for block in net.blocks:
        block.settle(x, torch.randn_like(block(x)))
        x = block(x)
    net.head.settle(x)
    net.classes.settle(net.head(x))


@pytest.fixture(scope="module")
def work(data, teacher, tmp_path_factory):
    """A prepared work folder."""
    folder = tmp_path_factory.mktemp("work")
    prepare.main(["--data", str(data), "--work", str(folder), "--teacher", str(teacher), *VIEWS])
    return folder


def test_pictures_and_masks_come_back_as_they_were(work, data):
    store = Store(work)
    assert [sum(e["kind"] == kind for e in store.entries) for kind in ("voc", "ccp", "unlabelled")] == [60, 4, 4]
    for index, entry in enumerate(store.entries):
        if entry["kind"] == "unlabelled":
            assert store.mask(index) is None
            continue
        folder = data / entry["kind"]
        expected = np.asarray(Image.open(folder / "images" / f"{entry['name']}.jpg"))
        assert np.array_equal(store.picture(index), expected)
        assert np.array_equal(store.mask(index), np.asarray(Image.open(folder / "masks" / f"{entry['name']}.png")))


def test_validation_pictures_have_true_masks_and_are_not_trained_on(work):
    store = Store(work)
    kept = store.validation()
    assert kept
    assert {store.entries[index]["kind"] for index in kept} == {"voc"}
    assert not set(kept) & set(store.training())


def test_the_teacher_is_asked_once_and_remembered_closely(work, teacher, monkeypatch):
    store, asked = Store(work), prepare.Teacher(str(teacher), [(129, False), (97, True)], 1)
    assert store.done[:].all()
    probabilities = asked.answer(store.picture(5))
    kept = np.exp(-store.teacher[5].astype(np.float32) / 16)
    assert np.abs(kept - probabilities).max() < 0.04
    before = os.stat(work / "teacher.bin").st_mtime_ns
    monkeypatch.setattr(prepare.Teacher, "answer", None)  # it would fail if it were asked again
    prepare.ask_teacher(store, asked)
    assert os.stat(work / "teacher.bin").st_mtime_ns == before


def test_a_plain_sample_shows_the_picture_and_its_mask(work):
    store = Store(work)
    index = store.training()[0]
    samples = Samples(store, [index], 0, plain=True)
    samples.refresh()
    samples.answered[:] = False
    picture, target, weight = samples.sample(index, 65, 17)
    expected = Image.fromarray(store.picture(index)).resize((65, 65), Image.BILINEAR)
    assert np.array_equal(picture, np.asarray(expected))
    mask = store.mask(index)
    at = lambda side: ((np.arange(17) * 4 + 0.5) / 65 * side).astype(int)
    labels = mask[at(mask.shape[0])[:, None], at(mask.shape[1])]
    known = labels != VOID
    assert np.array_equal(weight, known)
    assert np.array_equal(target.argmax(0)[known], labels[known])


def test_views_of_a_sample_agree_with_each_other(work):
    """Discs are lighter than the ground: wherever a view was taken, the mask must follow."""
    store = Store(work)
    samples = Samples(store, store.training(), 1, crop=0.5)
    samples.refresh()
    samples.answered[:] = False
    agreed = []
    for index in [i for i in store.training() if store.entries[i]["kind"] == "voc"][:40]:
        picture, target, weight = samples.sample(index, 65, 17)
        light = picture[::4, ::4].mean(-1) > 110
        agreed.append((light == (target[8] > 0.5))[(weight > 0) & (picture[::4, ::4] != 127).any(-1)].mean())
    assert np.mean(agreed) > 0.93


def test_the_objects_of_another_sample_are_pasted_with_what_is_said_of_them(work):
    store = Store(work)
    samples = Samples(store, store.training(), 1)

    def sample(value, label, columns, weight):
        target = np.zeros((21, 17, 17), np.float32)
        target[0] = 1
        target[:, :, :columns], target[label, :, :columns] = 0, 1
        return np.full((65, 65, 3), value, np.uint8), target, np.full((17, 17), weight, np.float32)

    below, above = sample(10, 8, 17, 0.5), sample(200, 15, 9, 1.0)
    picture, target, weight = samples.pasted(below, above)
    assert (picture[:, :28] == 200).all() and (picture[:, 40:] == 10).all()
    assert (target[15, :, :8] == 1).all() and (target[8, :, 10:] == 1).all()
    assert np.allclose(target.sum(0), 1) and (weight[:, :8] == 1).all() and (weight[:, 10:] == 0.5).all()
    # Without an object, or with hardly anything left of what is below, it stays as it was.
    for columns in (0, 16):
        assert samples.pasted(below, sample(200, 15, columns, 1.0)) is below


@pytest.mark.parametrize("masked", [False, True])
def test_pictures_without_masks_are_trained_on_by_the_answers_alone(data, teacher, tmp_path, masked):
    """Of `voc` too, where a picture has lost its mask; without any mask there is nothing to measure on."""
    (tmp_path / "data/voc").mkdir(parents=True)
    shutil.copytree(data / "unlabelled", tmp_path / "data/voc/images")
    if masked:
        shutil.copytree(data / "voc", tmp_path / "data/coco")
    prepare.main(["--data", str(tmp_path / "data"), "--work", str(tmp_path / "work")])
    store = Store(tmp_path / "work")
    assert bool(store.validation()) == masked
    unmasked = [index for index, entry in enumerate(store.entries) if entry["kind"] == "voc"]
    with pytest.raises(SystemExit, match=r"prepare\.py --teacher"):
        Samples(store, unmasked, 0).draw()
    prepare.main(["--work", str(tmp_path / "work"), "--teacher", str(teacher), *VIEWS])
    store = Store(tmp_path / "work")
    assert Samples(store, unmasked, 0).batch(4, 65, 17)[2].max() == 1


def test_the_share_of_people_follows_mask_and_picture(work, data):
    """Discs of `ccp` are people by their masks; the discs of `voc` are another class, of which nobody is one."""
    store = Store(work)
    assert (store.done[:] == 2).all()
    for index, entry in enumerate(store.entries):
        if not entry["mask"]:
            continue
        mask, shares = store.mask(index), store.people(index) / 255
        if entry["kind"] == "ccp":
            assert shares[mask == PERSON].mean() > 0.6 > shares[mask == 0].mean() + 0.2
        else:
            assert shares[mask != VOID].mean() < 0.3 + 1e-3


def test_outlines_are_drawn_anew_where_their_file_is_gone(work, tmp_path):
    for name in ("index.json", "pictures.bin", "masks.bin", "teacher.bin", "done.bin"):
        shutil.copy(work / name, tmp_path / name)
    before = Store(work)
    assert not Samples(Store(tmp_path), before.training(), 0, people=True).usable_now().any()
    prepare.main(["--work", str(tmp_path)])
    assert (tmp_path / "people.bin").read_bytes() == (work / "people.bin").read_bytes()
    assert (Store(tmp_path).done[:] == 2).all()


def test_samples_of_people_show_all_else_and_people(work):
    store = Store(work)
    index = next(i for i, entry in enumerate(store.entries) if entry["kind"] == "ccp")
    samples = Samples(store, [index], 0, people=True, plain=True)
    samples.refresh()
    _, target, weight = samples.sample(index, 65, 33)
    assert target.shape == (2, 33, 33)
    assert np.allclose(target.sum(0), 1)
    assert (weight == 1).all()
    expected = np.asarray(Image.fromarray(store.people(index)).resize((33, 33), Image.BOX)) / 255
    assert np.abs(target[1] - expected).mean() < 0.1


def test_a_webcams_view_has_the_person_from_the_top(work):
    store = Store(work)
    samples = Samples(store, [0], 0, people=True, webcam=1.0)
    store.entries[0] |= {"height": 480, "width": 640}
    samples.presence[0, PERSON], samples.boxes[0] = True, (0.2, 1, 0.4, 0.5)
    for _ in range(50):
        ((y0, y1), (x0, x1)), whole = samples.view(0)
        assert whole == ((0, 1), (0, 1))
        assert 0 <= y0 <= 0.2 + 0.05 * (y1 - y0)
        assert 0.2 < y1 <= 1
        assert x0 < 0.45 < x1


def test_bystanders_are_left_to_the_teacher(work):
    store = Store(work)
    index = next(i for i, entry in enumerate(store.entries) if entry["kind"] == "ccp")
    samples = Samples(store, [index], 0, plain=True)
    samples.refresh()
    middle = np.array([0.5])
    corner, person = samples.target(index, middle, np.array([0.98])), samples.target(index, middle, np.array([0.33]))
    soft = np.exp(-store.teacher[index].astype(np.float32) / 16)
    assert corner[0][:, 0, 0] == pytest.approx(soft[:, 16, 31] / soft[:, 16, 31].sum(), abs=0.1)
    assert person[0][15, 0, 0] >= 0.5


@pytest.mark.parametrize("stride", [8, 16, 32])
def test_the_map_has_the_output_stride(stride):
    net = DeepLabV3(NARROW, 32, 16, stride=stride)
    with torch.no_grad():
        logits, features, results = net(torch.zeros(1, 129, 97, 3))
    assert logits.shape == (1, 128 // stride + 1, 96 // stride + 1, CLASSES)
    assert features.shape == (*logits.shape[:3], 32)
    assert [maps.shape[-1] for maps in results[::4]] == [16, 32, 64, 96, 320]


def both_ways(monkeypatch, operator, *tensors):
    """(with our kernels, with PyTorch's): the result and the gradients."""
    found = []
    for kernels in (operators.KERNELS, None):
        monkeypatch.setattr(operators, "KERNELS", kernels)
        result = operator(*tensors)
        slope = torch.sin(torch.arange(result.numel())).reshape(result.shape)
        found.append([result.detach(), *torch.autograd.grad(result, [t for t in tensors if t.requires_grad], slope)])
    return found


def noise(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape))).requires_grad_()


@pytest.mark.skipif(operators.KERNELS is None, reason="no C++ compiler")
@pytest.mark.parametrize("limit", [2.0, 6.0, float("inf")])
@pytest.mark.parametrize(
    "side, channels, stride, dilation",
    [(17, 32, 1, 1), (20, 64, 2, 1), (13, 96, 1, 2), (9, 48, 1, 4), (3, 16, 1, 4), (4, 16, 2, 2), (1, 16, 1, 1)],
)
def test_our_depthwise_kernels_are_right(monkeypatch, side, channels, stride, dilation, limit):
    tensors = noise(2, side, side + 2, channels), noise(channels, 1, 3, 3), noise(channels)
    for ours, theirs in zip(
        *both_ways(monkeypatch, lambda *t: operators.depthwise(*t, stride, dilation, limit), *tensors)
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(operators.KERNELS is None, reason="no C++ compiler")
@pytest.mark.parametrize("limit", [2.0, float("inf"), None])
@pytest.mark.parametrize("inputs, outputs", [(30, 48), (27, 32), (16, 21)])
def test_our_pointwise_kernels_are_right(monkeypatch, inputs, outputs, limit):
    tensors = noise(3, 5, 7, inputs), noise(outputs, inputs), noise(outputs)
    for ours, theirs in zip(*both_ways(monkeypatch, lambda *t: operators.pointwise(*t, limit), *tensors)):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(operators.KERNELS is None, reason="no C++ compiler")
def test_our_distance_is_right(monkeypatch):
    wanted, spread = noise(3, 5, 7, 32, seed=1).detach(), torch.rand(32) + 0.1
    found = both_ways(monkeypatch, lambda x: operators.distance(x, wanted, spread), noise(3, 5, 7, 32))
    for ours, theirs in zip(*found):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("compiler", ["false", "true", "no-compiler-of-this-name", "'open", "ld -shared -o /dev/null"])
def test_without_a_compiler_training_goes_on(monkeypatch, capsys, compiler):
    monkeypatch.setenv("SILHOUETTE_TRAIN_KERNELS", "1")
    monkeypatch.setenv("CXX", compiler)
    assert operators.compiled() is None
    assert re.fullmatch(r"operators\.py: PyTorch's own operators .*\(.+\)\n", capsys.readouterr().out)


def test_the_teacher_is_read_as_the_network_it_is(teacher, tmp_path):
    net = load_teacher(teacher)
    picture = Image.fromarray(np.random.default_rng(3).integers(0, 255, (65, 65, 3)).astype(np.uint8))
    with torch.no_grad():
        logits = net(torch.from_numpy(np.asarray(picture).copy())[None].float() / 127.5 - 1)[0]
    labels = upsample(logits.permute(0, 3, 1, 2), 65)[0].argmax(0).numpy()
    assert (labels == evaluate.Runner(teacher).labels(picture)).mean() > 0.99
    assert len(np.unique(labels)) > 1


def test_what_is_no_teacher_is_refused(teacher, tmp_path, monkeypatch):
    path = tmp_path / "odd.safetensors"

    def refused(named, net, **changes):
        facts = {"scale": [1 / 127.5], "bias": [-1], "order": "RGB", "labels": VOC_LABELS, "name": "odd"}
        path.write_bytes(export.model_bytes(net, 33, export.Facts(**facts | changes), {}))
        with pytest.raises(SystemExit, match=rf"odd\.safetensors: .*{named}"):
            load_teacher(path)

    torch.manual_seed(1)
    refused("block1/expand", DeepLabV3(NARROW, 32, 16))
    wide = DeepLabV3(**WIDE)
    refused("from -1 to 1", wide, order="BGR")
    refused("from -1 to 1", wide, bias=[0])
    refused("PASCAL VOC", wide, labels=VOC_LABELS[::-1])
    monkeypatch.setattr(export, "ACTIVATIONS", export.ACTIVATIONS | {6.0: "hardSwish"})
    refused("hardSwish, not relu6", wide)
    written = path.read_bytes()
    for data in (b"", written[:5000], written.replace(b"layers", b"levels")):
        path.write_bytes(data)
        with pytest.raises(ConversionError, match=r"odd\.safetensors: it is no model file"):
            load_teacher(path)


def test_layers_begin_with_results_of_a_standard_size(teacher):
    torch.manual_seed(0)
    wide, net = load_teacher(teacher), DeepLabV3([2, 2, 2, 2, 2, 2, 1], 32, 16)
    pictures = torch.rand(4, 65, 65, 3) * 2 - 1
    with torch.no_grad():
        logits, _, results = wide(pictures)
        net.settle(pictures, results, logits)
        inner = net.blocks[5].depthwise(net.blocks[5].expand(results[4]))
        own = net.apart(pictures, results)[2]
    assert 0.2 < inner.mean() < 0.7 and 0.3 < inner.std() < 0.9  # of a normal distribution, the half above zero
    for index in (0, 1, 16):  # blocks that add nothing
        means, wanted = own[index].mean((0, 1, 2)), results[index].mean((0, 1, 2))
        assert torch.allclose(means, wanted, atol=1e-3)
        half = results[index].std((0, 1, 2)) / 2
        assert torch.allclose(own[index].std((0, 1, 2)), half, rtol=1e-2)


@pytest.mark.parametrize("layer", [Stem(16), Pointwise(3, 16, 6.0), Depthwise(3, 1)])
def test_a_settled_layer_stays_as_it_is(layer):
    x = torch.rand(2, 9, 9, 3)
    with torch.no_grad():
        layer.bias += 1
        layer.settle(x)
        settled = [p.clone() for p in layer.parameters()]
        layer.settle(x)
    for before, after in zip(settled, layer.parameters()):
        torch.testing.assert_close(before, after, rtol=1e-4, atol=1e-4)


def test_blocks_learn_apart_from_the_teacher(work, teacher):
    torch.manual_seed(0)
    store = Store(work)
    batch = Samples(store, store.training(), 0).batch(4, 65, 17)
    trainee = Trainee({"expansions": [2, 2, 2, 2, 2, 2, 1], "head": 256, "stem": 16}, load_teacher(teacher))
    trainee.meet(batch, 16, settle=True)
    steps = torch.optim.Adam(trainee.parameters(), 0.01)
    distances = []
    for _ in range(40):
        steps.zero_grad()
        loss, distance = trainee.losses(batch, "cpu", 16, apart=True)
        (loss + 20 * distance).backward()
        steps.step()
        distances.append(float(distance.detach()))
    assert len(trainee.spreads) == 19
    assert np.mean(distances[-5:]) < 0.8 * distances[0]


@pytest.mark.parametrize("task, size, stride, limit", [(SCENE, 257, 16, 725.8e6), (PORTRAIT, 321, 32, 400e6)])
def test_the_networks_keep_to_their_limits(task, size, stride, limit):
    """The limit of the scene's is the published network at 257 x 257."""
    net = DeepLabV3(**task.network, classes=len(task.labels), stride=stride)
    multiplies, parameters = cost(net, size)
    assert multiplies < limit
    assert parameters * 2 < export.MAX_BYTES


def test_figures_of_a_known_matrix():
    truth, found = np.array([0, 0, 15, 15, VOID]), np.array([0, 15, 15, 15, 8])
    matrix = metrics.confusion(truth, found)
    values = metrics.figures(matrix)
    assert values["accuracy"] == 0.75
    assert values["person"] == pytest.approx(2 / 3)
    assert values["main"] == pytest.approx(2 / 3)
    assert values["miou"] == pytest.approx((1 / 2 + 2 / 3) / 2)


@pytest.mark.parametrize("height, width", [(37, 91), (300, 17), (65, 65)])
def test_labels_are_brought_back_as_pillow_does(height, width):
    labels = np.random.default_rng(0).integers(0, 21, (65, 65)).astype(np.uint8)
    expected = np.asarray(Image.fromarray(labels).resize((width, height), Image.NEAREST))
    assert np.array_equal(metrics.to_source(labels, height, width), expected)


def test_training_learns_stops_resumes_and_ends_in_a_model_file(work, teacher, data, tmp_path, capsys):
    common = ("--work", work, "--teacher", teacher, *SMALL, "--stages", "65:16", "--warm-up", "64", "--overfit", "8")
    with pytest.raises(SystemExit, match="without --resume"):
        train.main([*map(str, common), "--resume"])
    run_training(*common, "--end", "400", "--apart", "80")
    with pytest.raises(SystemExit):  # it does not overwrite
        train.main(list(map(str, common)))
    assert "--resume" in capsys.readouterr().err
    run_training(*common, "--resume", "--workers", "2", "--end", "560", "--apart", "80")
    with open(work / "log.csv") as file:
        rows = list(csv.DictReader(file))
    assert int(rows[-1]["pictures"]) == 560
    assert float(rows[-1]["loss"]) < 0.8 * float(rows[0]["loss"])

    target = tmp_path / "model.safetensors"
    export.main([str(work / "checkpoint.pt"), str(target)])
    model = ModelFile(target)
    assert model.document["labels"][15] == "person"
    assert model.document["source"]["licence"] == "Apache-2.0"
    assert {str(tensor.dtype) for tensor in model.tensors.values()} == {"float16", "float32"}

    (tmp_path / "eval").mkdir()
    os.symlink(data / "voc", tmp_path / "eval" / "voc")
    evaluate.main(["--data", str(tmp_path / "eval"), "--json", str(tmp_path / "figures.json"), str(target)])
    found = capsys.readouterr().out
    assert "60 pictures" in found
    assert "| cat |" in found
    # PyTorch on the packed pictures says the same as ONNX Runtime on the files.
    net, saved = checkpoint.read(work / "checkpoint.pt")
    net.set_stride(saved["stride"])
    store = Store(work)
    pictures = [index for index, entry in enumerate(store.entries) if entry["kind"] == "voc"]
    measured = json.loads((tmp_path / "figures.json").read_text())["model"]
    for name, value in validate(net, store, pictures, saved["size"]).items():
        assert measured[name] == pytest.approx(value, abs=0.005), name


def test_a_network_of_people_is_trained_and_ends_in_a_model_file_of_one_channel(work, teacher, tmp_path):
    link_pictures(work, tmp_path)
    common = ("--task", "portrait", "--work", tmp_path, "--teacher", teacher, *SMALL, "--stem", "16")
    common = (*common, "--decoder", "16,16,16", "--stages", "65:32", "--warm-up", "64", "--overfit", "8")
    run_training(*common, "--end", "240", "--apart", "80")
    target = tmp_path / "model.safetensors"
    export.main([str(tmp_path / "checkpoint.pt"), str(target)])
    model = ModelFile(target)
    assert model.document["labels"] == ["background", "person"]
    assert model.document["name"] == PORTRAIT.model
    assert {layer["name"] for layer in model.layers} >= {"rise1/resize", "rise3/mix"}
    assert model.tensor("classes.weight").shape[0] == 1
    # Its channel is the difference of the trained network's two: the labels are the same.
    net, saved = checkpoint.read(tmp_path / "checkpoint.pt")
    net.set_stride(saved["stride"])
    picture = Image.fromarray(np.asarray(Image.fromarray(Store(work).picture(2)).resize((65, 65))))
    with torch.no_grad():
        logits = upsample(
            net(torch.from_numpy(np.asarray(picture).copy())[None] / 127.5 - 1)[0].permute(0, 3, 1, 2), 65
        )
    people = (logits[0, 1] >= logits[0, 0]).numpy()
    assert ((evaluate.Runner(target).labels(picture) == PERSON) == people).mean() > 0.99


@pytest.mark.parametrize("steps, stride", [(1, 16), (2, 8), (3, 4)])
def test_a_decoder_gives_a_finer_map(steps, stride):
    net = DeepLabV3(NARROW, 32, 16, [16] * steps, 2, 32)
    with torch.no_grad():
        logits, features, _ = net(torch.zeros(1, 129, 97, 3))
    assert logits.shape == (1, 128 // stride + 1, 96 // stride + 1, 2)
    assert features.shape == (1, 5, 4, 32)


def test_a_point_at_an_outline_weighs_more(teacher):
    """A network that is wrong at outlines alone loses more, one that is wrong elsewhere alone loses less."""
    trainee = Trainee(PORTRAIT.network | {"classes": 2}, load_teacher(teacher))
    target = torch.zeros(1, 2, 33, 33)
    target[:, 1, :, 16:], target[:, 0, :, :16] = 1, 1
    losses = []
    for wrong in (slice(15, 17), slice(0, 2)):
        said = torch.where(target[:, :1] > 0.5, 4.0, -4.0)[:, 0]
        said[:, :, wrong] *= -1
        trainee.net.forward = lambda x, said=said: (torch.stack([said, -said], -1), x, [])
        batch = torch.zeros(1, 33, 33, 3), target, torch.ones(1, 33, 33)
        losses.append([float(trainee.losses(batch, "cpu", 16, False, 0, edge, False)[0]) for edge in (0, 2)])
    assert losses[0][1] > 1.2 * losses[0][0]
    assert losses[1][1] < losses[1][0]


def checkpoint_of(path, **changes):
    """A checkpoint of an untrained network."""
    shape = {"expansions": NARROW, "head": 32, "stem": 32, "decoder": [], "classes": CLASSES}
    content = {"task": "scene", "network": shape, "size": 33, "stride": 16, "seen": 100, "values": torch.zeros(1)}
    checkpoint.write(content | {"average_state": DeepLabV3(**shape).state_dict()} | changes, path)
    return path


def test_damaged_checkpoints_are_refused(tmp_path):
    path = checkpoint_of(tmp_path / "checkpoint.pt")
    assert checkpoint.read(path)[1]["seen"] == 100
    data = path.read_bytes()
    for damaged in (b"", b"no checkpoint", data[:1000], data[:-1000]):
        path.write_bytes(damaged)
        with pytest.raises(SystemExit, match=r"checkpoint\.pt: .* damaged"):
            checkpoint.read(path)
    for changes in ({"stride": 5}, {"size": 0}, {"network": {"head": 32}}, {"task": "portrait"}, {"average_state": {}}):
        with pytest.raises(SystemExit, match=r"checkpoint\.pt: .* damaged"):
            checkpoint.read(checkpoint_of(path, **changes))


def test_a_model_file_is_made_of_finite_weights_at_a_size_that_fits(tmp_path, capsys):
    state = DeepLabV3(NARROW, 32, 32).state_dict()
    state["classes.bias"][0] = float("nan")
    path, target = checkpoint_of(tmp_path / "checkpoint.pt", average_state=state), tmp_path / "m.safetensors"
    with pytest.raises(SystemExit, match=r"export\.py: layer classes: its bias holds a value that is not finite"):
        export.main([str(path), str(target)])
    with pytest.raises(SystemExit):
        export.main([str(path), str(target), "--size", "64"])
    assert "such as 65" in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize(
    "head, end, values, named",
    [(64, 200, True, "--head 32"), (32, 100, True, "set a larger --end"), (32, 200, False, r"best\.pt")],
)
def test_training_goes_on_from_its_own_checkpoint_alone(tmp_path, head, end, values, named):
    path = checkpoint_of(tmp_path / "checkpoint.pt")
    if not values:
        saved = checkpoint.read(path)[1]
        del saved["values"]
        checkpoint.write(saved, path)
    shape = {"expansions": NARROW, "head": head, "stem": 32, "decoder": [], "classes": CLASSES}
    with pytest.raises(SystemExit, match=rf"checkpoint\.pt.*{named}"):
        load_checkpoint(argparse.Namespace(work=tmp_path, end=end, task=SCENE), shape)


def link_pictures(work, folder):
    for name in os.listdir(work):
        if name.endswith((".bin", ".json")):
            os.symlink(work / name, folder / name)


def two_workers(work, teacher, folder):
    """The command of a training in another work folder of the same pictures, which saves at every step."""
    link_pictures(work, folder)
    command = [sys.executable, TRAIN / "train.py", "--work", folder, "--teacher", teacher, *SMALL]
    return [*map(str, command), "--stages", "33:16", "--workers", "2", "--minutes", "0"]


def test_what_cannot_be_saved_ends_all_processes(work, teacher, tmp_path):
    (tmp_path / "checkpoint.pt.part").mkdir()  # no file can be written there
    ended = subprocess.run(two_workers(work, teacher, tmp_path), stderr=subprocess.PIPE, text=True, timeout=300)
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [f"train.py: {tmp_path}/checkpoint.pt.part: Is a directory"]


def test_a_signal_saves_and_ends(work, teacher, tmp_path):
    process = subprocess.Popen(two_workers(work, teacher, tmp_path), stdout=subprocess.PIPE)
    try:
        process.stdout.readline()  # it trains
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        process.send_signal(signal.SIGCONT)
        process.terminate()
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()
    assert checkpoint.read(tmp_path / "checkpoint.pt")[1]["seen"] > 0


def test_a_pack_holds_what_training_needs(work, tmp_path):
    pack.main(["pack", "--work", str(work), str(tmp_path / "all.zip")])
    pack.main(["unpack", "--work", str(tmp_path / "copy"), str(tmp_path / "all.zip")])
    before, after = Store(work), Store(tmp_path / "copy")
    assert [entry["name"] for entry in after.entries] == [entry["name"] for entry in before.entries]
    assert np.array_equal(after.mask(3), before.mask(3))
    assert np.abs(after.picture(3).astype(int) - before.picture(3)).mean() < 12
    assert np.array_equal(after.teacher[3].argmin(0), before.teacher[3].argmin(0))
    samples = Samples(after, after.training(), 0)
    picture, target, _ = samples.batch(2, 65, 17)
    assert picture.shape == (2, 65, 65, 3)
    assert target.shape == (2, CLASSES, 17, 17)


def test_a_damaged_pack_is_refused(work, tmp_path):
    path = tmp_path / "all.zip"
    pack.main(["pack", "--work", str(work), str(path)])
    data = path.read_bytes()
    middle = len(data) // 2
    for damaged in (b"", b"no pack", data[:middle], data[:middle] + bytes(3000) + data[middle + 3000 :]):
        path.write_bytes(damaged)
        with pytest.raises(SystemExit, match=r"all\.zip: it is no pack, or damaged"):
            pack.main(["unpack", "--work", str(tmp_path / "copy"), str(path)])
        with pytest.raises(SystemExit, match="no index"):
            Store(tmp_path / "copy")
    with pytest.raises(SystemExit, match=r"absent/all\.zip.*: No such file"):
        pack.main(["pack", "--work", str(work), str(tmp_path / "absent" / "all.zip")])
    assert sorted(os.listdir(tmp_path)) == ["all.zip", "copy"]


@pytest.mark.parametrize("name", ["pictures.bin", "masks.bin", "teacher.bin", "done.bin", "index.json"])
def test_a_work_folder_whose_files_do_not_fit_is_refused(work, tmp_path, name):
    for file in ("pictures.bin", "masks.bin", "teacher.bin", "done.bin", "index.json"):
        (tmp_path / file).write_bytes((work / file).read_bytes()[: -1 if file == name else None])
    with pytest.raises(SystemExit, match=rf"{name}: .*remove .* run prepare\.py again"):
        Store(tmp_path)


def test_pictures_and_masks_that_cannot_be_are_named(data, tmp_path):
    shutil.copytree(data / "ccp", tmp_path / "data" / "voc")
    picture, mask = tmp_path / "data/voc/images/b2.jpg", tmp_path / "data/voc/masks/b2.png"
    arguments = ["--data", str(tmp_path / "data"), "--work", str(tmp_path / "work")]
    measuring = ["--data", str(tmp_path / "data"), str(WEIGHTS / "silhouette-deeplabv3.safetensors")]
    kept = mask.read_bytes()
    shape = np.asarray(Image.open(mask)).shape
    for wrong in (np.zeros((4, 4), np.uint8), np.full(shape, 21, np.uint8), np.zeros((*shape, 3), np.uint8)):
        Image.fromarray(wrong).save(mask)
        with pytest.raises(SystemExit, match=r"b2\.png: "):
            prepare.main(arguments)
    with pytest.raises(SystemExit, match=r"b2\.png: "):
        evaluate.main(measuring)
    mask.write_bytes(kept)
    picture.write_bytes(picture.read_bytes()[:700])
    with pytest.raises(SystemExit, match=r"b2\.jpg: it cannot be read"):
        prepare.main(arguments)
    assert not (tmp_path / "work/index.json").exists()


def test_the_answer_is_shortened_to_its_two_likeliest_classes():
    answer = np.full((CLASSES, GRID, GRID), 200, np.uint8)
    answer[3], answer[7] = 8, 15
    restored = pack.restore(pack.shorten(answer))
    assert np.abs(restored[3].astype(int) - answer[3]).max() < 4
    assert np.abs(restored[7].astype(int) - answer[7]).max() < 4


def test_upsampling_is_that_of_the_model_file():
    maps = torch.arange(9.0).reshape(1, 1, 3, 3)
    assert upsample(maps, 5)[0, 0, 0].tolist() == [0, 0.5, 1, 1.5, 2]


@pytest.mark.parametrize(
    "option, value, named",
    [
        ("--stages", "fast", "SIZE:STRIDE:UNTIL"),
        ("--stages", "0:16", "such as 17"),
        ("--stages", "-33:16", "SIZE:STRIDE:UNTIL"),
        ("--stages", "64:16", "such as 65"),
        ("--stages", "16:16", "such as 17"),
        ("--stages", "65:0", "8, 16 or 32"),
        ("--stages", "65:5", "8, 16 or 32"),
        ("--stages", "65:64", "8, 16 or 32"),
        ("--stages", "65:16,33:16", "33:16"),
        ("--stages", "65:16:8,33:16:8", "33:16:8"),
        ("--workers", "0", "of 1 or more"),
        ("--batch", "-4", "of 1 or more"),
        ("--loaders", "two", "of 0 or more"),
        ("--overfit", "0", "of 1 or more"),
        ("--seed", "-1", "of 0 or more"),
        ("--rate", "nan", "of 0 or more"),
        ("--crop", "0", "from 0.1 to 1"),
        ("--end", "8000", "--apart"),
        ("--hints", "0", "--apart 0"),
        ("--device", "abacus", "abacus"),
        ("--expansions", "4,4", "one number or 7"),
        ("--decoder", "8,8,8,8", "at most 3"),
        ("--decoder", "8,0", "of 1 or more"),
    ],
)
def test_options_that_cannot_be_are_refused(option, value, named, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        train.main(["--work", str(tmp_path), "--teacher", "t", f"{option}={value}"])
    assert ended.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert option in said
    assert named in said


@pytest.mark.parametrize("views, named", [("513,x", "'x' is not a size"), ("512", "such as 513"), ("", "'' is not")])
def test_views_that_cannot_be_are_refused(views, named, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        prepare.main(["--work", str(tmp_path), "--views", views])
    assert ended.value.code == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(
    "script, arguments, named",
    [
        (prepare, ("--data", "nowhere", "--work", "WORK"), "nowhere"),
        (train, ("--work", "WORK", "--teacher", "teacher.safetensors"), "prepare.py"),
        (train, ("--work", "WORK"), "--teacher"),
        (train, ("--work", "WORK", "--teacher", "t", "--workers", "2", "--loaders", "2"), "--workers"),
        (evaluate, ("--data", "nowhere", "model.safetensors"), "nowhere"),
        (export, ("nowhere.pt", "out.safetensors"), "nowhere.pt"),
        (export, ("best.pt",), "best.pt: a model file's name"),
        (pack, ("pack", "--work", "WORK", "out.zip"), "prepare.py"),
    ],
)
def test_what_is_missing_is_named(script, arguments, named, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        script.main([str(tmp_path) if argument == "WORK" else argument for argument in arguments])
    assert ended.value.code != 0
    assert named in f"{ended.value.code} {capsys.readouterr().err}"
