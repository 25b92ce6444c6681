"""Export: a trained network as code for other places, by the name of the target.

To add a target, write a file with a function decorated by `@target("name", check)` and import it here. To add
an operation, see `operations`.
"""

from scn.export import arduino, blob, c, esp_idf, onnx, sensors, zephyr
from scn.export.base import Options, Report, Writer, target, targets
from scn.export.blob import target as _blob_target  # noqa: F401  (which enters itself)
from scn.export.package import Package, package_of
from scn.export.subject import LabelledSamples, Subject, subject_of

__all__ = [
    "LabelledSamples",
    "Options",
    "Package",
    "Report",
    "Subject",
    "Writer",
    "arduino",
    "blob",
    "c",
    "esp_idf",
    "onnx",
    "package_of",
    "sensors",
    "subject_of",
    "target",
    "targets",
    "zephyr",
]
