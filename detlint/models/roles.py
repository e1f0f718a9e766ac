"""What code is for, by what it imports and calls: libraries that say that a file trains nothing."""

from __future__ import annotations

# Tests. `unittest.mock` stands for objects, in other code, too.
TESTING = ("pytest", "unittest")
NO_TESTING = ("unittest.mock", "unittest.util")
# What builds and installs packages, by this call.
PACKAGING = ("setuptools", "distutils")
SETS_UP = "setup("
# What draws pictures, by one of these calls.
DRAWING = ("matplotlib", "seaborn", "plotly", "bokeh", "altair")
SHOWS = (".savefig(", ".show(", ".write_image(", ".write_html(")
# What may come of data besides pictures.
LEARNING = (
    "torch",
    "tensorflow",
    "keras",
    "jax",
    "flax",
    "paddle",
    "sklearn",
    "transformers",
    "xgboost",
    "lightgbm",
    "mxnet",
    "mindspore",
)
# Calls by which a file keeps something.
KEEPS = (
    *(".to_csv(", ".to_json(", ".to_pickle(", ".to_parquet(", ".to_hdf(", ".to_excel("),
    *(".to_latex(", ".to_feather(", ".dump(", ".savetxt(", ".savez", ".imwrite(", "np.save("),
    *(".write(", ".write_text(", ".writelines(", ".write_bytes(", ".writerow"),
    *('"w"', "'w'", '"wb"', "'wb'", '"a"', "'a'"),
)
# What asks a model for answers, and what trains one or works gradients out.
ANSWERING = ("onnxruntime", "openvino", "tensorrt", "tritonclient", "vllm", "sglang", "lmdeploy")
ANSWERS = (
    *(".predict(", ".eval()", "no_grad(", "inference_mode", "Interpreter(", "sess.run("),
    ".generate(",
)
TRAINS = (
    *(".backward(", ".fit(", ".fit_generator(", ".train_on_batch(", ".train()", ".step("),
    *("optim.", "optimizer", "Optimizer", "Trainer(", "GradientTape", "value_and_grad"),
)
# What pytest collects, and the folders in which it is told to look.
_OF_TESTS = ("test", "tests")


def is_of_tests(path: str) -> bool:
    """Whether a file holds tests, by its name or its folder."""
    *folders, name = path.replace("\\", "/").split("/")
    stem = name.rpartition(".")[0]
    named = stem.startswith("test_") or stem.endswith("_test") or stem in ("conftest", *_OF_TESTS)
    return named or not set(_OF_TESTS).isdisjoint(folders)


# What a compiler is given. Of C there are data sets, too, so those say that they build something.
COMPILED = (".cu", ".cuh", ".pyx", ".proto")
PERHAPS_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
COMPILES = ("cpp_extension", "setuptools", "distutils", "Extension(", "gcc", "nvcc", "cmake")
# Parts of a model's weights, which each have a name of their own.
SHARDS = ("model", "weights")
SHARD_ENDINGS = (".bin", ".safetensors")
# Words for data of which nothing may be dropped, since a model is measured on it.
MEASURED = frozenset(
    (
        *("dev", "eval", "evaluate", "evaluation", "infer", "inference", "predict", "prediction"),
        *("test", "testing", "val", "valid", "validate", "validation"),
    )
)
