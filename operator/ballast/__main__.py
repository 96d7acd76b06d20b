"""``python -m ballast``: the same program as the ``ballast`` script."""

from ballast.cli.app import main

main()
