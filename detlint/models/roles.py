"""What code is for, by what it imports and calls: libraries that say that a file trains nothing."""

from __future__ import annotations

from detlint.models.model import words
from detlint.models.names import says

# Tests. `unittest.mock` stands for objects, in other code, too.
TESTING = ("pytest", "unittest")
NO_TESTING = ("unittest.mock", "unittest.util")
# What pytest gives a test by itself, where that names it.
FIXTURES = words(
    """cache capfd capfdbinary caplog capsys capsysbinary doctest_namespace monkeypatch pytestconfig
    record_property recwarn request tmp_path tmp_path_factory tmpdir tmpdir_factory"""
)
# What a program calls that asks a model which was trained.
LOADS = (
    *("load_state_dict(", "load_from_checkpoint(", "load_checkpoint(", "load_weights("),
    *("load_model(", ".restore(", "from_pretrained(", "torch.load("),
)
# What gives a model its weights, besides: `net.state_dict()[name].copy_(value)`.
FILLS = (*LOADS, "state_dict(", "load_file(")
# What takes the options of the command line.
OPTIONS = ("parse_args(", "parse_known_args(", "sys.argv")
# What builds and installs packages, by this call.
PACKAGING = ("setuptools", "distutils")
SETS_UP = "setup("
# What draws pictures, by one of these calls.
DRAWING = ("matplotlib", "seaborn", "plotly", "bokeh", "altair")
SHOWS = (".savefig(", ".show(", ".write_image(", ".write_html(")
PRINTS = ("print(", ".head(", ".plot(", ".imshow(")
# What displays one in a notebook or a window, of a library that may also keep it.
DISPLAYS, OF_PICTURES = ("display(", "cv2.imshow("), ("PIL", "cv2")
# What may come of data besides pictures.
LEARNING = (
    *("torch", "tensorflow", "keras", "jax", "flax", "paddle", "sklearn", "transformers"),
    *("xgboost", "lightgbm", "mxnet", "mindspore"),
)
# What asks a model for answers, and what trains one or works gradients out.
ANSWERING = ("onnxruntime", "openvino", "tensorrt", "tritonclient", "vllm", "sglang", "lmdeploy")
ANSWERS = (
    *(".predict(", ".eval()", "no_grad(", "inference_mode", "Interpreter(", "sess.run("),
    ".generate(",
)
# What keeps answers for other programs, as features or a gallery, if it is given a list of them …
STORES = words("torch.save numpy.save numpy.savez numpy.savez_compressed pickle.dump builtins.open")
# … or writes what is called so, which a training reads later; ``datasets`` finds it by its name …
is_data = says("dataset train training")
DATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
# … or what one of these makes of such a list.
JOINS = frozenset(
    (
        *(f"torch.{each}" for each in ("cat", "concat", "stack", "tensor", "vstack")),
        *(f"numpy.{each}" for each in ("array", "asarray", "concatenate", "stack", "vstack")),
    )
)
TRAINS = (
    *(".backward(", ".fit(", ".fit_", ".train_on_batch(", ".train()", ".step("),
    *("optim.", "optimizer", "Optimizer", "Trainer(", "GradientTape", "value_and_grad"),
)
TRAINING_STEPS = ("backward(", ".fit(")
TRAIN = "train"  # a method that does so if it is given more than a mode
# What draws windows or pages for a person who uses it, or answers requests.
INTERFACES = words(
    """gradio streamlit tkinter Tkinter PyQt4 PyQt5 PyQt6 PySide2 PySide6 nicegui fastapi uvicorn
    flask"""
)
# What takes times.
TAKES_TIMES = (
    *("time()", "perf_counter", "monotonic", "process_time", "timeit", "timer", "Timer", "profil"),
    *("cuda.Event", "synchronize(", "torch.utils.benchmark", "do_bench", "elapsed", "latency"),
    *("throughput", "per_sec", "flops"),
)
# What only tries or exports something, …
EXPORTS = ("onnx.export(", "onnx._export(", "onnx.utils.export(", "onnx.utils._export(")
TRIES = (
    *("torch.utils.benchmark", "triton.testing", "perf_report", "assert_close(", "allclose("),
    *(*EXPORTS, "jit.trace(", "gradcheck("),
)
# … and what a person looks at, and nothing keeps.
LOOKS = (
    *("mlab.", "raw_input()", "set_trace()", "cv.imshow(", "cv.waitKey(", "cv2.imshow("),
    *("cv2.waitKey(", "plt.show(", "pyplot.show("),
)
# By which an environment is drawn.
RENDERS = (".render(", "render_mode")
WRITES = ("save", "dump", "write", "to_csv")
KEPT_BESIDE = (
    *(".to_hdf(", ".to_json(", ".to_parquet(", ".to_pickle(", ".to_excel(", ".to_latex("),
    *(".to_feather(", ".imwrite(", "shutil.copy", "shutil.m", "push_to_hub"),
)
KEPT = (*WRITES, *KEPT_BESIDE)
MODES_OF_WRITING = tuple(
    f"{q}{mode}{q}" for q in "\"'" for mode in ("w", "a", "wb", "ab", "w+", "a+")
)
# Beginnings of what writes nothing but figures.
FIGURES = ("savefig", "write_html", "write_image")
# What sends something elsewhere, or changes files, …
TRACKS = ("wandb.", "mlflow", "neptune", "comet_ml", "SummaryWriter(", "upload")
SENDS = (
    *TRACKS,
    *("publish", "submit", ".push", ".put(", ".post(", ".execute(", ".to_sql(", ".to_gbq("),
    *(".tofile(", "create_dataset(", "os.re", "os.system(", "subprocess", "exec("),
)
# … and parts of what measures how good a model is, and beginnings of what may do any of it.
MEASURES = ("accuracy", "evaluat", "metric", "perplexity", "score", "loss")
STARTS = ("main", "run")
# What writes rows of data.
OF_ROWS = ("json.dump", ".jsonl", "csv.writer", "csv.DictWriter", ".csv", ".tsv", "pickle.dump")
# What moves or copies a file, of these modules.
OF_FILES = ("copy", "copy2", "copyfile", "copytree", "link", "move", "rename", "symlink")
MODULES_OF_FILES = ("os", "shutil")
REMOVES = ("os.remove", "os.unlink", "shutil.rmtree")
# Folders of tests, and of what is measured.
TESTS = frozenset(("test", "tests"))
APART = TESTS | {
    *("bench", "benchmark", "benchmarks", "benchmarking", "speedtest", "speed_test", "speed_tests"),
    "speedtests",
}
# Files that start something, whole names and beginnings.
STARTERS = frozenset(("__main__", "cli"))
STARTER_BEGINS = ("exp", "launch", "main", "run")
# Beginnings of the words of what trains, …
TRAINING_BEGINS = ("train", "fit", "learn", "launch")
# … its whole names, and what makes them a change of mode.
TRAINING_CALLS = frozenset(
    f"{verb}{of}"
    for verb in ("train", "fit", "learn", "finetune", "fine_tune")
    for of in (
        *("", "_model", "_net", "_network", "_epoch", "_one_epoch", "_loop", "_step", "_batch"),
    )
)
MODES = ("False", "True", "mode")
# Beginnings of the names of what a main block calls that is more than a try of what the file
# defines, of functions that are (`losses.append(1)` is a method), and of what is one.
TAKES_OPTIONS = ("parse", "ArgumentParser", "get_args", "get_parser", "Fire")
PROGRAMS = ("main", "run", *TAKES_OPTIONS)
APPS = ("app", "cli")
TRIALS = ("test", "demo", "debug")
# Parts of the names of files that make something, …
MAKES = (
    *("prep", "split", "generat", "make", "creat", "build", "sampl", "process", "collect"),
    *("mine", "mining"),
)
# … and of what changes items of a data set, with what a file uses that changes pictures.
CHANGES = (
    *("transform", "augment", "preproc", "dataset", "data_load", "dataload", "crop", "flip"),
    *("jitter", "rotat", "scale", "blur", "color", "colour"),
)
PICTURES = ("ImageEnhance", "ImageOps", "ImageFilter", "albumentations", "transforms.functional")
# What a compiler is given, and archives of code, which is looked up by its names. Of C there are
# data sets, too, so those say that they build something.
COMPILED = (".cu", ".cuh", ".pyx", ".proto", ".egg", ".jar", ".whl")
PERHAPS_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
COMPILES = ("cpp_extension", "setuptools", "distutils", "Extension(", "gcc", "nvcc", "cmake")
# Parts of a model's weights, which each have a name of their own.
SHARDS = ("model", "weights")
SHARD_ENDINGS = (".bin", ".safetensors")
# Words for data of which nothing may be dropped, since a model is measured on it.
MEASURED = words(
    """dev eval evaluate evaluation infer inference predict prediction test testing val valid
    validate validation"""
)
