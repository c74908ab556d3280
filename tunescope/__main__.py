"""``python -m tunescope``: the command ``tunescope``."""

# Python has loaded these itself. It puts the working folder first on the path, which may hold an
# “app” of its own: ours is imported from beside this package, and leaves that folder at once.
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
from app.__main__ import main

del sys.path[0]

if __name__ == "__main__":
    sys.exit(main())
