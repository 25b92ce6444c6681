"""Export: a trained network as code for other places, by the name of the target.

To add a target, write a file with a function decorated by `@target("name", check)` and import it here. To add
an operation, see `operations`.
"""

from scn.export import arduino, c, esp_idf, onnx, sensors
from scn.export.base import Options, Report, Writer, target, targets
from scn.export.subject import LabelledSamples, Subject, subject_of

__all__ = [
    "LabelledSamples",
    "Options",
    "Report",
    "Subject",
    "Writer",
    "arduino",
    "c",
    "esp_idf",
    "onnx",
    "sensors",
    "subject_of",
    "target",
    "targets",
]
