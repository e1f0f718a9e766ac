"""Launches of Megatron-LM, and what its deterministic mode refuses.

As of 2026-08-22 (d98e8a6, core 0.20). Until 3ab71eeb of 2026-07-08, in core 0.19, it accepted
NCCL_ALGO=Tree, refused an NCCL_ALGO that was not set, and --use-flash-attn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from detlint.analysis.command_options import Option

MENTIONS = (
    "--tensor-model-parallel-size",
    "--pipeline-model-parallel-size",
    "--micro-batch-size",
    "--use-mcore-models",
    "--transformer-impl",
    "--deterministic-mode",
)
_OWN = words(
    """tensor_model_parallel_size pipeline_model_parallel_size use_mcore_models transformer_impl
    num_layers_per_virtual_pipeline_stage expert_model_parallel_size context_parallel_size
    micro_batch_size deterministic_mode"""
)
_USUAL = words(
    """num_layers hidden_size ffn_hidden_size num_attention_heads seq_length global_batch_size
    max_position_embeddings train_iters train_samples lr_decay_style lr_decay_iters
    lr_decay_samples tokenizer_type use_distributed_optimizer sequence_parallel eval_iters
    use_flash_attn no_masked_softmax_fusion no_gradient_accumulation_fusion init_method_std
    untie_embeddings_and_output_weights clip_grad recompute_granularity group_query_attention
    num_query_groups normalization position_embedding_type vocab_size ckpt_format mock_data
    use_checkpoint_args attention_backend overlap_grad_reduce overlap_param_gather"""
)
# Others that build on its core have arguments of the names above, and not of these.
_ITS = words(
    """use_mcore_models transformer_impl max_position_embeddings train_iters train_samples
    lr_decay_style eval_iters tokenizer_type use_checkpoint_args global_batch_size mock_data
    deterministic_mode"""
)
_FEWEST = 4
# Megatron-LM took these away, or refuses them, since before it had the mode, in 2024: what still
# takes them is an older one, or a fork of it.
_FORMER = words(
    """data_impl checkpoint_activations checkpoint_num_layers
    distribute_checkpointed_activations"""
)
_NCCL = frozenset({"Ring", "CollnetDirect", "CollnetChain", "^NVLS"})
_ACCEPTED = {
    "NVTE_ALLOW_NONDETERMINISTIC_ALGO": ("0",),
    "CUBLAS_WORKSPACE_CONFIG": (":4096:8", ":16:8"),
}
# Only a value that begins with 1 leaves them deterministic; an empty one counts as not set.
_SWITCHES = ("MAMBA_DETERMINISTIC", "CAUSAL_CONV1D_DETERMINISTIC")
REFUSED = frozenset({"cross_entropy_loss_fusion", "tp_comm_overlap"})


def is_megatron(options: Sequence[Option]) -> bool:
    """Whether options are those of Megatron-LM. Megatron-DeepSpeed knows no such mode, and
    neither do other forks of old releases."""
    names = {each.name for each in options if len(each.keys) == 1 and each.dashed}
    spelled = not any("_" in each.shown.partition("=")[0].split()[0] for each in options[:8])
    if not spelled or "deepspeed" in names or names & _FORMER:
        return False
    return bool(names & _OWN and names & _ITS) and len(names & (_OWN | _USUAL)) >= _FEWEST


def refused(environment: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """The variables with which deterministic mode does not start, and what to set instead."""
    algorithms = environment.get("NCCL_ALGO")
    if algorithms is not None:
        tokens = [each.strip() for each in algorithms.split(",") if each.strip()]
        if not tokens or not set(tokens) <= _NCCL:
            yield f"NCCL_ALGO={algorithms}", "set NCCL_ALGO=Ring, which it sets itself if it is not"
    for name, accepted in _ACCEPTED.items():
        value = environment.get(name)
        if value is not None and value not in accepted:
            yield f"{name}={value}", f"set {name}={accepted[0]}, or leave it out"
    for name in _SWITCHES:
        value = environment.get(name)
        if value and value[0] != "1":
            yield f"{name}={value}", f"set {name}=1, or leave it out"
