"""The validation page: each check of Supple against something that is not Supple, and what keeps it honest.

:mod:`.checks` computes them in groups, :mod:`.page` writes docs/validation.md from what is stored.
"""
