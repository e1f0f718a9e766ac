"""ACME101 unseeded-split."""

from detlint.rule import Confidence, Example, Rule


class UnseededSplit(Rule):
    """Why runs differ: `acme.split` draws which rows go into the test set. Without a seed it draws
    anew in each run.

    Reported:
    - `acme.split` without `seed`, or with `seed=None`

    Not reported:
    - a call that takes its keywords from elsewhere (`**options`)

    What to do: Pass a seed: `acme.split(rows, seed=0)`.

    Fix safety: unsafe. The rows are split in another way than before.
    """

    code = "ACME101"
    summary = "acme.split without a seed"
    triggers = ("split(",)
    needs = ("acme",)
    source = "https://acme.example/docs/split"
    confidence = Confidence.CERTAIN
    examples = (
        Example(
            bad="""
                import acme

                train, test = acme.split(rows)  # ACME101
            """,
            fixed="""
                import acme

                train, test = acme.split(rows, seed=0)
            """,
        ),
        Example(
            bad="""
                from acme import split

                def parts(rows):
                    return split(rows, seed=None)  # ACME101
            """,
            good="""
                from acme import split

                def parts(rows, seed):
                    return split(rows, seed=seed)
            """,
        ),
    )

    def examine(self, offsets):
        for call in self.unit.ops_at(offsets):
            if "acme.split" in self.unit.values.called(call) and not unpacks(call):
                seed = call.given("seed")
                if seed is None:
                    edit = self.unit.add_argument(call.node, "seed=0")
                    self.report(call.node, edits=(edit,), safe=False)
                elif self.unit.values.constant(seed) is None:
                    self.report(call.node, "acme.split with seed=None draws anew in each run")


def unpacks(call):
    return any(name == "**" for name, _ in call.arguments())
