"""DET701 megatron-launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.documents.document import Word
from detlint.documents.launches import launched, program
from detlint.documents.options import may_hold_more, options
from detlint.documents.training import for_ascend, sureness
from detlint.models import megatron
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from detlint.documents.document import Command
    from detlint.documents.options import Option

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

    Lowers the confidence:
    - the name of a program that is launched says that it does not train

    Not reported:
    - scripts for Ascend devices
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
    mentions = megatron.MENTIONS
    # Of 2026-08-22.
    source = "https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/docs/user-guide/deterministic-training.md"
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
        if launch is None or for_ascend(self.document) or launch.launcher == "deepspeed":
            return
        given = list(options(self.document.source, launch.arguments))
        if not _is_megatron(given):
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
                confidence=min(self.confidence, sureness(launch)),
            )

    def _check_environment(self, mode: Option, environment: Mapping[str, str | None]) -> None:
        for setting, advice in _refused(environment):
            message = f"Megatron does not start with {_MODE} and {setting}"
            self.report(_flag(mode), message, advice=advice)

    def _check_option(self, option: Option) -> None:
        if option.name in megatron.REFUSED:
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


def _is_megatron(options: Sequence[Option]) -> bool:
    """Whether options are those of Megatron-LM. Megatron-DeepSpeed knows no such mode, and
    neither do other forks of old releases."""
    names = {each.name for each in options if len(each.keys) == 1 and each.dashed}
    spelled = not any("_" in each.shown.partition("=")[0].split()[0] for each in options[:8])
    if not spelled or "deepspeed" in names or names & megatron.FORMER:
        return False
    return (
        bool(names & megatron.OWN and names & megatron.ITS)
        and len(names & (megatron.OWN | megatron.USUAL)) >= megatron.FEWEST
    )


def _refused(environment: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """The variables with which deterministic mode does not start, and what to set instead."""
    algorithms = environment.get("NCCL_ALGO")
    if algorithms is not None:
        tokens = [each.strip() for each in algorithms.split(",") if each.strip()]
        if not tokens or not set(tokens) <= megatron.NCCL:
            yield f"NCCL_ALGO={algorithms}", "set NCCL_ALGO=Ring, which it sets itself if it is not"
    for name, accepted in megatron.ACCEPTED.items():
        value = environment.get(name)
        if value is not None and value not in accepted:
            yield f"{name}={value}", f"set {name}={accepted[0]}, or leave it out"
    for name in megatron.SWITCHES:
        value = environment.get(name)
        if value and value[0] != "1":
            yield f"{name}={value}", f"set {name}=1, or leave it out"
