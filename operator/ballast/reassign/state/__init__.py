"""What a reassignment persists and reports: its persisted state, conditions, queue and status.

Pure values and their documents; the stores are adapters elsewhere.
"""
