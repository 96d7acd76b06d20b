"""``python -m ballast.spark``; in the image also a separate file, for spark-submit."""

from ballast.spark.job import main

raise SystemExit(main())
