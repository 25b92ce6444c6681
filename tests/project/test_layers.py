"""The plan of the house: every package has its floor, arrows point down only, and nothing grows too long."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from source import FILES, MODULES, SOURCE, functions, imports, module_of, package, parsed, raised

# From the top down. A package imports those on lower floors, and of its own floor none but itself.
FLOORS = (
    ("__main__",),
    ("cli",),
    ("reproduce",),
    ("report", "explorer", "web"),
    ("pages",),
    ("plots",),
    ("experiment",),
    ("device", "export", "search"),
    ("runs",),
    ("training",),
    ("methods",),
    ("objectives",),
    ("transforms", "backbones", "data"),
    ("core",),
)
BESIDE = {("device", "export")}  # what is measured on a device is what was exported
HEIGHT = {name: height for height, names in enumerate(reversed(FLOORS)) for name in names}

OF_RUNS = {"config.json", "metrics.jsonl", "device.json", "comparison.json"} | {
    f"{stem}.safetensors" for stem in ("model", "state", "estimator")
}

LONGEST_FUNCTION = 60
LONGEST_FILE = 350

# Files whose errors only a programmer of scn can meet may raise those of Python.
FOR_PROGRAMMERS = {"core/units.py", "pages/assemble.py"}
OF_PYTHON = {
    name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)
} - {"NotImplementedError", "AttributeError", "StopIteration", "AssertionError"}


def arrows(when_run: bool = False) -> Iterator[tuple[str, str]]:
    """(module, module it imports), for every file but the front door, which shows what people use."""
    for module, path in MODULES.items():
        if module != "scn":
            yield from ((module, target) for target in imports(path, when_run))


def may_import(here: str, there: str) -> bool:
    lower = there in HEIGHT and HEIGHT[there] < HEIGHT[here]
    return here == there or lower or (here, there) in BESIDE


def test_every_package_has_its_floor() -> None:
    found = {package(module) for module in MODULES} - {""}
    assert found - set(HEIGHT) == set(), "a new package needs its place in FLOORS"
    doors = {"__init__.py", "__main__.py"}
    assert {path.name for path in SOURCE.glob("*.py")} == doors, "modules live in packages"


def test_arrows_point_down() -> None:
    assert {arrow for arrow in arrows() if not may_import(*map(package, arrow))} == set()


def test_no_module_imports_itself_by_way_of_others() -> None:
    below: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, target in arrows(when_run=True):
        below[module].add(target)

    def reached(module: str) -> set[str]:
        found: set[str] = set()
        waiting = [module]
        while waiting:
            new = below.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    reach = {module: reached(module) for module in MODULES}
    cycles = {
        tuple(sorted(other for other in reach[module] if module in reach.get(other, set())))
        for module in MODULES
        if module in reach[module]
    }
    assert cycles == set()


def test_the_names_of_files_in_a_run_folder_are_known_to_runs_alone() -> None:
    knowing = {
        f"{path.relative_to(SOURCE)}: {node.value!r}"
        for path in FILES
        if package(module_of(path)) != "runs"
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant) and str(node.value).rpartition("/")[2] in OF_RUNS
    }
    assert knowing == set()


def test_functions_are_short() -> None:
    lengths = [
        (f"{path.relative_to(SOURCE)} {node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for path in FILES
        for node in functions(path)
    ]
    assert {name for name, length in lengths if length > LONGEST_FUNCTION} == set()


def test_files_are_short() -> None:
    lengths = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in FILES}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_errors_for_people_are_of_one_family() -> None:
    """An error of Python is shown with its traceback, as a fault of the program: ScnError is for people."""
    found = {
        f"{path.relative_to(SOURCE)} {name}" for path in FILES for name in raised(path) if name in OF_PYTHON
    }
    assert {row for row in found if row.split()[0] not in FOR_PROGRAMMERS} == set()
