"""What the paper says that can be checked, in our words: one row each, with the check.

To add one, write a function of the evidence of an entry and add its row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scn.reproduce import entries as e
from scn.reproduce import published
from scn.reproduce.entries import INVERSE, ONE4ALL, ONE4ONE, SCN
from scn.reproduce.evidence import Evidence, NotMeasured, Values
from scn.reproduce.verdicts import FAILS, HOLDS, OPEN, Check, Judgement, above, all_of, judge, level, limited

CLOSE = 0.02  # of the score: "approaches", "comparable", "close to"
EQUAL = 0.01  # "matches"
CLEAR = 0.03  # "considerably", "significant"


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, in other words."""

    name: str
    entry: str
    says: str
    where: str  # in the paper
    tasks: tuple[str, ...]
    check: Check

    def judge(self, evidence: Evidence) -> Judgement:
        return judge(self.check, evidence, self.tasks)


def grows_with_d(task: str) -> Check:
    """The largest D is better than D=1 (or the smallest), and most of the gain comes early."""

    def check(found: Evidence) -> Judgement:
        dims = found.dims(task)
        if len(dims) < 3:
            raise NotMeasured(f"not measured: three values of D of {task}")
        first, middle, last = (found.score(task, SCN, d) for d in (dims[0], dims[len(dims) // 2], dims[-1]))
        early, late = middle.mean - first.mean, last.mean - middle.mean
        text = f"from D={dims[0]} to {dims[len(dims) // 2]} {early:+.4f}, from there to D={dims[-1]} {late:+.4f}"
        fast = Judgement(HOLDS if early > late else FAILS, text)
        return all_of(above(last, first, said=f"D={dims[-1]} and D={dims[0]}"), fast)

    return check


def d1_is_one4all(task: str) -> Check:
    return lambda found: level(found.score(task, SCN, 1), found.score(task, ONE4ALL), EQUAL, "D=1 and One4All")


def beats_one4all(*tasks: str, dims: int = 3) -> Check:
    return lambda found: all_of(
        *(
            above(found.score(task, SCN, dims), found.score(task, ONE4ALL), said=f"{task}, D={dims} and One4All")
            for task in tasks
        )
    )


def approaches(task: str, other: str) -> Check:
    """The largest D is at most a little below another method."""

    def check(found: Evidence) -> Judgement:
        most = found.dims(task)[-1:]
        if not most:
            raise NotMeasured(f"not measured: SCNs of {task}")
        return above(found.score(task, SCN, most[0]), found.score(task, other), -CLOSE, f"D={most[0]} and {other}")

    return check


def smooth_beta(task: str) -> Check:
    """No coefficient jumps: in half a step it changes by about half as much."""

    def check(found: Evidence) -> Judgement:
        parts = []
        for d in found.dims(task):
            step = found.fact("largest change of beta", task, SCN, d)
            half = found.fact("largest change of beta in half a step", task, SCN, d)
            ratio = Values(tuple(b / a if a else 0.5 for a, b in zip(step.by_seed, half.by_seed, strict=True)))
            parts.append(limited(step, high=0.25, said=f"D={d}, largest change in a 360th of the range"))
            parts.append(limited(ratio, high=0.75, said=f"D={d}, in half of that, as a share"))
        return all_of(*parts)

    return check


def one_range_each(task: str, most: int = 8) -> Check:
    """Every base model in use is high in one unbroken range of settings."""
    return lambda found: all_of(
        *(
            limited(
                found.fact("base models with one range", task, SCN, d), low=0.99, said=f"D={d}, share of base models"
            )
            for d in found.dims(task)
            if 1 < d <= most
        )
    )


def overlap_grows(task: str) -> Check:
    def check(found: Evidence) -> Judgement:
        dims = [d for d in found.dims(task) if d > 1]
        if len(dims) < 2:
            raise NotMeasured(f"not measured: two values of D above 1 of {task}")
        low, high = (found.fact("base models at a setting", task, SCN, d) for d in (dims[0], dims[-1]))
        return above(high, low, said=f"base models that share a setting, D={dims[-1]} and D={dims[0]}")

    return check


def specialised(task: str) -> Check:
    """A network that is configured once is better there with a larger D, and good in fewer places."""

    def check(found: Evidence) -> Judgement:
        dims = found.dims(task)
        if len(dims) < 2:
            raise NotMeasured(f"not measured: two values of D of {task}")
        small, large = dims[0], dims[-1]
        home = [found.fact("at home", task, SCN, d) for d in (large, small)]
        room = [found.fact("settings as good as home", task, SCN, d) for d in (small, large)]
        return all_of(
            above(*home, said=f"at home, D={large} and D={small}"),
            above(*room, said=f"share of settings as good as home, D={small} and D={large}"),
        )

    return check


def one_base_model(found: Evidence) -> Judgement:
    task = e.SHIFTED
    share = "share of the first base model"
    return all_of(
        *(limited(found.fact(share, task, SCN, d), low=0.95, said=f"D={d}, its share") for d in found.dims(task))
    )


def all_d_alike(found: Evidence) -> Judgement:
    scores = [found.score(e.SHIFTED, SCN, d) for d in found.dims(e.SHIFTED)]
    return all_of(*(level(one, scores[0], EQUAL, "two values of D") for one in scores[1:]))


def beats_inverse_at_ends(found: Evidence) -> Judgement:
    parts = []
    for row in found.find(e.SCALING, INVERSE).settings:
        if row[0] < 0.3 or row[0] > 1.2:
            pair = [found.under(row, e.SCALING, method, d) for method, d in ((SCN, 8), (INVERSE, None))]
            parts.append(above(*pair, said=f"D=8 and Inverse at {row[0]:g}"))
    return all_of(*parts)


def inverse_fails_when_small(found: Evidence) -> Judgement:
    pair = [found.under((0.2,), e.SCALING, method) for method in (ONE4ONE, INVERSE)]
    return above(*pair, CLEAR, said="One4One and Inverse at 0.2")


def colour_is_simple(found: Evidence) -> Judgement:
    parts = []
    for task in e.COLOUR_TASKS:
        for method in (ONE4ALL, INVERSE):
            parts.append(above(found.score(task, SCN, 3), found.score(task, method), -CLOSE, f"{task}, D=3 and {method}"))
    return all_of(*parts)


def colour_baselines_alike(found: Evidence) -> Judgement:
    return all_of(
        *(level(found.score(t, ONE4ALL), found.score(t, INVERSE), CLOSE, t) for t in e.COLOUR_TASKS)
    )


def order_in_space(found: Evidence) -> Judgement:
    task = e.SOLIDS
    most = found.dims(task)[-1]
    return all_of(
        above(found.score(task, SCN, most), found.score(task, ONE4ALL), said=f"D={most} and One4All"),
        above(found.score(task, ONE4ONE), found.score(task, SCN, most), said=f"One4One and D={most}"),
    )


def still_in_plane(found: Evidence) -> Judgement:
    """beta moves less when the third angle turns than when the first does."""
    parts = []
    for d in (d for d in found.dims(e.SOLIDS) if d > 1):
        names = sorted(n for n in found.find(e.SOLIDS, SCN, d).facts if n.startswith("change of beta along"))
        first, _, third = (found.fact(name, e.SOLIDS, SCN, d) for name in names)
        ratio = Values(tuple(b / a for a, b in zip(first.by_seed, third.by_seed, strict=True)))
        parts.append(limited(ratio, high=0.5, said=f"D={d}, third angle to first"))
    return all_of(*parts)


def all_in_use(task: str) -> Check:
    return lambda found: all_of(
        *(
            limited(found.fact("base models in use", task, SCN, d), low=d, said=f"D={d}, base models in use")
            for d in found.dims(task)
        )
    )


def last_block_is_enough(found: Evidence) -> Judgement:
    last = found.score(e.CIFAR, SCN, 3, configurable=e.LAST_BLOCK)
    return level(last, found.score(e.CIFAR, SCN, 3, configurable="*"), CLOSE, "fourth block and all")


def first_block_is_not(found: Evidence) -> Judgement:
    pair = [found.score(e.CIFAR, SCN, 3, configurable=name) for name in ("*", e.FIRST_BLOCK)]
    return above(*pair, said="all blocks and the first")


def search_is_close(*sizes: int) -> Check:
    """At these batch sizes the search is near the known setting."""

    def check(found: Evidence) -> Judgement:
        parts = []
        for task in (e.ROTATION, e.SVHN_ROTATION, e.TRANSLATION):
            for size in sizes:
                pair = [
                    found.fact(f"{kind}, batch {size}", task, SCN, 8, for_search=True) for kind in ("searched", "known")
                ]
                parts.append(above(*pair, -CLOSE, f"{task}, batch {size}, searched and known"))
        return all_of(*parts)

    return check


def search_needs_a_batch(found: Evidence) -> Judgement:
    four, one = (found.fact(f"searched, batch {n}", e.ROTATION, SCN, 8, for_search=True) for n in (4, 1))
    return above(four, one, said="batches of 4 and of 1")


def width_helps_less(found: Evidence) -> Judgement:
    """One4All four times as wide against an SCN of three base models."""
    wide = found.score(e.ROTATION, ONE4ALL, width=128, depth=1)
    return above(found.score(e.ROTATION, SCN, 3, width=32, depth=1), wide, said="SCN D=3 and One4All 4 x wider")


def _larger(task: str, name: str, small: int, large: int, other: dict[str, int]) -> Callable[[Evidence], float]:
    """What a larger size gives One4All."""
    return lambda found: (
        found.score(task, ONE4ALL, **{name: large}, **other).mean - found.score(task, ONE4ALL, **{name: small}, **other).mean
    )


def width_before_depth(found: Evidence) -> Judgement:
    width = _larger(e.ROTATION, "width", 32, 64, {"depth": 1})(found)
    depth = _larger(e.ROTATION, "depth", 1, 2, {"width": 32})(found)
    return above(Values((width,)), Values((depth,)), said="gain of One4All, MLP, by twice the width and the depth")


def depth_before_width(found: Evidence) -> Judgement:
    depth = _larger(e.SVHN_ROTATION, "depth", 2, 4, {"width": 32})(found)
    width = _larger(e.SVHN_ROTATION, "width", 32, 64, {"depth": 2})(found)
    return above(Values((depth,)), Values((width,)), said="gain of One4All, CNN, by twice the depth and the width")


def gap_closes(found: Evidence) -> Judgement:
    gaps = [
        Values((found.score(e.ROTATION, INVERSE, **s).mean - found.score(e.ROTATION, ONE4ALL, **s).mean,))
        for s in ({"width": 16, "depth": 1}, {"width": 128, "depth": 1})
    ]
    return above(*gaps, said="Inverse over One4All, width 16 and width 128")


def beats_ti_pooling(found: Evidence) -> Judgement:
    rows = [found.find(e.HALF_TURN, SCN, 16), found.find(e.HALF_TURN, e.TI_POOLING)]
    return above(*(Values(tuple(row.means)) for row in rows), said="SCN D=16 and TI-Pooling")


def fewer_weights(found: Evidence) -> Judgement:
    ours, theirs = found.find(e.HALF_TURN, SCN, 16).stored, found.find(e.HALF_TURN, e.TI_POOLING).stored
    if ours < theirs:
        return Judgement(HOLDS, f"{ours:,} weights against {theirs:,}")
    text = f"{ours:,} weights against {theirs:,} of a TI-Pooling with the same backbone; published: 13,308,170"
    return Judgement(OPEN, f"{text}, of a network that we do not have")


def beats_adaptation(found: Evidence) -> Judgement:
    task, parts = e.DOMAINS, []
    for setting in ((10.0,), (90.0,), None):
        given = None if setting is None else list(setting)
        ours = found.score(task, SCN, 5) if setting is None else found.under(setting, task, SCN, 5)
        for method in (e.SAFN, e.DATA_CALIBRATOR):
            said = f"SCN D=5 and {method} at {'all angles' if setting is None else f'{setting[0]:g}'}"
            parts.append(above(ours, found.score(task, method, fixed=given), said=said))
    return all_of(*parts)


def plain_networks_lack_the_light(found: Evidence) -> Judgement:
    larger = [row for row in found.rows if row.method == ONE4ALL]
    ours = found.score(e.FRUIT, SCN, 3)
    said = "SCN D=3 and One4All of {}"
    return all_of(*(above(ours, Values(tuple(r.means)), CLEAR, said.format(r.sizes)) for r in larger))


def reconfiguring_is_cheap(task: str) -> Check:
    """The map and the mixing together take less than an answer."""

    def check(found: Evidence) -> Judgement:
        row = found.find(task, SCN, 3)
        if "instructions of infer" not in row.facts:
            raise NotMeasured("not measured: instructions on the processor")
        change = row.facts["instructions of hypernet"][0] + row.facts["instructions of configure"][0]
        answer = row.facts["instructions of infer"][0]
        verdict = HOLDS if change < 0.1 * answer else FAILS
        return Judgement(verdict, f"{change:,.0f} instructions for a change of α, {answer:,.0f} for an answer")

    return check


def cheaper_than_as_good(what: str, fact: str) -> Check:
    """How much more the smallest One4All needs that is as accurate as the SCN, beside the published ratio."""

    def check(found: Evidence) -> Judgement:
        ours = found.find(e.SIGNS, SCN, 3)
        mean, spread = Values(tuple(ours.means)).mean, Values(tuple(ours.means)).std
        as_good = [r for r in found.rows if r.method == ONE4ALL and Values(tuple(r.means)).mean >= mean - spread]
        if fact not in ours.facts or not as_good:
            raise NotMeasured(f"not measured: {what} of a plain network that is as accurate")
        least = min(as_good, key=lambda row: row.used)
        ratio, wanted = least.facts[fact][0] / ours.facts[fact][0], published.ratios("device-signs")[what]
        text = f"{ratio:.2f} times as much for One4All of {least.sizes} ({least.used:,} weights); published {wanted:g}"
        return Judgement(HOLDS if ratio >= 0.9 * wanted else FAILS, text)

    return check


def sizes_as_said(found: Evidence) -> Judgement:
    """D copies of the backbone, and a map of 64 (S + 1) + 65 D weights, where S is 2."""
    wrong = [r for r in found.rows if r.map == "learned" and r.stored != r.dims * r.used + 64 * 3 + 65 * r.dims]
    counted = sum(r.map == "learned" for r in found.rows)
    if not counted:
        raise NotMeasured("not measured: SCNs")
    text = f"{counted - len(wrong)} of {counted} networks have as many weights as the formula says"
    return Judgement(FAILS if wrong else HOLDS, text)


def _rows() -> list[Claim]:
    section = "section 3"
    found = [
        Claim("rotation-grows", "rotation", "accuracy grows quickly with D, and ever less with each further base model", f"{section}, figure 1 right", (e.ROTATION,), grows_with_d(e.ROTATION)),
        Claim("rotation-d1", "rotation", "an SCN with one base model equals One4All", f"{section}, figure 2 left", (e.ROTATION,), d1_is_one4all(e.ROTATION)),
        Claim("rotation-one4all", "rotation", "an SCN of small D is better than One4All", f"{section}, figure 2 left", (e.ROTATION,), beats_one4all(e.ROTATION)),
        Claim("rotation-inverse", "rotation", "with larger D an SCN comes near Inverse", f"{section}, figure 2 left", (e.ROTATION,), approaches(e.ROTATION, INVERSE)),
        Claim("rotation-one4one", "rotation", "with larger D an SCN comes near One4One", f"{section}, figure 2 left", (e.ROTATION,), approaches(e.ROTATION, ONE4ONE)),
        Claim("rotation-beta-smooth", "rotation", "β is a continuous, smooth function of the angle", "sections 2.3 and 3.2, figure 1 middle", (e.ROTATION,), smooth_beta(e.ROTATION)),
        Claim("rotation-beta-ranges", "rotation", "each β is high in one contiguous range and low elsewhere", "section 3.2, figure 14", (e.ROTATION,), one_range_each(e.ROTATION)),
        Claim("rotation-beta-overlap", "rotation", "ranges are apart for small D and overlap for large D", "section 3.2", (e.ROTATION,), overlap_grows(e.ROTATION)),
        Claim("rotation-specialised", "rotation", "a configured network is specialised, the more the larger D", "figure 2 middle", (e.ROTATION,), specialised(e.ROTATION)),
        Claim("sizes", "rotation", "an SCN stores D backbones and 64 (S + 1) + 65 D weights of the map", "appendix B", (e.ROTATION,), sizes_as_said),
        Claim("scaling-one4all", "scaling", "an SCN with more than one base model is better than One4All", f"{section}, figure 2 right", (e.SCALING,), beats_one4all(e.SCALING)),
        Claim("scaling-inverse", "scaling", "SCNs are better than Inverse below 0.3 and above 1.2", f"{section}, figure 2 right", (e.SCALING,), beats_inverse_at_ends),
        Claim("scaling-one4one", "scaling", "at 0.2 One4One is much better than Inverse", f"{section}", (e.SCALING,), inverse_fails_when_small),
        Claim("scaling-beta-smooth", "scaling", "β is continuous and smooth", "figure 15", (e.SCALING,), smooth_beta(e.SCALING)),
        Claim("scaling-specialised", "scaling", "a configured network is specialised, the more the larger D", "figure 2 right", (e.SCALING,), specialised(e.SCALING)),
        Claim("translation-grows", "translation", "accuracy grows with D", "appendix D, figure 17", (e.TRANSLATION,), grows_with_d(e.TRANSLATION)),
        Claim("translation-inverse", "translation", "accuracy comes to that of Inverse", "appendix D, figure 17", (e.TRANSLATION,), approaches(e.TRANSLATION, INVERSE)),
        Claim("translation-beta-smooth", "translation", "β is continuous and smooth", "figure 4 bottom", (e.TRANSLATION,), smooth_beta(e.TRANSLATION)),
        Claim("translation-specialised", "translation", "the region where a configured network is good shrinks with D, and there it is better", "appendix D, figure 17", (e.TRANSLATION,), specialised(e.TRANSLATION)),
        Claim("blocks-last", "blocks", "an SCN of the fourth block alone is about as good as one of all blocks", "appendix C, figure 16", (e.CIFAR,), last_block_is_enough),
        Claim("blocks-first", "blocks", "an SCN of the first block alone is worse", "appendix C, figure 16", (e.CIFAR,), first_block_is_not),
        Claim("colour", "colour", "SCNs are level with the baselines at D=2 or 3", "appendix C, figure 12", e.COLOUR_TASKS, colour_is_simple),
        Claim("colour-baselines", "colour", "the baselines hardly differ", "appendix C, figure 12", e.COLOUR_TASKS, colour_baselines_alike),
        Claim("audio", "audio", "few base models are enough to be level with or better than One4All", "appendix C, figure 13", (e.PITCH, e.SPEED), beats_one4all(e.PITCH, e.SPEED)),
        Claim("shift-invariant-one", "shift-invariant", "where the network is invariant itself, one base model does all, whatever D", "appendix D, figure 18", (e.SHIFTED,), one_base_model),
        Claim("shift-invariant-alike", "shift-invariant", "every D is equally accurate there", "appendix D, figure 18", (e.SHIFTED,), all_d_alike),
        Claim("3d-grows", "rotation-3d", "accuracy under turns in space grows with D", "section 3.4, figure 7", (e.SOLIDS,), grows_with_d(e.SOLIDS)),
        Claim("3d-order", "rotation-3d", "SCNs are better than One4All and below One4One", "section 3.4, figure 7", (e.SOLIDS,), order_in_space),
        Claim("3d-slices", "rotation-3d", "β hardly moves with the third angle, a turn in the plane of the image", "section 3.4, figures 6 and 19", (e.SOLIDS,), still_in_plane),
        Claim("3d-smooth", "rotation-3d", "β is continuous over the angles", "figure 6", (e.SOLIDS,), smooth_beta(e.SOLIDS)),
        Claim("3d-all", "rotation-3d", "no base model is without use", "appendix E and section 4", (e.SOLIDS,), all_in_use(e.SOLIDS)),
        Claim("search-close", "search", "from batches of 4 on, the search comes near the known setting", "section 3.5, figure 8", (e.ROTATION, e.SVHN_ROTATION, e.TRANSLATION), search_is_close(4, 16)),
        Claim("search-batch", "search", "single inputs are not enough: a batch finds the setting better", "section 3.5, figure 8", (e.ROTATION,), search_needs_a_batch),
        Claim("capacity-width", "capacity", "more base models help more than the same growth in width", "section 3.3, figure 5", (e.ROTATION,), width_helps_less),
        Claim("capacity-mlp", "capacity", "MLPs gain more from width than from depth", "section 3.3, figure 5", (e.ROTATION,), width_before_depth),
        Claim("capacity-cnn", "capacity", "CNNs gain more from depth than from width", "section 3.3, figure 5", (e.SVHN_ROTATION,), depth_before_width),
        Claim("capacity-one4all", "capacity", "with more capacity One4All comes near the others", "section 3.3, figure 5", (e.ROTATION,), gap_closes),
        Claim("table-1-accuracy", "table-1", "SCN D=16 is more accurate than TI-Pooling", "table 1", (e.HALF_TURN,), beats_ti_pooling),
        Claim("table-1-weights", "table-1", "and has fewer weights", "table 1", (e.HALF_TURN,), fewer_weights),
        Claim("table-2", "table-2", "SCN D=5 is more accurate than SAFN and the data calibrator in every target domain", "table in appendix C", (e.DOMAINS,), beats_adaptation),
        Claim("fruit-light", "device-fruit", "wider and deeper One4All are considerably worse than the SCN", "section 3.6, figure 9", (e.FRUIT,), plain_networks_lack_the_light),
        Claim("fruit-overhead", "device-fruit", "reconfiguring costs little beside an answer", "figure 9", (e.FRUIT,), reconfiguring_is_cheap(e.FRUIT)),
        Claim("signs-overhead", "device-signs", "reconfiguring is a tiny fraction of the time of an answer", "appendix G", (e.SIGNS,), reconfiguring_is_cheap(e.SIGNS)),
        Claim("signs-time", "device-signs", "a plain network that is as accurate takes 7.6 times as long", "appendix G, figure 20", (e.SIGNS,), cheaper_than_as_good("inference_time_ratio", "instructions of infer")),
        Claim("signs-flash", "device-signs", "and 4.9 times the flash", "appendix G, figure 20", (e.SIGNS,), cheaper_than_as_good("flash_ratio", "flash")),
        Claim("signs-ram", "device-signs", "and 2.4 times the RAM", "appendix G, figure 20", (e.SIGNS,), cheaper_than_as_good("ram_ratio", "ram")),
    ]
    for name, task in (("svhn-rotation", e.SVHN_ROTATION), ("svhn-scaling", e.SVHN_SCALING), ("svhn-translation", e.SVHN_TRANSLATION), ("cifar-rotation", e.CIFAR)):
        found.append(Claim(f"{name}-one4all", name, "SCNs of small D are better than One4All", f"{section}, figure 3", (task,), beats_one4all(task)))
        found.append(Claim(f"{name}-one4one", name, "with larger D they come near One4One", f"{section}, figure 3", (task,), approaches(task, ONE4ONE)))
        found.append(Claim(f"{name}-beta", name, "β looks alike for other data and networks: continuous and smooth", "section 3.2, figures 4 and 14", (task,), smooth_beta(task)))
        found.append(Claim(f"{name}-specialised", name, "a configured network is specialised, the more the larger D", "appendix C, figure 11", (task,), specialised(task)))
    return found


CLAIMS: tuple[Claim, ...] = tuple(_rows())


def of_entry(entry: str) -> list[Claim]:
    return [claim for claim in CLAIMS if claim.entry == entry]
