"""What PyTorch's names mean, and what a variable's own name lets one guess."""

from __future__ import annotations

import re

OPTIMIZERS = frozenset(
    [
        "SGD",
        "Adam",
        "AdamW",
        "Adamax",
        "NAdam",
        "RAdam",
        "Adagrad",
        "Adadelta",
        "RMSprop",
        "Rprop",
        "LBFGS",
        "ASGD",
        "SparseAdam",
        "Adafactor",
        "Muon",
        "Lion",
        "FusedAdam",
        "FusedLAMB",
        "LAMB",
        "Lamb",
        "Ranger",
        "AdaBelief",
        "AdamP",
        "AdamW8bit",
        "Adam8bit",
        "DeepSpeedCPUAdam",
        "SAM",
        "MADGRAD",
    ]
)
EPOCH_SCHEDULERS = frozenset(["StepLR", "MultiStepLR", "ExponentialLR", "ReduceLROnPlateau"])
SCHEDULERS = EPOCH_SCHEDULERS | frozenset(
    [
        "LambdaLR",
        "MultiplicativeLR",
        "ConstantLR",
        "LinearLR",
        "CosineAnnealingLR",
        "CosineAnnealingWarmRestarts",
        "CyclicLR",
        "OneCycleLR",
        "PolynomialLR",
        "SequentialLR",
        "ChainedScheduler",
        "SWALR",
        "get_linear_schedule_with_warmup",
        "get_scheduler",
        "get_cosine_schedule_with_warmup",
        "get_constant_schedule_with_warmup",
        "get_polynomial_decay_schedule_with_warmup",
        "CosineLRScheduler",
        "WarmupCosineSchedule",
    ]
)
FUNCTIONAL_LOSSES = {
    "cross_entropy": "CrossEntropyLoss",
    "nll_loss": "NLLLoss",
    "binary_cross_entropy": "BCELoss",
    "binary_cross_entropy_with_logits": "BCEWithLogitsLoss",
    "mse_loss": "MSELoss",
    "l1_loss": "L1Loss",
    "smooth_l1_loss": "SmoothL1Loss",
    "huber_loss": "HuberLoss",
    "kl_div": "KLDivLoss",
    "multilabel_soft_margin_loss": "MultiLabelSoftMarginLoss",
    "ctc_loss": "CTCLoss",
    "triplet_margin_loss": "TripletMarginLoss",
    "hinge_embedding_loss": "HingeEmbeddingLoss",
    "cosine_embedding_loss": "CosineEmbeddingLoss",
    "margin_ranking_loss": "MarginRankingLoss",
    "poisson_nll_loss": "PoissonNLLLoss",
    "gaussian_nll_loss": "GaussianNLLLoss",
    "sigmoid_focal_loss": "SigmoidFocalLoss",
}
LOSSES = frozenset(FUNCTIONAL_LOSSES.values()) | {
    "NLLLoss2d",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "AdaptiveLogSoftmaxWithLoss",
}
REGRESSION_LOSSES = frozenset(("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"))

ACTIVATION_LAYERS = {
    "Softmax": "softmax",
    "Softmax2d": "softmax",
    "LogSoftmax": "log_softmax",
    "Sigmoid": "sigmoid",
    "LogSigmoid": "logsigmoid",
    "Tanh": "tanh",
    "ReLU": "relu",
    "LeakyReLU": "relu",
    "GELU": "relu",
    "ELU": "relu",
    "SiLU": "relu",
}
LINEAR_LAYERS = frozenset(
    [
        "Linear",
        "LazyLinear",
        "Bilinear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "ConvTranspose1d",
        "ConvTranspose2d",
        "ConvTranspose3d",
        "LazyConv1d",
        "LazyConv2d",
    ]
)
SAME_SHAPE_LAYERS = frozenset(
    ["Flatten", "Unflatten", "Identity", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"]
)
MODE_LAYERS = frozenset(
    [
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "AlphaDropout",
        "FeatureAlphaDropout",
        "BatchNorm1d",
        "BatchNorm2d",
        "BatchNorm3d",
        "SyncBatchNorm",
        "LazyBatchNorm1d",
        "LazyBatchNorm2d",
        "InstanceNorm1d",
        "InstanceNorm2d",
        "RReLU",
    ]
)
"""Layers that compute something else in train mode than in eval mode."""
PLAIN_LAYERS = (
    LINEAR_LAYERS
    | frozenset(ACTIVATION_LAYERS)
    | SAME_SHAPE_LAYERS
    | MODE_LAYERS
    | frozenset(
        [
            "Sequential",
            "ModuleList",
            "ModuleDict",
            "Embedding",
            "EmbeddingBag",
            "LayerNorm",
            "GroupNorm",
            "RMSNorm",
            "MaxPool1d",
            "MaxPool2d",
            "MaxPool3d",
            "AvgPool1d",
            "AvgPool2d",
            "AdaptiveAvgPool1d",
            "AdaptiveAvgPool2d",
            "AdaptiveMaxPool2d",
            "LSTM",
            "GRU",
            "RNN",
            "LSTMCell",
            "GRUCell",
            "RNNCell",
            "Softplus",
            "Hardtanh",
            "ReLU6",
            "Mish",
            "PReLU",
            "ZeroPad2d",
            "Upsample",
            "PixelShuffle",
            "Parameter",
            "Hardswish",
            "MultiheadAttention",
            "Transformer",
            "TransformerEncoder",
            "TransformerEncoderLayer",
        ]
    )
)
WRAPPERS = frozenset(
    [
        "DataParallel",
        "DistributedDataParallel",
        "DDP",
        "FullyShardedDataParallel",
        "FSDP",
        "compile",
        "script",
        "convert_sync_batchnorm",
        "unwrap_model",
        "fully_shard",
    ]
)
LOADER_WRAPPERS = frozenset(
    [
        "tqdm",
        "trange",
        "iter",
        "cycle",
        "islice",
        "enumerate",
        "track",
        "reversed",
        "list",
        "tuple",
        "notebook",
        "progress_bar",
        "prefetcher",
    ]
)
GRAD_OFF = frozenset(("no_grad", "inference_mode"))
HARMLESS_DECORATORS = frozenset(
    [
        "staticmethod",
        "classmethod",
        "property",
        "compile",
        "abstractmethod",
        "override",
        "wraps",
        "cached_property",
        "lru_cache",
        "cache",
        "dataclass",
        "overload",
        "autocast",
        "record",
        "main",
        "command",
        "option",
    ]
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_EVAL_WORDS = frozenset(
    [
        "test",
        "tests",
        "testing",
        "val",
        "valid",
        "validate",
        "validation",
        "eval",
        "evaluate",
        "evaluation",
        "dev",
        "predict",
        "prediction",
        "inference",
        "infer",
        "holdout",
        "tst",
    ]
)
_TEST_WORDS = frozenset(["test", "testing", "tst", "holdout"])
_VAL_WORDS = frozenset(["val", "valid", "validation", "dev", "eval"])
_TRAIN_WORDS = frozenset(["train", "training", "trn", "fit", "learn"])


def words(name: str) -> list[str]:
    """`trainLoader_2` -> ['train', 'loader', '2']."""
    return [w.lower() for w in _WORD.findall(name)]


def _has(name: str, vocabulary: frozenset, prefixes: tuple[str, ...]) -> bool:
    parts = words(name)
    if any(w in vocabulary for w in parts):
        return True
    return any(
        w.startswith(prefixes) and w.endswith(("loader", "set", "data", "dl", "iter", "loss", "acc")) for w in parts
    )


def says_eval(name: str) -> bool:
    """The name speaks of validation or testing."""
    return _has(name, _EVAL_WORDS, ("test", "val", "eval", "dev"))


def says_test(name: str) -> bool:
    """The name speaks of the test set."""
    return _has(name, _TEST_WORDS, ("test",))


def says_val(name: str) -> bool:
    """The name speaks of a validation set."""
    return _has(name, _VAL_WORDS, ("val", "dev"))


def says_train(name: str) -> bool:
    """The name speaks of training."""
    return _has(name, _TRAIN_WORDS, ("train",))


_HIGHER = frozenset(
    [
        "acc",
        "accuracy",
        "accs",
        "f1",
        "auc",
        "auroc",
        "iou",
        "miou",
        "dice",
        "bleu",
        "recall",
        "precision",
        "r2",
        "map",
        "psnr",
        "ssim",
        "top1",
        "hits",
        "correct",
        "reward",
        "kappa",
        "mcc",
    ]
)
_LOWER = frozenset(
    [
        "loss",
        "losses",
        "err",
        "error",
        "mse",
        "rmse",
        "mae",
        "ppl",
        "perplexity",
        "nll",
        "ce",
        "wer",
        "cer",
        "fid",
        "mape",
        "bpc",
    ]
)


def direction(name: str) -> int:
    """+1 when a measure of that name should rise, -1 when it should fall, 0 when the name does not tell."""
    parts = set(words(name)) | {name.lower()}
    up, down = bool(parts & _HIGHER), bool(parts & _LOWER)
    if not up and any(w.endswith(("acc", "accuracy")) for w in parts):
        up = True
    if not down and any(w.endswith("loss") for w in parts):
        down = True
    return up - down


LABELS = frozenset(("y", "label", "labels", "target", "targets", "class", "classes", "lab"))
"""Words by which class labels go."""

_OPT_WORDS = frozenset(["opt", "optim", "optimizer", "optimiser", "optims", "optimizers", "opts", "solver"])
_MODEL_WORDS = frozenset(
    [
        "model",
        "net",
        "network",
        "backbone",
        "encoder",
        "decoder",
        "generator",
        "discriminator",
        "critic",
        "policy",
        "actor",
        "student",
        "teacher",
        "classifier",
        "unet",
        "lm",
        "module",
        "gen",
        "disc",
        "resnet",
        "cnn",
        "rnn",
        "mlp",
        "ddp",
        "transformer",
        "vae",
        "autoencoder",
    ]
)
_LOSS_WORDS = frozenset(
    ["criterion", "criteria", "loss", "cost", "crit", "objective", "lossfn", "xent", "bce", "mse", "ce"]
)


def guess_kind(name: str, uses: set[str], called: bool) -> str | None:
    """The kind of an object nothing is known of but its name and what the file does with it."""
    parts = words(name)
    optish = any(w in _OPT_WORDS or w.startswith("optim") for w in parts)
    schedish = any(w.startswith("sched") for w in parts) or name.lower() in ("lr_scheduler", "lr_sched", "lrs")
    modelish = bool(uses & {"parameters", "train", "eval", "named_parameters", "modules", "forward", "half"})
    kind = None
    if "unscale_" in uses or {"scale", "update"} <= uses:
        kind = "scaler"
    elif schedish and ("step" in uses or not uses):
        kind = "scheduler"
    elif "backward" in uses and "step" in uses:
        kind = "engine"
    elif (
        (optish and not called)
        or ({"zero_grad", "step"} <= uses)
        or ("zero_grad" in uses and not modelish and not called)
    ):
        kind = "optimizer"
    elif any(w in ("accelerator", "fabric") for w in parts):
        kind = "accelerator"
    elif "set_epoch" in uses or "sampler" in parts:
        kind = "sampler"
    elif any(w in _LOSS_WORDS or w.startswith("loss") or w.endswith("loss") for w in parts) and called:
        kind = "loss"
    elif (modelish and "step" not in uses) or (
        called
        and ((any(w in _MODEL_WORDS for w in parts) and "data" not in parts) or name in ("G", "D", "netG", "netD"))
    ):
        kind = "model"
    elif any(w.endswith(("loader", "dataloader")) or w in ("dl", "batches", "iter", "iterator") for w in parts):
        kind = "loader"
    elif any(w in _MODEL_WORDS for w in parts) and not uses:
        kind = "model"
    return kind
