"""`scn data`: what data sets there are, how to get them, and how they look."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeVar

import torch
import typer
from rich.console import Console
from rich.filesize import decimal
from rich.progress import track
from rich.table import Table

from scn import data, transforms
from scn.cli.allow import vouch
from scn.core.errors import NotThere
from scn.data.dataset import data_folder
from scn.data.sources import Request, Source, convert, fetch, recognise, sources
from scn.data.watch import Watch
from scn.plots.files import UNDATED, check_figure_file
from scn.plots.samples import caption, draw_samples, one_of_each

T = TypeVar("T")
app = typer.Typer(help="Data sets: list, get, import, show.", no_args_is_help=True)

Classes = Annotated[str | None, typer.Option(help="Only these classes, comma-separated, in this order.")]
Replace = Annotated[bool, typer.Option("--replace", help="Make the .npz file anew if it is there.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")]


@app.command("list")
def list_(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """List the data sets: size of the download, licence, and whether they are here.

    Example: scn data list
    """
    folder = data_folder()
    known = [sources.get(name) for name in sources]
    if as_json:
        print(json.dumps({"folder": str(folder), "rows": [_row(source, folder) for source in known]}))
        return
    table = Table(title=f"data sets, for {folder}", title_justify="left")
    for column in ("name", "what", "download", "check", "licence", "present"):
        table.add_column(column, overflow="fold")
    for source in known:
        size = "unknown" if source.size is None else decimal(source.size)
        fetched = bool(source.files)
        table.add_row(
            source.name,
            source.description,
            size if fetched else "-",
            source.check if fetched else "-",
            source.licence,
            source.state(folder),
        )
    Console(width=120).print(table)


def _row(source: Source, folder: Path) -> dict[str, object]:
    return {
        "name": source.name,
        "description": source.description,
        "size": source.size,
        "check": source.check,
        "licence": source.licence,
        "present": source.state(folder),
        "urls": [file.url for file in source.files],
        "mirrors": [[file.url for file in mirror] for mirror in source.mirrors],
    }


@app.command("get")
def get(
    name: Annotated[str, typer.Argument(help="A data set of `scn data list`.")],
    classes: Classes = None,
    address: Annotated[
        str | None, typer.Option("--from", help="Fetch the official files from below this address.")
    ] = None,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Accept other content than the official, such as a subset.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the official files beside the result.")] = False,
    replace: Replace = False,
    quiet: Quiet = False,
) -> None:
    """Fetch a data set from its official address or a mirror, check it, and convert it.

    An interrupted download goes on where it stopped. The result is $SCN_DATA_DIR/NAME.npz.

    Example: scn data get NAME, with a name of `scn data list`
    """
    source, folder = sources.get(name), data_folder()
    target = folder / f"{name}.npz"
    if target.exists() and not replace:
        print(f"{name} is there already: --replace fetches it again", file=sys.stderr)
        print(target)
        return
    _stop_on_termination()
    watch = _watch(quiet)
    wanted = _names(classes)
    own = {path for path in (folder / name).glob("*") if path.suffix != ".part"}  # they were here before
    files = fetch(source, folder / name, watch, _say, address, checked=not unchecked)
    convert(source, Request(tuple(files), wanted, watch), folder, replace=replace)
    if not keep:
        for file in set((folder / name).glob("*")) - own:
            file.unlink()
        if not any((folder / name).iterdir()):
            (folder / name).rmdir()
    _report(target)


@app.command("import")
def import_(
    paths: Annotated[list[Path], typer.Argument(help="Official archives or files, or a folder with them.")],
    name: Annotated[str | None, typer.Option("--as", help="Which data set it is; else by the names.")] = None,
    classes: Classes = None,
    replace: Replace = False,
    quiet: Quiet = False,
) -> None:
    """Convert official files that you have already. They stay as they are.

    Example: scn data import ~/Downloads/ARCHIVE.zip
    """
    for path in paths:
        if not path.exists():
            raise NotThere(f"there is no file or folder {path}")
    source = recognise(paths) if name is None else sources.get(name)
    _stop_on_termination()
    for file in source.files:
        path_of_file = Request(tuple(paths)).find(file.name)
        if path_of_file is not None and (wrong := file.difference(path_of_file)):
            _say(f"{path_of_file} is not the official file: {wrong}")
    request = Request(tuple(paths), _names(classes), _watch(quiet))
    _report(convert(source, request, data_folder(), replace=replace))


@app.command("show")
def show(
    name: Annotated[
        str, typer.Argument(help="A data set, an .npz file, or your package.module:function.", callback=vouch)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The picture to write, .png, .svg or .pdf.")],
    transform: Annotated[
        str | None, typer.Option(help="Also show what this makes of them.", callback=vouch)
    ] = None,
    preset: Annotated[str, typer.Option(help="How the transform acts: default, paper, ....")] = "default",
    split: Annotated[str, typer.Option(help="train or test (or val, where there is one).")] = "train",
    samples: Annotated[int, typer.Option(help="How many.", min=1, max=50)] = 10,
    seed: Annotated[int, typer.Option(help="Chooses the samples and the settings.")] = 0,
) -> None:
    """Draw samples of a data set, before and after a transform under settings drawn at random or measured.

    Example: scn data show digits --transform rotation -o digits.png
    """
    torch.set_num_threads(1)
    check_figure_file(output, list(UNDATED))
    chosen = None if transform is None else transforms.get(transform, preset)
    dataset = data.load(name)
    x, y = dataset.split(split)
    generator = torch.Generator().manual_seed(seed)
    picked = one_of_each(y.view(len(y), -1)[:, 0], samples, generator)
    before = data.to_float(x[picked])
    rows = [(before, [dataset.said(label) for label in y[picked]])]
    if chosen is not None:
        measured = chosen.measured
        params = dataset.measured(split)[picked] if measured else chosen.sample(len(picked), generator)
        rows.append((chosen.apply(before, params), [caption(chosen, row) for row in params]))
    counts = ", ".join(f"{count:,} {part}" for part, count in dataset.counts.items())
    how = "" if transform is None else f", {transform}, preset {preset}"
    draw_samples(rows, f"{dataset.name} ({counts}){how}", output)
    print(output)


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(part.strip() for part in text.split(","))


def _watch(quiet: bool) -> Watch:
    """A bar on a terminal, a line elsewhere, on standard error."""
    console = Console(stderr=True, quiet=quiet)

    def watch(items: Iterable[T], label: str, total: int | None = None) -> Iterable[T]:
        if console.is_terminal:
            return track(items, label, total=total, console=console, disable=quiet, transient=True)
        console.print(f"{label} ...", highlight=False)
        return items

    return watch


def _say(message: str) -> None:
    print(message, file=sys.stderr)


def _report(path: Path) -> None:
    print(f"wrote {path} ({decimal(path.stat().st_size)})", file=sys.stderr)
    print(path)


def _stop_on_termination() -> None:
    """A polite kill leaves as little behind as Ctrl-C does."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
