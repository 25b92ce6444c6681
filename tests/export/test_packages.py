"""A component of ESP-IDF and a module of Zephyr: their manifests, and their builds as far as stubs go.

The rules are those of ESP-IDF's component manifest, which its own manager checks as well, and of Zephyr's
schemas for zephyr/module.yml and sample.yaml. CMake is the real one; the functions of the two systems, in
stubs/idf and stubs/zephyr_base, build for this machine.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commands import run
from needs import installed, tool
from packaged import CASES, SAID, STUBS, WARNINGS, asked, exported
from scn.core.errors import ScnError
from scn.export import Options, Package, package_of
from scn.export.esp_idf import chips_for
from scn.export.package import LICENCE_TEXT

yaml: Any = pytest.importorskip("yaml", reason="needs pyyaml (make venv installs it)")
ROOT = Path(__file__).parents[2]
PACKAGES = ("arduino", "esp-idf", "zephyr")
NUMBER = r"(0|[1-9]\d*)"
VERSION = re.compile(rf"{NUMBER}\.{NUMBER}\.{NUMBER}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


# What is common to all


@pytest.mark.parametrize("target", PACKAGES)
def test_a_package_has_the_licence_of_scn_and_says_whose_the_weights_are(target: str, tmp_path: Path) -> None:
    place = exported(target, tmp_path)
    assert (place / "LICENSE").read_text() == (ROOT / "LICENSE").read_text() == LICENCE_TEXT.read_text()
    assert "the weights are those of whoever trained them" in (place / "README.md").read_text()


@pytest.mark.parametrize("target", PACKAGES)
def test_a_package_asks_to_be_named_before_it_is_published(target: str, tmp_path: Path) -> None:
    nobody, someone = exported(target, tmp_path / "nobody"), exported(target, tmp_path / "a", package=SAID)
    assert "Before you publish" in (nobody / "README.md").read_text()
    assert "Before you publish" not in (someone / "README.md").read_text()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("version=1.2", "is not of three numbers"),
        ("version=1.0.0-01", "is not of three numbers"),
        ("version=", "is no line of text"),
        ("author=A\nname=other", "is no line of text"),
        ("url=example.org", "is no web page"),
        ("url=ftp://example.org", "is no web page"),
        ("maintainer=Arduino", "keeps maintainers"),
        ("versoin=1.0.0", 'Did you mean "version"'),
        ("version", "takes name=value"),
    ],
)
def test_what_registries_would_refuse_is_refused_here(said: str, reason: str) -> None:
    with pytest.raises(ScnError, match=reason):
        package_of([said])


def test_the_last_word_counts_and_the_author_maintains_the_package_unless_someone_else_does() -> None:
    assert package_of(["author=A", "author=B"]) == Package(author="B", maintainer="B")
    assert package_of(["maintainer=C", "author=B"]) == Package(author="B", maintainer="C")


@pytest.mark.parametrize("target", ["c", "onnx"])
def test_what_is_no_package_names_nobody(target: str, tmp_path: Path) -> None:
    with pytest.raises(ScnError, match="writes no package: leave out `package`"):
        exported(target, tmp_path / "out", package=SAID)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("target", PACKAGES)
@pytest.mark.parametrize("name", ["string", "Math", "arduino", "scn_accelerometer"])
def test_a_network_does_not_take_the_place_of_a_header(target: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(ScnError, match=f"the name {name} is that of a header already"):
        exported(target, tmp_path / "out", name=name)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["log", "Freertos", "esp_timer"])
def test_a_network_does_not_take_the_place_of_a_component_of_esp_idf(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScnError, match=f"the name {name} is that of"):
        exported("esp-idf", tmp_path, name=name)


@pytest.mark.parametrize("name", ["a", "net_", "a__b"])
def test_a_name_that_the_registry_of_esp_idf_refuses_is_refused_here(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScnError, match=f"takes no component {name}:"):
        exported("esp-idf", tmp_path, name=name)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("arduino", Options(weights="int8", inference="int8", theta="row")),
        ("esp-idf", Options(weights="float16", double_buffer=True)),
        ("zephyr", Options(weights="int8", theta="row")),
    ],
)
def test_every_kind_of_code_can_be_packaged(
    target: str, options: Options, tmp_path: Path, small_run: Path
) -> None:
    chosen = ["--weights", options.weights, "--inference", options.inference, "--theta", options.theta]
    chosen += ["--double-buffer"] if options.double_buffer else []
    result = run("export", str(small_run), "--to", target, *chosen, "--name", "net", "-o", str(tmp_path))
    assert result.code == 0, result.err
    place = tmp_path / "net"
    for source in place.glob("src/*.c"):
        places = [f"-I{place / 'include'}", f"-I{place / 'src'}", f"-I{STUBS}"]
        port = [] if target == "arduino" else ['-DSCN_PORT_HEADER="scn_port.h"']
        words = [tool("gcc"), "-std=c99", *WARNINGS, *places, *port, "-fsyntax-only", str(source)]
        subprocess.run(words, check=True)


def test_the_command_writes_what_a_person_said_into_the_manifest(small_run: Path, tmp_path: Path) -> None:
    values = ("version=3.0.0", "url=https://example.org/n", "author=A: B #1")
    said = [word for value in values for word in ("--package", value)]
    result = run("export", str(small_run), "--to", "esp-idf", *said, "--name", "net", "-o", str(tmp_path))
    assert result.code == 0, result.err
    found = read(tmp_path / "net" / "idf_component.yml")
    assert (found["version"], found["url"]) == ("3.0.0", "https://example.org/n")
    assert found["maintainers"] == ["A: B #1"]
    result = run("export", str(small_run), "--to", "esp-idf", "--package", "licence=GPL", "-o", str(tmp_path))
    assert (result.code, "a package has no" in result.err) == (2, True)


# ESP-IDF

MANIFEST = {
    *("version", "description", "url", "license", "maintainers", "tags", "targets", "dependencies"),
    *("repository", "documentation", "issues", "discussion", "examples", "files"),
}
CHIPS = {f"esp32{kind}" for kind in ("", "s2", "s3", "c2", "c3", "c5", "c6", "c61", "h2", "p4")}


@pytest.mark.parametrize("case", CASES)
def test_the_manifest_of_a_component_has_what_its_registry_asks_for(case: str, tmp_path: Path) -> None:
    component = exported("esp-idf", tmp_path, case, package=SAID)
    found = read(component / "idf_component.yml")
    assert {"version", "description", "url", "license", "targets", "dependencies"} <= set(found) <= MANIFEST
    assert VERSION.fullmatch(found["version"])
    assert (found["url"], found["license"]) == (SAID.url, "MIT")
    assert found["maintainers"] == [SAID.author]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{3,32}", tag) for tag in found["tags"])
    assert set(found["targets"]) == CHIPS  # so small is this network
    assert found["dependencies"] == {"idf": ">=5.0"}
    assert re.fullmatch(r"[a-z0-9_-]+", component.name)


def test_the_targets_of_a_component_are_the_chips_that_can_hold_it() -> None:
    assert set(chips_for(0)) == CHIPS
    assert "esp32c2" not in chips_for(140 * 1024)
    assert "esp32c3" in chips_for(140 * 1024)
    assert chips_for(268_964) == ["esp32p4"]
    with_psram = ["esp32", "esp32s2", "esp32s3", "esp32c5", "esp32c61", "esp32p4"]
    assert chips_for(10_000_000) == with_psram


def test_the_component_manager_accepts_and_packs_the_component(tmp_path: Path) -> None:
    compote = installed("compote")
    component = exported("esp-idf", tmp_path, package=SAID)
    done = asked(compote, "manifest", "lint", component, folder=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr
    places = ("--project-dir", component, "--dest-dir", tmp_path / "dist")
    assert asked(compote, "component", "pack", "--name", "toy", *places, folder=tmp_path).returncode == 0
    unpacked = tmp_path / "dist" / f"toy_{SAID.version}"
    assert (unpacked / "src" / "toy.c").is_file()
    assert (unpacked / "examples" / "toy_example" / "main" / "main.c").is_file()
    manifest = component / "idf_component.yml"
    manifest.write_text(manifest.read_text().replace(">=5.0", ">=five"))
    assert asked(compote, "manifest", "lint", component, folder=tmp_path).returncode != 0


@pytest.mark.parametrize("case", ["accelerometer", "two params", "plain"])
def test_the_example_of_a_component_is_built_by_cmake_and_runs(case: str, tmp_path: Path) -> None:
    component = exported("esp-idf", tmp_path, case)
    said = built(component / "examples" / "toy_example", tmp_path, IDF_PATH=str(STUBS / "idf"))
    assert "self-test: passed" in said
    assert said.count("configure: status 0") == (0 if case == "plain" else 4)
    assert said.count("infer: status 0") == (1 if case == "plain" else 4)


# Zephyr

MODULE = {"name", "build", "tests", "samples", "boards", "blobs", "security", "package-managers", "runners"}
TEST = {
    *(
        "tags",
        "min_ram",
        "min_flash",
        "integration_platforms",
        "harness",
        "harness_config",
        "filter",
        "timeout",
    ),
    *("platform_allow", "platform_exclude", "arch_allow", "arch_exclude", "depends_on", "build_only", "slow"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_files_of_a_module_have_what_zephyrs_schemas_ask_for(case: str, tmp_path: Path) -> None:
    module = exported("zephyr", tmp_path, case)
    found = read(module / "zephyr" / "module.yml")
    assert set(found) <= MODULE
    assert re.fullmatch(r"[A-Za-z0-9_-]+", found["name"])
    assert set(found["build"]) == {"cmake", "kconfig"}
    assert (module / found["build"]["cmake"] / "CMakeLists.txt").is_file()
    assert (module / found["build"]["kconfig"]).is_file()
    (sample,) = [
        path.parent for folder in found["samples"] for path in (module / folder).rglob("sample.yaml")
    ]
    about = read(sample / "sample.yaml")
    assert set(about) == {"sample", "tests"}
    assert set(about["sample"]) == {"name", "description"}
    ((name, test),) = about["tests"].items()
    assert re.fullmatch(r"[A-Za-z0-9_.]+", name)
    assert set(test) <= TEST
    assert isinstance(test["min_ram"], int)
    assert isinstance(test["min_flash"], int)
    assert {"prj.conf", "CMakeLists.txt", "src"} <= {path.name for path in sample.iterdir()}


def test_the_kconfig_file_of_a_module_is_read_by_kconfiglib(tmp_path: Path) -> None:
    kconfiglib = pytest.importorskip("kconfiglib", reason="needs kconfiglib (make venv installs it)")
    module = exported("zephyr", tmp_path)
    config = kconfiglib.Kconfig(str(module / "Kconfig"), warn_to_stderr=False)
    assert [symbol.name for symbol in config.unique_defined_syms] == ["SCN_TOY"]
    assert config.syms["SCN_TOY"].str_value == "n"
    config.load_config(str(module / "samples" / "toy" / "prj.conf"))
    assert config.syms["SCN_TOY"].str_value == "y"


@pytest.mark.parametrize("case", ["accelerometer", "two params", "plain"])
def test_the_sample_of_a_module_is_built_by_cmake_and_says_what_twister_waits_for(
    case: str, tmp_path: Path
) -> None:
    sample = exported("zephyr", tmp_path, case) / "samples" / "toy"
    said = built(sample, tmp_path, ZEPHYR_BASE=str(STUBS / "zephyr_base"))
    ((_, test),) = read(sample / "sample.yaml")["tests"].items()
    (expected,) = test["harness_config"]["regex"]
    assert re.search(expected, said)
    assert said.count("configure: status 0") == (0 if case == "plain" else 4)


def test_two_modules_with_one_kind_of_sensor_are_linked_to_one_program(tmp_path: Path) -> None:
    sample = exported("zephyr", tmp_path) / "samples" / "toy"
    other = exported("zephyr", tmp_path, name="other")
    cmake, config = sample / "CMakeLists.txt", sample / "prj.conf"
    cmake.write_text(f"list(APPEND EXTRA_ZEPHYR_MODULES {other})\n{cmake.read_text()}")
    assert "other_poll" not in symbols(sample, tmp_path)
    config.write_text(f"{config.read_text()}CONFIG_SCN_OTHER=y\n")
    assert {"toy_poll", "other_poll", "scn_accelerometer_begin"} <= symbols(sample, tmp_path)


def symbols(sample: Path, folder: Path) -> set[str]:
    """What is linked, as Zephyr links: whole libraries, not only what someone calls."""
    built(sample, folder, ZEPHYR_BASE=str(STUBS / "zephyr_base"))
    listed = subprocess.run(["nm", folder / "build" / "app.elf"], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in listed.stdout.splitlines()}


def built(project: Path, folder: Path, **environment: str) -> str:
    """What the program of a project says, built by CMake."""
    cmake = tool("cmake")
    tool("gcc")
    shutil.rmtree(folder / "build", ignore_errors=True)
    for command in (("-S", project, "-B", folder / "build"), ("--build", folder / "build")):
        done = asked(cmake, *command, folder=folder, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
    return subprocess.run(
        [folder / "build" / "app.elf"], capture_output=True, text=True, check=True, timeout=20
    ).stdout
