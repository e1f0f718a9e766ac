"""DET701 megatron-launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.command_options import may_hold_more, options
from detlint.analysis.launches import for_ascend, may_train, program
from detlint.analysis.megatron import MENTIONS, REFUSED, is_megatron, refused
from detlint.documents.document import Word
from detlint.documents.launches import launched
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from detlint.analysis.command_options import Option
    from detlint.documents.document import Command

_MODE = "--deterministic-mode"


class MegatronLaunch(Rule):
    """Why runs differ: Megatron trains repeatably only with `--deterministic-mode`. Without it,
    attention and other kernels may add up in the order in which threads finish. NCCL is free to
    choose how it adds up, too.

    Reported:
    - a launch of Megatron's training without the mode: one finding, at the program
    - with the mode: each value that Megatron refuses, such as `NCCL_ALGO=Tree`
    - with the mode: `--cross-entropy-loss-fusion` and `--tp-comm-overlap`, which it refuses
    - with the mode: `--use-flash-attn`, which releases from before July 2026 refuse

    Not reported:
    - programs that do not train, and scripts for Ascend devices
    - Megatron-DeepSpeed and other forks that do not know the mode
    - arguments that cannot be seen, as `$EXTRA_ARGS`: they may hold the mode

    What to do: Add `--deterministic-mode`. It sets `NCCL_ALGO=Ring`,
    `NVTE_ALLOW_NONDETERMINISTIC_ALGO=0` and `CUBLAS_WORKSPACE_CONFIG=:4096:8` where they are not
    set. Of `NCCL_ALGO` it accepts `Ring`, `CollnetDirect`, `CollnetChain` and `^NVLS`. Before July
    2026 it accepts `Tree` as well, and wants the variable to be set: `export NCCL_ALGO=Ring`.
    """

    code = "DET701"
    summary = "Megatron is launched without deterministic mode, or with what that refuses"
    triggers = ()
    mentions = MENTIONS
    # Of 2026-08-22.
    source = "https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/docs/user-guide/deterministic-training.md"
    confidence = Confidence.LIKELY
    examples = (
        Example(
            path="train.sh",
            bad="""
                ARGS=(--num-layers 24 --hidden-size 1024 --micro-batch-size 4 --train-iters 100)
                torchrun --nproc-per-node 8 pretrain_gpt.py "${ARGS[@]}"  # DET701
            """,
            good="""
                ARGS=(--num-layers 24 --hidden-size 1024 --micro-batch-size 4 --train-iters 100)
                torchrun --nproc-per-node 8 pretrain_gpt.py "${ARGS[@]}" --deterministic-mode
            """,
        ),
        Example(
            path="train.sh",
            bad="""
                export NCCL_ALGO=Tree
                ARGS=(--num-layers 24 --hidden-size 1024 --micro-batch-size 4 --train-iters 100)
                ARGS+=(--deterministic-mode)  # DET701
                ARGS+=(--cross-entropy-loss-fusion)  # DET701
                torchrun --nproc-per-node 8 pretrain_gpt.py "${ARGS[@]}"
            """,
            good="""
                export NCCL_ALGO=Ring
                ARGS=(--num-layers 24 --hidden-size 1024 --micro-batch-size 4 --train-iters 100)
                ARGS+=(--deterministic-mode)
                torchrun --nproc-per-node 8 pretrain_gpt.py "${ARGS[@]}"
            """,
        ),
    )

    def visit_Command(self, node: Command) -> None:
        launch = launched(node)
        if launch is None or not may_train(launch) or for_ascend(self.document):
            return
        if launch.launcher == "deepspeed":
            return
        given = list(options(self.document.source, launch.arguments))
        if not is_megatron(given):
            return
        mode = next((each for each in given if each.keys == ("deterministic_mode",)), None)
        if mode is not None:
            self._check_environment(mode, launch.environment)
            for option in given:
                self._check_option(option)
        elif not may_hold_more(self.document.source, launch.arguments):
            self.report(
                launch.script or launch.module or node,
                f"{program(launch) or 'the program'} is launched without {_MODE}: Megatron is "
                "free to take kernels that add up in varying order",
                advice=f"add {_MODE}, which sets what else it needs",
            )

    def _check_environment(self, mode: Option, environment: Mapping[str, str | None]) -> None:
        for setting, advice in refused(environment):
            message = f"Megatron does not start with {_MODE} and {setting}"
            self.report(_flag(mode), message, advice=advice)

    def _check_option(self, option: Option) -> None:
        if option.name in REFUSED:
            flag = option.shown.split()[0]
            message = f"Megatron does not start with {_MODE} and {flag}"
            self.report(_flag(option), message, advice=f"leave {flag} out")
        elif option.name == "use_flash_attn":
            self.report(
                _flag(option),
                f"Megatron from before July 2026 does not start with {_MODE} and "
                "--use-flash-attn; newer ones take its deterministic backward",
                advice="leave it out, unless Megatron is newer than that",
            )


def _flag(option: Option) -> Word:
    return Word(option.start, option.start + len(option.shown.split()[0]), None)
