"""The commands of `python -m core` that have a file of their own."""
