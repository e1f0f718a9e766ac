"""DET301 cudnn-benchmark."""

from __future__ import annotations

from detlint.rule import Example, Rule, cst


class CudnnBenchmark(Rule):
    """cuDNN times several kernels and keeps the fastest. Timings differ between
    runs, so the kernel, and how it rounds, can differ too."""

    code = "DET301"
    summary = "cuDNN picks its kernels by timing them"
    triggers = ("cudnn",)
    source = "https://docs.pytorch.org/docs/stable/notes/randomness.html#cuda-convolution-benchmarking"
    examples = (
        Example(
            bad="""
                import torch

                torch.backends.cudnn.benchmark = True  # DET301
            """,
            fixed="""
                import torch

                torch.backends.cudnn.benchmark = False
            """,
        ),
    )

    def visit_Assign(self, node: cst.Assign) -> None:
        names = {self.module.qualified_name(target.target) for target in node.targets}
        if (
            "torch.backends.cudnn.benchmark" in names
            and self.module.literal(node.value) is True
        ):
            self.report(node, edits=(self.module.replace(node.value, "False"),))
