"""Notebooks for tests, as Jupyter writes them."""

from __future__ import annotations

import json

PYTHON = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def code(text: str, count: int | None = None) -> dict[str, object]:
    """A code cell."""
    return {
        "cell_type": "code",
        "execution_count": count,
        "metadata": {},
        "outputs": [],
        "source": text.splitlines(keepends=True),
    }


def markdown(text: str) -> dict[str, object]:
    """A cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def notebook(*cells: str | dict[str, object], metadata: object = PYTHON) -> str:
    """The JSON of a notebook of some cells; a text is a code cell."""
    content = {
        "cells": [code(each) if isinstance(each, str) else each for each in cells],
        "metadata": metadata,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def shown(text: str, count: int | None = None) -> dict[str, object]:
    """A code cell with a result."""
    output = {"name": "stdout", "output_type": "stream", "text": ["done\n"]}
    return {**code(text, count), "outputs": [output] if count else []}


def failed(text: str, count: int) -> dict[str, object]:
    """A code cell that raised."""
    output = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
    return {**code(text, count), "outputs": [output]}


def executed(*counts: int | None) -> str:
    """The JSON of a notebook whose cells compute, and were run at these times."""
    return notebook(*(shown(f"fit({place})", count) for place, count in enumerate(counts)))
