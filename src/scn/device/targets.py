"""The processors that `scn device` builds for and emulates: one row of a table each.

To add one, add a row, and a start-up file and linker script in `firmware/` where those of the table do not
serve. A counter must rise with the instructions; `ticks_per_instruction` says by how much.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from scn.core.errors import NotThere, ScnError
from scn.core.registry import nearest

FIRMWARE = Path(__file__).parent / "firmware"

# QEMU gives each instruction 2**shift ns of virtual time. The timer of the MPS2 boards ticks every 40 ns:
# with a shift of 8 an instruction has 6.4 ticks, so that a difference of two readings, rounded, is right to
# the instruction. A RISC-V counts its instructions itself, in nanoseconds on some versions of QEMU: a shift
# of 0 makes both the same.
TIMER_SHIFT = 8
TIMER_NANOSECONDS = 40

COMMON = ("-O3", "-ffp-contract=fast", "-ffunction-sections", "-fdata-sections")


@dataclass(frozen=True)
class Target:
    """One processor: how to compile for it and how to run what was compiled."""

    name: str
    processor: str
    prefix: str  # of the compiler and the binary tools
    flags: tuple[str, ...]
    board: tuple[str, ...]  # the files of the firmware that are its start-up code and counter
    emulator: tuple[str, ...]  # the command that the program's file name completes; none runs it directly
    packages: tuple[str, ...]  # of Debian, that have all of these
    script: str | None = None
    libraries: tuple[str, ...] = ()
    ticks_per_instruction: float = 1.0
    core: str | None = None  # whose table of costs estimates cycles (see `cycles`)

    @property
    def compiler(self) -> str:
        return self.tool("gcc")

    def tool(self, name: str) -> str:
        return self.prefix + name

    @property
    def linking(self) -> tuple[str, ...]:
        if self.script is None:
            return ("-Wl,--gc-sections", *self.libraries)
        return ("-nostartfiles", "-T", str(FIRMWARE / self.script), "-Wl,--gc-sections", *self.libraries)

    def missing(self) -> list[str]:
        """The tools that are not installed here."""
        needed = [self.compiler, self.tool("size"), self.tool("nm"), *self.emulator[:1]]
        return [tool for tool in needed if shutil.which(tool) is None]

    def require(self) -> None:
        """An error that says what to install, if anything is missing. Nothing is installed by itself."""
        missing = self.missing()
        if missing:
            raise NotThere(
                f"the target {self.name} needs {', '.join(missing)}, which this machine does not have: on "
                f"Debian, `apt install {' '.join(self.packages)}`"
            )


def _emulation(shift: int) -> tuple[str, ...]:
    return (
        *("-nographic", "-monitor", "none", "-serial", "none"),
        *("-semihosting-config", "enable=on,target=native"),
        *("-icount", f"shift={shift}"),
        "-kernel",
    )


def _cortex_m(name: str, processor: str, machine: str, *flags: str, core: str | None = None) -> Target:
    return Target(
        name,
        processor,
        prefix="arm-none-eabi-",
        flags=(*COMMON, "-mthumb", *flags),
        board=("cortex_m.c", "semihosting.c"),
        emulator=("qemu-system-arm", "-M", machine, *_emulation(TIMER_SHIFT)),
        packages=("gcc-arm-none-eabi", "libnewlib-arm-none-eabi", "qemu-system-arm"),
        script="cortex_m.ld",
        libraries=("--specs=nano.specs", "-lm"),
        ticks_per_instruction=2**TIMER_SHIFT / TIMER_NANOSECONDS,
        core=core,
    )


def _riscv(name: str, processor: str, *flags: str) -> Target:
    return Target(
        name,
        processor,
        prefix="riscv64-unknown-elf-",
        flags=(*COMMON, "--specs=picolibc.specs", "-misa-spec=2.2", *flags),
        board=("riscv.c", "semihosting.c"),
        emulator=("qemu-system-riscv32", "-M", "virt", "-bios", "none", *_emulation(shift=0)),
        packages=("gcc-riscv64-unknown-elf", "picolibc-riscv64-unknown-elf", "qemu-system-misc"),
        script="riscv.ld",
        libraries=("-lm",),
    )


_ROWS = (
    _cortex_m(
        "cortex-m4f", "Arm Cortex-M4 with single-precision floating point", "mps2-an386",
        "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", core="cortex-m4",
    ),
    _cortex_m(
        "cortex-m7", "Arm Cortex-M7 with double-precision floating point", "mps2-an500",
        "-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard",
    ),
    _cortex_m(
        "cortex-m3", "Arm Cortex-M3, floating point in software", "mps2-an385",
        "-mcpu=cortex-m3", "-mfloat-abi=soft", core="cortex-m3",
    ),
    _riscv(
        "rv32", "RISC-V RV32IMAC, floating point in software",
        "-march=rv32imac", "-mabi=ilp32",
    ),
    _riscv(
        "rv32f", "RISC-V RV32IMAFC with single-precision floating point",
        "-march=rv32imafc", "-mabi=ilp32f",
    ),
    Target(
        "host", "the machine this runs on",
        prefix="", flags=COMMON, board=("host.c",), emulator=(),
        packages=("gcc", "binutils", "libc6-dev"), libraries=("-lm",), ticks_per_instruction=0.0,
    ),
)  # fmt: skip

TARGETS = {row.name: row for row in _ROWS}
DEFAULT = _ROWS[0].name


def get(name: str) -> Target:
    """The target of this name; an unknown name is an error that lists the known ones."""
    if name not in TARGETS:
        raise ScnError(f"there is no target {nearest(name, TARGETS)}")
    return TARGETS[name]
