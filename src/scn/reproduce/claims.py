"""What the paper says that can be checked, in our words: one row each, with the check.

To add one, write a function of the evidence of an entry (`checks.py`, `special_checks.py`) and add its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scn.reproduce import checks as c
from scn.reproduce import parts as p
from scn.reproduce import special_checks as s
from scn.reproduce.evidence import Evidence
from scn.reproduce.parts import INVERSE, ONE4ONE
from scn.reproduce.verdicts import Check, Judgement, judge


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, in other words."""

    name: str
    where: str  # in the paper
    check: Check
    says: str
    learned: bool = True  # whether it depends on how far networks have learned
    entry: str = ""
    tasks: tuple[str, ...] = ()

    def judge(self, evidence: Evidence) -> Judgement:
        return judge(self.check, evidence, self.tasks, learned=self.learned)


SMOOTH = "β is a continuous, smooth function of the setting"
SPECIAL = "a configured network is specialised, the more the larger D"
BETTER = "SCNs of small D are better than One4All"
ALIKE = "β looks alike for other data and networks: continuous and smooth"


def _elsewhere(name: str, task: str) -> tuple[str, tuple[str, ...], tuple[Claim, ...]]:
    """What is said of every pair of data and network alike."""
    return name, (task,), (
        Claim(f"{name}-one4all", "section 3.1, figure 3", c.beats_one4all(task), BETTER),
        Claim(f"{name}-one4one", "section 3.1, figure 3", c.approaches(task, ONE4ONE),
              "with larger D they come near One4One"),
        Claim(f"{name}-beta", "section 3.2, figures 4 and 14", c.smooth_beta(task), ALIKE),
        Claim(f"{name}-specialised", "appendix C, figure 11", c.specialised(task), SPECIAL),
    )  # fmt: skip


# By entry: the tasks whose runs decide, and what they decide.
_TABLE: tuple[tuple[str, tuple[str, ...], tuple[Claim, ...]], ...] = (
    ("rotation", (p.ROTATION,), (
        Claim("rotation-grows", "section 3.1, figure 1 right", c.grows_with_d(p.ROTATION),
              "accuracy grows quickly with D, and ever less with each further base model"),
        Claim("rotation-d1", "section 3.1, figure 2 left", c.d1_is_one4all(p.ROTATION),
              "an SCN with one base model equals One4All"),
        Claim("rotation-one4all", "section 3.1, figure 2 left", c.beats_one4all(p.ROTATION), BETTER),
        Claim("rotation-inverse", "section 3.1, figure 2 left", c.approaches(p.ROTATION, INVERSE),
              "with larger D an SCN comes near Inverse"),
        Claim("rotation-one4one", "section 3.1, figure 2 left", c.approaches(p.ROTATION, ONE4ONE),
              "with larger D an SCN comes near One4One"),
        Claim("rotation-beta-smooth", "sections 2.3 and 3.2, figure 1", c.smooth_beta(p.ROTATION), SMOOTH),
        Claim("rotation-beta-ranges", "section 3.2, figure 14", c.one_range_each(p.ROTATION),
              "each β is high in one contiguous range and low elsewhere"),
        Claim("rotation-beta-overlap", "section 3.2", c.overlap_grows(p.ROTATION),
              "these ranges are apart for small D and overlap for large D"),
        Claim("rotation-specialised", "figure 2 middle", c.specialised(p.ROTATION), SPECIAL),
        Claim("rotation-sizes", "appendix B", s.sizes_as_said,
              "an SCN stores D backbones and 64 (S + 1) + 65 D weights of the map", learned=False),
    )),
    ("scaling", (p.SCALING,), (
        Claim("scaling-one4all", "section 3.1, figure 2 right", c.beats_one4all(p.SCALING), BETTER),
        Claim("scaling-inverse", "section 3.1, figure 2 right", s.beats_inverse_at_ends,
              "SCNs are better than Inverse below 0.3 and above 1.2"),
        Claim("scaling-one4one", "section 3.1", s.inverse_fails_when_small,
              "at 0.2 One4One is much better than Inverse"),
        Claim("scaling-beta-smooth", "figure 15", c.smooth_beta(p.SCALING), SMOOTH),
        Claim("scaling-specialised", "figure 2 right", c.specialised(p.SCALING), SPECIAL),
    )),
    ("translation", (p.TRANSLATION,), (
        Claim("translation-grows", "appendix D, figure 17", c.grows_with_d(p.TRANSLATION),
              "accuracy grows with D, and ever less"),
        Claim("translation-inverse", "appendix D, figure 17", c.approaches(p.TRANSLATION, INVERSE),
              "accuracy comes to that of Inverse"),
        Claim("translation-beta-smooth", "figure 4 bottom", c.smooth_beta(p.TRANSLATION), SMOOTH),
        Claim("translation-specialised", "appendix D, figure 17", c.specialised(p.TRANSLATION),
              "the region where a configured network is good shrinks with D, and there it is better"),
    )),
    _elsewhere("svhn-rotation", p.SVHN_ROTATION),
    _elsewhere("svhn-scaling", p.SVHN_SCALING),
    _elsewhere("svhn-translation", p.SVHN_TRANSLATION),
    _elsewhere("cifar-rotation", p.CIFAR),
    ("blocks", (p.CIFAR,), (
        Claim("blocks-last", "appendix C, figure 16", s.last_block_is_enough,
              "an SCN of the fourth block alone is about as good as one of all blocks"),
        Claim("blocks-first", "appendix C, figure 16", s.first_block_is_not,
              "an SCN of the first block alone is worse"),
    )),
    ("colour", p.COLOUR_TASKS, (
        Claim("colour-level", "appendix C, figure 12", s.colour_is_simple,
              "SCNs are level with the baselines at D=2 or 3"),
        Claim("colour-baselines", "appendix C, figure 12", s.colour_baselines_alike,
              "the baselines hardly differ"),
    )),
    ("audio", (p.PITCH, p.SPEED), (
        Claim("audio-one4all", "appendix C, figure 13", c.beats_one4all(p.PITCH, p.SPEED, least=-c.EQUAL),
              "few base models are enough to be level with or better than One4All"),
    )),
    ("shift-invariant", (p.SHIFTED,), (
        Claim("shift-invariant-one", "appendix D, figure 18", s.one_base_model,
              "where the network is invariant itself, one base model does all, whatever D"),
        Claim("shift-invariant-alike", "appendix D, figure 18", s.all_d_alike,
              "every D is equally accurate there"),
    )),
    ("rotation-3d", (p.SOLIDS,), (
        Claim("3d-grows", "section 3.4, figure 7", c.grows_with_d(p.SOLIDS),
              "accuracy under turns in space grows with D, and ever less"),
        Claim("3d-order", "section 3.4, figure 7", s.order_in_space,
              "SCNs are better than One4All and come near One4One"),
        Claim("3d-slices", "section 3.4, figures 6 and 19", s.still_in_plane,
              "β hardly moves with the third angle, a turn in the plane of the image"),
        Claim("3d-smooth", "figure 6", c.smooth_beta(p.SOLIDS), SMOOTH),
        Claim("3d-all", "appendix E and section 4", c.all_in_use(p.SOLIDS), "no base model is without use"),
    )),
    ("search", (p.ROTATION, p.SVHN_ROTATION, p.TRANSLATION), (
        Claim("search-close", "section 3.5, figure 8", s.search_is_close(4, 16),
              "from batches of 4 on, the search comes near the known setting"),
        Claim("search-batch", "section 3.5, figure 8", s.search_needs_a_batch,
              "a batch finds the setting better than a single input"),
    )),
    ("capacity", (p.ROTATION, p.SVHN_ROTATION), (
        Claim("capacity-width", "section 3.3, figure 5", s.width_helps_less,
              "more base models help more than the same growth in width"),
        Claim("capacity-mlp", "section 3.3, figure 5", s.width_before_depth,
              "MLPs gain more from width than from depth"),
        Claim("capacity-cnn", "section 3.3, figure 5", s.depth_before_width,
              "CNNs gain more from depth than from width"),
        Claim("capacity-one4all", "section 3.3, figure 5", s.gap_closes,
              "with more capacity One4All comes near the others"),
    )),
    ("table-1", (p.HALF_TURN,), (
        Claim("table-1-accuracy", "table 1", s.beats_ti_pooling, "SCN D=16 is more accurate than TI-Pooling"),
        Claim("table-1-weights", "table 1", s.fewer_weights, "and has fewer weights", learned=False),
    )),
    ("table-2", (p.DOMAINS,), (
        Claim("table-2-domains", "table in appendix C", s.beats_adaptation,
              "SCN D=5 is more accurate than SAFN and the data calibrator in every target domain"),
    )),
    ("device-fruit", (p.FRUIT,), (
        Claim("fruit-light", "section 3.6, figure 9", s.plain_networks_lack_the_light,
              "wider and deeper One4All are considerably worse than the SCN"),
        Claim("fruit-overhead", "figure 9", s.reconfiguring_is_cheap(p.FRUIT),
              "reconfiguring costs little beside an answer", learned=False),
    )),
    ("device-signs", (p.SIGNS,), (
        Claim("signs-overhead", "appendix G", s.reconfiguring_is_cheap(p.SIGNS),
              "reconfiguring is a tiny fraction of the time of an answer", learned=False),
        Claim("signs-time", "appendix G, figure 20",
              s.cheaper_than_as_good("inference_time_ratio", "instructions of infer"),
              "a plain network that is as accurate takes 7.6 times as long"),
        Claim("signs-flash", "appendix G, figure 20", s.cheaper_than_as_good("flash_ratio", "flash"),
              "and 4.9 times the flash"),
        Claim("signs-ram", "appendix G, figure 20", s.cheaper_than_as_good("ram_ratio", "ram"),
              "and 2.4 times the RAM"),
    )),
)  # fmt: skip


def _rows() -> Iterator[Claim]:
    for entry, tasks, several in _TABLE:
        for claim in several:
            yield replace(claim, entry=entry, tasks=tasks)


CLAIMS: tuple[Claim, ...] = tuple(_rows())


def of_entry(entry: str) -> list[Claim]:
    return [claim for claim in CLAIMS if claim.entry == entry]
