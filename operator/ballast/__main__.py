"""``python -m ballast``: the same program as the ``ballast`` script."""

from ballast.cli import main

main()
