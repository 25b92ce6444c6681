"""The mathematics of subspace-configurable networks; it knows no data, transform or backbone."""
