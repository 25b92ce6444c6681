"""`python -m scn` is `scn`, and what `torchrun -m scn train` starts."""

from scn.cli.main import main

if __name__ == "__main__":
    main()
