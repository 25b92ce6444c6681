"""Methods: what is trained on the changed input, by name. All share one training loop.

To add one, write a subclass of `Method` decorated by `@registry.register("name")` and import it here.
"""

from scn.methods.alpha_alone import AlphaAlone
from scn.methods.base import Method, registry
from scn.methods.inverse import Inverse
from scn.methods.one4all import One4All
from scn.methods.one4all_alpha import One4AllAlpha
from scn.methods.one4one import One4One
from scn.methods.scn_method import SubspaceConfigurable

get = registry.get

# The roles that some methods have for all others.
MIXED = "scn"  # what the project is about
UNADAPTED = "one4all"  # the plain network of the same size that every other is measured by
BASELINES = (UNADAPTED, "inverse", "one4one")  # of the paper

__all__ = [
    "BASELINES",
    "MIXED",
    "UNADAPTED",
    "AlphaAlone",
    "Inverse",
    "Method",
    "One4All",
    "One4AllAlpha",
    "One4One",
    "SubspaceConfigurable",
    "get",
    "registry",
]
