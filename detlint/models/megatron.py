"""Arguments of Megatron-LM, and what its deterministic mode refuses.

As of 2026-08-22 (d98e8a6, core 0.20). Until 3ab71eeb of 2026-07-08, in core 0.19, it accepted
NCCL_ALGO=Tree, refused an NCCL_ALGO that was not set, and --use-flash-attn.
"""

from __future__ import annotations

from detlint.models.model import words

MENTIONS = (
    "--tensor-model-parallel-size",
    "--pipeline-model-parallel-size",
    "--micro-batch-size",
    "--use-mcore-models",
    "--transformer-impl",
    "--deterministic-mode",
)
OWN = words(
    """tensor_model_parallel_size pipeline_model_parallel_size use_mcore_models transformer_impl
    num_layers_per_virtual_pipeline_stage expert_model_parallel_size context_parallel_size
    micro_batch_size deterministic_mode"""
)
USUAL = words(
    """num_layers hidden_size ffn_hidden_size num_attention_heads seq_length global_batch_size
    max_position_embeddings train_iters train_samples lr_decay_style lr_decay_iters
    lr_decay_samples tokenizer_type use_distributed_optimizer sequence_parallel eval_iters
    use_flash_attn no_masked_softmax_fusion no_gradient_accumulation_fusion init_method_std
    untie_embeddings_and_output_weights clip_grad recompute_granularity group_query_attention
    num_query_groups normalization position_embedding_type vocab_size ckpt_format mock_data
    use_checkpoint_args attention_backend overlap_grad_reduce overlap_param_gather"""
)
# Others that build on its core have arguments of the names above, and not of these.
ITS = words(
    """use_mcore_models transformer_impl max_position_embeddings train_iters train_samples
    lr_decay_style eval_iters tokenizer_type use_checkpoint_args global_batch_size mock_data
    deterministic_mode"""
)
FEWEST = 4
# Megatron-LM took these away, or refuses them, since before it had the mode, in 2024: what still
# takes them is an older one, or a fork of it.
FORMER = words(
    """data_impl checkpoint_activations checkpoint_num_layers
    distribute_checkpointed_activations"""
)
NCCL = frozenset({"Ring", "CollnetDirect", "CollnetChain", "^NVLS"})
ACCEPTED = {
    "NVTE_ALLOW_NONDETERMINISTIC_ALGO": ("0",),
    "CUBLAS_WORKSPACE_CONFIG": (":4096:8", ":16:8"),
}
# Only a value that begins with 1 leaves them deterministic; an empty one counts as not set.
SWITCHES = ("MAMBA_DETERMINISTIC", "CAUSAL_CONV1D_DETERMINISTIC")
REFUSED = frozenset({"cross_entropy_loss_fusion", "tp_comm_overlap"})
