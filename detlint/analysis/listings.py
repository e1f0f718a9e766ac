"""Which calls list files in the order in which the file system keeps them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.paths import Paths
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# Qualified name → the key that sorts its elements ("" where they sort as they are).
_FUNCTIONS = {
    "os.listdir": "",
    "os.scandir": "lambda e: e.name",
    "glob.glob": "",
    "glob.iglob": "",
}
_WALKS = ("os.walk", "pathlib.Path.walk")
_ITERATORS = frozenset(("os.scandir", "glob.iglob"))
_FSSPEC = re.compile(
    r"""fsspec\.(?:filesystem | AbstractFileSystem | spec\.AbstractFileSystem
          | implementations\.\w+\.\w+ | core\.url_to_fs | url_to_fs | get_fs_token_paths
          | core\.get_fs_token_paths)(?:\.\w+)?
      | huggingface_hub\.(?:HfFileSystem | hf_file_system\.HfFileSystem)
      | s3fs\.(?:core\.)?S3FileSystem | gcsfs\.(?:core\.)?GCSFileSystem
      | adlfs\.(?:spec\.)?AzureBlobFileSystem
      | (?:lightning\.fabric|lightning_fabric|lightning\.pytorch|pytorch_lightning)
        \.utilities\.cloud_io\.get_filesystem""",
    re.VERBOSE,
)


class Listing(NamedTuple):
    """A call that lists files.

    name      as the message writes it
    key       what sorts its elements; None where that is not known
    iterator  whether it gives an iterator, so that ``next`` works on it
    walk      whether its elements are (folder, folders, files)
    """

    name: str
    key: str | None
    iterator: bool = False
    walk: bool = False


class Listings:
    """Recognizes listings in one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._paths = Paths(module)

    def of(self, call: cst.Call) -> Listing | None:
        """The listing that a call makes, if it is one."""
        name = self._module.called(call)
        if name in _FUNCTIONS:
            return Listing(name, _FUNCTIONS[name], name in _ITERATORS)
        if name in _WALKS:
            return Listing("os.walk" if name == _WALKS[0] else "Path.walk", "", True, True)
        if name is not None and name.startswith("pathlib.Path."):
            method = name.rpartition(".")[2]
            return Listing(f"Path.{method}", "", True) if method in _PATH_METHODS else None
        return self._of_method(call) if name is None else None

    def _of_method(self, call: cst.Call) -> Listing | None:
        func = call.func
        if not isinstance(func, cst.Attribute):
            return None
        method, receiver = func.attr.value, func.value
        if method == "ls":
            return self._of_ls(call, receiver)
        if method not in _PATH_METHODS or not self._may_list(method, call):
            return None
        if not self._paths.is_path(receiver) and (
            not self._is_likely(method, receiver, call) or self._has_own(receiver)
        ):
            return None
        return Listing(f"Path.{method}", "", True, method == "walk")

    @staticmethod
    def _may_list(method: str, call: cst.Call) -> bool:
        return not call.args if method == "iterdir" else method == "walk" or bool(call.args)

    def _is_likely(self, method: str, receiver: cst.BaseExpression, call: cst.Call) -> bool:
        """Whether a method of what is not known to be a path lists a folder all the same."""
        if method in ("iterdir", "rglob"):
            return True  # no other class of wide use has these two, and all that do give no order
        # The glob of fsspec, which sorts, takes a whole path.
        pattern = call.args[0].value if method == "glob" and len(call.args) == 1 else None
        given = isinstance(pattern, (cst.SimpleString, cst.FormattedString))
        return given and self._paths.is_named_so(receiver)

    def _has_own(self, receiver: cst.BaseExpression) -> bool:
        """Whether the receiver is known to be something else than a path."""
        if isinstance(receiver, cst.Name) and receiver.value in ("self", "cls"):
            return True
        if isinstance(receiver, cst.Attribute):
            return False
        made = self._module.instance_of(receiver) or ""
        target = receiver.func if isinstance(receiver, cst.Call) else receiver
        value = self._module.names.value_of(target)
        own = value.func if isinstance(value, cst.Call) else value
        if made == "builtins.super" or made.startswith("zipfile.") or _FSSPEC.fullmatch(made):
            return True
        return isinstance(own, cst.Name) and isinstance(
            self._module.names.definition(own), cst.ClassDef
        )

    def _of_ls(self, call: cst.Call, receiver: cst.BaseExpression) -> Listing | None:
        if not self._is_filesystem(receiver):
            return None
        detail = self._module.literal(self._module.argument(call, "detail", 1))
        keys: dict[object, str] = {False: "", True: 'lambda e: e["name"]'}
        return Listing("fsspec's ls", keys.get(detail) if isinstance(detail, bool) else None)

    def _is_filesystem(self, receiver: cst.BaseExpression) -> bool:
        made = self._module.instance_of(receiver)
        if made is not None:
            return _FSSPEC.fullmatch(made) is not None
        if not isinstance(receiver, cst.Name):
            return False
        return self._is_unpacked_filesystem(receiver)

    def _is_unpacked_filesystem(self, receiver: cst.Name) -> bool:
        """``fs, path = fsspec.core.url_to_fs(url)``."""
        from detlint.analysis.reads import home

        scope = home(self._module, receiver)
        if scope is None or len(scope.bindings[receiver.value]) != 1:
            return False
        for each in self._module.tree.descendants(scope.node):
            if isinstance(each, cst.Assign) and isinstance(each.targets[0].target, cst.Tuple):
                first = each.targets[0].target.elements[0].value
                if isinstance(first, cst.Name) and first.value == receiver.value:
                    return _FSSPEC.fullmatch(self._module.called(each.value) or "") is not None
        return False


_PATH_METHODS = frozenset(("iterdir", "glob", "rglob", "walk"))
