"""Getting data: downloads that break off, lie or resume, archives that trick, conversions that stop."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import official_files as official
from commands import run
from scn import data
from scn.data import download as downloads
from scn.data.archives import entries
from scn.data.dataset import Arrays, registry
from scn.data.download import BrokenOff, Remote, WrongFile, download
from scn.data.sources import Request, Source, convert, fetch, of_classes, recognise, register, sources


@dataclass
class Web:
    """What the local server has, how it behaves, and what it was asked."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    breaks_after: int | None = None  # bytes of an answer
    ranges: bool = True
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def remote(self, name: str, kind: str = "sha256") -> Remote:
        content = self.files[name]
        digest = hashlib.new(kind, content).hexdigest()
        return Remote(f"{self.address}/{name}", len(content), f"{kind}:{digest}")


@pytest.fixture
def web() -> Iterator[Web]:
    state = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, asked = self.path.lstrip("/"), self.headers.get("Range")
            state.asked.append((name, asked))
            if name in state.redirects:
                self.send_response(302)
                self.send_header("Location", state.redirects[name])
                self.end_headers()
                return
            if name not in state.files:
                self.send_error(404)
                return
            content = state.files[name]
            start = int(asked[6:-1]) if asked and state.ranges else 0
            if start and start >= len(content):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:][: state.breaks_after])

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCN_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


CONTENT = bytes(range(256)) * 4000


# Downloads


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_a_download_is_checked_and_named_when_it_is_whole(web: Web, kind: str, tmp_path: Path) -> None:
    web.files["it.zip"] = CONTENT
    path = download(web.remote("it.zip", kind), tmp_path / "new")
    assert path.read_bytes() == CONTENT
    assert names(tmp_path) == ["new/it.zip"]
    download(web.remote("it.zip", kind), tmp_path / "new")
    assert len(web.asked) == 1  # what is there and right is not fetched again


def test_a_broken_download_goes_on_where_it_stopped(web: Web, tmp_path: Path) -> None:
    web.files["it.zip"] = CONTENT
    web.breaks_after = 400_000
    assert download(web.remote("it.zip"), tmp_path).read_bytes() == CONTENT
    assert [asked for _, asked in web.asked] == [None, "bytes=400000-", "bytes=800000-"]


def test_a_download_that_keeps_breaking_is_resumed_by_the_next_call(web: Web, tmp_path: Path) -> None:
    web.files["it.zip"] = CONTENT
    web.breaks_after = 100_000
    with pytest.raises(BrokenOff, match=r"broke off after 300,000 of 1,024,000 bytes: the same command"):
        download(web.remote("it.zip"), tmp_path)
    assert names(tmp_path) == ["it.zip.part"]
    web.breaks_after = None
    assert download(web.remote("it.zip"), tmp_path).read_bytes() == CONTENT
    assert web.asked[-1][1] == "bytes=300000-"
    assert names(tmp_path) == ["it.zip"]


def test_a_server_without_ranges_sends_the_whole_file_again(web: Web, tmp_path: Path) -> None:
    web.files["it.zip"], web.ranges = CONTENT, False
    (tmp_path / "it.zip.part").write_bytes(CONTENT[:1000])
    assert download(web.remote("it.zip"), tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("length", [len(CONTENT) + 5, len(CONTENT)])
@pytest.mark.parametrize("known", [True, False])
def test_a_part_that_is_too_long_or_wrong_is_dropped(
    web: Web, length: int, known: bool, tmp_path: Path
) -> None:
    web.files["it.zip"] = CONTENT
    remote = web.remote("it.zip")
    (tmp_path / "it.zip.part").write_bytes(b"x" * length)
    if known and length == len(CONTENT):  # a whole file by its size: only the checksum can tell
        with pytest.raises(WrongFile, match="its sha256 is"):
            download(remote, tmp_path)
        assert names(tmp_path) == []
    else:
        remote = remote if known else Remote(remote.url)
        assert download(remote, tmp_path).read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_nothing_behind(web: Web, tmp_path: Path) -> None:
    web.files["it.zip"] = CONTENT
    remote = web.remote("it.zip")
    web.files["it.zip"] = CONTENT[::-1]
    with pytest.raises(WrongFile, match=r"it\.zip is not the expected file: its sha256 is .* instead of"):
        download(remote, tmp_path)
    assert names(tmp_path) == []


def test_a_wrong_size_is_told_before_the_download(web: Web, tmp_path: Path) -> None:
    web.files["it.zip"] = CONTENT
    with pytest.raises(WrongFile, match="has 1,024,000 bytes instead of 99"):
        download(Remote(f"{web.address}/it.zip", size=99), tmp_path)
    assert names(tmp_path) == []


def test_a_wrong_file_that_was_there_before_is_not_touched(web: Web, tmp_path: Path) -> None:
    web.files["it.zip"] = CONTENT
    (tmp_path / "it.zip").write_bytes(b"mine")
    with pytest.raises(WrongFile, match=r"it has 4 bytes instead of 1,024,000\. Remove it"):
        download(web.remote("it.zip"), tmp_path)
    assert (tmp_path / "it.zip").read_bytes() == b"mine"


def test_a_missing_file_and_a_missing_server(web: Web, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"none\.zip answers 404"):
        download(Remote(f"{web.address}/none.zip"), tmp_path)
    with pytest.raises(OSError, match="cannot be reached"):
        download(Remote("http://127.0.0.1:1/it.zip"), tmp_path)


@pytest.mark.parametrize("url", ["http://example.org/it.zip", "file:///etc/hostname", "ftp://example.org/it"])
def test_only_https_is_fetched(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is refused: data are fetched by https"):
        download(Remote(url), tmp_path)


def test_plain_http_needs_a_sha256_or_a_person_who_says_so() -> None:
    assert downloads._allowed("http://127.0.0.1:8000/it", plain=False)
    assert downloads._allowed("http://example.org/it", plain=True)
    assert not downloads._allowed("http://127.0.0.1.example.org/it", plain=False)
    assert not downloads._allowed("file:///etc/hostname", plain=True)


def test_a_redirect_does_not_lead_away_from_https(web: Web, tmp_path: Path) -> None:
    web.redirects["it.zip"] = "http://example.org/it.zip"
    with pytest.raises(OSError, match=r"leads to http://example\.org/it\.zip, which is not https"):
        download(Remote(f"{web.address}/it.zip"), tmp_path)
    web.files["there.zip"] = CONTENT
    web.redirects["it.zip"] = f"{web.address}/there.zip"
    assert download(Remote(f"{web.address}/it.zip"), tmp_path).read_bytes() == CONTENT


# Mirrors and rows of the table


def nothing(_: Request) -> Arrays | None:
    return None


def test_a_mirror_helps_when_the_official_address_does_not(web: Web, tmp_path: Path) -> None:
    web.files["mirror.zip"] = CONTENT
    wrong = Remote(f"{web.address}/mirror.zip", checksum="md5:0")
    gone, right = Remote(f"{web.address}/gone.zip"), web.remote("mirror.zip")
    source = Source("it", "a set", "free", nothing, (gone,), ((wrong,), (right,)))
    said: list[str] = []
    assert [path.name for path in fetch(source, tmp_path, say=said.append)] == ["mirror.zip"]
    assert "answers 404" in said[0]
    assert "is not the expected file" in said[1]
    source = Source("it", "a set", "free", nothing, (gone,), ((gone,),))
    with pytest.raises(OSError, match=r"it came from none of its 2 addresses: .*404.*404"):
        fetch(source, tmp_path)


def test_an_embedded_set_is_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="digits comes with the package"):
        fetch(sources.get("digits"), tmp_path)


def test_an_unknown_name_lists_the_known_ones(folder: Path) -> None:
    result = run("data", "get", "svnh")
    assert result.code == 2
    assert 'Did you mean "svhn"? Known: cifar10, digits, fashion-mnist' in result.err
    assert run("data", "show", "svnh", "-o", "x.png").code == 2


def test_a_data_set_is_recognised_by_its_official_names(tmp_path: Path) -> None:
    (tmp_path / "ModelNet10").mkdir()
    assert recognise([tmp_path / "ModelNet10"]).name == "modelnet10"
    assert recognise([tmp_path]).name == "modelnet10"
    (tmp_path / "train_32x32.mat").touch()
    with pytest.raises(ValueError, match="of modelnet10, svhn: say which one you mean by `source=NAME`"):
        recognise([tmp_path])
    (tmp_path / "mine.zip").touch()
    with pytest.raises(ValueError, match=r"mine\.zip has no official file of a known data set \(cifar10"):
        recognise([tmp_path / "mine.zip"])
    (tmp_path / "speech_commands_v0.01.tar.gz").touch()
    assert recognise([tmp_path / "speech_commands_v0.01.tar.gz"]).name == "speech-commands-v0.01"


# Archives


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/../../evil", "..\\evil", "C:\\evil"])
def test_members_that_lead_out_of_their_folder_are_refused(name: str, tmp_path: Path) -> None:
    tar = official.tar(tmp_path / "it.tar.gz", {"good": b"1", name: b"2"})
    zipped = official.zipped(tmp_path / "it.zip", {"good": b"1", name: b"2"})
    for path in (tar, zipped):
        with pytest.raises(ValueError, match=r"is refused: its member .*evil' leads out of the archive"):
            list(entries(path))
    assert names(tmp_path) == ["it.tar.gz", "it.zip"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_that_lead_out_are_refused_too(kind: bytes, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "it.tar", "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = kind, "../../etc/passwd"
        archive.addfile(link)
    with pytest.raises(ValueError, match="leads out of the archive"):
        list(entries(tmp_path / "it.tar"))


def test_archives_of_every_kind_and_folders_read_alike(tmp_path: Path) -> None:
    members = {"./a/one.txt": b"1", "./two.txt": b"22"}
    (tmp_path / "folder" / "a").mkdir(parents=True)
    for name, content in members.items():
        (tmp_path / "folder" / name).write_bytes(content)
    paths = [
        official.tar(tmp_path / "it.tar.gz", members),
        official.tar(tmp_path / "it.tar", members, "w"),
        official.tar(tmp_path / "it.tar.xz", members, "w:xz"),
        official.zipped(tmp_path / "it.zip", members),
        official.deb(tmp_path / "it.deb", members),
        tmp_path / "folder",
    ]
    for path in paths:
        found = {entry.name: entry.read() for entry in entries(path)}
        assert found == {"a/one.txt": b"1", "two.txt": b"22"}, path


@pytest.mark.parametrize("ending", [".tar.gz", ".zip", ".tar.xz"])
def test_a_cut_archive(ending: str, tmp_path: Path) -> None:
    members = {f"{i}": os.urandom(5000) for i in range(20)}
    path = tmp_path / f"it{ending}"
    if ending == ".zip":
        official.zipped(path, members)
    else:
        official.tar(path, members, f"w:{ending[5:]}")
    path.write_bytes(path.read_bytes()[:-20_000])
    with pytest.raises(ValueError, match="is not a whole archive"):
        [entry.read() for entry in entries(path)]
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="is not a whole archive"):
        list(entries(path))


def test_a_zip_with_a_changed_byte(tmp_path: Path) -> None:
    path = official.zipped(tmp_path / "it.zip", {"a": os.urandom(5000)})
    content = bytearray(path.read_bytes())
    content[2000] ^= 255
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a whole archive"):
        [entry.read() for entry in entries(path)]


# Conversion


def small_arrays() -> Arrays:
    x = np.arange(4 * 8 * 8, dtype=np.uint8).reshape(4, 8, 8)
    y = np.array([0, 1, 2, 1])
    return {"x_train": x, "y_train": y, "x_test": x, "y_test": y, "classes": np.array(["a", "b", "c"])}


def test_an_interrupted_conversion_leaves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Request) -> Arrays:
        raise KeyboardInterrupt

    source = Source("it", "a set", "free", broken)
    with pytest.raises(KeyboardInterrupt):
        convert(source, Request((tmp_path,)), folder)
    assert not folder.exists() or names(folder) == []

    def half(file: io.BufferedWriter, **_: object) -> None:
        file.write(b"half of it")
        raise KeyboardInterrupt

    source = Source("it", "a set", "free", lambda _: small_arrays())
    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", half)
        with pytest.raises(KeyboardInterrupt):
            convert(source, Request((tmp_path,)), folder)
    assert names(folder) == []
    (folder / ".it.npz.123").write_bytes(b"of a process that was killed")
    convert(source, Request((tmp_path,)), folder)
    assert names(folder) == ["it.npz"]
    with pytest.raises(FileExistsError, match=r"it\.npz is there already: `replace=True` makes it anew"):
        convert(source, Request((tmp_path,)), folder)
    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", half)
        with pytest.raises(KeyboardInterrupt):
            convert(source, Request((tmp_path,)), folder, replace=True)
    assert names(folder) == ["it.npz"]
    assert data.load(folder / "it.npz").counts == {"train": 4, "test": 4}


def test_a_conversion_that_finds_nothing_says_what_it_looked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no files of svhn: train_32x32\.mat, test_32x32\.mat"):
        convert(sources.get("svhn"), Request((tmp_path,)), tmp_path)


def test_a_choice_of_classes_is_numbered_in_its_order() -> None:
    arrays = small_arrays() | {"train_track": np.array([10, 11, 12, 13])}
    kept = of_classes(arrays, ["c", "b"])
    assert kept["classes"].tolist() == ["c", "b"]
    assert kept["y_train"].tolist() == [1, 0, 1]
    assert kept["train_track"].tolist() == [11, 12, 13]
    assert (kept["x_test"] == arrays["x_test"][1:]).all()
    assert of_classes(arrays, None) is arrays
    with pytest.raises(ValueError, match=r'there is no class "d"\. Known: a, b, c'):
        of_classes(arrays, ["d"])
    for classes in ((), ("a", "a")):
        with pytest.raises(ValueError, match="name each class once"):
            Request((), classes)


# The commands


@pytest.fixture
def served(web: Web, tmp_path: Path) -> Web:
    """The server has small files of SVHN under their official names."""
    source = tmp_path / "served"
    source.mkdir()
    images = np.random.default_rng(0).integers(0, 256, (20, 32, 32, 3), dtype=np.uint8)
    for split in ("train", "test"):
        official.svhn(source, split, images, np.arange(20) % 10 + 1)
        web.files[f"{split}_32x32.mat"] = (source / f"{split}_32x32.mat").read_bytes()
    return web


def test_get_fetches_converts_and_cleans_up(served: Web, folder: Path) -> None:
    result = run("data", "get", "svhn", "--from", served.address, "--unchecked")
    assert result.code == 0, result.err
    assert result.out.strip() == str(folder / "svhn.npz")
    assert names(folder) == ["svhn.npz"]
    assert not (folder / "svhn").exists()
    assert data.load("svhn").counts == {"train": 20, "test": 20}
    asked = len(served.asked)
    result = run("data", "get", "svhn", "--from", served.address, "--unchecked")
    assert result.code == 0
    assert "is there already" in result.err
    assert len(served.asked) == asked


def test_get_checks_against_the_official_size_and_checksum(served: Web, folder: Path) -> None:
    result = run("data", "get", "svhn", "--from", served.address)
    assert result.code == 1
    assert "bytes instead of 182,040,794" in result.err
    assert not folder.exists() or names(folder) == []


def test_get_keeps_the_files_on_demand_and_those_a_person_put_there(served: Web, folder: Path) -> None:
    (folder / "svhn").mkdir(parents=True)
    (folder / "svhn" / "test_32x32.mat").write_bytes(served.files["test_32x32.mat"])
    arguments = ("data", "get", "svhn", "--from", served.address, "--unchecked")
    assert run(*arguments).code == 0
    assert names(folder) == ["svhn.npz", "svhn/test_32x32.mat"]
    assert run(*arguments, "--keep", "--replace").code == 0
    assert names(folder) == ["svhn.npz", "svhn/test_32x32.mat", "svhn/train_32x32.mat"]


def test_a_conversion_that_fails_keeps_the_download_but_no_result(served: Web, folder: Path) -> None:
    served.files["test_32x32.mat"] = b"no matlab"
    result = run("data", "get", "svhn", "--from", served.address, "--unchecked")
    assert result.code == 2
    assert "test_32x32.mat is not a whole Matlab file" in result.err
    assert names(folder) == ["svhn/test_32x32.mat", "svhn/train_32x32.mat"]


def test_import_converts_what_a_person_has_and_leaves_it(served: Web, folder: Path, tmp_path: Path) -> None:
    result = run("data", "import", str(tmp_path / "served"), "--classes", "7,0")
    assert result.code == 0, result.err
    assert "is not the official file" in result.err
    assert names(folder) == ["svhn.npz"]
    assert names(tmp_path / "served") == ["test_32x32.mat", "train_32x32.mat"]
    loaded = data.load("svhn")
    assert loaded.classes == ["7", "0"]
    assert loaded.counts == {"train": 4, "test": 4}
    assert run("data", "import", str(tmp_path / "served")).code == 2
    assert run("data", "import", str(tmp_path / "none")).code == 2
    result = run("data", "import", str(tmp_path / "served"), "--as", "cifar10")
    assert result.code == 2
    assert "has no files of cifar10: cifar-10-python.tar.gz" in result.err


def test_a_malicious_archive_is_refused_by_import(folder: Path, tmp_path: Path) -> None:
    path = official.tar(tmp_path / "cifar-10-python.tar.gz", {"../data_batch_1": b"evil"})
    result = run("data", "import", str(path))
    assert result.code == 2
    assert "leads out of the archive's own folder" in result.err
    assert names(tmp_path) == ["cifar-10-python.tar.gz"]


PRESENT = ("cifar10", "svhn", "fruit", "digits", "gtsrb", "gtsrb-grey")


def test_list_tells_what_is_there(served: Web, folder: Path) -> None:
    (folder / "cifar10").mkdir(parents=True)
    (folder / "cifar10" / "cifar-10-python.tar.gz.part").touch()
    (folder / "train_32x32.mat").touch()
    np.savez(folder / "fruit.npz", x=np.zeros(1))
    result = run("data", "list", "--json")
    listed = json.loads(result.out)
    rows = {row["name"]: row for row in listed["rows"]}
    assert listed["folder"] == str(folder)
    assert rows.keys() == set(sources) == set(registry)
    present = {name: rows[name]["present"] for name in PRESENT}
    assert present == {
        "cifar10": "partly fetched",
        "svhn": "official files",
        "fruit": "ready",
        "digits": "embedded",
        "gtsrb": "no",
        "gtsrb-grey": "no",
    }
    assert "is made from gtsrb: `scn data get gtsrb`" in run("data", "get", "gtsrb-grey").err
    assert rows["svhn"]["size"] == 246_316_178
    assert rows["svhn"]["check"] == "size and sha256"
    assert rows["fruit"]["check"] == "not checked"
    plain = run("data", "list")
    assert plain.code == 0
    assert "non-commercial use" in plain.out
    assert "246.3 MB" in plain.out


@pytest.mark.parametrize("transform", [(), ("--transform", "rotation", "--preset", "paper")])
def test_show_draws_a_sheet(transform: tuple[str, ...], folder: Path, tmp_path: Path) -> None:
    from PIL import Image

    result = run("data", "show", "digits", *transform, "-o", str(tmp_path / "sheet.png"))
    assert result.code == 0, result.err
    with Image.open(tmp_path / "sheet.png") as picture:
        assert picture.width > 1000
        assert picture.height > (300 if transform else 150)


def test_show_of_something_unknown_is_wrong_usage(folder: Path, tmp_path: Path) -> None:
    picture = str(tmp_path / "sheet.png")
    assert run("data", "show", "digits", "--transform", "rotatoin", "-o", picture).code == 2
    assert run("data", "show", "digits", "--split", "val", "-o", picture).code == 2
    assert run("data", "show", "svhn", "-o", picture).code == 2
    assert run("data", "nothing").code == 2
    assert names(tmp_path) == []


def test_a_killed_conversion_leaves_nothing(tmp_path: Path) -> None:
    """A polite kill in the middle of writing, in a process of its own."""
    official.fruit(tmp_path)
    code = (
        "import numpy as np, sys, time, pathlib\n"
        "from unittest import mock\n"
        "from scn.cli.main import main\n"
        "def slow(file, **_):\n"
        "    file.write(b'half'); file.flush(); print('writing', flush=True); time.sleep(60)\n"
        f"sys.argv = ['scn', 'data', 'import', {str(tmp_path)!r}]\n"
        "with mock.patch.object(np, 'savez', slow): main()\n"
    )
    environment = os.environ | {"SCN_DATA_DIR": str(tmp_path / "data"), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    assert len(names(tmp_path / "data")) == 1
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 143
    process.stdout.close()
    assert names(tmp_path / "data") == []


def test_registering_a_row_makes_it_known_everywhere(
    web: Web, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new data set is one row: fetched, converted and loaded by its name."""

    def read(request: Request) -> Arrays | None:
        path = request.find("mine.bin")
        if path is None:
            return None
        x = np.frombuffer(path.read_bytes(), np.uint8).reshape(-1, 8, 8)
        y = np.arange(len(x)) % 2
        return {"x_train": x, "y_train": y, "x_test": x, "y_test": y, "classes": np.array(["a", "b"])}

    monkeypatch.setattr(sources, "_entries", dict(sources._entries))
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    web.files["mine.bin"] = os.urandom(64 * 6)
    register(Source("mine", "my own", "free", read, (web.remote("mine.bin"),)))
    assert run("data", "get", "mine").code == 0
    assert data.load("mine").counts == {"train": 6, "test": 6}
    # What came before the official address failed goes when a mirror has helped.
    web.files["extra.bin"] = b"1"
    official_files = (web.remote("extra.bin"), Remote(f"{web.address}/gone.bin"))
    mirror = (web.remote("mine.bin"),)
    register(Source("other", "another", "free", read, official_files, (mirror,)))
    assert run("data", "get", "other").code == 0
    assert names(folder) == ["mine.npz", "other.npz"]
