"""How a broker is put together: its components, registration, background work, probes and gauges.

`ballast.broker.broker` starts and stops what is here. No request is handled here.
"""
