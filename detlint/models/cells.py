"""What the cells of a notebook do besides computing: find and read files, set paths, draw pictures,
install, have a shell run something."""

from __future__ import annotations

from detlint.models.model import Names, words
from detlint.models.roles import DRAWING

# Libraries of which no function computes, nor does a method of what it gives.
_PLAIN = words(
    """IPython PIL argparse csv dataclasses dateutil datetime dotenv gc gdown getpass glob google
    huggingface_hub io ipywidgets json kagglehub locale logging os pathlib pickle platform pprint
    re requests shlex signal string subprocess sys tarfile tensorboard textwrap time tqdm types
    typing urllib uuid warnings wget yaml zipfile"""
) | frozenset(DRAWING)
_FUNCTIONS = Names(
    """torch.device torch.cuda.{is_available,device_count,get_device_name,empty_cache}
    torch.set_printoptions numpy.set_printoptions pandas.set_option"""
)
# Functions of Python that compute, or run what one does not see.
_COMPUTING = words("builtins.compile builtins.eval builtins.exec builtins.pow")
# What a notebook has without an import.
GIVEN = words("display get_ipython")
# Methods of tables and columns that leave these as they are, whose result is to be shown.
SHOWING = words(
    """corr count describe head hist info isna isnull max mean median min nunique plot std sum
    summary tail unique value_counts"""
)
# Magics that neither run Python of other files nor keep anything.
_MAGICS = words(
    """%alias %autosave %cat %cd %colors %conda %config %cp %dirs %env %load_ext %ls %mamba
    %matplotlib %mkdir %mv %pip %popd %precision %pushd %pwd %pylab %reload_ext %rm %rmdir %set_env
    %sx %system %tensorboard %time %timeit %uv %xmode %autoreload
    %%HTML %%SVG %%bash %%capture %%html %%javascript %%js %%latex %%markdown %%sh %%shell %%svg
    %%sx %%system %%time %%timeit %%writefile"""
)
# Commands of a shell that show, fetch or install something.
COMMANDS = words(
    """apt apt-get cat cd conda curl df du echo file find free gdown git grep head ls mkdir nproc
    nvidia-smi pip pip3 pwd tail tree uname unzip wc wget which"""
)
# Those after which an import may mean another file.
MOVING = words("%cd %popd %pushd %run %%writefile")


def is_plain(name: str) -> bool:
    """Whether what has a qualified name computes nothing, nor do methods of what it gives."""
    library = name.partition(".")[0]
    of_python = library == "builtins" and name not in _COMPUTING
    return of_python or library in _PLAIN or _FUNCTIONS(name)


def only_drives(magic: str) -> bool:
    """Whether a magic leaves Python's values as they are: "!" of a command, "" of help."""
    return magic in ("", "!") or magic in _MAGICS
