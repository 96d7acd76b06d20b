"""``python -m ballast.spark``; in the image also a file by itself, for spark-submit."""

from ballast.spark.job import main

raise SystemExit(main())
