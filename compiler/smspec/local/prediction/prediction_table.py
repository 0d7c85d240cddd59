"""The prediction in a terminal."""

from __future__ import annotations

from smspec.diagnostics.visible import visible
from smspec.local.prediction.prediction import Prediction
from smspec.local.prediction.prediction_text import HEAD, heading, rows
from smspec.local.tables import lines_of


def prediction_lines(prediction: Prediction, *, verbose: bool) -> list[str]:
    """Return the table of a prediction, and what is unknown; ``verbose``: also the assumptions."""
    if not prediction.is_expected and not verbose:
        return []
    if not prediction.modes:
        return [f"no prediction: {visible(text)}" for text in prediction.unknown]
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(*(Column(name, no_wrap=True) for name in (*HEAD, "")), box=None, padding=(0, 2, 0, 0), pad_edge=False)
    obstacles = []
    for row in rows(prediction):
        if row[1]:
            table.add_row(*map(Text, row))
        else:
            obstacles.append(f"{row[0]}: {visible(row[-1])}")
    found = [f"prediction for {visible(heading(prediction))}", *lines_of(table), *obstacles]
    found += [visible(text) for text in prediction.unknown]
    if verbose:
        found += [f"assumed: {visible(text)}" for text in prediction.assumptions]
    else:
        found.append(f"{len(prediction.assumptions)} assumptions: pass -v, or see report.html")
    return found
