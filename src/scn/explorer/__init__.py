"""The explorer: one page in which a person turns the setting and watches the network reconfigure itself."""

from scn.explorer.export import write_explorer

__all__ = ["write_explorer"]
