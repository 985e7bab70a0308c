"""What the pages say beside what is there: files, links, options, modules."""

import functools
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + DOCS
PICTURES = ROOT / "docs/pictures"
FOLDERS = ("Sources", "Tests", "Examples", "Plugins", "Shaders", "Weights", "scripts", "docs", "web")
SNAPSHOTS = ROOT / "Tests/CommandLineTests/Snapshots"
# Bytes of all pictures together.
PICTURE_LIMIT = 400_000
README_LINES = 160


def name_of(path):
    return str(path.relative_to(ROOT))


@functools.cache
def tracked():
    """The files of the project, those that are not committed yet included."""
    command = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("there is no git checkout")
    return [name for name in names if (ROOT / name).exists()]


def markdown():
    """Every page of the project: those of folders, too."""
    return sorted(
        page for folder in ("*.md", *(f"{folder}/**/*.md" for folder in FOLDERS)) for page in ROOT.glob(folder)
    )


def cells(line):
    """The cells of a table's row; | inside code counts as text where it is written \\|."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


# How long, and how heavy


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES


def test_pictures_are_light():
    sizes = {file.name: file.stat().st_size for file in PICTURES.iterdir()}
    assert sum(sizes.values()) <= PICTURE_LIMIT, sizes


def test_every_picture_is_shown():
    text = "".join(page.read_text() for page in PAGES)
    assert [file.name for file in PICTURES.iterdir() if f"pictures/{file.name}" not in text] == []


# Links and paths


def anchors(page):
    """What a link may name behind #, as GitHub makes it of headings."""
    headings = re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", markdown(), ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"`[^`\n]*`", "", page.read_text())
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"(?:src|href)=\"([^\"]+)\"", text)
    broken = []
    for link in links:
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


# What the build writes.
GENERATED = {"EmbeddedShaders.swift"}
SUFFIXES = "swift|py|comp|glsl|h|c|js|md|json|tsv|toml|safetensors"


def named_paths(text):
    """What looks like a file or folder of the project; names in capitals (NAME, IN, FILE) stand for others."""
    paths = re.findall(rf"(?<![\w./~$-])(?:{'|'.join(FOLDERS)})/[\w./+-]*", text)
    paths += re.findall(rf"`([\w/.+-]+\.(?:{SUFFIXES}))`", text)
    paths = {path.rstrip(".") for path in paths}
    return sorted(path for path in paths if not re.search(r"\b[A-Z]+\b(?!\.md)", Path(path).name.split(".")[0] + "."))


@pytest.mark.parametrize("page", markdown(), ids=name_of)
def test_named_paths_exist(page):
    """From the root, from the page's folder, or the end of some file's path."""
    ends = {"/".join(Path(name).parts[-length:]) for name in tracked() for length in range(1, 5)}
    absent = [
        path
        for path in named_paths(page.read_text())
        if not (ROOT / path).exists() and not (page.parent / path).exists() and path not in ends | GENERATED
    ]
    assert absent == []


# Options

OPTION = re.compile(r"--[a-z][a-z-]*")


def options_of(command):
    """The options that `silhouette help COMMAND` lists."""
    lines = (SNAPSHOTS / f"{command}.txt").read_text().splitlines()
    return {match[1] for line in lines if (match := re.match(r"^ {2}(?:-\w, | {4})(--[a-z-]+)", line))}


COMMANDS = sorted(path.stem for path in SNAPSHOTS.glob("*.txt") if path.stem != "help")


def explained():
    """Where each option is explained: it stands in the first cell of a table's row."""
    places = {}
    for page in DOCS:
        for line in page.read_text().splitlines():
            if line.startswith("|"):
                for option in set(OPTION.findall(cells(line)[0])):
                    places.setdefault(option, []).append(name_of(page))
    return places


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained_once(command):
    options = options_of(command)
    assert options
    places = explained()
    assert {option: places.get(option, []) for option in options if len(places.get(option, [])) != 1} == {}


def test_what_is_explained_is_an_option():
    known = set().union(*(options_of(command) for command in COMMANDS)) | {"--version"}
    assert sorted(set(explained()) - known) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_have_the_options_that_pages_give_them(page):
    """`silhouette segment photo.jpg --outline 2`: `--outline` is one of segment's."""
    wrong = []
    for command, rest in re.findall(rf"silhouette ({'|'.join(COMMANDS)})\b([^\n`|]*)", page.read_text()):
        rest = re.split(r"\s#|&&", rest)[0]
        wrong += [f"{command} {option}" for option in OPTION.findall(rest) if option not in options_of(command)]
    assert wrong == []


# Modules


@functools.cache
def package():
    """The targets as SwiftPM understands Package.swift."""
    if not shutil.which("swift"):
        pytest.skip("there is no swift to read Package.swift with")
    # In a folder of its own, so that it waits for no build.
    with tempfile.TemporaryDirectory() as scratch:
        command = ["swift", "package", "--package-path", ROOT, "--scratch-path", scratch, "dump-package"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["targets"]


def dependencies(target):
    return {next(iter(dependency.values()))[0] for dependency in target["dependencies"]}


# Declared and not imported: whose products a test needs to be built.
BUILT_FOR = {("EmbedShadersTests", "VulkanBackend")}


def folder_of(target):
    parent = {"test": "Tests", "plugin": "Plugins"}.get(target["type"], "Sources")
    return ROOT / (target.get("path") or f"{parent}/{target['name']}")


def imports_of(target, names):
    """The package's modules that a target's Swift files import."""
    found = set()
    for file in folder_of(target).rglob("*.swift"):
        pattern = r"^\s*(?:@\w+(?:\(\w+\))? |package |public |internal |private |fileprivate )*import (?:\w+ )?(\w+)"
        found |= set(re.findall(pattern, file.read_text(), re.M))
    return found & names - {target["name"]}


def module_rows():
    """The rows of ARCHITECTURE.md's table of modules: names, what they own, imports."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = re.search(r"^## Modules$(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert section, "ARCHITECTURE.md has no section Modules"
    rows = [cells(line) for line in section[1].splitlines() if line.startswith("|")][2:]
    return [(re.findall(r"`(\w+)`", names), owns, imports) for names, owns, imports in rows]


def right_table():
    """The table as it should be, to be pasted: rows and words as they are, imports from Package.swift."""
    order = [target["name"] for target in package()]
    targets = {target["name"]: target for target in package() if target["type"] != "test"}
    rows = [([name for name in names if name in targets], owns) for names, owns, _ in module_rows()]
    listed = {name for names, _ in rows for name in names}
    rows = [row for row in rows if row[0]] + [([name], "?") for name in targets if name not in listed]

    def shown(names):
        return ", ".join(f"`{name}`" for name in names)

    lines = [
        f"| {shown(names)} | {owns} | {shown(sorted(dependencies(targets[names[0]]), key=order.index))} |"
        for names, owns in rows
    ]
    return "\n".join(["| module | owns | imports |", "|---|---|---|", *lines])


def test_table_of_modules_is_that_of_the_package():
    targets = {target["name"]: dependencies(target) for target in package() if target["type"] != "test"}
    rows = module_rows()
    listed = [name for names, _, _ in rows for name in names]
    assert sorted(listed) == sorted(targets), f"ARCHITECTURE.md should have:\n{right_table()}"
    said = {name: set(re.findall(r"`(\w+)`", imports)) for names, _, imports in rows for name in names}
    wrong = {name: sorted(said[name] ^ targets[name]) for name in listed if said[name] != targets[name]}
    assert wrong == {}, f"ARCHITECTURE.md should have:\n{right_table()}"


def test_modules_import_only_those_above_them():
    """The table is in the order of layers."""
    above, wrong = set(), []
    for names, _, imports in module_rows():
        wrong += [f"{names[0]}: {name}" for name in re.findall(r"`(\w+)`", imports) if name not in above]
        above |= set(names)
    assert wrong == []


def test_declared_dependencies_are_imported():
    """And what is imported is declared."""
    names = {target["name"] for target in package()}
    wrong = []
    for target in package():
        if target["type"] in ("system", "plugin") or not any(folder_of(target).rglob("*.swift")):
            continue
        declared, imported = dependencies(target), imports_of(target, names)
        wrong += [
            f"{target['name']} declares {name}, which no file imports"
            for name in sorted(declared - imported)
            if (target["name"], name) not in BUILT_FOR
        ]
        wrong += [f"{target['name']} imports {name}, which is not declared" for name in sorted(imported - declared)]
    assert not wrong, "\n".join(wrong)


def test_foundation_is_left_out():
    """With it the program starts later and takes more memory. What only runs while building may have it."""
    import_line = re.compile(r"^\s*(?:\w+ |@\w+ )*import (?:\w+ )?Foundation\b", re.M)
    files = [path for path in (ROOT / "Sources").rglob("*.swift") if "EmbedShaders" not in path.parts]
    assert len(files) > 300
    assert [str(path.relative_to(ROOT)) for path in files if import_line.search(path.read_text())] == []
