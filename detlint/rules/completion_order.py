"""DET205 completion-order."""

from __future__ import annotations

import ast
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import word_of
from detlint.dataflow.orders.completions import Completions
from detlint.dataflow.orders.use import shown_at
from detlint.finding import Edit
from detlint.models.completions import COLLECTED, STARTING, STOPPING, THREADED, THREADING
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.ir import Op
    from detlint.dataflow.orders.completions import Found
    from detlint.models.completions import Threaded


# What keywords are to say instead.
_KEPT = {"in_order": "True", "return_as": '"generator"'}


class CompletionOrder(Rule):
    """Why runs differ: Work that runs at the same time finishes in an order that depends on
    machine, load and chance. Results taken as they finish are in another order in each run. A
    dataset made of them has its rows in another order, and a sum of them rounds differently.

    Reported:
    - `as_completed`, `imap_unordered`, `Parallel(return_as="generator_unordered")`
    - `DataLoader(in_order=False)`, in torch 2.6 and later
    - the sets of futures that `wait` returns: they are in no order at all, even when all are done
    - a queue that several workers fill; a list, a dict or a file to which tasks add
    - a dict that is filled as results finish, and then iterated over or written
    - lists in a dict, to which results are added as they finish
    - the `results` that a Flower strategy's `aggregate_fit` sums or hands on
    - `model.share_memory()` of a model with which several processes take steps (Hogwild)
    - models of gensim, fastText and implicit that several threads train, as they do by default
    - what several threads add to an index of hnswlib, whatever its seed
    - schedulers of Ray Tune that stop trials by what others have reported: `ASHAScheduler`
    - groups and distinct rows of a table of polars without `maintain_order=True`, that are listed,
      written or cut as they come

    Lowers the confidence:
    - a call that is not seen, and only seems to show the order: reported as *possible*. So are
      lines of a file that is called a log, and tables that are returned
    - code that no program runs which has its file, functions that nothing names, and an abstract
      class from which nothing derives

    Not reported:
    - the order provably does not matter: stored by index, sorted, counted, only waited for
    - progress bars, lines printed for each result, lists of failures

    What to do: Take results in the order in which the work was handed out: `executor.map`,
    `pool.imap`, `await asyncio.gather(*tasks)`, `for future in futures`. Or send an index with each
    result, and sort by it.

    Fix safety: unsafe. The code waits for slow work before it sees what is done already.
    """

    code = "DET205"
    summary = "results are taken in the order in which they finish"
    triggers = (
        "as_completed",
        "imap_unordered",
        "map_unordered",
        "get_next_unordered",
        "uimap(",
        "p_umap",
        "p_uimap",
        "wait(",
        "wait as",
        "generator_unordered",
        "in_order",
        "Queue(",
        "SimpleQueue(",
        "JoinableQueue(",
        "share_memory(",
        *COLLECTED,
        "group_by(",
        "unique(",
        *THREADING,
        *STARTING,
        *(f"{each}(" for each in STOPPING),
    )
    needs = (
        *(
            "as_completed",
            "unordered",
            "futures",
            "asyncio",
            "dummy",
            "in_order",
            "Pool(",
            "Process",
            "Thread",
        ),
        *("uimap", "p_umap", "Queue("),
        *("share_memory(", "flwr", "polars", "ray", *THREADED),
    )
    source = (
        "https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.as_completed"
    )
    shown = "CPU"
    crosses_files = True
    lowered_where_dead = True
    lowered_by = (*Rule.lowered_by, "test")
    examples = (
        Example(
            bad="""
                from concurrent.futures import ProcessPoolExecutor, as_completed

                def tokenize_all(paths):
                    rows = []
                    with ProcessPoolExecutor() as executor:
                        futures = [executor.submit(tokenize, path) for path in paths]
                        for future in as_completed(futures):  # DET205
                            rows.extend(future.result())
                    return rows
            """,
            fixed="""
                from concurrent.futures import ProcessPoolExecutor, as_completed

                def tokenize_all(paths):
                    rows = []
                    with ProcessPoolExecutor() as executor:
                        futures = [executor.submit(tokenize, path) for path in paths]
                        for future in futures:
                            rows.extend(future.result())
                    return rows
            """,
        ),
        Example(
            bad="""
                from multiprocessing import Pool

                def features(images):
                    with Pool(8) as pool:
                        return list(pool.imap_unordered(extract, images))  # DET205
            """,
            fixed="""
                from multiprocessing import Pool

                def features(images):
                    with Pool(8) as pool:
                        return list(pool.imap(extract, images))
            """,
        ),
        Example(
            bad="""
                from torch.utils.data import DataLoader

                loader = DataLoader(dataset, num_workers=4, in_order=False)  # DET205
            """,
            fixed="""
                from torch.utils.data import DataLoader

                loader = DataLoader(dataset, num_workers=4, in_order=True)
            """,
        ),
    )

    @cached_property
    def _completions(self) -> Completions:
        return Completions(self.unit, self.others)

    def examine(self, offsets: Sequence[int]) -> None:
        text = self.unit.text
        others = [each for each in offsets if not text.startswith(STARTING, each)]
        for found in self._completions.near(others):
            self._tell(found)
        for found in chain(self._completions.of_tasks(), self._completions.of_files()):
            self._tell(found)
        for call in self._completions.left:
            self.leave(call.node)

    def _tell(self, found: Found) -> None:
        use = found.use
        shown = f", and {shown_at(self.unit, found.op.node, use)}" if use is not None else ""
        completion = found.completion
        if completion is None:
            self.report(
                found.op.node,
                "several workers fill this queue, so that results leave it in the order in which "
                f"they finish{shown}",
                advice="send an index with each result, and sort by it",
                confidence=self._confidence(found),
            )
            return
        self.report(
            found.op.node,
            f"{completion.name} {completion.says}{shown}",
            advice=completion.advice,
            edits=self._fix(found.op),
            safe=False,
            confidence=self._confidence(found),
        )

    def _confidence(self, found: Found) -> Confidence:
        """What is only assumed to show the order may not, nor do most who get a table."""
        assumed = found.use is not None and found.use.assumed
        if found.completion is not None and found.completion.gives == "rows":
            assumed = assumed or (found.use is not None and found.use.how.startswith("returned"))
        return Confidence.POSSIBLE if assumed else self.confidence

    def _fix(self, call: Op) -> tuple[Edit, ...]:
        node, word = call.node, word_of(call)
        if call.code != "call" or not isinstance(node, ast.Call):  # a parameter, or what is filled
            return ()
        if word == "imap_unordered" and isinstance(node.func, ast.Attribute):
            _, end = self.unit.span(node.func)
            return (Edit(end - len(word), end, "imap"),)
        for keyword in node.keywords:
            if keyword.arg in _KEPT:
                return (self.unit.replace(keyword.value, _KEPT[keyword.arg]),)
        if word == "as_completed" and len(call.args) == 2:
            return self._futures_themselves(call, node)
        row = self._completions.threaded(call)
        return self._one_thread(call, row) if row is not None else ()

    def _one_thread(self, call: Op, row: Threaded) -> tuple[Edit, ...]:
        written = call.written(row.parameter, row.place)
        if written is not None:
            return (self.unit.replace(written, "1"),)
        return (self.unit.add_argument(call.call_node, f"{row.parameter}=1"),)

    def _futures_themselves(self, call: Op, node: ast.Call) -> tuple[Edit, ...]:
        """``as_completed(futures)`` → ``futures``, where that is a list, or a dict by future."""
        values, given = self.unit.values, call.args[1]
        if any("asyncio" in name for name in values.called(call)) or not node.args:
            return ()  # what is awaited one after the other may not run at once
        if not lattice.are(values.types(given), "list", "dict"):
            return ()
        return (self.unit.replace(node, self.unit.text_of(node.args[0])),)
