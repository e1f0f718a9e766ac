"""What trains, and what is made with weights that are drawn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.models.layers import is_layer
from detlint.models.model import Names, words
from detlint.models.names import says, words_of
from detlint.models.varying import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable

# What works out gradients: methods of losses, accelerators, engines and modules, …
BACKWARDS = frozenset(("backward", "manual_backward"))
# … functions, …
_BACKS = ("torch.autograd.grad", "torch.autograd.backward")
# … and functions that make of another one that which gives its gradient.
DIFFERENTIATES = {
    **{
        f"{module}.{name}": "torch"
        for module in ("torch.func", "functorch")
        for name in ("grad", "grad_and_value")
    },
    **dict.fromkeys(("jax.grad", "jax.value_and_grad"), "jax"),
    **dict.fromkeys(("equinox.filter_grad", "equinox.filter_value_and_grad"), "jax"),
    **dict.fromkeys(("flax.nnx.grad", "flax.nnx.value_and_grad"), "jax"),
}
# All of these functions, by the library that they train with.
STEPS = {
    **dict.fromkeys(_BACKS, "torch"),
    **DIFFERENTIATES,
    **dict.fromkeys(("theano.grad", "theano.gradient.grad", "theano.tensor.grad"), "theano"),
    "tensorflow.GradientTape": "tensorflow",
    "tensorflow.contrib.layers.optimize_loss": "tensorflow",
    "ignite.engine.create_supervised_trainer": "torch",
}
# Libraries whose models are no networks of TensorFlow.
APART = words("catboost hdbscan imblearn lightgbm sentencepiece sklearn statsmodels umap xgboost")
# Networks that scikit-learn fits, by themselves or as parts of its pipelines and searches, and the
# functions that fit what they are given.
WRAPS_KERAS = Names(
    """
    {tensorflow.,tf_,}keras.wrappers.scikit_learn.Keras{Classifier,Regressor}
    scikeras.wrappers.{BaseWrapper,KerasClassifier,KerasRegressor}
    """
)
WRAPPERS = ("BaseWrapper", "KerasClassifier", "KerasRegressor")  # by their names
FITTING = Names(
    """
    sklearn.{model_selection,cross_validation}.cross_{validate,val_predict,val_score}
    sklearn.{model_selection,learning_curve}.{learning,validation}_curve
    sklearn.{model_selection,cross_validation}.permutation_test_score
    """
)
# Modules of scikit-learn with estimators that are fitted as a network is, and the same of others.
_ESTIMATORS = ("catboost", "lightgbm", "xgboost")
_OF_SKLEARN = words(
    """discriminant_analysis dummy ensemble gaussian_process isotonic kernel_ridge linear_model
    multiclass multioutput naive_bayes neighbors neural_network svm tree"""
)
# What Keras's ``fit`` takes and theirs do not.
OF_KERAS_FIT = words(
    """batch_size callbacks class_weight epochs initial_epoch nb_epoch shuffle steps_per_epoch
    validation_data validation_split validation_steps"""
)
# Lightning: what keeps the arguments of a module, in which attribute, and what makes it with them
# again.
KEEPS, KEPT, RESTORES = "save_hyperparameters", "hparams", "load_from_checkpoint"
LIGHTNING = ("lightning.", "pytorch_lightning.", "lightning_fabric.")
# Their trainers seed `random`, NumPy and torch from an argument with a fixed default.
_SEEDING = (
    "transformers.",
    "trl.",
    "ultralytics.",
    "sentence_transformers.",
    "setfit.",
    "unsloth.",
)
_RUNNING = "catalyst."
CONFIGURED = (*LIGHTNING, *_SEEDING, _RUNNING)
# What imports one of these at its top trains with torch, or with JAX: a program in JAX may import
# torch in the function that reads its checkpoints.
OF_TORCH = frozenset(("torch", "lightning", "pytorch_lightning", "trl", "accelerate"))
OF_JAX = frozenset(("jax", "flax", "haliax", "optax", "equinox"))
OF_KERAS = frozenset(("tensorflow", "keras", "tf_keras"))
# Without one of these, no text leads tensors to a device; `(Trainer` and others choose one. That of
# another tensor, `x.device`, is no choice.
CHOOSING = ("Trainer", "Fabric", "deepspeed", "accel", "Accel")
DEVICES = (
    *("cuda", "CUDA", "DEVICE", "gpu", "GPU", ".cpu(", "xpu", "device("),
    *(f"{before}device" for before in " (_-'\""),
    *(*CHOOSING, "_npu", '"mps"', "'mps'", "xla"),
)
MOVING = ".to("
WITHOUT_CUDA = frozenset(("cpu", "mps"))
FITS = frozenset(("fit", "train_on_batch", "fit_generator"))
# What classes of libraries that train a module of torch are given.
GIVEN_TO_TRAINERS = words("criterion optimizer optimizer_fn torch_model")
FITS_BY_TEXT = "fit"  # by which those that were given a model or a trainer are told to train
# Of fastai, of which mostly all names are imported: its learners, and what trains these (2.8).
BY_STAR = Names("fastai.**.")
# Those, and what else trains a model of torch that it has, by its method.
LEARNERS = {
    "fit": Names(
        """
        fastai.**.{Learner,TabularLearner,TextLearner,[a-z]*_learner}
        sentence_transformers.**.{CrossEncoder,SentenceTransformer,SparseEncoder}
        """
    ),
    "train": Names("imitation.algorithms.bc.BC"),
}
OF_LEARNERS = frozenset(("fastai", "imitation", "sentence_transformers"))
FITS_LEARNERS = words("fine_tune fit_flat_cos fit_one_cycle fit_sgdr")
# Names of what is fitted and is no network.
_OTHERS = words(
    """binarizer clf encoder gmm imputer kmeans knn lasso lda le linreg logreg means nmf ohe pca
    reducer regressor ridge scaler selector svc svm tokenizer tsne tuner umap vectoriser
    vectorizer"""
)
LAYERS = words(
    """Linear LazyLinear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
    ConvTranspose3d Embedding EmbeddingBag LSTM GRU RNN LSTMCell GRUCell RNNCell Transformer
    TransformerEncoderLayer TransformerDecoderLayer MultiheadAttention"""
)
# Those of PyG that draw where they are made, as its release 2.8 does.
GRAPH_LAYERS = words(
    """ARLinkPredictor ARMAConv ASAPooling AntiSymmetricConv AttentiveFP CGConv ChebConv
    ClusterGCNConv ClusterPooling ComplEx DMoNPooling DNAConv DenseGATConv DenseGCNConv
    DenseGraphConv DenseSAGEConv DimeNet DimeNetPlusPlus DistMult EGConv EdgeCNN EdgePooling FAConv
    FastRGCNConv FeaStConv FiLMConv GAT GATConv GATv2Conv GCN GCN2Conv GCNConv GENConv GIN GMMConv
    GPSConv GPSE GRUAggregation GatedGraphConv GeneralConv GraphConv GraphMultisetTransformer
    GraphSAGE GraphUNet HANConv HEATConv HGTConv HeteroLinear HypergraphConv LCMAggregation LEConv
    LINKX LPFormer LSTMAggregation LightGCN Linear MFConv MLP MaskLabel MeshCNNConv MetaPath2Vec
    MixHopConv NeuralFingerprint Node2Vec PANConv PANPooling PDNConv PMLP PNA PNAConv
    PerformerAttention PointTransformerConv Polynormer PolynormerAttention RECT_L RGATConv RGCNConv
    ResGatedGraphConv RotatE SAGEConv SAGPooling SGConv SGFormer SGFormerAttention SSGConv SchNet
    Set2Set SetTransformerAggregation SignedConv SignedGCN SplineConv SuperGATConv TAGConv
    TopKPooling TransE TransformerConv ViSNet"""
)
# Those of TensorFlow 1, by their plain names: functions, and layers as objects. Their biases are
# added by bias_add, whose gradient adds up by atomics on a GPU, as those of convolutions may.
_BIASED = """
    tensorflow.layers.{dense,conv1d,conv2d,conv3d,conv2d_transpose,conv3d_transpose}
    tensorflow.layers.{fully_connected,convolution2d,separable_conv2d,separable_conv1d}
    tensorflow.layers.{Dense,Conv1D,Conv2D,Conv3D,Conv2DTranspose}
    tensorflow.slim.{fully_connected,conv2d,conv2d_transpose,separable_conv2d}
    tensorflow.{nn.rnn_cell,rnn}.{Basic,}{LSTM,RNN,GRU}Cell
    tensorflow.keras.layers.{Dense,Conv1D,Conv2D,Conv3D}
    """
GRADIENTS_BY_ATOMICS = Names(_BIASED, "tensorflow.nn.{bias_add,conv1d,conv2d,conv3d}")
GRAPH_WEIGHTS = Names(
    _BIASED,
    """
    tensorflow.get_variable tensorflow.keras.layers.{Embedding,LSTM,GRU}
    tensorflow.{glorot_normal,glorot_uniform,random_normal,random_uniform}_initializer
    tensorflow.{truncated_normal,uniform_unit_scaling,variance_scaling}_initializer
    tensorflow.layers.{variance_scaling,xavier,xavier_conv2d}_initializer
    """,
)
# … what they draw by, if they are given it, …
INITIALIZERS = words("initializer kernel_initializer seed weights_initializer")
# … and how a text begins their names.
OF_SESSIONS = (
    *("tf.get_variable(", "tf.layers.", "slim.", "rnn_cell.", "tf.contrib.", "tf.keras.layers."),
    *("tf.compat.v1.layers.", "tf.compat.v1.get_variable(", "_initializer("),
)
# What runs them in a session, by itself or when it is told to.
INITIALIZING = (
    *("variables_initializer(", "initialize_all_variables(", "initialize_variables("),
    *("Supervisor(", "MonitoredTrainingSession(", "MonitoredSession(", "Estimator(", "Scaffold("),
    *(".initializer", "initialize(", "slim.learning."),
)
# What gives variables of TensorFlow 1 their first values.
gives_first_values = words(
    """global_variables_initializer initialize_all_variables initialize_variables initializer
    local_variables_initializer tables_initializer variables_initializer"""
).__contains__
# What is made of layers that have drawn their weights by then (Keras 2.15, 3.11), and what a text
# holds that gives these other ones.
BUILDS_KERAS = Names("{tensorflow.,tf_,}keras.{models.,}Model")
FILLS_KERAS = "load_weights("
# What makes the models of a library, untrained unless one of these says otherwise.
MODEL_MAKERS = Names(
    """
    torchvision.models.{alexnet,convnext*,densenet*,efficientnet*,googlenet,inception_v3,mnasnet*}
    torchvision.models.{mobilenet*,regnet*,resnet*,resnext*,shufflenet*,squeezenet*,swin*,vgg*}
    torchvision.models.{vit_*,wide_resnet*}
    torchvision.models.{detection,segmentation,video}.**.*_{resnet50,resnet101,mobilenet_v3_large}
    torchvision.models.video.{r3d_18,mc3_18,r2plus1d_18}
    torchvision.models.get_model timm.create_model
    """
)
BY_THEIR_NAME = words("create_model get_model")  # which is the first argument
MODULE_OF_MODELS = "torchvision.models"  # of which a name may pick one
# How a text names layers that it picks by a condition or by a name, and calls what it picked, …
PICKED = ("nn.", "=nn.", "](", "Conv(", ".__dict__[", "getattr(nn,", "getattr(torch.nn,")
OF_MODELS = (  # … models of these libraries, and classes that seem to have weights
    *("models.", "create_model("),
    *("Net(", "Layer(", "Layers(", "Block(", "Encoder(", "Decoder(", "MLP(", "UNet(", "Model("),
    *("Network(", "Attention(", "Backbone(", "_learner("),
)
# How the names of functions begin that make models of torchvision, where these stand alone.
MAKERS_OF_MODELS = words(
    """alexnet convnext deeplabv3_ densenet efficientnet fasterrcnn_ fcn_resnet fcos_ googlenet
    inception_v3 keypointrcnn_ lraspp_ maskrcnn_ maxvit_ mnasnet mobilenet mvit_ r2plus1d_ regnet_
    resnet resnext retinanet_ shufflenet squeezenet ssd300_ ssdlite320_ swin vgg1 vit_"""
)
TRAINED = ("pretrained", "weights", "checkpoint_path")
# What loads a trained model and draws its head anew, if it is given how many classes that tells
# apart, or a model that has none (transformers 5.0), …
NEW_HEADS = Names(
    """
    transformers.**.(?!Flax|TF)[A-Z]*For{Sequence,Token,Image,Audio,Video}Classification.from_pretrained
    transformers.**.(?!Flax|TF)[A-Z]*For{MultipleChoice,QuestionAnswering}.from_pretrained
    sentence_transformers.**.CrossEncoder
    """
)
CLASSES = ("num_labels", "id2label", "label2id")
TRAINED_HEADS = ("cross-encoder", "rerank")  # parts of the names of models that have such a head
_HEADLESS = re.compile(
    r"(?:[\w-]+/)?(?:bert-(?:base|large)-(?:un)?cased(?:-whole-word-masking)?"
    r"|bert-base-(?:chinese|multilingual-(?:un)?cased)|distilbert-base-(?:(?:un|multilingual-)?cased)"
    r"|(?:xlm-)?roberta-(?:base|large)|distilroberta-base|albert-(?:base|large|xx?large)-v[12]"
    r"|m?deberta(?:-v[23])?-(?:xsmall|small|base|large|xlarge|xxlarge)|mpnet-base|camembert-base"
    r"|electra-(?:small|base|large)-discriminator|xlnet-(?:base|large)-cased"
    r"|gpt2(?:-medium|-large|-xl)?|ModernBERT-(?:base|large))"
)
# … or, where one does not see which model, where it is of a kind that few models have.
RARE_HEADS = ("ForMultipleChoice.", "ForQuestionAnswering.")
LOADING_HEADS = tuple(
    f"{each}.from_pretrained(" for each in ("Answering", "Choice", "Classification")
)
# What draws weights besides: of what is joined from trained models the cross attention, or the
# projections (transformers 2.11 to 5.23), parts of sentence_transformers 5.6, and of imitation 1.0
# the policy, whatever generator it is given for the rest, …
NEW_WEIGHTS = Names(
    """
    peft.**.get_peft_model transformers.**.[A-Z]*.from_config
    transformers.**.{,Speech,Vision}EncoderDecoderModel.from_encoder_decoder_pretrained
    transformers.**.VisionTextDualEncoderModel.from_vision_text_pretrained
    fastai.**.{cnn,collab,tabular,text_classifier,unet,vision}_learner
    imitation.algorithms.bc.BC
    sentence_transformers.**.{CNN,Dense,LSTM,SoftmaxLoss,SparseAutoEncoder}
    """
)
# … unless what they keep here is given other weights, …
KEEPS_WEIGHTS = "linear"
# … how a text calls them, …
CALLED_NEW = words("BC CNN Dense SoftmaxLoss SparseAutoEncoder from_config get_peft_model")
# … and models that are made of a configuration alone.
OF_CONFIGURATION = Names("transformers.**.(?!Auto|DataCollator|Flax|TF)[A-Z]*{Model,For[A-Z]*}")
HEADS = words(
    """Answering CTC Choice Classification Detection Estimation Generation LM Matching Modeling
    PreTraining Prediction Recognition Segmentation"""
)
JOINING = words("from_encoder_decoder_pretrained from_vision_text_pretrained")
# Libraries whose layers draw nothing from torch's generator, or stand in the rows above.
_NO_LAYERS = (APART | PLAIN | OF_KERAS | OF_JAX) | words(
    "diffusers kornia monai peft sentence_transformers spacy timm torchaudio transformers"
)
UNSEEN = "torch?"  # the library of what seems to have weights
OPTIMIZERS = Names("torch.optim.{[A-Z]*,[a-z]*.[A-Z]*}")
# By these names those of any library.
KNOWN_OPTIMIZERS = words("Adam AdamW FusedAdam LBFGS Lamb Lion RAdam RMSprop SGD")
# Functions and methods that give each model they are given, ready to be trained, …
WRAPPING = words("initialize prepare prepare_model setup_module")
# … or a loss, …
SCALING = words("scale scale_loss")
# … attributes by which a wrapper has it, and functions of which none sees what they make.
WRAPPED = words("_orig_mod module")
HIDING = words("build_from_cfg eval getattr import_module instantiate load locate")
TENSORS = ("bias", "weight")  # of a layer, all that it draws
FILLS = words("bernoulli_ exponential_ log_normal_ normal_ random_ uniform_")
# Functions of TensorFlow that add up by atomics on a GPU: tensorflow#39751, #47772. Cross entropies
# do so back as well (#38185), and no release before 2.6 has a switch for them.
ATOMICS = Names(
    """
    tensorflow.{math.,}unsorted_segment_{mean,prod,sqrt_n,sum} tensorflow.{math.,}segment_sum
    tensorflow.nn.{sparse_,}softmax_cross_entropy_with_logits{,_v2}
    tensorflow.losses.{sparse_,}softmax_cross_entropy
    """
)
# Methods of a module that train nothing: Lightning's, which bring data, or only answer.
ASIDE = words(
    """configure_optimizers predict_dataloader predict_step prepare_data test_dataloader test_step
    train_dataloader val_dataloader validation_step"""
)
# Words of the names of places in a training.
PLACES = words("epoch epochs iter iteration iterations iters step steps")
PARALLEL = words("DataParallel DistributedDataParallel")  # modules around another one
# Whether what has this name trains, or takes a step of it, …
steps = says("backward epoch fit step train training update")
# … and whether a test or a flag asks for it.
says_training = says("train training")
# Methods that run for each batch or sample: of a model, of a trainer, of a data set.
PER_BATCH = ("forward", "training_step", "__getitem__")
# Layers and functions that drop a part of what they are given, …
DROPOUTS = Names("torch.nn.**.{Alpha,FeatureAlpha,}Dropout{1d,2d,3d,}")
DROPS = Names("torch.nn.functional.{alpha_,feature_alpha_,}dropout{1d,2d,3d,}")
# … and transforms that draw for each sample, by the library of the generator (torchvision 0.28,
# torchaudio 2.11, kornia 0.8, learn2learn 0.2, timm 1.0, audiomentations 0.43,
# torch_audiomentations 0.12, torchaudio_augmentations 0.2). imgaug 0.4 seeds its own by NumPy's
# when that is first used.
OF_SOUND = words(
    """AddBackgroundNoise AddColorNoise AddColoredNoise AddGaussianNoise AddGaussianSNR
    AddShortNoises AirAbsorption Aliasing ApplyImpulseResponse BandPassFilter BandStopFilter
    BitCrush ClippingDistortion Delay Gain GainTransition HighLowPass HighPassFilter
    HighShelfFilter Limiter LowPassFilter LowShelfFilter Mp3Compression Noise PeakingFilter
    PitchShift PolarityInversion RepeatPart Reverb Reverse RoomSimulator
    SevenBandParametricEQ Shift ShuffleChannels SpliceOut TanhDistortion TimeInversion
    TimeMask TimeStretch"""
)
OF_IMGAUG = words(
    "AdditiveGaussianNoise CoarseDropout CropAndPad Dropout Fliplr Flipud OneOf SomeOf Sometimes"
)
_SOUND = f"{{{','.join(sorted(OF_SOUND))}}}"
# Models that mask what they are given by NumPy, in training (transformers 5.23).
MASKING_MODELS = ("Data2VecAudio", "Hubert", "SEW", "UniSpeech", "Wav2Vec2", "WavLM")
MASKING = Names(f"transformers.**.{{{','.join(MASKING_MODELS)}}}*{{Model,For*}}.from_pretrained")
TRANSFORMS = {
    "torch": Names(
        """
        torchvision.transforms.**.Random{Affine,Apply,Autocontrast,ChannelPermutation}
        torchvision.transforms.**.Random{Crop,Equalize,Erasing,Grayscale,HorizontalFlip,IoUCrop}
        torchvision.transforms.**.Random{Invert,Perspective,PhotometricDistort,Posterize}
        torchvision.transforms.**.Random{Resize,ResizedCrop,Rotation,ShortestSize,Solarize}
        torchvision.transforms.**.Random{AdjustSharpness,VerticalFlip,ZoomOut}
        torchvision.transforms.**.{AugMix,AutoAugment,ColorJitter,CutMix,ElasticTransform}
        torchvision.transforms.**.{GaussianBlur,GaussianNoise,MixUp,RandAugment,ScaleJitter}
        torchvision.transforms.**.TrivialAugmentWide
        torchaudio.transforms.{FrequencyMasking,TimeMasking}
        kornia.augmentation.**.Random*
        torchaudio_augmentations.**.{RandomApply,Reverb}
        """,
        f"torch_audiomentations.**.{_SOUND}",
    ),
    "random": Names(
        f"audiomentations.**.{_SOUND}",
        """
        learn2learn.data.transforms.{FusedNWaysKShots,KShots,NWays}
        {audiomentations,torch_audiomentations}.**.{OneOf,SomeOf}
        torchaudio_augmentations.**.{Delay,Gain,High*,LowPassFilter,Noise,PitchShift}
        torchaudio_augmentations.**.RandomResizedCrop
        """,
    ),
    "numpy": Names(
        """
        timm.data.**.{FastCollateMixup,Mixup}
        audiomentations.**.{AddColorNoise,AddGaussian*,AirAbsorption,Band*,High*,Low*,PeakingFilter}
        torchaudio_augmentations.**.Noise
        """,
        f"imgaug.augmenters.**.{{{','.join(sorted(OF_IMGAUG))}}}",
    ),
}
# Those of timm flip, crop and jitter where they are made for training.
OF_TRAINING = Names("timm.data.**.create_transform")
FOR_TRAINING, FOR_TRAINING_AT = "is_training", 1
# … and what makes one, also of others.
MAKES_TRANSFORM = Names(
    "{torchvision,torchaudio,kornia,torch_audiomentations,torchaudio_augmentations}.**.[A-Z]*",
    "torch.nn.Sequential",
)
# What a text holds that saves the states of generators, or the place of a loader, or has a library
# do it.
KEEPING_STATES = (
    *("rng_state", "getstate(", "get_state(", "bit_generator.state", "save_state("),
    *("StatefulDataLoader", "sampler.state_dict(", "loader.state_dict(", "GuardCallback"),
)
FIXED = words("calculate_gain constant_ dirac_ eye_ ones_ zeros_")  # of torch.nn.init
# Tensors that nothing was computed from.
MADE = frozenset(f"torch.{each}" for each in ("empty", "ones", "rand", "randn", "tensor", "zeros"))


def goes_back(method: str, names: Iterable[str]) -> bool:
    """Whether what is called works out gradients, by the method's name or qualified names."""
    return method in BACKWARDS or any(each in STEPS for each in names)


def seeds(name: str) -> bool:
    """Whether a class is a trainer that seeds everything by itself."""
    if name.startswith(_RUNNING):
        return name.endswith(("Runner", "Trainer"))
    return name.startswith(_SEEDING) and name.endswith("Trainer")


def has_no_head(model: object) -> bool:
    """Whether a model of the hub, by its name, was only trained to fill gaps in texts."""
    return isinstance(model, str) and _HEADLESS.fullmatch(model) is not None


def may_train(name: str) -> bool:
    """Whether a class of some library may train a module of torch that it is given."""
    library = name.partition(".")[0]
    return bool(library) and library not in APART | OF_KERAS | OF_JAX


def may_be_model(name: str) -> bool:
    """Whether a class is of a library that may have models of torch."""
    library, _, last = name.rpartition(".")
    own = library.partition(".")[0]
    return bool(own) and own not in _NO_LAYERS and last[:1].isupper()


def may_have_weights(name: str) -> bool:
    """Whether such a class is a layer or a model with weights, by its name."""
    return may_be_model(name) and is_layer(name.rpartition(".")[2])


def is_estimator(name: str) -> bool:
    """Whether a qualified name is that of an estimator, or of a module of such."""
    library, _, rest = name.partition(".")
    return library in _ESTIMATORS or (
        library == "sklearn" and rest.partition(".")[0] in _OF_SKLEARN
    )


def is_no_network(name: str) -> bool:
    """Whether what has a name is fitted and is no network: ``scaler``, ``label_encoder``."""
    return not _OTHERS.isdisjoint(words_of(name)[-2:])


# By an attribute of modules and parameters, the methods that set it.
SETTING = {
    "requires_grad": ("requires_grad_",),
    "training": ("train", "eval"),
    "hooks": ("register_hook",),
}


# Whether an optimizer is called so.
is_optimizer = says("opt optim optimiser optimizer optimizers")
