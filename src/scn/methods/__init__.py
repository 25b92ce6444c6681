"""Methods: what is trained on the changed input, by name. All share one training loop.

To add one, write a subclass of `Method` decorated by `@registry.register("name")` and import it here.
"""

from scn.methods.alpha_alone import AlphaAlone
from scn.methods.augmented import Augmented
from scn.methods.base import Method, registry
from scn.methods.data_calibrator import DataCalibrator
from scn.methods.estimate_and_invert import EstimateAndInvert
from scn.methods.experts import NearestExpert
from scn.methods.film import FeatureWise
from scn.methods.hypernetwork import Hypernetwork, LowRankHypernetwork
from scn.methods.inverse import Inverse
from scn.methods.one4all import One4All
from scn.methods.one4all_alpha import One4AllAlpha
from scn.methods.one4one import One4One
from scn.methods.output_mixture import OutputMixture
from scn.methods.safn import Safn
from scn.methods.scn_method import SubspaceConfigurable
from scn.methods.source_only import SourceOnly
from scn.methods.tent import Tent
from scn.methods.ti_pooling import TIPooling
from scn.methods.wider import Wider
from scn.transforms import Transform

get = registry.get

# The roles that some methods have for all others.
MIXED = "scn"  # what the project is about
UNADAPTED = "one4all"  # the plain network of the same size that every other is measured by
BASELINES = (UNADAPTED, "inverse", "one4one")  # of the paper
USUAL = (MIXED, *BASELINES, "one4all-alpha", "alpha-alone")  # what is compared unless a person says otherwise
# What docs/alternatives.md would choose: where a sensor measures a condition, where a change can be undone,
# and where it cannot.
ADVISED = {
    "measured": (MIXED, "film", "one4all-alpha"),
    "undone": (MIXED, "inverse", UNADAPTED),
    "kept": (MIXED, "hypernetwork-low-rank", UNADAPTED),
}


def advised(transform: Transform) -> tuple[str, ...]:
    """The two or three methods that are worth comparing for such a change."""
    if transform.measured:
        return ADVISED["measured"]
    return ADVISED["undone" if transform.invertible else "kept"]


__all__ = [
    "ADVISED",
    "BASELINES",
    "MIXED",
    "UNADAPTED",
    "USUAL",
    "AlphaAlone",
    "Augmented",
    "DataCalibrator",
    "EstimateAndInvert",
    "FeatureWise",
    "Hypernetwork",
    "Inverse",
    "LowRankHypernetwork",
    "Method",
    "NearestExpert",
    "One4All",
    "One4AllAlpha",
    "One4One",
    "OutputMixture",
    "Safn",
    "SourceOnly",
    "SubspaceConfigurable",
    "TIPooling",
    "Tent",
    "Wider",
    "advised",
    "get",
    "registry",
]
