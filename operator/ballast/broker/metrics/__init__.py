"""What the broker measures, as counters and times that cost the hot path little.

Values that are read on a scrape from the broker's parts are in `broker.gauges`.
"""
