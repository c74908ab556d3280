"""`python -m tunescope`: the command `tunescope`."""

# Python puts the working folder first on the path, which may contain another “app”: ours is
# imported from beside this package.
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
from app.__main__ import main

# Only for that import: what is loaded later must not find our folder first.
del sys.path[0]

if __name__ == "__main__":
    sys.exit(main())
