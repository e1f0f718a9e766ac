"""DET205 completion-order."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.arrivals import Arrivals
from detlint.analysis.completions import Completions
from detlint.analysis.conditions import call_word
from detlint.analysis.queues import Queues
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.analysis.completions import Completion
    from detlint.finding import Edit


class CompletionOrder(Rule):
    """Why runs differ: Work that runs at the same time finishes in an order that depends on
    machine, load and chance. Results taken as they finish are in another order in each run. A
    dataset made of them has its rows in another order, and a sum of them rounds differently.

    Reported:
    - `as_completed`, `imap_unordered`, `Parallel(return_as="generator_unordered")`
    - `DataLoader(in_order=False)`, in torch 2.6 and later
    - the sets of futures that `wait` returns: they are in no order at all, even when all are done
    - a queue that several workers fill
    - a dict that is filled as results finish, and then iterated over

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
        "wait(",
        "wait as",
        "generator_unordered",
        "in_order",
        "Queue(",
        "SimpleQueue(",
        "JoinableQueue(",
    )
    needs = ("as_completed", "unordered", "futures", "asyncio", "in_order", "Process", "Thread")
    source = (
        "https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.as_completed"
    )
    shown = "CPU"
    confidence = Confidence.LIKELY
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

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Of the many queues and waits, those of a file that starts workers or has futures."""
        if text.startswith("wait", offset):
            return "concurrent" in text or "asyncio" in text
        if "Queue(" in text[offset : offset + 14]:
            starts = ("Process(", "Thread(", "submit(", "apply_async(", "create_task(")
            return ".get" in text and any(word in text for word in starts)
        return True

    @cached_property
    def _arrivals(self) -> Arrivals:
        return Arrivals(self.module)

    @cached_property
    def _completions(self) -> Completions:
        return Completions(self.module)

    def visit_Call(self, node: cst.Call) -> None:
        found = self._completions.of(node)
        if found is None:
            if call_word(node).endswith("Queue"):
                self._check_queue(node)
            return
        use = next(self._arrivals.arriving(found), None)
        if use is not None:
            self._report(node, found, f", and here it is {use.how}")
        elif found.whole:
            self._report(node, found, "")

    def _check_queue(self, node: cst.Call) -> None:
        use = next(Queues(self._arrivals).uses(node), None)
        if use is not None:
            self.report(
                node,
                "several workers fill this queue, so that results leave it in the order in which "
                f"they finish, and here it is {use.how}",
                advice="send an index with each result, and sort by it",
            )

    def _report(self, node: cst.Call, found: Completion, use: str) -> None:
        message = f"{found.name} {found.says}{use}"
        self.report(node, message, advice=found.advice, edits=self._fix(node), safe=False)

    def _fix(self, node: cst.Call) -> tuple[Edit, ...]:
        word = call_word(node)
        if word == "imap_unordered" and isinstance(node.func, cst.Attribute):
            return (self.module.replace(node.func.attr, "imap"),)
        for keyword, value in (("in_order", "True"), ("return_as", '"generator"')):
            given = self.module.argument(node, keyword)
            if given is not None:
                return (self.module.replace(given, value),)
        if word == "as_completed" and len(node.args) == 1:
            return self._futures_themselves(node)
        return ()

    def _futures_themselves(self, node: cst.Call) -> tuple[Edit, ...]:
        """``as_completed(futures)`` → ``futures``, where that is a list, or a dict by future."""
        if "asyncio" in (self.module.called(node) or "asyncio"):
            return ()  # what is awaited one after the other may not run at once
        given = node.args[0].value
        made = self.module.names.value_of(given)
        if not isinstance(made, (cst.List, cst.ListComp, cst.Dict, cst.DictComp)):
            return ()
        return (self.module.replace(node, self.module.tree.text(given)),)
