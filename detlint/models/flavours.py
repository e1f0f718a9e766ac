"""The words by which a program's configuration is recognised."""

from __future__ import annotations

from detlint.models.model import words

# Arguments of Lightning's Trainer that other programs do not call so.
TRAINER = words(
    """max_epochs min_epochs max_steps devices accelerator strategy precision num_nodes
    accumulate_grad_batches gradient_clip_val benchmark check_val_every_n_epoch val_check_interval
    log_every_n_steps fast_dev_run limit_train_batches limit_val_batches num_sanity_val_steps
    enable_checkpointing enable_progress_bar default_root_dir use_distributed_sampler sync_batchnorm
    deterministic detect_anomaly gpus replace_sampler_ddp callbacks logger"""
)
# Of transformers' TrainingArguments: words of its own, and words that others use too.
ARGUMENTS = words(
    """per_device_train_batch_size per_device_eval_batch_size num_train_epochs lr_scheduler_type
    save_total_limit eval_strategy evaluation_strategy gradient_checkpointing_kwargs
    dataloader_num_workers load_best_model_at_end per_gpu_train_batch_size
    ddp_find_unused_parameters torch_compile_mode"""
)
SHARED_ARGUMENTS = words(
    """gradient_accumulation_steps learning_rate output_dir warmup_ratio bf16 fp16 logging_steps
    save_steps save_strategy max_steps weight_decay report_to optim gradient_checkpointing
    warmup_steps model_name_or_path adam_beta1 max_grad_norm overwrite_output_dir do_train
    eval_steps"""
)
MMENGINE = words(
    """env_cfg default_hooks train_dataloader val_dataloader optim_wrapper train_cfg param_scheduler
    default_scope randomness custom_hooks"""
)
MMCV = words("optimizer_config lr_config checkpoint_config log_config workflow total_epochs")
PARALLEL = words(
    """tensor_model_parallel_size pipeline_model_parallel_size context_parallel_size
    sequence_parallel"""
)
MEGATRON = words(
    """num_layers hidden_size ffn_hidden_size num_attention_heads micro_batch_size global_batch_size
    train_iters train_samples seq_length lr_warmup_fraction"""
)
TITAN = words(
    """parallelism activation_checkpoint experimental job comm lr_scheduler float8 compile debug
    profiling metrics checkpoint optimizer"""
)
ESPNET = words(
    """optim optim_conf encoder_conf decoder_conf scheduler_conf batch_bins batch_type max_epoch
    accum_grad keep_nbest_models best_model_criterion frontend_conf num_att_plot patience init"""
)
RECBOLE = words(
    """train_neg_sample_args train_batch_size reproducibility eval_args load_col user_id_field
    item_id_field stopping_step valid_metric topk clip_grad_norm"""
)
COMPOSER = words(
    """max_duration train_loader eval_interval global_train_batch_size algorithms
    device_train_microbatch_size device_eval_batch_size fsdp_config eval_loader"""
)
# What any program that trains may call its settings: words that say so, and words that fit in.
TRAINING = words(
    """epochs num_epochs max_epochs max_epoch n_epochs total_epochs lr learning_rate base_lr
    batch_size train_batch_size optimizer optim lr_scheduler weight_decay warmup_steps warmup_epochs
    grad_clip momentum gradient_clip_val gradient_accumulation_steps max_grad_norm
    batch_size_per_gpu num_rollouts rollout_batch_size ppo_epochs total_steps total_timesteps"""
)
FITTING = words(
    """seed scheduler model dataset datasets num_workers dropout loss criterion dataloader train val
    betas checkpoint log_interval amp max_steps save_interval eval_interval train_dataset workers
    resume"""
)
# One of these is in every configuration that is recognised, and in every manifest.
SIGNS = frozenset().union(
    *(TRAINER, ARGUMENTS, MMENGINE, MMCV, PARALLEL, ESPNET, RECBOLE, COMPOSER, TRAINING),
    ("exp_manager", "defaults", "hydra", "_target_", "_component_", "seed_everything", "trainer"),
    (
        "finetuning_type",
        "cutoff_len",
        "stage",
        "attn_implementation",
        "base_model",
        "distributed_type",
        "zero_optimization",
        "imgsz",
    ),
    ("train_micro_batch_size_per_gpu", "training", "solver", "dataloader", "datasets", "train"),
    ("apiversion", "services", "jobs", "run", "runs"),
)
