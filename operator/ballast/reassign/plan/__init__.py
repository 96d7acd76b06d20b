"""Plans and their progress: moves, the text of a plan in lines, chunks and pieces, Kafka's JSON.

Values and their formats only. Whether a plan may run, and what runs next, is decided in `decision`.
"""
