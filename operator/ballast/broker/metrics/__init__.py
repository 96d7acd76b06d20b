"""What the broker measures, as counters and times that cost the hot path little.

Gauges that are read at a scrape are in `broker.lifecycle.gauges`.
"""
