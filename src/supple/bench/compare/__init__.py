"""Supple and its peers side by side: the same tasks, one machine, one run, each in an environment of its own.

:mod:`.tasks` says in plain numbers what is to be simulated, ``peers/`` holds one script for each simulator
that reads such a task and runs it, :mod:`.environments` makes the environments, :mod:`.race` runs all and
compares with the references, :mod:`.page` writes what is kept.
"""
