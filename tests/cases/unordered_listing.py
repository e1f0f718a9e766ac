import ast
import concurrent.futures
import csv
import functools
import glob
import hashlib
import importlib.resources
import itertools
import json
import logging
import math
import os
import os.path as osp
import pathlib
import random
import re
import shutil
import statistics
import sys
import tarfile
import zipfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from glob import glob as find
from glob import iglob
from os import listdir, scandir, walk
from pathlib import Path
from typing import Optional, Union

import SimpleITK
import cv2
import fsspec
import mmengine
import numpy as np
import pandas
import tensorflow as tf
import torch
import torch.utils.cpp_extension
import xarray
import yaml
from fsspec.core import url_to_fs
from icecream import ic
from joblib import Parallel, delayed
from natsort import natsorted
from scipy.io import wavfile
from speechbrain.utils.data_utils import get_all_files
from tensorflow.python.platform import gfile
from tqdm import tqdm, trange

logger = logging.getLogger(__name__)


# Every function, by every name


def functions(d):
    yield os.listdir(d)  # DET203
    yield listdir(d)  # DET203
    yield [e.name for e in os.scandir(d)]  # DET203
    yield glob.glob(d)  # DET203
    yield find(d)  # DET203
    yield list(glob.iglob(d))  # DET203
    yield list(iglob(d))  # DET203


def tensorflow_lists(d):
    yield tf.io.gfile.glob(f"{d}/*.tfrecord")  # DET203
    yield [open(name) for name in tf.io.gfile.listdir(d)]  # DET203
    yield gfile.Glob(d)  # DET203
    yield tf.gfile.ListDirectory(d)  # DET203
    yield [names for root, folders, names in tf.io.gfile.walk(d)]  # DET203
    yield sorted(tf.io.gfile.glob(d))
    yield tf.io.matching_files(d)  # which sorts
    yield len(tf.io.gfile.glob(d))


def path_methods(d):
    yield list(Path(d).iterdir())  # DET203
    yield list(Path(d).glob("*.png"))  # DET203
    yield list(Path(d).rglob("*.png"))  # DET203
    yield list(pathlib.Path(d).glob("*.png"))  # DET203
    yield list((Path(d) / "x").glob("*.png"))  # DET203
    yield list(Path.cwd().glob("*.png"))  # DET203
    yield list(Path(__file__).resolve().parent.glob("*.png"))  # DET203
    yield list(Path(__file__).parents[1].glob("*.png"))  # DET203
    yield list(Path(d).joinpath("a").glob("*.png"))  # DET203


def typed_receivers(a: Path, b: Optional[Path], c: Union[str, Path], e: "Path", f, g: str, h: list[Path]):
    yield list(a.glob("*"))  # DET203
    yield list(b.glob("*"))  # DET203
    yield list(c.glob("*"))  # DET203
    yield list(e.glob("*"))  # DET203
    yield list(f.glob("*"))
    yield list(g.glob("*"))
    yield list(h.glob("*"))
    yield list(f.iterdir())  # DET203
    yield list(f.rglob("*"))  # DET203


def receivers_by_name(query_dir_path, root: AbstractFileSystem, data_dir, cfg, url, directory):
    yield list(query_dir_path.glob("*.wav"))  # DET203
    yield list(cfg.save_dir.glob(f"{url}*.jpg"))  # DET203
    yield list(cfg.dirty.glob("*.jpg"))
    yield list(root.glob("*.wav"))
    yield list(data_dir.glob(url))
    yield sorted(data_dir.glob("*.wav"))
    directory = AbstractFileSystem(directory)
    yield list(directory.glob("*.wav"))


def rebound_parameter(root, fs):
    root = Path(root)
    sub = root / "sub"
    yield list(root.glob("*"))  # DET203
    yield list(sub.glob("*"))  # DET203
    yield list(fs.glob("*"))


def nested_paths(root):
    for folder in sorted(Path(root).iterdir()):
        for file in folder.glob("*.png"):  # DET203
            emit(file)


class Store:
    def __init__(self, root, fs):
        self.root = Path(root)
        self.fs = fs

    def names(self):
        return [p.name for p in self.root.glob("*")]  # DET203

    def remote(self):
        return list(self.fs.glob("*"))

    def own(self):
        return list(self.iterdir())

    def iterdir(self):
        yield from ()


@dataclass
class Settings:
    folder: Path

    def files(self):
        return list(self.folder.glob("*"))  # DET203


def other_classes(d):
    yield list(zipfile.Path(d).iterdir())
    yield list(Store(d, None).iterdir())
    yield [node for node in ast.walk(d)]


def filesystems(url, fs: fsspec.AbstractFileSystem, s3):
    local = fsspec.filesystem("file")
    yield local.ls(url)  # DET203
    yield local.ls(url, detail=False)  # DET203
    yield fs.ls(url)  # DET203
    other, path = url_to_fs(url)
    yield other.ls(path)  # DET203
    yield sorted(local.ls(url, detail=False))
    yield local.glob(url)
    yield s3.ls(url)


def shadowed(os, d):
    return os.listdir(d)


def not_called(d):
    return map(os.path.basename, sorted(os.listdir(d)))


# Where the order reaches a result


def looped(d):
    for name in os.listdir(d):  # DET203
        emit(name)


def looped_with_a_bar(d):
    for name in tqdm(os.listdir(d)):  # DET203
        train(name)


def indexed(d):
    return os.listdir(d)[0]  # DET203


def indexed_local(d):
    names = os.listdir(d)  # DET203
    return names[0]


def sliced(d):
    return glob.glob(d)[:100]  # DET203


def returned(d):
    names = [n for n in os.listdir(d) if n.endswith(".png")]  # DET203
    return names


class Images:
    def __init__(self, d):
        self.names = os.listdir(d)  # DET203
        self.pairs = list(zip(glob.glob(d + "/*.png"), glob.glob(d + "/*.txt")))  # DET203


def passed(d):
    return build(os.listdir(d))  # DET203


def picked_at_random(d):
    return random.choice(os.listdir(d))  # DET203


def shuffled(d):
    names = os.listdir(d)  # DET203
    random.shuffle(names)
    return names


def numbered(d):
    return {name: i for i, name in enumerate(os.listdir(d))}  # DET203


def numbered_in_a_set(d):
    return sorted(f"{i}-{name}" for i, name in enumerate(os.listdir(d)))  # DET203


def first_of_equals(d):
    return max(glob.glob(d), key=len)  # DET203


def first(d):
    return next(Path(d).glob("*.pt"))  # DET203


def first_or_none(d):
    found = next(Path(d).glob("*.pt"), None)  # DET203
    return found


def joined_text(d):
    text = "\n".join(os.listdir(d))  # DET203
    return text.splitlines()[0]


def numbered_by_length(d):
    index = {}
    for name in os.listdir(d):  # DET203
        index[name] = len(index)
    return index


def grouped(d):
    groups = {}
    for name in os.listdir(d):  # DET203
        groups.setdefault(name[0], []).append(name)
    return groups


def split_at_random(d, seed):
    rng = random.Random(seed)
    for name in os.listdir(d):  # DET203
        if rng.random() < 0.8:
            shutil.copy(name, "train")
    train = sorted(n for n in os.listdir(d) if random.random() < 0.8)  # DET203
    return train


def keyed_and_iterated(d):
    sizes = {name: os.path.getsize(name) for name in os.listdir(d)}  # DET203
    for name, size in sizes.items():
        emit(name, size)


def nested_in_a_list(dirs):
    return [[p for p in Path(d).iterdir()] for d in dirs]  # DET203


def joined(d):
    return ",".join(os.listdir(d))  # DET203


def appended(d):
    found = []
    for name in os.listdir(d):  # DET203
        found.append(name)
    return found


def hashed(d):
    digest = hashlib.sha256()
    for path in Path(d).rglob("*"):  # DET203
        digest.update(path.read_bytes())
    return digest.hexdigest()


def written_in_pairs(d, writer):
    for name in os.listdir(d):  # DET203
        writer.write_pair(name, load(name))


def archived(d):
    with tarfile.open("x.tar", "w") as archive:
        for name in os.listdir(d):  # DET203
            archive.add(name)


def first_match(d):
    for name in os.listdir(d):  # DET203
        if name.endswith(".pt"):
            return name
    return None


def last_match(d):
    found = None
    for name in os.listdir(d):  # DET203
        if name.endswith(".pt"):
            found = name
    return found


def numbered_while_renaming(d):
    for i, name in enumerate(os.listdir(d)):  # DET203
        os.rename(name, f"{i}.png")


def counted_while_renaming(d):
    i = 0
    for name in os.listdir(d):  # DET203
        os.rename(name, f"{i}.png")
        i += 1


def counted_by_assignment(d):
    i = 0
    for name in os.listdir(d):  # DET203
        if name.endswith(".png"):
            os.rename(name, f"{i}.png")
            i = i + 1


def first_few_deleted(d):
    for name in os.listdir(d):  # DET203
        if name.startswith("x"):
            os.remove(name)
            break


def concatenated(d):
    text = ""
    for name in os.listdir(d):  # DET203
        text += open(name).read()
    return text


def added_up(d):
    return sum(float(open(name).read()) for name in os.listdir(d))  # DET203


def yielded(d):
    yield from Path(d).iterdir()  # DET203


def yielded_in_a_loop(d):
    for path in Path(d).iterdir():  # DET203
        yield path


def extended(dirs):
    found = []
    for d in dirs:
        found.extend(glob.glob(d))  # DET203
        found += glob.glob(d + "/*")  # DET203
    return found


def compared(d):
    assert os.listdir(d) == ["a", "b"]  # DET203


def with_block(d):
    with os.scandir(d) as entries:  # DET203
        return [entry.name for entry in entries]


def sorted_too_late(d):
    names = os.listdir(d)  # DET203
    first = names[0]
    names.sort()
    return first, names


def branches(d, deep):
    if deep:
        names = glob.glob(d + "/**")  # DET203
    else:
        names = os.listdir(d)  # DET203
    return names


def trained(d, model):
    for name in os.listdir(d):  # DET203
        loss = model.step(name)
        logger.info("%s", loss)


def filled_dict(d):
    found = {}
    for name in os.listdir(d):  # DET203
        found[name] = load(name)
    return list(found.values())


FILES = os.listdir(".")  # DET203
for file in glob.glob("*.txt"):  # DET203
    emit(file)


# Silent: the order does not show


def in_sorted(d):
    yield sorted(os.listdir(d))
    yield sorted(glob.glob(d), key=os.path.getmtime)
    yield sorted(Path(d).iterdir())
    yield sorted([n for n in os.listdir(d) if n])
    yield sorted(n for n in os.listdir(d) if n)
    yield sorted(map(str, Path(d).glob("*")), reverse=True)
    yield natsorted(os.listdir(d))
    yield np.sort(glob.glob(d))
    yield sorted(list(filter(None, os.listdir(d))))[0]
    for entry in sorted(os.scandir(d), key=lambda e: e.name):
        yield entry


def sorted_in_place(d):
    names = os.listdir(d)
    names.sort()
    return names


def sorted_conditionally(d, order):
    names = os.listdir(d)
    if order:
        names = sorted(names)
    return names


def sorted_later(d):
    names = os.listdir(d)
    print(len(names))
    names = sorted(names)
    return names


def comprehension_sorted_later(d):
    names = [n for n in os.listdir(d) if n]
    names = [n.lower() for n in names]
    names.sort(key=str.lower)
    return names


def filled_and_sorted(d):
    found = []
    for name in os.listdir(d):
        if name.endswith(".png"):
            found.append(name)
    return sorted(found)


def extended_and_sorted(dirs):
    found = []
    for d in dirs:
        found.extend(glob.glob(d))
        found += glob.glob(d + "/x")
    found.sort()
    return found


class Sorted:
    def __init__(self, d):
        self.names = os.listdir(d)
        self.names.sort()
        self.found = []
        for name in os.listdir(d):
            self.found.append(name)
        self.found = sorted(self.found)


def reduced(d):
    yield set(os.listdir(d))
    yield frozenset(os.listdir(d))
    yield len(os.listdir(d))
    yield any(n.endswith(".pt") for n in os.listdir(d))
    yield all(n.endswith(".pt") for n in os.listdir(d))
    yield max(os.listdir(d))
    yield min(int(n) for n in os.listdir(d))
    yield Counter(n[-3:] for n in os.listdir(d))
    yield "x" in os.listdir(d)
    yield "x" not in os.listdir(d)
    yield {n for n in os.listdir(d)}
    yield {*os.listdir(d)}
    yield sum(1 for _ in os.listdir(d))
    yield sum(os.path.getsize(n) for n in os.listdir(d))
    yield set(a for a in "ab").difference(os.listdir(d))
    yield len(list(Path(d).glob("*")))
    yield len([n for n in os.listdir(d) if n])


def tested(d):
    if os.listdir(d):
        return 1
    if not any(Path(d).iterdir()):
        return 2
    while not glob.glob(d):
        wait()
    assert glob.glob(d), "nothing there"
    if len(os.listdir(d)) == 0 and not os.listdir(d):
        return 3
    if os.listdir(d) == [] or [] != os.listdir(d) or os.listdir(d) == ["only"]:
        return 4
    if next(os.scandir(d), None) is None:
        return 5
    if next(Path(d).iterdir(), None):
        return 6
    empty = next(Path(d).iterdir(), None) is None
    return bool(os.listdir(d)) or empty


def tested_local(d):
    names = glob.glob(d)
    if not names:
        raise FileNotFoundError(d)
    first = next(Path(d).iterdir(), None)
    if first is None:
        return 0
    return len(names)


def same_answer_from_any(d):
    for name in os.listdir(d):
        if name.endswith(".pt"):
            return True
    return False


def flag_from_any(d):
    found = False
    for name in os.listdir(d):
        if name.endswith(".pt"):
            found = True
            break
    return found


def unique_match(d):
    for name in os.listdir(d):
        if name == "config.json":
            return load(name)
    return None


def files_handled_one_by_one(d, target):
    for name in os.listdir(d):
        os.remove(os.path.join(d, name))
    for name in os.listdir(d):
        path = os.path.join(d, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    for name in glob.glob(d):
        shutil.move(name, target)
    for name in glob.glob(d):
        shutil.copy(name, os.path.join(target, os.path.basename(name)))
    for path in Path(d).iterdir():
        path.rename(path.with_suffix(".txt"))
    for path in Path(d).rglob("*"):
        path.chmod(0o644)
    for path in Path(d).glob("*.tmp"):
        try:
            path.unlink()
        except OSError:
            logger.warning("cannot delete %s", path)
    for path in glob.glob(d):
        with open(path) as source, open(path + ".new", "w") as copy:
            copy.write(source.read())


def added_to_a_set(d):
    seen = set()
    for name in os.listdir(d):
        seen.add(name)
    for path in Path(d).iterdir():
        seen.update(path.parts)
    return seen


def counted(d):
    total = size = 0
    biggest = 0
    for name in os.listdir(d):
        total += 1
        size += os.path.getsize(name)
        biggest = max(biggest, os.path.getsize(name))
    return total, size, biggest


def best_step(d):
    best, path = -1, None
    for name in os.listdir(d):
        step = int(name.split("-")[-1])
        if step > best:
            best = step
            path = name
    return path


def newest_and_how_many(d):
    newest = count = 0
    path = None
    for name in os.listdir(d):
        time = os.path.getmtime(name)
        if time > newest:
            newest, path = time, name
            count = 1
        elif time == newest:
            count += 1
    return path if count == 1 else None


def raised(d):
    for name in os.listdir(d):
        if not name.endswith(".png"):
            raise ValueError(name)
        assert name.islower(), name


def error_text(d):
    if not os.path.exists(d + "/x"):
        raise FileNotFoundError(f"no x among {os.listdir(d)}")
    found = ", ".join(os.listdir(d))
    logger.info("found %s", os.listdir(d))
    raise KeyError(found)


def one_element(d):
    names = os.listdir(d)
    assert len(names) == 1
    return names[0]


def one_element_next(d):
    files = list(Path(d).glob("*.pt"))
    if len(files) != 1:
        raise ValueError("one file expected")
    return next(iter(files))


def one_element_branch(d):
    names = os.listdir(d)
    if len(names) == 1:
        return names[0]
    return None


def one_element_unpacked(d):
    [only] = os.listdir(d)
    return only


def looked_up(d, parser, wanted):
    names = os.listdir(d)
    parser.add_argument("--name", choices=os.listdir(d))
    return [name for name in wanted if name in names]


def keyed(d, wanted):
    sizes = {name: os.path.getsize(name) for name in os.listdir(d)}
    return [sizes[name] for name in wanted]


def keyed_and_returned(d, store):
    found = {}
    for name in os.listdir(d):
        found[name] = load(name)
        store.found[name] = found[name]
    store.times = {name: os.path.getmtime(name) for name in os.listdir(d)}
    return found


def filled_in_parallel(d):
    names, sizes = [], []
    for name in os.listdir(d):
        names.append(name)
        sizes.append(os.path.getsize(name))
    return sorted(zip(names, sizes))


def same_draws_for_each(d, clusters):
    for folder in Path(d).iterdir():
        names = sorted(folder.iterdir())
        random.Random(0).shuffle(names)
        for name in names:
            shutil.copy(name, d)
    found = [name for name in os.listdir(d)]
    clusters = [clusters for name in found]
    return clusters


def filtered_and_counted(d, keep_images):
    return len(keep_images(os.listdir(d))) > 0


def unpacked(d):
    for name in os.listdir(d):
        if name.endswith(".zip"):
            shutil.unpack_archive(os.path.join(d, name), d)


def keyed_and_sorted(d):
    sizes = {name: os.path.getsize(name) for name in os.listdir(d)}
    return sorted(sizes.items())


class Checks:
    def test(self, d):
        self.assertEqual(len(os.listdir(d)), 2)
        self.assertIn("x", os.listdir(d))
        self.assertCountEqual(os.listdir(d), ["a", "b"])
        self.assertEqual(os.listdir(d), [])
        self.assertEqual(os.listdir(d), ["a"])
        self.assertEqual(os.listdir(d), ["a", "b"])  # DET203
        self.assertTrue(os.path.exists(d), "no x" f"among {os.listdir(d)}")


COUNT = len(os.listdir("."))
NAMES = os.listdir(".")
NAMES.sort()


# Walks


def walk_files(d):
    for root, _, files in os.walk(d):  # DET203
        for name in files:
            emit(root, name)


def walk_comprehension(d):
    return [osp.join(r, f) for r, _, files in walk(d) for f in files]  # DET203


def walk_roots(d):
    found = []
    for root, dirs, files in os.walk(d):  # DET203
        if "x" in files:
            found.append(root)
    return found


def walk_sorted_folders_only(d):
    found = []
    for root, dirs, files in os.walk(d):  # DET203
        dirs.sort()
        for name in files:
            found.append(name)
    return found


def walk_sorted_outside_only(d):
    found = []
    for root, dirs, files in sorted(os.walk(d)):  # DET203
        for name in files:
            found.append(name)
    return found


def walk_path(d):
    for root, dirs, files in Path(d).walk():  # DET203
        for name in files:
            emit(root / name)


def walk_first(d):
    return next(os.walk(d))[1]  # DET203


def walk_first_unpacked(d):
    _, dirs, files = next(os.walk(d))  # DET203
    return dirs, len(files)


def walk_sorted(d):
    found = []
    for root, dirs, files in os.walk(d):
        dirs.sort()
        for name in sorted(files):
            found.append(os.path.join(root, name))
    for root, dirs, files in os.walk(d):
        dirs[:] = sorted(x for x in dirs if x != ".git")
        files.sort()
        for name in files:
            found.append(os.path.join(root, name))
    for root, _, files in sorted(os.walk(d)):
        for name in sorted(files):
            found.append(os.path.join(root, name))
    return found


def walk_sorted_later(d):
    found = []
    for root, _, files in os.walk(d):
        for name in files:
            found.append(os.path.join(root, name))
    found.sort()
    return found


def walk_comprehension_sorted(d):
    return sorted(osp.join(r, f) for r, _, files in os.walk(d) for f in files)


def walk_deleting(d):
    for root, dirs, files in os.walk(d, topdown=False):
        for name in files:
            os.remove(os.path.join(root, name))
        for name in dirs:
            os.rmdir(os.path.join(root, name))


def walk_counting(d):
    total = 0
    for root, dirs, files in os.walk(d):
        total += len(files)
        for name in files:
            total += os.path.getsize(os.path.join(root, name))
    return total


def walk_top_only(d):
    for _, dirs, files in os.walk(d):
        return sorted(dirs), len(files)


def walk_top_only_unsorted(d):
    for _, dirs, _ in os.walk(d):  # DET203
        break
    return dirs


def walk_pruning(d):
    found = set()
    for root, dirs, files in os.walk(d):
        dirs[:] = [x for x in dirs if not x.startswith(".")]
        found.update(files)
    return found


def walk_first_silent(d):
    names = sorted(next(os.walk(d))[2])
    root, _, _ = next(os.walk(d))
    return root, names


# Calls that are not known: what becomes of their result


def result_sorted(d, wanted):
    return sorted(str(p) for p in drop_metadata(list(Path(d).iterdir())) if p.stem in wanted)


def result_assigned_and_reduced(d):
    kept = keep_images(os.listdir(d))
    return sorted(kept), len(kept)


def result_looped_over(d):
    for path in keep_images(Path(d).iterdir()):
        path.unlink()
    return {path.stem for path in keep_images(Path(d).iterdir())}


def result_tested(d, deep):
    if any_image(Path(d).iterdir()) and deep:
        return True
    found = any_image(os.listdir(d))
    if found:
        return False
    return not any_image(Path(d).iterdir())


def result_used_in_order(d):
    kept = keep_images(os.listdir(d))  # DET203
    for path in keep_images(Path(d).iterdir()):  # DET203
        emit(path)
    return kept[0], [path.stem for path in keep_images(Path(d).iterdir())]  # DET203


def result_not_followed(d, deep):
    report(os.listdir(d))  # DET203
    deep and report(os.listdir(d))  # DET203
    left = report(os.listdir(d))  # DET203
    logged = report(os.listdir(d))  # DET203
    logger.info("%s", logged)
    train, test = split(os.listdir(d))  # DET203
    return sorted(train), sorted(test)


def result_chosen(d):
    for name in itertools.islice(os.listdir(d), 5):  # DET203
        os.remove(name)
    few = random.sample(os.listdir(d), 5)  # DET203
    return sorted(few)


def one_entry_by_next(d):
    entries = Path(d).iterdir()
    path = next(entries)
    try:
        next(entries)
    except StopIteration:
        pass
    else:
        return None
    return path


def one_entry_or_raise(d):
    entries = Path(d).iterdir()
    path = next(entries)
    try:
        next(entries)
        raise ValueError(f"more than {path}")
    except StopIteration:
        return path


def two_entries_by_next(d):
    entries = Path(d).iterdir()  # DET203
    path = next(entries)
    try:
        other = next(entries)
    except StopIteration:
        other = None
    return path, other


def first_of_several_by_next(d):
    entries = Path(d).iterdir()  # DET203
    path = next(entries)
    try:
        next(entries)
    except StopIteration:
        pass
    else:
        return path
    return None


# Set operations end the order; `+`, `*` and `%` carry it


def common_keys(a, b):
    left = {name: load(name) for name in os.listdir(a)}
    right = {}
    for name in os.listdir(b):
        right[name] = load(name)
    both = left.keys() & right.keys()
    either = left.keys() | right.keys()
    only = set(os.listdir(a)) - right.keys()
    changed = left.items() ^ right.items()
    return list(both), list(either), list(only), list(changed)


def added_lists(a, b):
    return os.listdir(a) + os.listdir(b)  # DET203


def repeated_list(d):
    return os.listdir(d) * 2  # DET203


def formatted(d):
    text = "%s" % os.listdir(d)  # DET203
    return text


def merged_dicts(d, defaults):
    sizes = {name: os.path.getsize(name) for name in os.listdir(d)}  # DET203
    for name, size in (defaults | sizes).items():
        emit(name, size)


def shifted_array(d):
    steps = np.array([int(name) for name in os.listdir(d)])  # DET203
    return (steps - 1)[0]


# Listings kept in attributes


class LookedUp:
    def prepare(self, d):
        self.videos = [name[:-4] for name in os.listdir(d)]
        self.clips = []
        for name in os.listdir(d):
            self.clips.append(name)

    def filter(self, row):
        if row["video"] not in self.videos or not self.clips:
            return None
        return row, len(self.clips)


class LookedUpElsewhere(LookedUp):
    def filter(self, row):
        return [name for name in row if name in self.videos]


class Indexed:
    def __init__(self, d):
        self.frames = os.listdir(d)  # DET203

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, index):
        return self.frames[index]


class LoopedOver:
    def __init__(self, d):
        self.shards = os.listdir(d)  # DET203

    def __contains__(self, name):
        return name in self.shards

    def __iter__(self):
        for name in self.shards:
            yield name


class HandedOut:
    def __init__(self, d):
        self.scenes = os.listdir(d)  # DET203
        self.takes = os.listdir(d)  # DET203
        self.cuts = os.listdir(d)  # DET203

    def check(self, name):
        return name in self.scenes and name in self.takes

    def get(self):
        return self.takes


def read_scenes(dataset, name):
    return getattr(dataset, "scenes")[0] if dataset.takes else name


class NeverRead:
    def __init__(self, d, config):
        self.pages = os.listdir(d)  # DET203
        config.sheets = os.listdir(d)  # DET203
        assert config.sheets


# Functions of this file that a loop calls


def convert_one(name, width, source, target, log=None):
    """Writes a file of its own for each."""
    lines = []
    with (source / f"{name}.txt").open() as old, (target / f"{name}.txt").open("w") as new:
        for line in old.readlines():
            parts = line.strip().split()
            if len(parts) < 9:
                continue
            lines.append([float(part) / width for part in parts])
        new.write(" ".join(map(str, lines)))
    if log is not None:
        log.append(name)


def convert_each(d, target):
    for path in Path(d).iterdir():
        width = cv2.imread(str(path)).shape[1]
        convert_one(path.stem, width, Path(d), target)


def convert_each_and_log(d, target, log):
    for path in Path(d).iterdir():  # DET203
        convert_one(path.stem, 640, Path(d), target, log)


def convert_each_numbered(d, target):
    for i, path in enumerate(Path(d).iterdir()):  # DET203
        convert_one(f"{i}-{path.stem}", 640, Path(d), target)


def convert_some(d, target):
    for path in Path(d).iterdir():  # DET203
        convert_one(path.stem, 640, Path(d), target)
        if enough(target):
            break


def convert_unpacked(d, given):
    for path in Path(d).iterdir():
        convert_one(path.stem, *given)


def convert_nested(d, target):
    def convert_here(path):
        with open(path) as old, open(target / path.name, "w") as new:
            new.write(old.read())

    def collect_here(path):
        with open(path) as old:
            target.append(old.read())

    def emit_here():
        emit(path)

    for path in Path(d).iterdir():
        convert_here(path)
    for path in Path(d).iterdir():  # DET203
        collect_here(path)
    for path in Path(d).iterdir():  # DET203
        emit_here()


def convert_tree(path, replace=False, archive=False):
    path = Path(path)
    if path.is_dir():
        done = set()
        for each in path.rglob("*.png"):
            if (output := each.with_suffix(".tiff")) in done:
                raise FileExistsError(f"{output} is there")
            done.add(output)
            convert_tree(each, replace)
            if replace:
                each.unlink()
        if archive:
            add_to_archive(path)
    else:
        image = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
        if not cv2.imwritemulti(str(path.with_suffix(".tiff")), image):
            raise OSError(path)


def convert_tree_and_archive(path, archive=True):
    for each in Path(path).iterdir():  # DET203
        if each.is_dir():
            convert_tree_and_archive(each)
        else:
            each.rename(each.with_suffix(".old"))
    if archive:
        add_to_archive(path)


def collect_tree(d, found):
    for path in Path(d).iterdir():  # DET203
        if path.is_dir():
            collect_tree(path, found)
        else:
            found.append(path)


def process_of(name):
    match = re.match(r"\._(\d+)_$", name)
    return int(match.group(1)) if match else None


def read_only(path):
    with open(path) as file:
        return file.read()


def save_last(path, target):
    cv2.imread(path)
    cv2.imwrite(target, cv2.imread(path))


def save_record(path, out):
    with open(path) as file:
        json.dump(file.read(), out)


def save_flipped(path, rng):
    image = cv2.imread(path)
    if rng.uniform() < 0.5:
        image = image[::-1]
    cv2.imwrite(path + ".png", image)


def save_grouped(path, groups):
    bucket = groups[path[0]]
    bucket.append(path)
    os.remove(path)


def save_to_group(path):
    with open(path) as old, open(path[0] + ".txt", "a") as group:
        group.write(old.read())


def save_and_collect(path, found):
    os.remove(path)
    return found.append(path)


def save_counted(path):
    global COUNT
    COUNT = path
    os.remove(path)


def learn_one(path, model):
    batch = torch.load(path)
    loss = model.learn(batch)
    assert loss > 0


@register
def shorten_decorated(path):
    os.truncate(path, 0)


def yield_one(path):
    yield path.unlink()


def call_other(path):
    other_file_does(path)


def train_on_other(path, model):
    other_file_trains(model, path)
    model.train_on(path)


def shorten(path):
    path.write_text(path.read_text()[:100])


def one_call_each(d, target, out, rng, groups, model):
    for path in Path(d).iterdir():
        shorten(path)
    for name in os.listdir(d):
        text = read_only(name)
    for path in glob.glob(d):  # DET203
        save_last(path, target)
    for path in glob.glob(d):  # DET203
        save_record(path, out)
    for path in glob.glob(d):  # DET203
        save_flipped(path, rng)
    for path in glob.glob(d):  # DET203
        save_grouped(path, groups)
    for path in glob.glob(d):  # DET203
        save_to_group(path)
    for path in glob.glob(d):  # DET203
        save_and_collect(path, out)
    for path in glob.glob(d):  # DET203
        save_counted(path)
    for path in glob.glob(d):  # DET203
        learn_one(path, model)
    for path in Path(d).iterdir():
        shorten_decorated(path)
    for path in Path(d).iterdir():
        yield_one(path)
    for path in Path(d).iterdir():
        call_other(path)
    for path in Path(d).iterdir():  # DET203
        train_on_other(path, model)


class Recycled:
    def __init__(self, d, mode):
        self.folder = d
        self.mode = mode
        self.writer = open(d + "/log", "w")

    def recycle(self, name):
        if self.mode == "unlink":
            os.unlink(name)
        elif self.mode == "keep":
            os.rename(name, name + "._done_")

    def clean(self):
        for name in glob.glob(os.path.join(self.folder, "*._*_")):
            process = process_of(name)
            if process is None:
                continue
            self.recycle(name)

    @staticmethod
    def touch_one(name, path):
        Path(path, name).touch()

    def touch_all(self):
        for name in os.listdir(self.folder):
            self.touch_one(name, self.folder)

    def number(self, path):
        self.seen += 1
        os.rename(path, f"{self.seen}.png")

    def take_number(self, path):
        number = next(self.numbers)
        image = cv2.imread(path)
        cv2.imwrite(f"{path}-{number}.png", image)

    def write_line(self, path):
        with open(path) as file:
            self.writer.write(file.read())

    def remember(self, path):
        self.latest = path

    def handle(self, path):
        raise NotImplementedError

    def replaced(self, path):
        path.unlink()

    def all_of_them(self):
        for path in glob.glob(self.folder):  # DET203
            self.number(path)
        for path in glob.glob(self.folder):  # DET203
            self.take_number(path)
        for path in glob.glob(self.folder):  # DET203
            self.write_line(path)
        for path in glob.glob(self.folder):  # DET203
            self.remember(path)
        for path in glob.glob(self.folder):
            self.handle(path)
        for path in Path(self.folder).iterdir():
            self.replaced(path)
        for path in Path(self.folder).iterdir():
            self.inherited(path)
        for path in Path(self.folder).iterdir():  # DET203
            self.add_inherited(path)


class Replacing(Recycled):
    def replaced(self, path):
        print(path)

    def handle(self, path):
        path.unlink()


# Keys that tell all names apart


def step_of(name):
    """The number in the name."""
    return int(re.search(r"(\d+)", name).group(1))


def size_of(path):
    return int(os.path.getsize(path))


STEP = re.compile(r"-(\d+)$")


def latest(d):
    yield max(os.listdir(d), key=lambda name: int(name.split("-")[-1]))
    yield max(Path(d).glob("*.pt"), key=lambda p: float(p.stem.rsplit("=", 1)[-1]))
    yield min(os.listdir(d), key=lambda name: int(STEP.search(name).groups()[0]))
    yield min(os.listdir(d), key=lambda name: -int(re.sub(r"\D", "", os.path.basename(name))))
    yield max(os.listdir(d), key=step_of)
    yield max(os.listdir(d), key=int)
    yield max(Path(d).iterdir(), key=lambda p: (p.stat().st_mtime, p.name))
    # Of these, those by what is not in the name only if strict.
    yield max(Path(d).iterdir(), key=size_of)  # DET203
    yield max(Path(d).iterdir(), key=lambda p: p.stat().st_mtime)  # DET203
    yield max(os.listdir(d), key=lambda name: int(os.path.getmtime(name)))  # DET203
    yield max(os.listdir(d), key=lambda name: len(name))  # DET203
    yield max(os.listdir(d), key=lambda name: int(load(name)))  # DET203
    yield max(Path(d).rglob("*.pt"), key=lambda p: int(p.parent.name))  # DET203
    yield max(os.listdir(d), key=key_from_elsewhere)  # DET203


# Listings that hold one, and listings of which a person chooses


def one_and_more(d, wanted):
    names = os.listdir(d)
    if not names or len(names) != 1:
        raise ValueError(d)
    other = glob.glob(d)
    if len(other) == 1 and other[0] == wanted:
        return names[0]
    more = list(Path(d).iterdir())
    count = len(more)
    if not count == 1:
        return None
    last = os.listdir(d)
    return more[0] if (n := len(last)) > 1 else last[0]


def perhaps_more(d, strict, wanted):
    names = os.listdir(d)  # DET203
    if strict and len(names) != 1:
        raise ValueError(d)
    other = os.listdir(d)  # DET203
    if len(other) == 1 or strict:
        return other[0]
    third = os.listdir(wanted)  # DET203
    if not len(third) == 1:
        return third[0]
    return names[0]


def chosen(d):
    names = os.listdir(d)
    for i, name in enumerate(names):
        logger.info("%d %s", i, name)
    choice = int(input("which? "))
    return names[choice - 1]


def matched(d):
    found = []
    for name in os.listdir(d):  # DET203
        if match := STEP.search(name):
            found.append(match.group(1))
    return found


# Functions of other files: only their names say whether the order of the calls shows


def handed_to_others(d, client, repo, sftp):
    for name in os.listdir(d):
        result = client.hub.upload(path=os.path.join(d, name), path_in_repo=name)
        if "error" in result:
            logger.error("%s", name)
    for path in Path(d).iterdir():
        repo.validate(path)
        save_remote(path, repo)
    for name in os.listdir(d):
        sftp.put(os.path.join(d, name), f"/data/{name}")
    for name in os.listdir(d):
        write_thumbnail(name)
        print()
    for root, _, names in os.walk(d):
        for name in names:

            def send():
                client.blob(name).upload(os.path.join(root, name))

            try_twice(send)
    for path in Path(d).iterdir():
        image = load(path)
        if image is None:
            logger.warning("%s is broken", path)


def left_to_those_that_follow(d, model, queue, out, repo):
    for path in Path(d).iterdir():  # DET203
        model.partial_fit(path)
    for path in Path(d).iterdir():  # DET203
        queue.put(path)
    for path in Path(d).iterdir():  # DET203
        load_plugin(path)
    for path in Path(d).iterdir():  # DET203
        out.writerow([path])
    for path in Path(d).iterdir():  # DET203
        sys.stdout.write(path.name)
    for path in Path(d).iterdir():  # DET203
        repo.addFile(path)
    for path in Path(d).iterdir():  # DET203
        with open(path, "rb") as part:
            shutil.copyfileobj(part, out)
    for path in Path(d).iterdir():  # DET203
        loss = model.trainStep(path)
        if loss is None:
            logger.warning("%s is broken", path)


def some_handed_to_others(d, client):
    for name in os.listdir(d):  # DET203
        if name.endswith(".pt"):
            client.upload(name)
            break
    for i, name in enumerate(os.listdir(d)):  # DET203
        client.upload(name, number=i)


def closures(d, found, registry):
    for path in Path(d).iterdir():  # DET203

        def collect():
            found.append(path)

        collect()
    for path in Path(d).iterdir():  # DET203

        @registry.hook
        def hook():
            return path

    i = 0
    for path in Path(d).iterdir():  # DET203
        i += 1

        def name_it():
            path.rename(f"{i}.png")

        name_it()


def copied_each_and_all(d, out):
    for path in Path(d).iterdir():
        with open(path, "rb") as old, open(str(path) + ".bak", "wb") as new:
            shutil.copyfileobj(old, new)


def printed_errors(d):
    for path in Path(d).iterdir():
        try:
            os.remove(path)
        except OSError:
            print(f"cannot delete {path}")
    for path in Path(d).iterdir():
        try:
            os.remove(path)
        finally:
            print(path)


def reaped(d, store):
    removed = 0
    for entry in Path(d).iterdir():
        shutil.rmtree(entry)
        removed += 1
        session = store.load(entry.name)
        if session:
            session.owner = None
            store.save(entry.name, session)
    return removed


def total_of_walk(d):
    total = 0
    for root, _, files in os.walk(d):
        paths = [os.path.join(root, name) for name in files]
        total += sum(map(os.path.getsize, paths))
    return total


# A whole name is that of one file


def found_by_name(d, wanted):
    licenses = [str(p) for p in Path(d).iterdir() if p.name == "license.json"]
    names = os.listdir(d)
    same = [name for name in names if name == wanted and len(name) > 3]
    model = next(Path(d).rglob("model.pth"))  # possible DET203
    weights = list(Path(d).rglob("weights.pth"))[0]  # possible DET203
    rows = []
    for i in range(30):
        pattern = rf"^{i}score\.npy$"
        for name in os.listdir(d):
            if re.match(pattern, name):
                rows.append(load(name))
            if name == f"{i}.json" and i > 3:
                rows.append(load(d + name))
    return rows, licenses[0], same, model, weights, glob.glob("config.json")[0]


def found_by_part_of_a_name(d, dirs, wanted):
    licenses = [p for p in Path(d).rglob("*") if p.name == "license.json"]  # DET203
    texts = [p for p in Path(d).iterdir() if p.suffix == ".json"]  # DET203
    others = [name for name in os.listdir(d) if name != wanted]  # DET203
    either = [name for name in os.listdir(d) if name == wanted or name == "x"]  # DET203
    model = next(Path(d).rglob("*.pth"))  # DET203
    unknown = next(Path(d).rglob(wanted))  # DET203
    found = []
    for each in dirs:
        found += Path(each).iterdir()  # DET203
    both = [p for p in found if p.name == "license.json"]
    rows = []
    for name in os.listdir(d):  # DET203
        for i in range(30):
            if name == f"{i}.json":
                rows.append(load(name))
    for i in range(30):
        for name in os.listdir(d):  # DET203
            if re.match(rf"^{i}.*\.npy$", name):
                rows.append(load(name))
        for name in os.listdir(d):  # DET203
            if re.fullmatch(rf"{i}step.", name):
                rows.append(load(name))
    return licenses[0], texts, others, either, model, unknown, both[0], rows


# A list is paired with what was made of it


def paired_with_its_own(d):
    paths = list(Path(d).glob("*.mat"))
    folders = [path.with_suffix("") for path in paths]
    for path, folder in zip(paths, folders, strict=True):
        folder.mkdir()
        cv2.imwrite(str(folder / "0.png"), cv2.imread(str(path)))
    return sorted(zip(paths, [path.name for path in paths]))


def paired_with_others(d, labels):
    paths = list(Path(d).glob("*.mat"))  # DET203
    some = [path for path in paths if path.stem]
    for path, other in zip(paths, some):
        path.rename(other)
    entries = iter(os.listdir(d))  # DET203
    pairs = set(zip(entries, entries))
    return pairs, set(zip(os.listdir(d), labels))  # DET203


class OnlyCompared:
    def __init__(self, d):
        self.known = os.listdir(d)

    def missing(self, wanted):
        return wanted - set(self.known)


# Lists in a dict that are read sorted


def grouped_and_sorted(d):
    groups = {}
    for name in os.listdir(d):
        if name[0] in groups:
            groups[name[0]].append(name)
        else:
            groups[name[0]] = [name]
    return sorted([(key, sorted(names)) for key, names in groups.items()])


def grouped_by_a_name_and_sorted(d):
    groups = {}
    for name in os.listdir(d):
        key = name[0]
        if key in groups:
            groups[key].append(name)
        else:
            groups[key] = [name]
    return sorted([(key, sorted(names)) for key, names in groups.items()])


def grouped_and_half_sorted(d):
    groups = defaultdict(list)
    for name in os.listdir(d):  # DET203
        groups[name[0]].append(name)
    others = defaultdict(list)
    for name in os.listdir(d):  # DET203
        others[name[0]].append(name)
    both = sorted((key, len(names)) for key, names in others.items())
    return sorted((key, names) for key, names in groups.items()), both, others["a"]


def grouped_and_kept(d):
    groups = {}
    for name in os.listdir(d):  # DET203
        if name[0] not in groups:
            groups[name[0]] = []
        groups[name[0]].append(name)
    first = second = {}
    third = {}
    fourth = third
    for name in os.listdir(d):  # DET203
        first[name[0]].append(name)
    for name in os.listdir(d):  # DET203
        fourth[name[0]].append(name)
    return groups, second, third


# A dict with keys of its own takes from each pass what is under its key


def added_under_its_own_key(d, auto, runs):
    results = {"train": [], "test": []}
    sums = {kind: 0.0 for kind in ("train", "test")}
    for run in runs:
        for kind in os.listdir(d):
            if kind not in results:
                continue
            if auto:
                metric = auto.metric
            else:
                metric = "accuracy"
            with open(os.path.join(run, kind)) as file:
                stats = json.load(file)
            remove_keys(stats, ["lr", "eta"])
            logger.info("read %s", kind)
            results[kind].append([each[metric] for each in stats])
            sums[kind] += stats["loss"]
            for each in stats["steps"]:
                results[kind].extend(each)
    return results, sums


def made_for_each_run(d, runs):
    for run in runs:
        results = {"train": [], "test": []}
        for kind in os.listdir(d):
            results[kind].append(load(d, run, kind))
        run.save(results)
    return runs


def added_under_another_key(d):
    results = {"train": [], "test": []}
    for name in os.listdir(d):  # DET203
        results[name[:5]].append(name)
    yield results
    results = {"train": [], "test": []}
    for name in os.listdir(d):  # DET203
        results["train"].append(name)
    yield results
    results = {"train": [], "test": []}
    for run in os.listdir(d):  # DET203
        for kind in os.listdir(run):
            results[kind].append(run)
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        kind = kind.lower()
        results[kind].append(kind)
    yield results


def added_to_another_dict(d, given, runs):
    shared = []
    results = {"train": shared, "test": shared}
    for kind in os.listdir(d):  # DET203
        results[kind].append(kind)
    yield results
    results = defaultdict(list)
    for kind in os.listdir(d):  # DET203
        results[kind].append(load(kind))
    yield results
    results = {**given, "test": []}
    for kind in os.listdir(d):  # DET203
        results[kind].append(load(kind))
    yield results
    results = {"train": [], "test": []}
    if runs:
        results = given
    for kind in os.listdir(d):  # DET203
        results[kind].append(kind)
    yield results
    results = {"train": [], "test": []}
    for run in runs:
        for kind in os.listdir(d):
            results[kind].append((kind, run.size()))
        run.follow(results)
    yield results


def carried_to_the_next_pass(d, last, runs, file, rng, model):
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        results[kind].append((kind, last))
        last = kind
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        if kind.startswith("t"):
            last = kind
        results[kind].append(last)
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        for name in sorted(os.listdir(kind)):
            last = name
        results[kind].append(last)
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        results[kind].append((kind, runs.pop()))
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        results[kind].append((kind, file.readline()))
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        results[kind].append((kind, next(runs)))
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        results[kind].append((kind, rng.uniform()))
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        results[kind].append(model.train_step(kind))
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        results[kind].append(kind)
        if results[kind]:
            break
    yield results


def changed_for_the_next_pass(d, state, settings):
    found = []
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        found.append(kind)
        results[kind].append((kind, len(found)))
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        mine = state.runs
        mine.append(kind)
        results[kind].append((kind, len(state.runs)))
    yield results
    results = {"train": [], "test": []}
    for kind in os.listdir(d):  # DET203
        results[kind].append((kind, settings.depth))
        settings.depth += 1
    yield results
    results = {"train": 0.0, "test": 0.0}
    number = 0
    for kind in os.listdir(d):  # DET203
        number += 1
        results[kind] += load(kind, number)
    yield results, sorted(found)


# A pool applies a function as a loop would


def shrink(path, size=64):
    image = cv2.resize(cv2.imread(path), (size, size))
    cv2.imwrite(path.replace(".png", ".small.png"), image)


def collect_each(path):
    seen_before.append(path)


seen_before = []


def applied_to_each(d, pool):
    pool.map(shrink, glob.glob(d))
    pool.map(functools.partial(shrink, size=32), glob.glob(d))
    _ = pool.map(convert, os.listdir(d))
    for _ in tqdm(pool.imap_unordered(shrink, glob.glob(d))):
        pass
    mmengine.track_parallel_progress(shrink, glob.glob(d), 8)
    return sorted(pool.map(measure, glob.glob(d)))


def applied_in_order(d, pool, labels, job):
    pool.map(collect_each, glob.glob(d))  # DET203
    pool.map(train_on, glob.glob(d))  # DET203
    pool.map(shrink, glob.glob(d), labels)  # DET203
    pool.map(lambda path: seen_before.append(path), glob.glob(d))  # DET203
    pool.map(job(1), glob.glob(d))  # DET203
    pool.map(functools.partial(collect_each), glob.glob(d))  # DET203
    pool.map(*job, glob.glob(d))  # DET203
    for size in pool.map(measure, glob.glob(d)):  # DET203
        emit(size)
    return pool.map(measure, glob.glob(d))  # DET203


# What a private function returns is used as its callers use it


def _names_in(d):
    names = os.listdir(d)
    return names


def known_names(d):
    return sorted(_names_in(d)), len(_names_in(d))


def _shown_names_in(d):
    return os.listdir(d)  # DET203


def shown_names(d):
    emit(_shown_names_in(d))
    return sorted(_shown_names_in(d))


def _given_names_in(d):
    return os.listdir(d)  # DET203


def given_names(d, job):
    job(_given_names_in)
    return sorted(_given_names_in(d))


def _handed_on(d):
    return _listed_for_it(d)


def _listed_for_it(d):
    return os.listdir(d)


def handed_names(d):
    return set(_handed_on(d))


def _never_called_here(d):
    return os.listdir(d)  # DET203


def _again(d):
    return _again(d) or os.listdir(d)  # DET203


def public_names(d):
    return os.listdir(d)  # DET203


def sorted_public_names(d):
    return sorted(public_names(d))


class Names:
    def _list(self, d):
        return os.listdir(d)

    def all(self, d):
        return sorted(self._list(d))

    def _list_by_name(self, d):
        return os.listdir(d)  # DET203

    def by_name(self, d):
        return sorted(getattr(self, "_list_by_name")(d)) + sorted(self._list_by_name(d))


# A count of passes is the same in any order


def counted_aloud(d):
    sizes = {}
    for i, path in enumerate(glob.glob(d)):
        if i % 100 == 0:
            print(f"{i} files")
        sizes[path] = os.path.getsize(path)
    return sizes


def counted_with_names(d):
    sizes = {}
    for i, path in enumerate(glob.glob(d)):
        if i % 100 == 0:
            print(f"{i} {path}")
        sizes[path] = os.path.getsize(path)
    for i, path in enumerate(glob.glob(d)):
        if path.endswith("g"):
            continue
        if i % 100 == 0:
            print(i)
        sizes[path] = os.path.getsize(path)
    for i, path in enumerate(glob.glob(d)):
        if path.endswith("g"):
            if i % 100 == 0:
                print(i)
        sizes[path] = os.path.getsize(path)
    for i, path in enumerate(glob.glob(d)):
        if i % 100 == 0:
            if path:
                print(i)
        sizes[path] = os.path.getsize(path)
    return sizes


def found_by_a_name_made_up(d, name, number, pattern):
    config = list(Path(d).rglob(f"{name}.yaml"))[0]  # possible DET203
    some = list(Path(d).rglob(f"{pattern}"))[0]  # DET203
    several = list(Path(d).rglob(f"{name}*.yaml"))[0]  # DET203
    joined = glob.glob(f"{d}/model.pth")[0]
    return config, some, several, joined, next(Path(d).glob(f"snapshot-{number}.index"))


# What a function of the file is given is used as its body uses it


def shrink_all(paths, size):
    os.makedirs(str(size), exist_ok=True)
    for path in paths:
        shrink(path, size)


def shrink_in_pool(pool, paths):
    jobs = [pool.apply_async(shrink, kwds={"path": path}) for path in paths]
    _ = [job.get() for job in tqdm(jobs)]


def show_all(paths):
    for path in paths:
        emit(path)


def sort_first(paths):
    paths = sorted(paths)
    show_all(paths)


def given_to_a_function(d, pool):
    shrink_all(os.listdir(d), 32)
    shrink_in_pool(pool, glob.glob(d))
    sort_first(os.listdir(d))
    show_all(os.listdir(d))  # DET203
    first = take_first(os.listdir(d))  # DET203
    give_back(os.listdir(d), give_back)
    unknown(os.listdir(d))  # DET203
    show_several(*os.listdir(d))  # DET203
    return first


def take_first(paths):
    return paths[0]


def give_back(paths, then):
    return then(sorted(paths))


def show_several(*paths):
    emit(paths)


# A dict that each pass makes anew is its own


def written_for_each(d):
    for name in os.listdir(d):
        info = {}
        info["name"] = name
        pictures = []
        for part in load(name):
            picture = {"kind": "part"}
            picture["id"] = part
            pictures.append(picture)
        info["pictures"] = pictures
        dump(info, name)


def made_before_or_seen_again(d, info):
    for name in os.listdir(d):  # DET203
        info["name"] = name
    last = {}
    for name in os.listdir(d):  # DET203
        note(name, last)
        last = {}
        last["name"] = name
    for name in os.listdir(d):  # DET203
        if name:
            last = {}
        last["name"] = name
    for name in os.listdir(d):  # DET203
        found = {}
        found["name"] = name
    return found, last


def first_of_a_walk(d):
    top, dirs, files = list(os.walk(d))[0]
    for name in files:
        os.remove(os.path.join(top, name))
    folder, others, names = tuple(os.walk(d))[0]  # DET203
    second = list(os.walk(d))[1]  # DET203
    return sorted(dirs), len(others), names, folder, second, len(list(os.walk(d))[0][1])


def last_if_any(d):
    names = [name for name in os.listdir(d) if name.endswith(".log")]
    if len(names) > 0:
        names = sorted(names, reverse=True)[0:1]
    return names


def last_beside_all(d):
    names = [name for name in os.listdir(d) if name.endswith(".log")]  # DET203
    last = sorted(names, reverse=True)[0:1]
    return names, last


# What is printed is for people to read


class Cleaner:
    def remove_old(self, d, kept):
        for name in os.listdir(d):
            if name != kept:
                shutil.rmtree(os.path.join(d, name))
                self.print(f"removed {name}")
        for name in os.listdir(d):
            os.remove(os.path.join(d, name))
            print("removed", name)

    def show(self, d):
        for name in os.listdir(d):
            self.print(name)
        for name in os.listdir(d):
            if name.endswith(".tmp"):
                os.remove(os.path.join(d, name))
            print(name)


def classes_of_old(folder):
    try:
        return sorted(os.walk(folder).next()[1])
    except AttributeError:
        return sorted(os.walk(folder).__next__()[1])


def unsorted_classes(folder):
    return os.walk(folder).__next__()[1]  # DET203


# Sorted elsewhere: by another method, or as one of several


class SortedByAnother:
    def __init__(self, d):
        self.files = []
        self.others = []
        self.pairs = glob.glob(d)
        self.kept = os.listdir(d)  # DET203
        self._find(d)
        self.sort_all()

    def _find(self, d):
        for name in os.listdir(d):
            self.files.append(name)
        self.others.extend(os.listdir(d))

    def sort_all(self):
        self.files.sort()
        self.others = sorted(self.others)
        self.pairs = natsorted(self.pairs)
        self.kept.reverse()


def sorted_one_by_one(d):
    found = {}
    found["train"] = os.listdir(d)
    found["test"] = os.listdir(d)
    for kind in found:
        found[kind].sort()
    seen = [[], []]
    for name in os.listdir(d):
        seen[name.endswith("x")].append(name)
    for i in range(2):
        seen[i].sort()
    named = dict()
    named["a"] = glob.glob(d)
    for names in named.values():
        names.sort()
    other = {}
    other["a"] = glob.glob(d)  # DET203
    other["b"].sort()
    return found, seen, named, other


# A value that the next statement of a block replaces does not leave the block


def replaced_in_a_branch(d, other):
    if other:
        names = other
    else:
        names = os.listdir(d)
        names = [os.path.join(d, name) for name in names]
        names.sort()
        train(names)
    return names[0]


def replaced_in_a_try(d):
    try:
        names = os.listdir(d)  # DET203
        names = check(sorted(names))
    except ValueError:
        train(names)
    return names[0]


# Numbers kept in a record, and lists kept in a dict


def numbered_records(d):
    number = 0
    records = []
    for name in os.listdir(d):  # DET203
        record = load(name)
        record["id"] = number
        records.append(record)
        number += 1
    return sorted(records, key=str)


def dict_of_lists(d):
    images = os.listdir(d)  # DET203
    return dict(images=images, size=3)


class Requirements:
    def __init__(self):
        self.parsed = {}

    def load(self, d):
        for name in os.listdir(d):
            self.parsed[name] = self.parse(name)
        for name in os.listdir(d):  # DET203
            self.parsed[name] = len(self.parsed)

    def parse(self, name):
        return open(name).read()


# Indices that only go through the list


def converted_by_index(d, target):
    names = os.listdir(d)
    for i in range(0, len(names)):
        path = os.path.join(d, names[i])
        image = load(path)
        image.save(os.path.join(target, names[i].split(".")[0] + ".png"))


def converted_with_its_index(d, target):
    names = os.listdir(d)  # DET203
    for i in range(len(names)):
        load(os.path.join(d, names[i])).save(os.path.join(target, f"{i}.png"))


def collected_by_index(d):
    names = os.listdir(d)  # DET203
    found = []
    for i in range(len(names)):
        found.append(load(names[i]))
    return found


# The first of a kind that a folder has one of


def first_of_a_kind(d, files, ending):
    yield next(Path(d).glob("*.json"))  # possible DET203
    yield glob.glob(os.path.join(d, "*.xlsx"))[0]  # possible DET203
    yield glob.glob(f"{d}/*.xml")[-1]  # possible DET203
    yield glob.glob(d + "/**/*.yaml", recursive=True)[0]  # possible DET203
    yield [name for name in os.listdir(d) if name.endswith(".csv")][0]  # possible DET203
    yield next(p for p in Path(d).iterdir() if p.suffix == ".wandb")  # possible DET203
    yield next(n for n in os.listdir(d) if os.path.splitext(n)[1].lower() == ".png" and "a" in n)  # possible DET203
    yield [name for name in os.listdir(d) if "single" in name][0]  # possible DET203
    yield [name for name in os.listdir(d) if "single" in name]  # DET203
    yield glob.glob(os.path.join(d, "*.xlsx"))[1]  # DET203
    yield glob.glob(os.path.join(d, "*.ckpt"))[0]  # DET203
    yield glob.glob(os.path.join(d, ending))[0]  # DET203
    yield glob.glob(d + "*.xlsx")[0]  # DET203
    yield [name for name in os.listdir(d) if name.endswith(ending)][0]  # DET203
    yield [name for name in os.listdir(d) if name.endswith(".pth")][0]  # DET203
    yield [name for name in os.listdir(d) if "step" in name and name.endswith(".txt")][0]  # DET203
    yield next(n for n in os.listdir(d) if n.endswith(".keras") and not n.endswith("x"))  # DET203


def first_of_a_kind_in_a_loop(d):
    for name in os.listdir(d):
        if name.endswith(".vocab"):
            vocabulary = name
            break
    for name in os.listdir(d):  # DET203
        if name.endswith(".vocab"):
            vocabulary = name
            train(vocabulary)
            break
    for name in os.listdir(d):  # DET203
        if name.endswith(".pt"):
            return name, vocabulary
    return None


# In a window, a person picks


def shown_in_a_window(d, gr, self):
    gr.Dropdown(os.listdir(d), label="x")
    self.combo_box.addItems(os.listdir(d))
    self.repopulate_box(self.names, os.listdir(d))
    logger.verbose("%s", os.listdir(d))
    print("x", os.listdir(d), file=sys.stderr)
    print("x", os.listdir(d), file=self.log)  # DET203


def common_start(d):
    return os.path.commonprefix([name for name in os.listdir(d) if name])


def test_all_of_them():
    for name in os.listdir("configs"):  # possible DET203
        train(name)


def test_loader(loader):
    for name in os.listdir("configs"):  # DET203
        train(name)


def merged_in_one_branch(d, one):
    if one is None:
        weights = {}
        for name in os.listdir(d):
            weights.update(load(name))
    else:
        weights = load(one)
    return weights


__all__ = [os.path.basename(path)[:-3] for path in glob.glob("*.py")]


def unpacked_in_a_temporary_folder(tmp_dir, d):
    return os.listdir(tmp_dir)[0], os.listdir(os.path.join(tmp_dir, "x"))  # possible DET203 DET203


def found_by_a_lambda(d):
    find = lambda kind: [(len(name), name) for name in glob.glob(f"{d}/{kind}")]
    take = lambda kind: glob.glob(f"{d}/{kind}")  # DET203
    return sorted(find("a")), sorted(find("b")), take("a"), sorted(take("b"))


def filled_together(d, target):
    paths = []
    others = []
    for name in os.listdir(d):
        if name.endswith(".wav"):
            paths.append(os.path.join(d, name))
            others.append(os.path.join(target, name))
    with ThreadPoolExecutor() as pool:
        futures = []
        for i, path in enumerate(paths):
            future = pool.submit(resample, path, others[i])
            future.add_done_callback(lambda p: bar.update())
            futures.append(future)
        for each in futures:
            each.result()


def filled_apart(d, target):
    paths, others = [], []
    for name in os.listdir(d):  # DET203
        paths.append(name)
        if name.endswith(".wav"):
            others.append(name)
    for i, path in enumerate(paths):
        shutil.copy(path, others[i])


def jobs(d, target):
    paths = glob.glob(d)
    Parallel(n_jobs=4)(delayed(convert)(path, target) for path in tqdm(paths))
    sizes = Parallel(n_jobs=4)(delayed(measure)(path) for path in glob.glob(d))  # DET203
    return sizes


def raised(d, name):
    names = glob.glob(d)
    message = f"there is no {name}"
    if names:
        message += f", did you mean {names[0]}?"
    other = f"found {os.listdir(d)}"
    if name:
        raise ValueError(message)
    shown = f"found {os.listdir(d)}"  # DET203
    train(shown)
    raise KeyError(other)


def devices(d):
    path = "/sys/devices/system/cpu/cpu*"
    yield list(Path(path[0]).glob(path[1:]))  # possible DET203
    yield os.listdir("/proc/self/task")  # possible DET203
    yield os.listdir("/procedures")  # DET203


def texts_beside_sounds(d):
    for folder, _, names in sorted(os.walk(d)):  # possible DET203
        texts = [name for name in names if name.endswith("trans.txt")]
        if texts:
            yield texts[0]


def shown_as_it_goes(d):
    progress = tqdm(os.listdir(d))
    progress.set_postfix(step=1)
    progress.close()


def found_before_an_error(d):
    versions = []
    try:
        for name in os.listdir(d):  # DET203
            versions.append(parse(name))
    except OSError:
        return versions
    return sorted(versions)


def keep_the_scripts(create_exp_dir, folder):
    create_exp_dir(folder, scripts_to_save=glob.glob("*.py"))


def find_image(folder, name, index):
    return [each for each in os.listdir(folder) if "{}_{:02d}_".format(name, index) in each][0]  # possible DET203


def find_by_a_name(folder, name, best):
    yield [x for x in os.listdir(folder) if name.lower() in x.lower()][0]  # possible DET203
    yield [x for x in os.listdir(folder) if x.startswith(f"epoch={best}")][0]  # possible DET203
    yield [x for x in os.listdir(folder) if x.startswith(f"{name}_epoch")][0]  # DET203
    yield next((x for x in Path(folder).rglob("*") if x.is_dir() and x.name == name), folder)  # possible DET203


def find_first_of_all(d):
    names = []
    try:
        names = os.listdir(d)
        names = sorted(names)
    except OSError as error:
        print(error)
    return names[0]


# A sort by length leaves ties


def sorted_by_length(d):
    yield sorted(os.listdir(d), key=len)  # DET203
    yield sorted(os.listdir(d), key=lambda n: (len(n), n))
    yield set(sorted(os.listdir(d), key=len))
    names = os.listdir(d)  # DET203
    names.sort(key=lambda n: -len(n))
    yield names
    others = os.listdir(d)
    others.sort(key=lambda n: (-len(n), n))
    yield others


class TextsByLength:
    def __init__(self, d):
        self.texts = [load(n) for n in os.listdir(d)]  # DET203
        self.texts = sorted(self.texts, reverse=True, key=lambda x: len(x))
        self.names = os.listdir(d)
        self.names = sorted(self.names, key=lambda x: x.lower())

    def __getitem__(self, i):
        return self.texts[i], self.names[i]


# Lists that are made of one list


class PathsByName:
    def __init__(self, d):
        self.paths = {}
        found = []
        for folder in os.listdir(d):
            names = os.listdir(os.path.join(d, folder))
            names = [n for n in names if "label" in n]
            short = [n.replace("label", "") for n in names]
            full = [os.path.join(d, folder, n) for n in names]
            found.extend(short)
            self.paths.update(dict(zip(short, full)))
        assert set(found) == set(self.paths)


def paired_after_a_change(d, other):
    names = os.listdir(d)  # DET203
    short = [n[:3] for n in names]
    names = [n for n in other if n]
    return dict(zip(short, [n[3:] for n in names]))


def updated(d, found, counts):
    for name in os.listdir(d):
        found.update({name: load(name)})
    for name in os.listdir(d):  # DET203
        counts.update({"name": load(name)})
    for name in os.listdir(d):  # DET203
        counts.update(dict(load(name)))


def jobs(d):
    texts = Parallel(n_jobs=2)(delayed(read_text)(n) for n in os.listdir(d))
    return sorted(texts)


def jobs_in_order(d):
    names = os.listdir(d)  # DET203
    texts = Parallel(n_jobs=2)(delayed(read_text)(n) for n in names)
    return [n for n, text in zip(names, texts)]


# What a compiler is given, what a machine has installed


def compiled(d):
    sources = glob.glob(os.path.join(d, "*.cpp")) + glob.glob(d + "/cuda/*.cu")  # possible DET203
    headers = [n for n in os.listdir(d) if n.endswith((".cuh", ".hpp"))]  # possible DET203
    library = glob.glob(os.path.join(d, "_C*.so"))[0]  # possible DET203
    torch.utils.cpp_extension.load(name="ops", sources=sources + headers)
    yield glob.glob("C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v*.*")[0]  # possible DET203
    yield glob.glob("/usr/local/cuda*")[-1]  # possible DET203
    yield glob.glob("/usr/share/fonts/*.ttf")  # DET203
    yield glob.glob(d + "/*.cutoff")  # DET203
    return library


# One file by its whole name


def by_file_name(d, given, path):
    name = given["file"][0].split(os.sep)[-1]
    yield list(Path(d).glob(name))[0]
    yield list(Path(d).rglob(name + ".json"))[0]  # possible DET203
    yield next(Path(d).rglob(os.path.basename(given["file"])))  # possible DET203
    yield next(Path(d).rglob(path.name))  # possible DET203
    yield list(Path(d).glob(name + "*.json"))[0]  # DET203
    yield list(Path(d).glob(given["pattern"]))[0]  # DET203
    yield list(Path(d).glob(given["file"].split("_")[-1]))[0]  # DET203


# An attribute that nothing reads


class NamesAside:
    def __init__(self, d):
        self.never_asked_for = os.listdir(d)  # DET203
        self.names_by_place = os.listdir(d)  # DET203

    def __getitem__(self, i):
        return self.names_by_place[i]


class NamesForASubclass:
    def __init__(self, d):
        self.names_for_others = os.listdir(d)  # DET203


# What a function gives that lists


class Pickles:
    def folder_of(self, i):
        folder = Path(self.root) / "features" / i
        return folder

    def url_of(self, i):
        return self.root + i

    @staticmethod
    def declared(i) -> Path:
        return find_folder(i)

    def draw(self, i):
        where = self.folder_of(i)
        yield random.choice(list(where.glob("*.pkl")))  # DET203
        yield random.choice(list(self.declared(i).glob("*.pkl")))  # DET203
        url = self.url_of(i)
        yield random.choice(list(url.glob("*.pkl")))


def folders_by_name(folders, i):
    work_dir = find_folder(i)
    yield list(work_dir.glob("*.wav"))  # DET203
    for each_dir in folders:
        yield list(each_dir.glob("*.wav"))  # DET203
    root = fsspec.filesystem("file")
    yield list(root.glob("*.wav"))
    data_root = i["root"]
    yield list(data_root.glob("*.wav"))


# The first one's kind


def kinds(d):
    names = os.listdir(d)
    nested = os.path.isdir(os.path.join(d, names[0]))
    suffix = os.path.splitext(names[0])[1]
    other = next(Path(d).iterdir()).suffix
    stem = os.path.splitext(os.listdir(d)[0])[0]  # DET203
    return nested, suffix, other, stem


def one_of_a_longer_kind(d):
    yield next(Path(d).glob("*.alignment.txt"))  # possible DET203
    yield next(Path(d).glob("*.model.txt"))  # DET203
    yield next(Path(d).glob("*.nii.gz"))  # DET203


# One entry, counted by listing once more


def listed_again(d):
    assert len(os.listdir(d)) == 1, "one result"
    return os.path.join(d, os.listdir(d)[0])


def listed_again_or_left(d):
    if len(list(Path(d).glob("*.pt"))) != 1:
        raise ValueError(d)
    return next(Path(d).glob("*.pt")), list(Path(d).glob("*.pt"))[0]


def listed_again_elsewhere(d, e):
    assert len(os.listdir(e)) == 1
    yield os.listdir(d)[0]  # DET203
    assert len(os.listdir(d)) == 1
    yield os.listdir(d)[0]
    d = os.path.join(d, e)
    yield os.listdir(d)[0]  # DET203
    assert len(os.listdir(e)) > 0
    yield os.listdir(d)[0]  # DET203


def counted_too_late(d):
    first = os.listdir(d)[0]  # DET203
    assert len(os.listdir(d)) == 1
    return first


# A list of each element's own


class Identities:
    def fill(self, root):
        self.folders = []
        for folder in glob.glob(root + "/*/"):  # DET203
            images = []
            for image in sorted(glob.glob(folder + "/*.jpg")):
                images.append(image)
            self.folders.append(images)
        random.seed(0)
        random.shuffle(self.folders)

    def write(self, root):
        for folder in os.listdir(root):
            images = []
            for image in sorted(os.listdir(folder)):
                images.append(image)
            with open(os.path.join(root, folder, "images.txt"), "w") as file:
                file.write("\n".join(images))

    def count(self, root):
        total = 0
        for folder in os.listdir(root):
            images = []
            for image in sorted(os.listdir(folder)):
                images.append(image)
            total += len(images)
        return total


# Put in order by the place of each in a sort


def by_epoch(d):
    folders = np.array([os.path.join(d, name) for name in os.listdir(d)])
    epochs = np.array([int(name.split("_")[-1]) for name in folders])
    order = np.argsort(epochs)
    return folders[order]


def by_chance(d, rng):
    folders = np.array([os.path.join(d, name) for name in os.listdir(d)])  # DET203
    order = np.random.rand(len(folders)).argsort()
    return folders[order]


def _decoded(path):
    found = []
    for name in os.listdir(path):
        found.append(name.decode())
    return found


def sum_of_all(d, counts):
    for name in _decoded(d):
        counts[0] += read(name).astype(np.int32)
    return counts, "log.txt" in _decoded(d), np.sort(_decoded(d))


def sum_of_floats(d, counts):
    for name in os.listdir(d):  # DET203
        counts[0] += read(name).astype(np.float32)
    return counts


def sources_of_a_pattern(folder):
    pattern = os.path.join(folder, "*.cu")
    return glob.glob(pattern)  # possible DET203


# One at most


def one_or_none(d):
    names = glob.glob(os.path.join(d, "*_checkpoint.pt"))
    assert len(names) <= 1, names
    if len(names) == 0:
        return None
    return names[0]


def less_than_two(d):
    names = os.listdir(d)
    if len(names) >= 2:
        raise ValueError(names)
    others = os.listdir(d + "/others")  # DET203
    if len(others) >= 1:
        return others[0]
    return names[0]


# To a file of each element's own, by a method of what is made of it


def clips(d, out, log):
    for path in Path(d).rglob("*.mp4"):
        clip = cv2.VideoCapture(str(path))
        clip.write_videofile(os.path.join(out, path.name))
    for path in Path(d).rglob("*.mp4"):  # DET203
        clip = cv2.VideoCapture(str(path))
        clip.write_frames(log)
    for path in Path(d).rglob("*.mp4"):  # DET203
        log.write_line(path.name)


def how_many_are_final(d):
    names = os.listdir(d)
    final = ["final" in name for name in names]
    numbers = [float(name) for name in os.listdir(d + "/numbers")]  # DET203
    return np.sum(final) == 1, np.any(final), np.sum(numbers)


# Tasks of a pool that nobody wants the results of


def convert(name, out):
    with open(os.path.join(out, name), "w") as file:
        json.dump(load(name), file)


def convert_part(out, part):
    for name in part:
        with open(f"{out}/{name}.json", "w") as file:
            json.dump(load(name), file)


def first_of(out, part):
    with open(f"{out}/{part[0]}.json", "w") as file:
        json.dump(load(part), file)


def append_to(name, out):
    with open(out, "a") as file:
        json.dump(load(name), file)


def in_a_pool(d, out, n):
    tasks = [(name, out) for name in os.listdir(d)]
    print(len(tasks))
    with Pool() as pool:
        pool.starmap(convert, tasks)
        pool.starmap(append_to, [(x, out) for x in os.listdir(d)])  # DET203
        made = pool.starmap(convert, [(x, out) for x in os.listdir(d)])  # DET203
        unknown(pool.starmap(unknown, [(x, out) for x in os.listdir(d)]))  # DET203
    return made


def in_parts(d, out, n):
    names = os.listdir(d)  # possible DET203
    parts = [names[i : i + n] for i in range(0, len(names), n)]
    tasks = [(out, part) for part in parts]
    with Pool() as pool:
        pool.starmap(convert_part, tasks)


def in_parts_that_are_seen(d, out, n):
    names = os.listdir(d)  # DET203
    parts = [names[i : i + n] for i in range(0, len(names), n)]
    with Pool() as pool:
        pool.starmap(first_of, [(out, part) for part in parts])


def in_parts_with_gaps(d, out, n):
    names = os.listdir(d)  # DET203
    parts = [names[i : i + 3] for i in range(0, len(names), n)]
    with Pool() as pool:
        pool.starmap(convert_part, [(out, part) for part in parts])


# Emptied every so many, each to a file of its own


def features(d, out):
    found = {}
    count = 0
    for name in os.listdir(d):
        found[name] = load(name)
        count += 1
        if count % 512 == 0:
            for key in found.keys():
                with open(f"{out}/{key}.pkl", "wb") as file:
                    pickle.dump(found[key], file)
            found = {}
    for key in found.keys():
        with open(f"{out}/{key}.pkl", "wb") as file:
            pickle.dump(found[key], file)


def shards(d, out):
    found = {}
    count = 0
    for name in os.listdir(d):  # DET203
        found[name] = load(name)
        count += 1
        if count % 512 == 0:
            with open(f"{out}/{count}.pkl", "wb") as file:
                pickle.dump(found, file)
            found = {}


# Keys that are there before, in an order of their own


def scores(d, known):
    found = {}
    for key in known:
        found[key] = None
    for name in os.listdir(d):  # DET203
        mine = None
        for key in known:
            if name == f"{key}.json":
                mine = key
                break
        if mine:
            found[mine] = load(name)
    return list(found.values())


def scores_of_some(d, known):
    found = {}
    for name in os.listdir(d):  # DET203
        mine = None
        for key in known:
            if name == f"{key}.json":
                mine = key
        if mine:
            found[mine] = load(name)
    return list(found.values())


# Dicts that nobody looks into


def counts_per_folder(folders):
    found = {folder: {} for folder in folders}
    for folder in folders:
        names = os.listdir(folder)
        found[folder]["names"] = names
        found[folder]["count"] = len(names)
        print(len(names))


def files_per_folder(folders):
    found = {folder: {} for folder in folders}
    for folder in folders:
        names = os.listdir(folder)  # DET203
        found[folder]["names"] = names
    return found


# Each at the end of those before


def joined_rows(d, full):
    for name in os.listdir(d):  # DET203
        part = load(name)
        n = len(full["rows"][:])
        end = n + len(part)
        full["rows"].resize((end,))
        full["rows"][n:end] = part


def rows_at_places(d, full, places):
    for name in os.listdir(d):
        n = len(places[name])
        full[name][:n] = load(name)


# A dict in the order of a folder, for others to go through


class Alignments:
    def _parse(self, d):
        found = {}
        for name in os.listdir(d):  # DET203
            found[name] = load(name)
        return found

    def rows(self, d):
        return list(self._parse(d).values())

    def _by_name(self, d):
        found = {}
        for name in os.listdir(d):
            found[name] = load(name)
        return found

    def row(self, d, name):
        return self._by_name(d)[name]

    def seen(self, d):
        found = {}
        for name in os.listdir(d):
            found[name] = load(name)
        return found


# The largest by a number in the name, of what a method makes of it


class Checkpoints:
    def _saved_paths(self):
        return [os.path.join(self.directory, name) for name in os.listdir(self.directory)]  # possible DET203

    def _of_path(self, path):
        match = re.match(r"(\w+)_epoch-(\d+)", os.path.basename(path))
        return Checkpoint(path=path, epochs=int(match.group(2)), loss=read(path))

    def latest(self):
        found = [self._of_path(path) for path in self._saved_paths()]
        return max(found, key=lambda info: info.epochs).path

    def _others(self):
        return [os.path.join(self.directory, x) for x in os.listdir(self.directory)]  # DET203

    def best(self):
        found = [self._of_path(path) for path in self._others()]
        return max(found, key=lambda info: len(info.path)).path


def from_the_bottom_up(top):
    found = []
    for root, dirs, files in os.walk(top, topdown=False):  # DET203
        dirs.sort()
        found.extend(sorted(files))
    return found


def names_at_the_top(d):
    _, _, names = [each for each in os.walk(d)][0]  # DET203
    _, _, others = [each for each in os.walk(d)][0]
    return list(names), sorted(others), [each for each in os.walk(d)][0][0]


def of_several_patterns(patterns):
    found = sum([list(glob.glob(each)) for each in patterns], [])
    others = sum([list(glob.glob(each)) for each in patterns], [])  # DET203
    return sorted(found), others


def in_threads(d, out):
    parallel_threads(convert, [(x, out) for x in os.listdir(d)], star_args=True, leave=False)
    parallel_threads(convert, [(x, out) for x in os.listdir(d)])


# A shuffle leaves it to what is done with the list


def converted_in_any_order(d):
    names = os.listdir(d)
    random.shuffle(names)
    for name in names:
        shutil.copy(os.path.join(d, name), os.path.join("out", name))


def submitted_in_any_order(d, pool):
    paths = [str(path) for path in Path(d).glob("*")]
    random.shuffle(paths)
    for path in paths:
        pool.apply_async(func=convert, args=(path,))


def shuffled_and_counted(d):
    names = os.listdir(d)
    random.shuffle(names)
    print(len(names))
    return sorted(names)


def shuffled_and_cut(d):
    names = os.listdir(d)  # DET203
    random.shuffle(names)
    return names[:10]


class Shuffled:
    def __init__(self, d, rng):
        names = os.listdir(d)  # DET203
        rng.shuffle(names)
        self.names = names


# Nothing can call it


class Unused:
    @staticmethod
    def __matching(d, pattern):
        return [name for name in os.listdir(d) if pattern.match(name)]

    def __used(self, d):
        return list(map(load, os.listdir(d)))  # DET203

    def __repr__(self):
        return str(list(map(load, os.listdir("."))))

    def load(self, d):
        # names = self.__matching(d, PATTERN)
        return self.__used(d)


def defines_more_than_it_calls(d):
    def unused(folder):
        return unused(folder) or os.listdir(folder)

    def used(folder):
        return os.listdir(folder)  # DET203

    def given(folder):
        return os.listdir(folder)  # DET203

    return used(d), map(given, [d])


# A path without a wildcard is that of one file, or of none


def of_one_file(d, args, folder, pattern):
    every = os.path.join(d, "*")
    config = os.path.join(args.config_dir, "model_config.yaml")
    yield list(map(load, glob.glob(os.path.join(d, "model_config.yaml"))))
    yield list(map(load, glob.glob(config)))
    yield [load(path) for path in glob.glob(f"{args.out}/{folder}/model.pth")]
    yield list(map(load, Path(d).glob("model.pth")))
    yield list(map(load, glob.glob(os.path.join(d, "*.yaml"))))  # DET203
    yield list(map(load, glob.glob(os.path.join(d, folder))))  # DET203
    yield list(map(load, glob.glob(os.path.join(every, "model.pth"))))  # DET203
    yield list(map(load, glob.glob(pattern + "/model.pth")))  # DET203
    yield list(map(load, Path(d).rglob("model.pth")))  # DET203
    yield list(map(load, glob.glob(f"{args.data}.tfrecord")))  # DET203
    yield list(map(load, glob.glob(args.prefix + "-00001.json")))  # DET203
    yield list(map(load, glob.glob(d + "/model.pth")))


# The place of the largest number picks the same file in any order


def of_the_last_epoch(d):
    paths = glob.glob(os.path.join(d, "net-e*.pt"))  # DET203
    epochs = np.array([int(path.split("-e")[1]) for path in paths])
    best = [paths[i] for i in np.argwhere(epochs == np.amax(epochs)).flatten()][0]
    return load(best), epochs.max() + 1


def of_the_largest(d):
    names = os.listdir(d)
    numbers = [int(name[3:]) for name in names]
    yield names[np.argmax(numbers)]
    yield names[numbers.index(max(numbers))]


def class_by_place(d, scores):
    names = os.listdir(d)  # DET203
    return names[np.argmax(scores)]


def of_all_scores(d):
    scores = np.array([load(name) for name in os.listdir(d)])  # DET203
    return scores.max(axis=1)


# Numbered by what is there, and what the last one says


def words_of_all(d):
    index = {}
    for name in os.listdir(d):  # DET203
        for word in Path(d, name).read_text().split():
            index.setdefault(word, len(index))
    return index


class Words:
    def __init__(self, d):
        self.index = {}
        self.ids = {}
        for name in os.listdir(d):  # DET203
            self.ids[name] = [self.index.setdefault(x, len(self.index)) for x in load(name)]


def groups_by_default(d):
    groups = {}
    for name in os.listdir(d):
        groups.setdefault(name.split("-")[0], set()).add(name)
        own = {}
        own.setdefault(name, len(own))
    return groups


def sizes_by_default(d):
    sizes = {}
    for name in os.listdir(d):
        sizes.setdefault(name, os.path.getsize(name))
    return sizes


def named_by_default(d):
    sizes = {}
    for name in os.listdir(d):  # DET203
        sizes.setdefault(name, os.path.getsize(name))
    return list(sizes)


def options_of_all(d):
    options = {}
    for path in Path(d).glob("*.yaml"):  # DET203
        options.update(yaml.safe_load(path.read_text()))
    return options


def options_of_first(d, key):
    options = {"key": key}
    for path in Path(d).glob("*.json"):  # DET203
        found = json.loads(path.read_text())
        if key in found:
            options.update(found[key])
            return options
    raise KeyError(key)


def tensors_of_all(d):
    tensors = {}
    for path in glob.glob(os.path.join(d, "*.bin")):
        tensors.update(torch.load(path))
    return tensors


def options_of_one(d, wanted):
    options = {}
    for name in os.listdir(d):
        if name == wanted:
            options.update(json.loads(Path(d, name).read_text()))
            return options
    return None


# Draws in functions that the called ones call


def _leaf_draws(path):
    np.save(path + ".npy", np.random.rand(3))


def _middle_draws(path):
    if os.path.exists(path):
        _leaf_draws(path)


def _middle_seeds(path):
    np.random.seed(0)
    _leaf_draws(path)


def _seeds_and_draws(path):
    random.seed(0)
    np.save(path + ".npy", random.random())


def draws_below(d):
    for path in glob.glob(os.path.join(d, "*.off")):  # DET203
        _middle_draws(path)


class DrawsBelow:
    def run(self, d):
        for path in glob.glob(os.path.join(d, "*.off")):  # DET203
            self.convert(path)

    def convert(self, path):
        self.write(path)

    def write(self, path):
        _middle_draws(path)


def seeds_below(d):
    for path in glob.glob(os.path.join(d, "*.off")):
        _middle_seeds(path)
    for path in glob.glob(os.path.join(d, "*.obj")):
        _seeds_and_draws(path)


# Each to a place of its own


def uploaded(d, connection, queue):
    for name in os.listdir(d):
        connection.put(os.path.join(d, name), "/data/")
    for name in os.listdir(d):  # DET203
        queue.put(name)
    for name in os.listdir(d):  # DET203
        queue.put(name, True)


def archived(d):
    with zipfile.ZipFile("all.zip", "w") as archive:
        for root, _, names in os.walk(d):
            for name in names:
                archive.write(os.path.join(root, name), os.path.relpath(root, d) + name)
        for name in os.listdir(d):
            archive.writestr(name, load(name))
    samples = tarfile.open("all.tar", "w")
    for name in os.listdir(d):  # DET203
        samples.add(os.path.join(d, name), name)


# As they finish, which is another rule's


def as_they_finish(d, pool):
    jobs = [pool.submit(load, name) for name in os.listdir(d)]
    for job in concurrent.futures.as_completed(jobs):
        emit(job.result())


# One name, however it is written


def in_any_case(d, wanted):
    for name in os.listdir(d):
        if name.lower() == wanted.lower():
            return name
    return [path for path in Path(d).iterdir() if path.name.casefold() == wanted][0]


def beginning_in_any_case(d, wanted):
    for name in os.listdir(d):  # DET203
        if name.lower().startswith(wanted):
            return load(name)
    return None


# All of a size


def size_of_images(d):
    paths = glob.glob(os.path.join(d, "*"))
    height, width = cv2.imread(paths[0]).shape[:2]
    return height, width, np.load(next(Path(d).iterdir())).dtype


def mean_of_an_image(d):
    paths = glob.glob(os.path.join(d, "*"))  # DET203
    return cv2.imread(paths[0]).mean()


def size_of_shards(d):
    paths = list(Path(d).glob("rank*.pt"))
    return paths[0].stat().st_size * len(paths)


# What each file holds, written under its name


def written_by_name(d, out):
    found, sizes, both = {}, {}, {}
    for name in os.listdir(d):  # possible DET203
        if name.endswith(".json"):
            key = name[:-5]
            found[key] = json.loads(Path(d, name).read_text())
            sizes[os.path.splitext(name)[0]] = os.path.getsize(name)
    json.dump(found, out)
    both["sizes"] = json.dumps(sizes, indent=4)
    return both


def written_by_content(d, out):
    found = {}
    for name in os.listdir(d):  # possible DET203
        each = json.loads(Path(d, name).read_text())
        found[each["id"]] = each
    json.dump(found, out)


def names_written(d, out):
    found = {}
    for name in os.listdir(d):  # DET203
        found[name] = os.path.getsize(name)
    json.dump(list(found), out)


def written_by_both(d, out):
    found = {}
    for name in os.listdir(d):  # possible DET203
        found[name] = os.path.getsize(name)
        found[load(name)] = name
    json.dump(found, out)


# A counter that begins anew with each element


def padded_by_steps(d, out):
    for name in os.listdir(d):
        margin = 16
        if len(name) % 32:
            margin = int(len(name) / 2)
            margin += 16
        np.save(os.path.join(out, name), np.pad(np.load(name), margin))


def parts_of_each(d, out):
    for name in os.listdir(d):
        part = -1
        whole = 0
        for each in np.load(name):
            part += 1
            whole = whole + each * part
        np.save(os.path.join(out, name), whole)


def numbered_across(d, out):
    part = -1
    for name in os.listdir(d):  # DET203
        part += 1
        np.save(os.path.join(out, f"{part}.npy"), np.load(name))


def numbered_from_its_last(d, out):
    part = 0
    for name in os.listdir(d):  # DET203
        np.save(os.path.join(out, f"{part}.npy"), np.load(name))
        part = 3
        part += 1


def numbered_anew_for_some(d, out):
    part = 0
    for name in os.listdir(d):  # DET203
        if name.endswith(".txt"):
            part = 0
        part += 1
        np.save(os.path.join(out, f"{part}.npy"), np.load(name))


def size_of_the_last(d):
    for name in os.listdir(d):  # DET203
        size = 0
        for _ in Path(name).read_text():
            size += 1
        np.save(name, size)
    return size


def numbered_by_another(d, out):
    total = 0
    for name in os.listdir(d):  # DET203
        total += 1
        part = total
        part += 1
        np.save(os.path.join(out, f"{part}.npy"), np.load(name))


# Rows of a pool's tasks


def convert_row(name, out):
    np.save(os.path.join(out, name + ".npy"), np.load(name))
    return 0


def log_row(name, log):
    with open(log, "a") as file:
        file.write(name)


def rows_worked_on(pool, d, out):
    tasks = []
    for name in os.listdir(d):
        if name.endswith(".npz"):
            tasks.append((name.split(".npz")[0], out))
    done = pool.starmap(convert_row, tasks)
    print(len(tasks))


def rows_worked_on_in_files(pool, d, out):
    tasks, target = [], os.path.join(out, "b")
    for name in os.listdir(d):
        path = os.path.join(d, name)
        tasks.append((path, out))
        tasks.append((path + ".b", target))
    pool.starmap(convert_row, tasks)


def label_row(name):
    labels, number = None, 0
    last = None
    for each in sorted(os.listdir(name)):
        number += 1
        last = cv2.imread(each)
        if labels is None:
            labels = np.zeros_like(last)
        labels[last > 0] = number
    cv2.imwrite(name + ".tif", labels)


def rows_labelled(pool, d):
    tasks = []
    for name in os.listdir(d):
        tasks.append((name,))
        shutil.copyfile(name, name + ".png")
    pool.starmap(label_row, tasks)


def rows_with_results(pool, d, out):
    tasks = []
    for name in os.listdir(d):  # DET203
        tasks.append((name, out))
    return pool.starmap(convert_row, tasks)


def rows_logged(pool, d, log):
    tasks = []
    for name in os.listdir(d):  # DET203
        tasks.append((name, log))
    pool.starmap(log_row, tasks)


def rows_numbered(pool, d, out):
    tasks = []
    for name in os.listdir(d):  # DET203
        tasks.append((name, f"{out}/{len(tasks)}"))
    pool.starmap(convert_row, tasks)


def rows_that_changed(pool, d, out):
    tasks = []
    for name in os.listdir(d):  # DET203
        tasks.append((name, out))
    pool.starmap(convert_row, tasks)
    json.dump(tasks, out)


# Sorted after it was collected


def frame_sorted_at_once(d):
    rows = []
    for name in os.listdir(d):
        rows.append({"name": name, "size": load(name)})
    return pandas.DataFrame(rows).sort_values("name")


def frame_of_columns(d):
    return pandas.DataFrame({"path": glob.glob(d + "/*.png")}).sort_values("path")


def frame_of_columns_read(d):
    frame = pandas.DataFrame({"path": glob.glob(d + "/*.png")})  # DET203
    return frame["path"]


def frame_by_ties(d):
    return pandas.DataFrame(os.listdir(d)).head(5)  # DET203


def sorted_keys_alone(d):
    speakers = {}
    for path in glob.glob(d + "/*"):
        who = path.split("-")[0]
        if who not in speakers:
            speakers[who] = []
        speakers[who].append(path)
    names = sorted(list(speakers.keys()))
    return names, len(speakers), sorted(speakers)


def keys_and_values(d):
    speakers = {}
    for path in glob.glob(d + "/*"):  # DET203
        who = path.split("-")[0]
        if who not in speakers:
            speakers[who] = []
        speakers[who].append(path)
    return [speakers[who] for who in sorted(speakers)]


def sorted_after_an_index_loop(d):
    names, sizes, missing = [], [], 0
    paths = list(Path(d).rglob("*.wav"))
    for i in trange(len(paths), desc="checking"):
        if paths[i].stem in known:
            names.append(paths[i].stem)
            sizes.append(load(paths[i]))
        else:
            logging.info("%d: %s", i, paths[i])
            missing += 1
    return [each for each in sorted(zip(names, sizes), key=lambda pair: pair[0])]


def kept_after_an_index_loop(d):
    names = []
    paths = list(Path(d).rglob("*.wav"))  # DET203
    for i in trange(len(paths), desc="checking"):
        names.append(paths[i].stem)
    return names


def numbered_in_an_index_loop(d):
    paths = list(Path(d).rglob("*.wav"))  # DET203
    for i in trange(len(paths)):
        np.save(f"{i}.npy", load(paths[i]))


# What is entered under a name


def registered_by_name(d):
    for path in Path(d).glob("**/*_v?.py"):
        key = f"zoo-{path.stem}"
        gym.register(key, entry_point="zoo:Wrapper", kwargs={"name": path.stem})
        gym.register(id=f"other-{path.stem}", entry_point="zoo:Other")


def registered_as_found(d, registry):
    for path in Path(d).iterdir():  # DET203
        registry.register(load(path), force=True)
    for number, path in enumerate(Path(d).iterdir()):  # DET203
        registry.register(f"{path.stem}-{number}", load(path))


# Ordered by what the files hold


def by_their_coordinates(d):
    paths = glob.glob(os.path.join(d, "*.nc"))
    return xarray.open_mfdataset(paths, combine="by_coords", parallel=True)


def one_after_the_other(d):
    paths = glob.glob(os.path.join(d, "*.nc"))  # DET203
    return xarray.open_mfdataset(paths, combine="nested", concat_dim="time")


# How far it is


def moved_with_a_bar(d, out):
    paths = glob.glob(os.path.join(d, "*"))
    for i, path in enumerate(paths):
        shutil.move(path, os.path.join(out, os.path.basename(path)))
        sys.stdout.write("\r Moved [%d/%d]" % (i + 1, len(paths)))


def save_slides(slides, out):
    for i in range(len(slides)):
        name = os.path.basename(slides[i])
        np.save(os.path.join(out, name), load(slides[i]))
        sys.stdout.write(f"\r{i + 1} of {len(slides)}")


def number_slides(slides, out):
    for i in range(len(slides)):
        np.save(os.path.join(out, str(i)), load(slides[i]))


def slides_saved(d, out):
    slides = glob.glob(os.path.join(d, "*.svs"))
    save_slides(slides, out)
    number_slides(glob.glob(os.path.join(d, "*.svs")), out)  # DET203


# Patterns that are a name


def name_of_attribute(args, topic):
    args.encoded = os.path.join(args.out, f"encoded-{topic}.pkl")
    return glob.glob(args.encoded)


def pattern_of_attribute(args, topic):
    args.encoded = os.path.join(args.out, f"encoded-{topic}.pkl")
    if args.all:
        args.encoded = os.path.join(args.out, "encoded-*.pkl")
    return glob.glob(args.encoded)  # DET203


def name_of_branches(out, several):
    if several:
        path = os.path.join(out, "several.json")
    else:
        path = os.path.join(out, "one.json")
    return glob.glob(path)


def pattern_of_branches(out, several):
    if several:
        path = os.path.join(out, "*.json")
    else:
        path = os.path.join(out, "one.json")
    return glob.glob(path)  # DET203


def name_of_parts(d, x, y, ext):
    found = glob.glob(os.path.join(d, str(x), "{}_{}.".format(x, y) + ext))
    return found[0] if found else None


def pattern_of_parts(d, x, ext):
    return glob.glob(os.path.join(d, "{}_*.".format(x) + ext))[0]  # DET203


def pattern_of_parameter(d, path="*.json"):
    if d:
        path = os.path.join(d, "one.json")
    return glob.glob(path)  # DET203


# A helper that collects


def enter(entries, name):
    entry = {}
    entry["path"] = name
    entries.append(entry)


def entered(d, out):
    entries = []
    for name in os.listdir(d):  # DET203
        enter(entries, name)
    out.write(json.dumps(entries))


def enter_options(name, out):
    options = {}
    options["path"] = name
    np.save(os.path.join(out, name), options)


def entered_each(d, out):
    for name in os.listdir(d):
        enter_options(name, out)


class LoaderTest(FoldersTestCase):
    def test_all(self):
        for name in os.listdir("data"):  # possible DET203
            found.append(load(name))

    def _images(self):
        for path in glob.glob("*.png"):  # possible DET203
            yield load(path)


# Index loops over a length in a local, and lists that are sorted together


def bags_saved(d, out):
    bags = glob.glob(os.path.join(d, "*"))
    save_bags(bags, out)
    save_bag_numbers(glob.glob(os.path.join(d, "*")), out)  # DET203


def save_bags(bags, out):
    count = len(bags)
    for i in range(0, count):
        found = []
        for part in sorted(os.listdir(bags[i])):
            found.append(load(part))
            sys.stdout.write(f"\r{i + 1} of {count}")
        np.save(os.path.join(out, bags[i]), found)


def save_bag_numbers(bags, out):
    count = len(bags)
    for i in range(0, count):
        np.save(os.path.join(out, f"{i}.npy"), load(bags[i]))


def sorted_together(d, known):
    names, paths = [], []
    for path in Path(d).rglob("*.wav"):
        names.append(path.stem)
        paths.append(path)
    texts = [known[name] for name in names]
    return [each for each in sorted(zip(names, paths, texts), key=lambda row: row[0])]


def sorted_by_length(d):
    names, paths = [], []
    for path in Path(d).rglob("*.wav"):  # DET203
        names.append(path.stem)
        paths.append(path)
    return sorted(zip(names, paths), key=lambda row: len(row[0]))


def name_of_a_level(d, levels, x):
    return glob.glob(os.path.join(d, str(levels[1]), "{}.png".format(x)))


def pattern_of_a_level(d, patterns):
    return glob.glob(os.path.join(d, patterns[1], "one.png"))  # DET203


# Rows of a walk


def rows_of_walk(d):
    found = []
    rows = [(top, names) for top, _, names in os.walk(d)]
    rows = sorted(rows)
    for top, names in rows:
        for name in sorted(names):
            found.append(os.path.join(top, name))
    return found


def rows_of_walk_unsorted(d):
    found = []
    rows = [(top, names) for top, _, names in os.walk(d)]  # DET203
    for top, names in rows:
        for name in sorted(names):
            found.append(os.path.join(top, name))
    return found


def names_in_rows_of_walk(d):
    found = []
    rows = [(top, names) for top, _, names in os.walk(d)]  # DET203
    rows.sort()
    for top, names in rows:
        for name in names:
            found.append(os.path.join(top, name))
    return found


def rows_of_walk_returned(d):
    rows = [(top, names) for top, _, names in os.walk(d)]  # DET203
    return sorted(rows)


def decode_each(d, out):
    names = os.listdir(d)
    for index in tqdm(range(len(names)), desc="decoding"):
        save(decode(os.path.join(d, names[index])), os.path.join(out, names[index]))


def first_is_unused(d):
    names = os.listdir(d)
    default = ""
    if names:
        default = names[0]
    return len(names)


def listed_with_folder(d):
    return os.listdir(d), d  # DET203


def numbered_of_two(d):
    names, folder = listed_with_folder(d)
    return {name: index for index, name in enumerate(names)}, folder


# Files that functions of libraries write, one for each element


def waves(d, out):
    for path in glob.glob(d + "/*.wav"):
        rate, wave = wavfile.read(path)
        wavfile.write(os.path.join(out, os.path.basename(path)), rate, wave)
    for path in glob.glob(d + "/*.nii"):
        SimpleITK.WriteImage(SimpleITK.ReadImage(path), path.replace("nii", "mha"))
    for path in glob.glob(d + "/*.wav"):  # DET203
        wavfile.write(path)
    for path in glob.glob(d + "/*.wav"):  # DET203
        out.write(os.path.join("a", path), 1)


def appended_to_parts_of_names(d):
    for path in glob.glob(d + "/*"):
        open(os.path.splitext(path)[0] + ".log", "a").write(path)
    for path in glob.glob(d + "/*"):
        open(os.path.join(d, os.path.basename(path)[:-4] + ".log"), "a").write(path)
    for path in glob.glob(d + "/*"):
        open(os.path.join(d, os.path.split(path)[-1]), "a").write(path)
    for path in glob.glob(d + "/*"):  # DET203
        open(os.path.join(d, os.path.basename(path)[:5]), "a").write(path)
    for path in glob.glob(d + "/*"):  # DET203
        open(os.path.join(d, path.split("_")[0]), "a").write(path)


# Attributes that the method which fills them reads, too


class Runs:
    def __init__(self, folder):
        self.runs = glob.glob(folder + "/run_*")
        self.last = max(int(each.split("_")[-1]) for each in self.runs)
        self.logs = glob.glob(folder + "/*.log")  # DET203
        self.count = len(self.others) if folder else 0


# Keys stand in the order in which they were met, also where what they lead to is sorted


def sorted_groups(d, out):
    groups = defaultdict(list)
    for path in glob.glob(d + "/*/a.csv"):  # DET203
        groups[os.path.dirname(path)].append(path)
    for each in groups:
        groups[each].sort()
    out.writelines([f"{each}\n" for each in groups])


def sorted_groups_looked_up(d, names):
    groups = defaultdict(list)
    for path in glob.glob(d + "/*/a.csv"):
        groups[os.path.dirname(path)].append(path)
    for each in groups:
        groups[each].sort()
    return [groups[name] for name in names]


def listed_by_a_library(d, own):
    rows = {path: {"wav": path} for path in get_all_files(d, match_and=[".wav"])}  # DET203
    json.dump(rows, open("train.json", "w"))
    return own.get_all_files(d)


# What a loop leaves in its own variable


def returns_the_last(folder):
    for name in os.listdir(folder):  # DET203
        print("found", name)
    return name


def links_the_last(folder):
    names = os.listdir(folder)  # DET203
    for name in names:
        print("found", name)
    os.system(f"ln -s {name} newest")


def keeps_where_it_stopped(folder):
    for path in Path(folder).iterdir():  # DET203
        if path.stat().st_size > 100:
            break
    return path


def last_of_each(folder, last):
    for root, _, files in os.walk(folder):  # DET203
        for name in files:
            print(name)
        last[root] = name


def says_the_last(folder):
    for name in os.listdir(folder):
        print(name)
    print("last", name)


def uses_the_name_again(folder, out):
    for name in os.listdir(folder):
        print(name)
    for name in sorted(os.listdir(folder)):
        out.append(name)
    return name


def binds_the_name_again(folder):
    for name in os.listdir(folder):
        print(name)
    name = "all"
    return name


def deletes_the_name(folder):
    for name in os.listdir(folder):
        print(name)
    del name


def seeks_one(folder, wanted):
    for name in os.listdir(folder):
        if name == wanted:
            break
    else:
        raise FileNotFoundError(wanted)
    return name


# Sorted by the places that argsort gives


def sorts_by_argsort(folder):
    names = np.array(os.listdir(folder))
    yield names[np.argsort(names)]
    yield names[names.argsort()[::-1]]
    rows = [{"id": name, "row": load(name)} for name in os.listdir(folder)]
    yield np.array(rows)[np.argsort([row["id"] for row in rows])]
    yield [rows[i] for i in np.argsort([row["id"] for row in rows])]


def sorts_by_a_column(folder):
    rows = []
    for name in os.listdir(folder):
        rows.append({"id": name, "row": load(name)})
    keys = column_of(rows, "id")
    return np.array(rows)[np.argsort(keys)]


def leaves_equals(folder):
    names = np.array(os.listdir(folder))  # DET203
    return names[np.argsort([len(name) for name in names])]


def sorts_by_others(folder, sizes):
    names = np.array(os.listdir(folder))  # DET203
    return names[np.argsort(sizes)]


def total_size(path):
    total = 0
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir():
                total += total_size(entry.path)
            else:
                total += entry.stat().st_size
    return total


def total_of_names(path):
    total = 0
    for name in os.listdir(path):
        inner = os.path.join(path, name)
        total += total_of_names(inner) if os.path.isdir(inner) else os.lstat(inner).st_size
    return total


def total_loss(path):
    total = 0
    for entry in os.scandir(path):  # DET203
        total += total_loss(entry.path) if entry.is_dir() else loss_of(entry)
    return total


def newest(path):
    total = 0
    for entry in os.scandir(path):  # DET203
        total += entry.stat().st_mtime
    return total


# A dict in an attribute, whose keys stand in the order in which they came


class Subjects:
    def __init__(self, folder):
        self.scans, self.read_again = {}, {}
        self.by_name, self.known = {}, {"a": 1}
        for name in os.listdir(folder):  # DET203
            self.scans[name] = load(name)
        for name in os.listdir(folder):
            self.by_name[name] = load(name)
        for name in os.listdir(folder):
            self.known[name] = load(name)

    def train(self):
        for name, scan in self.scans.items():
            fit(scan)

    def find(self, name):
        fit(list(self.known.values()))
        return self.by_name[name]


class SortedSubjects:
    def __init__(self, folder):
        self.scans = {}
        for name in os.listdir(folder):
            self.scans[name] = load(name)

    def train(self):
        for name in sorted(self.scans):
            fit(self.scans[name])


class Replaced:
    def __init__(self, modules, folder):
        self.modules = dict(modules)
        for name in os.listdir(folder):
            self.modules[name] = compiled(self.modules[name])

    def train(self):
        for name in self.modules:
            fit(self.modules[name])


# Tables of pandas


def sorts_a_table(folder):
    rows = []
    for name in os.listdir(folder):
        rows.append((name, load(name)))
    table = pandas.DataFrame(rows, columns=["name", "row"])
    table.sort_values(by="name", inplace=True)
    return table


def sorts_it_turned(folder):
    scores = {}
    for name in os.listdir(folder):
        scores[name] = load(name)
    table = pandas.DataFrame(scores).transpose()
    return table.sort_index()


def sorts_a_copy(folder):
    rows = []
    for name in os.listdir(folder):  # DET203
        rows.append((name, load(name)))
    table = pandas.DataFrame(rows, columns=["name", "row"])
    table.sort_values(by="name", inplace=False)
    return table


def leaves_it_turned(folder):
    scores = {}
    for name in os.listdir(folder):  # DET203
        scores[name] = load(name)
    return pandas.DataFrame(scores).transpose()


# Steps of training


def trains_on_each(folder, model, optimizer):
    for name in os.listdir(folder):  # DET203
        optimizer.zero_grad()
        loss = model(load(name)).sum()
        loss.backward()
        optimizer.step()


def trains_one_for_each(folder):
    for name in os.listdir(folder):
        model = build(name)
        optimizer = torch.optim.SGD(model.parameters())
        model(load(name)).sum().backward()
        optimizer.step()
        torch.save(model, name)


def take_step(model, optimizer, rows):
    model(rows).sum().backward()
    optimizer.step()


def trains_by_steps(folder, model, optimizer):
    for name in os.listdir(folder):  # DET203
        take_step(model, optimizer, load(name))


class Trains:
    def run(self, folder):
        for name in os.listdir(folder):  # DET203
            self.model(load(name)).backward()
            self.optimizer.step()


def last_epoch(folder):
    paths = glob.glob(os.path.join(folder, "epoch_*"))
    epochs = []
    for path in paths:
        epochs.append(int(path.rpartition("_")[2]))
    last = np.argmax(epochs)
    return paths[last], epochs[int(last)]


def newest_version(folder):
    names = os.listdir(folder)
    versions = []
    for name in names:
        if "-" in name:
            versions.append(int(name.partition("-")[2]))
        else:
            versions.append(0)
    return names[np.argmax(versions)]


def largest_but_aside(folder):
    names = os.listdir(folder)  # DET203
    sizes = []
    for name in names:
        if name.endswith(".txt"):
            continue
        sizes.append(os.path.getsize(name))
    return names[np.argmax(sizes)]


def of_one_kind(folder):
    kinds = {}
    for name in os.listdir(folder):
        kinds.setdefault(name.rpartition(".")[2], []).append(name)
    if len(kinds) > 1:
        raise ValueError(", ".join(kinds.keys()))
    kind = list(kinds.keys())[0]
    names = kinds[kind]
    names.sort()
    return names, kind


def of_any_kind(folder):
    kinds = {}
    for name in os.listdir(folder):  # DET203
        kinds.setdefault(name.rpartition(".")[2], []).append(name)
    kind = list(kinds.keys())[0]
    names = kinds[kind]
    names.sort()
    return names, kind


def variants(stem):
    return [stem, stem.replace("_pred", "")]


def by_variants(folder):
    found = {}
    files = []
    for pattern in ("*.tif", "*.png"):
        files.extend(Path(folder).glob(pattern))  # DET203
    for path in files:
        for each in variants(path.stem):
            if each not in found:
                found[each] = str(path)
    return found


def by_prefix(folder):
    found = {}
    for path in Path(folder).glob("*.tif"):  # DET203
        key = path.stem.split("_")[0]
        if key not in found:
            found[key] = str(path)
    return found


def by_prefix_passed(folder):
    found = {}
    for name in listdir(folder):  # DET203
        key = name[:4]
        if key in found:
            continue
        found[key] = name
    return found


def by_prefix_written_twice(folder):
    found = {}
    for name in listdir(folder):  # DET203
        if name[:4] not in found:
            found[name[:4]] = name
    return found


def by_first_part_written_twice(folder):
    found = {}
    for name in listdir(folder):  # DET203
        if not found.get(name.split("_")[0]):
            found[name.split("_")[0]] = name
    return found


def by_another_part(folder):
    found = {}
    for name in listdir(folder):
        if name.split("_")[-1] not in found:
            found[name.split("_")[0]] = name
    return found


def by_prefix_looked_up(folder):
    found = {}
    for name in listdir(folder):  # DET203
        key = name[:4]
        known = found.get(key)
        if known is None:
            found[key] = name
    return found


def by_prefix_where_none_is(folder):
    found = {}
    for name in listdir(folder):  # DET203
        key = name[:4]
        if not found.get(key):
            found[key] = name
    return found


def of_key_alone_looked_up(folder):
    sizes = {}
    for name in listdir(folder):
        key = name[:4]
        if sizes.get(key) is None:
            sizes[key] = len(key)
    return sizes


def by_prefix_default(folder):
    found = {}
    for name in listdir(folder):  # DET203
        found.setdefault(name[:4], name)
    return found


def by_stem(folder):
    found = {}
    for name in listdir(folder):
        found[os.path.splitext(name)[0]] = name
    return found


def refuses_equals(folder):
    found = {}
    for name in listdir(folder):
        key = name[:4]
        if key in found:
            raise ValueError(f"{name} and {found[key]}")
        found[key] = name
    return found


def of_key_alone(folder):
    sizes = {}
    for name in listdir(folder):
        key = name[:4]
        if key not in sizes:
            sizes[key] = len(key)
    return sizes


def only_told(folder):
    first = {}
    for name in listdir(folder):
        key = name[:4]
        if key not in first:
            first[key] = name
        else:
            print(f"{name} and {first[key]} are alike")
    return len(first)


def begins(folder):
    found = {}
    for name in listdir(folder):
        key = name[:4]
        if key not in found:
            found[key] = []
        found[key].append(name)
    return {key: sorted(names) for key, names in found.items()}


def cached(folder, cache):
    for name in listdir(folder):
        if name not in cache:
            cache[name] = open(name).read()


def adds_up_a_worklist(folder):
    paths = glob.glob(folder + "/*.npy")  # DET203
    total = None
    while len(paths) > 0:
        array = np.load(paths.pop())
        total = array if total is None else total + array
    return total


def removes_a_worklist(folder):
    paths = listdir(folder)
    while paths:
        os.remove(paths.pop())


def walks_a_worklist(folder):
    paths, count = listdir(folder), 0
    while len(paths) > 0:
        path = paths.pop()
        if os.path.isdir(path):
            paths.extend(listdir(path))
        count += 1
    return count


def size_of_a_folder(folder):
    total = 0
    for path in Path(folder).rglob("*"):
        if path.is_file():
            total += path.stat().st_size
    return total


def size_of_entries(folder):
    total = 0
    with scandir(folder) as entries:
        for entry in entries:
            total += entry.stat().st_size if entry.is_file() else size_of_entries(entry.path)
    return total


def age_of_a_folder(folder):
    total = 0.0
    for path in Path(folder).rglob("*"):  # DET203
        total += path.stat().st_mtime
    return total


def last_time(folder):
    last = None
    for path in Path(folder).glob("*.parquet"):
        own = load(path).last
        last = max(last, own) if last is not None else own
    return last


def last_time_of_branches(folder):
    last, name = None, None
    for path in Path(folder).glob("*.parquet"):
        own = load(path).last
        if last is None:
            last = own
        else:
            last = max(last, own)
    return last, name


def last_path(folder):
    last, seen = None, None
    for path in Path(folder).glob("*.parquet"):  # DET203
        own = load(path).last
        last = max(last, own) if last is not None else own
        seen = path
    return last, seen


def best_epochs(folder, count):
    scores = []
    for name in find(folder + "/*.json"):
        told = json.load(open(name))
        if told["epoch"] > 3:
            scores.append((told["epoch"], told["loss"]))
    scores = np.array(scores)
    best = scores[np.argsort(-scores[:, 1])]
    return best[:count, 0]


def first_epochs(folder, count):
    scores = []
    for name in find(folder + "/*.json"):  # DET203
        told = json.load(open(name))
        scores.append((told["epoch"], told["loss"]))
    return np.array(scores)[:count, 0]


def all_epochs(folder):
    scores = []
    for name in find(folder + "/*.json"):  # DET203
        told = json.load(open(name))
        scores.append((told["epoch"], told["loss"]))
    scores = np.array(scores)
    return scores[:, 0]


# Loops that end at the first of a kind


def tells_which_one_is_wrong(d):
    wrong = []
    for name in os.listdir(d):  # DET203
        if not name.endswith(".png"):
            wrong.append(name)
            break
    return wrong


def counts_up_to_one_that_is_wrong(d):
    right = []
    for name in os.listdir(d):  # DET203
        if not name.endswith(".png"):
            break
        right.append(name)
    return len(right)


# What is put under a key, unless that is taken


def keeps_the_first_of_a_kind(d, file, load):
    for name in os.listdir(d):  # DET203
        kind = name.split("_")[0]
        if kind not in file:
            file.create_dataset(kind, data=load(name))


def keeps_one_for_each(d, file, load):
    for name in os.listdir(d):
        if name not in file:
            file.create_dataset(name, data=load(name))


def refuses_two_of_a_kind(d, file, load):
    for name in os.listdir(d):
        kind = name.split("_")[0]
        if kind in file:
            raise ValueError(name)
        file.create_dataset(kind, data=load(name))


class ExtendedInTheConstructor:
    def __init__(self, folders):
        self.names = []
        for folder in folders:
            names = os.listdir(folder)  # DET203
            self.names.extend([os.path.join(folder, name) for name in names])

    def __getitem__(self, index):
        return self.names[index]


class FilledWithADeclaredType:
    def __init__(self, folder):
        self.names: list[str] = []
        for name in os.listdir(folder):  # DET203
            self.names.append(name)


class FilledWithADeclaredTypeAndSorted:
    def __init__(self, folder):
        self.names: list[str] = []
        for name in os.listdir(folder):
            self.names.append(name)
        self.names.sort()


class ExtendedAndSorted:
    def __init__(self, folder):
        self.names = []
        self.names.extend(os.listdir(folder))
        self.names.sort()

    def __getitem__(self, index):
        return self.names[index]


class ExtendedForThoseThatDerive(Unseen):
    def __init__(self, folder):
        self.names = []
        self.names.extend(os.listdir(folder))  # DET203


class ExtendedLater:
    def __init__(self):
        self.names = []

    def add(self, folder):
        self.names.extend(os.listdir(folder))  # DET203

    def draw(self):
        return random.choice(self.names)


class ReadInAnyOrder:
    def __init__(self):
        self.names = []

    def add(self, folder):
        self.names.extend(os.listdir(folder))

    def add_each(self, folder):
        for name in os.listdir(folder):
            self.names.append(name)

    def all(self):
        return sorted(self.names)


def extends_a_part(folder):
    parts = {"train": []}
    parts["train"].extend(os.listdir(folder))  # DET203
    return parts


def extends_a_sorted_part(folder):
    parts = {"train": []}
    parts["train"].extend(os.listdir(folder))
    parts["train"].sort()
    return parts


def exact_sums(folder):
    sizes = [os.path.getsize(each) for each in glob.glob(folder)]
    print(statistics.mean(size * 3 for size in sizes), statistics.median(sizes), math.fsum(sizes))
    return statistics.stdev(sizes)


def most_frequent(folder):
    return statistics.mode(os.path.getsize(each) for each in glob.glob(folder))  # DET203


# Lists of listings


def chained_by_name(d, f):
    first = glob.iglob(f"{d}/*.a")
    second = glob.iglob(f"{d}/*.b")
    return sorted(itertools.chain(first, second))


def chained_in_a_list(d):
    parts = [Path(d).rglob("*.a"), Path(d).rglob("*.b")]
    return sorted(itertools.chain.from_iterable(parts))


def chained_and_not_sorted(d):
    parts = [Path(d).rglob("*.a"), ()]  # DET203
    return list(itertools.chain.from_iterable(parts))


def chain_all(several):
    all_of_them = itertools.chain()
    for each in several:
        all_of_them = itertools.chain(all_of_them, each)
    return all_of_them


def chained_by_a_helper(d):
    first, second = glob.iglob(f"{d}/*.a"), glob.iglob(f"{d}/*.b")
    return sorted(chain_all([first, second]))


def chained_by_a_helper_and_not_sorted(d):
    first = glob.iglob(f"{d}/*.a")  # DET203
    return list(chain_all([first]))


def chained_by_what_is_not_here(d, lib):
    first = glob.iglob(f"{d}/*.a")
    second = glob.iglob(f"{d}/*.b")  # DET203
    lib.show_all([second])
    return sorted(lib.flatten_all([first]))


def unpacked_again(d):
    names, sizes = numbered([os.listdir(d), []])
    return sorted(names), len(sizes)


def numbered(pair):
    return pair


def parts_in_turn(d):
    for kind, names in [("a", os.listdir(d)), ("b", sorted(os.listdir(d)))]:
        print(kind[0], len(names), max(names))


def parts_in_turn_whose_first_counts(d):
    for kind, names in [("a", os.listdir(d)), ("b", [])]:  # DET203
        yield kind, names[0]


def rows_in_a_list_of_lists(d):
    table = [[os.listdir(d)], []]  # DET203
    table.sort()
    return table[0][0]


def keeps_what_is_given(names):
    found = []
    found.extend(names)
    return found


def given_to_one_that_sorts_and_one_that_does_not(d):
    yield sorted(keeps_what_is_given(os.listdir(d)))
    yield keeps_what_is_given(os.listdir(d))  # DET203


# What os.walk() gives first is the top folder


def names_of_the_top(top):
    return sorted([names for _, _, names in os.walk(top)][0])


def names_of_the_top_by_next(top):
    return sorted(next(names for _, _, names in os.walk(top)))


def names_of_the_top_in_their_order(top):
    return [names for _, _, names in os.walk(top)][0]  # DET203


def names_of_a_folder(top):
    return sorted([names for _, _, names in os.walk(top)][1])  # DET203


def names_of_the_first_that_has_some(top):
    return sorted([names for _, _, names in os.walk(top) if names][0])  # DET203


def sorted_one_by_one(folders):
    return [sorted(each) for each in [os.listdir(folder) for folder in folders]]


def collected_one_by_one(folders):
    return [list(each) for each in [os.listdir(folder) for folder in folders]]  # DET203


# Keys of which a part tells the elements of the outer listing apart


def index_of_all(root):
    found = {}
    for folder in Path(root).iterdir():
        for path in sorted(folder.iterdir()):
            found.setdefault((folder.name, path.name[:5]), path)
            found.setdefault(f"{folder.name}/{path.name[:5]}", path)
    return found["a", "b"], found["c"]


def index_of_all_by_less(root):
    found = {}
    for folder in Path(root).iterdir():  # DET203
        for path in sorted(folder.iterdir()):
            found.setdefault((folder.name[:3], path.name[:5]), path)
    return found["a", "b"]


def displayed(d, display):
    display(os.listdir(d))
    ic(os.listdir(d))
    resize(os.listdir(d))  # DET203


# What is added up, and only told


def sums_are_printed(folder):
    sums, names = [0, 0], os.listdir(folder)  # possible DET203
    for place in range(0, len(names)):
        sums[0] += read(folder, names[place])[0]
    sums[0] /= len(names)
    print("sums:", sums)


def sums_of_a_dict_are_printed(folder):
    sums = {"size": 0.0}
    for name in os.listdir(folder):  # possible DET203
        sums["size"] += read(folder, name)
    for key in sums:
        print(f"{key}: {sums[key]:.2f}")


def sums_are_returned(folder):
    sums = {"size": 0.0}
    for name in os.listdir(folder):  # DET203
        sums["size"] += read(folder, name)
    print(sums)
    return sums


def sums_are_written(folder):
    sums = [0.0]
    for name in os.listdir(folder):  # DET203
        sums[0] += read(folder, name)
    with open("sums.txt", "w") as file:
        file.write(str(sums))


def sums_decide(folder):
    sums = [0.0]
    for name in os.listdir(folder):  # DET203
        sums[0] += read(folder, name)
    if sums[0] > 0.5:
        os.remove(folder)


def sums_are_kept(folder, keep):
    total = 0.0
    for name in os.listdir(folder):  # DET203
        total += read(folder, name)
    keep(total)


def _mean(rows: list[dict[str, float]]):
    found = {}
    for key in list(rows[0].keys()):
        found[key] = np.nanmean([row[key] for row in rows]), len(rows)
    return found


def means_are_printed(folder):
    found = _mean([read(folder, name) for name in os.listdir(folder)])  # possible DET203
    found.update(size=0)
    print(f"{round(found['size'][0], 2)}")


def _weights(rows: list[dict[str, float]]):
    return {key: np.nanmean([row[key] for row in rows]) for key in rows[0].keys()}


def means_are_saved(folder):
    np.savez("weights", **_weights([read(folder, name) for name in os.listdir(folder)]))  # DET203


def ranked_by_number(folder, counts):
    for name in os.listdir(folder):  # possible DET203
        counts = counts.join(read(folder, name), on="word").select("word")
    counts.sort("number").write_csv("counts.csv")


def not_ranked(folder, counts):
    for name in os.listdir(folder):  # DET203
        counts = counts.join(read(folder, name), on="word").select("word")
    counts.write_csv("counts.csv")


def found_are_only_told(folder):
    found, bar = [], tqdm(os.listdir(folder))
    for name in bar:
        found.append(read(folder, name))
        bar.set_description(f"found {found[:5]}")
    debug(found)


# Digests that only tell whether something is as it was


def _digest_of(folder):
    digest = hashlib.md5()
    for name in os.listdir(folder):  # possible DET203
        digest.update(name.encode())
    return digest.hexdigest()


def sends_what_has_changed(folder, remote):
    digest = _digest_of(folder)
    if digest == remote.read():
        print(f"{digest[:8]} is there")
        return
    remote.send(folder)
    remote.write(digest)


def seeds_by_digest(folder, remote):
    digest = hashlib.md5()
    for name in os.listdir(folder):  # DET203
        digest.update(name.encode())
    if digest.hexdigest() != remote.read():
        random.seed(int(digest.hexdigest(), 16))


def keeps_digest(folder):
    digest = hashlib.md5()
    for name in os.listdir(folder):  # DET203
        digest.update(name.encode())
    return digest.hexdigest()


# Files in which people look up what happened


def notes_in_a_log(folder):
    with open(folder / "failures.log", "a") as file:
        for name in os.listdir(folder):  # possible DET203
            file.write(f"{name}\n")


def notes_rows(folder, log_path):
    rows = csv.writer(log_path.open("w"))
    for name in os.listdir(folder):  # possible DET203
        rows.writerow([name, "done"])


def notes_all(folder, logf):
    logf.write("\n".join(os.listdir(folder)))  # possible DET203


def prints_to_a_log(folder, run):
    for name in os.listdir(folder):  # possible DET203
        print(name, file=run.log_file)


def writes_in_the_folder_of_logs(folder, log_dir):
    with open(os.path.join(log_dir, "names.txt"), "w") as file:
        for name in os.listdir(folder):  # DET203
            file.write(f"{name}\n")


def writes_to_a_catalogue(folder, catalog):
    for name in os.listdir(folder):  # DET203
        catalog.write(f"{name}\n")


def rows_of_a_data_base(root, engine, db):
    for path in Path(root).glob("*.txt"):  # DET203
        db.execute("INSERT INTO rows VALUES (?)", (path.read_text(),))
    for path in Path(root).glob("*.txt"):  # DET203
        db.sql("""INSERT INTO rows (text) SELECT ? FROM bins""", params=[path.read_text()])
    for path in Path(root).glob("*.csv"):  # DET203
        pandas.read_csv(path).to_sql("rows", engine, if_exists="append")
    for path in Path(root).glob("*.csv"):  # DET203
        pandas.read_csv(path).to_csv("all.csv", mode="a", header=False)
    for path in sorted(Path(root).glob("*.txt")):
        db.execute("INSERT INTO rows VALUES (?)", (path.read_text(),))
    for path in Path(root).glob("*.txt"):
        db.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", (path.name, path.read_text()))
    for path in Path(root).glob("*.txt"):
        db.execute("INSERT INTO rows VALUES (?) ON CONFLICT DO NOTHING", (path.name,))
    for path in Path(root).glob("*.txt"):
        db.execute("UPDATE rows SET seen = 1 WHERE name = ?", (path.name,))
    for path in Path(root).glob("*.csv"):
        pandas.read_csv(path).to_csv(path.with_suffix(".tsv"), mode="a")


def category_of_each_name(root):
    found = {}
    for category in listdir(root):  # possible DET203
        with open(os.path.join(root, category)) as lines:
            for line in lines:
                found[line.split()[0]] = category
    return found


def category_of_each_name_in_order(root):
    found = {}
    for category in sorted(listdir(root)):
        with open(os.path.join(root, category)) as lines:
            for line in lines:
                found[line.split()[0]] = category
    return found


def of_each_pair(root, wanted):
    found = {}
    for category in listdir(root):
        with open(os.path.join(root, category)) as lines:
            for line in lines:
                found[category, line] = category
    return [found[each] for each in wanted]


# What works on each element keeps the order, and sorting in place ends it


def named_and_sorted_in_place(d):
    names = np.array([name for name in os.listdir(d) if name])
    paths = np.vectorize(lambda name: f"{d}/{name}")(names)
    paths.sort()
    return paths


def named_by_a_kept_function(d):
    named = np.frompyfunc(os.path.basename, 1, 1)
    return np.char.add("x", named(os.listdir(d)))  # DET203


def sorted_over_itself(d):
    names = os.listdir(d)
    names[:] = sorted(names)
    for number, name in enumerate(names):
        save(number, name)


def a_part_sorted_over(d):
    names = os.listdir(d)  # DET203
    names[1:] = sorted(names)
    for number, name in enumerate(names):
        save(number, name)


def given_back_and_sorted(d):
    found = brought_in(os.listdir(d))  # possible DET203
    found.sort()
    for number, name in enumerate(sorted(brought_in(os.listdir(d)))):  # possible DET203
        save(number, name, found)


def given_back_and_shown_before_it_is_sorted(d):
    found = brought_in(os.listdir(d))  # DET203
    first = found[0]
    found.sort()
    return first, found


def parts_numbered_through_all(d):
    count = 0
    for name in os.listdir(d):  # DET203
        image = load(os.path.join(d, name))
        for row in range(image.height):
            image[row].save(f"{count}.png")
            count += 1


def parts_numbered_in_each(d):
    for name in os.listdir(d):
        image, count = load(os.path.join(d, name)), 0
        for row in range(image.height):
            image[row].save(f"{name}{count}.png")
            count += 1


class SaysHowMany:
    def __init__(self, folder):
        self.samples: list[tuple[str, int]] = []
        for path in Path(folder).rglob("*"):  # DET203
            self.samples.append((str(path), 0))
        print(f"{len(self.samples)} samples")

    def __getitem__(self, index):
        path, label = self.samples[index]
        return np.load(path), label


class OnlyShows:
    def __init__(self, folder):
        self._shown = []
        for path in Path(folder).rglob("*"):
            self._shown.append(path)
        print(self._shown)


# What a call does not turn on does not run


def _logged(paths, shapes=None, *, numbered=False):
    if shapes:
        for path, shape in zip(paths, shapes):
            logger.info(path, shape)
            save(path, shape)
    if not numbered:
        return
    for number, path in enumerate(paths):
        save(number, path)


def logged_without_more(d):
    _logged(os.listdir(d))
    _logged(os.listdir(d), None)
    _logged(os.listdir(d), load(d))  # DET203
    _logged(os.listdir(d), numbered=True)  # DET203
    _logged(os.listdir(d), **load(d))  # DET203


def displayed(d):
    names = os.listdir(d)  # possible DET203
    names[:10]


# Two lists of the same files, one of them made anew in a branch: the pairs belong together.
def copied(folder: str, below: str) -> None:
    whole = [os.path.join(folder, name) for name in os.listdir(folder)]
    part = [os.path.relpath(path, folder) for path in whole]
    if below:
        part = [os.path.join(below, path) for path in part]
    for source, target in zip(whole, part):
        shutil.copyfile(source, target)


def paired(folder: str, below: str, given: list[str]) -> None:
    whole = [os.path.join(folder, name) for name in os.listdir(folder)]  # DET203
    part = [os.path.relpath(path, folder) for path in whole]
    if below:
        part = given
    for source, target in zip(whole, part):
        shutil.copyfile(source, target)


# What is added to a list is judged by what becomes of that.
def moved(folder: str) -> None:
    found: list[str] = []
    for top, _, names in os.walk(folder):
        found += [os.path.join(top, name) for name in sorted(names)]
    for path in found:
        shutil.move(path, f"{path}.old")


def first_moved(folder: str) -> None:
    found: list[str] = []
    for top, _, names in os.walk(folder):  # DET203
        found += [os.path.join(top, name) for name in sorted(names)]
    shutil.move(found[0], "first")


def each_alone(source: str, target: str, whole: bool) -> None:
    if whole:
        names = os.listdir(source)
        before = [os.path.join(source, name) for name in names]
        after = [os.path.join(target, name) for name in names]
    else:
        before, after = [source], [target]
    for one, other in zip(before, after):
        shutil.copyfile(one, other)


def of_two_listings(source: str, target: str, whole: bool) -> None:
    if whole:
        before = [os.path.join(source, name) for name in os.listdir(source)]  # DET203
        after = [os.path.join(target, name) for name in sorted(os.listdir(target))]
    else:
        before, after = [source], [target]
    for one, other in zip(before, after):
        shutil.copyfile(one, other)


def names_of_classes(folder):
    return dict(enumerate(os.listdir(folder)))  # DET203


def sorted_later(folder):
    import pandas as pd

    table = pd.DataFrame([json.loads(path.read_text()) for path in Path(folder).glob("*")])
    for name in ["f1", "loss"]:
        table[name] = (table[name] * 100).round(2)
    table[["model", "f1"]].sort_values("model").to_csv("table.csv")


def never_sorted(folder):
    import pandas as pd

    table = pd.DataFrame([json.loads(path.read_text()) for path in Path(folder).glob("*")])  # DET203
    for name in ["f1", "loss"]:
        table[name] = (table[name] * 100).round(2)
    table[["model", "f1"]].to_csv("table.csv")


def columns_as_array(folder, net):
    import pandas as pd

    table = pd.DataFrame([json.loads(path.read_text()) for path in Path(folder).glob("*")])  # DET203
    net.fit(table[["model", "f1"]].values)


def rows_of_others(folder, table):
    table["x"] = [json.loads(path.read_text()) for path in Path(folder).glob("*")]  # DET203
    return table.sort_values("model")


# The place of a round among the others chooses a folder


def split_by_number(d, out, most):
    names = os.listdir(d)  # DET203
    for i, name in enumerate(names):
        split = "train" if i < most else "val"
        shutil.copy(os.path.join(d, name), os.path.join(out, split, name))
    for i in range(len(names)):
        if i % 10 == 0:
            folder = "test"
        else:
            folder = "train"
        shutil.copy(os.path.join(d, names[i]), os.path.join(out, folder, names[i]))


def split_after_a_shuffle(d, out, most):
    names = os.listdir(d)  # DET203
    random.seed(42)
    random.shuffle(names)
    for i, name in enumerate(names):
        shutil.copy(os.path.join(d, name), out + ("/train/" if i < most else "/val/") + name)


def split_by_count(d, out, most, train, val):
    count, kept = 0, []
    for name in os.listdir(d):  # DET203
        if count < most:
            shutil.copy(os.path.join(d, name), os.path.join(out, name))
        count += 1
    for name in os.listdir(d):  # DET203
        if len(kept) < most:
            os.rename(os.path.join(d, name), os.path.join(out, name))
            kept.append(name)
    for i, path in enumerate(Path(d).iterdir()):  # DET203
        if i < most:
            continue
        (Path(out) / path.name).write_text(path.read_text())
    for i, path in enumerate(Path(d).iterdir()):  # DET203
        (Path(out) / ("train", "val")[i % 2] / path.name).write_text(path.read_text())
    for i, name in enumerate(os.listdir(d)):  # DET203
        if i < most:
            train.add(name)
        else:
            val.add(name)


def balanced(d, out, most):
    counts, seen = {}, defaultdict(int)
    for name in os.listdir(d):  # DET203
        label = name.split("_")[0]
        counts[label] = counts.get(label, 0) + 1
        if counts[label] > most:
            continue
        shutil.copy(os.path.join(d, name), os.path.join(out, name))
    for name in os.listdir(d):  # DET203
        label = name.split("_")[0]
        if seen[label] < most:
            shutil.copy(os.path.join(d, name), os.path.join(out, name))
            seen[label] += 1


class Splitting:
    def copy(self, d, out, most):
        self.count = 0
        for name in os.listdir(d):  # DET203
            split = "train" if self.count < most else "val"
            shutil.copy(os.path.join(d, name), os.path.join(out, split, name))
            self.count += 1


def split_in_a_dict(d, most):
    split = {}
    for i, name in enumerate(os.listdir(d)):  # DET203
        split[name] = "train" if i < most else "val"
    chosen = {name for i, name in enumerate(os.listdir(d)) if i < most}  # DET203
    return split, chosen, {n: "a" if i < most else "b" for i, n in enumerate(os.listdir(d))}  # DET203


def _copied(source, target):
    shutil.copy(source, target)


def split_by_a_function(d, out, most):
    for i, name in enumerate(os.listdir(d)):  # DET203
        _copied(os.path.join(d, name), os.path.join(out, "a" if i < most else "b", name))
    for i, name in enumerate(os.listdir(d)):  # DET203
        if i < most:
            _copied(os.path.join(d, name), os.path.join(out, name))


# and here only what is told, or who works on it


def told_by_number(d, out, most, count, rank):
    errors = 0
    for i, name in enumerate(os.listdir(d)):
        if i % most == 0:
            print(i, name)
        if i % 100 == 0:
            gc.collect()
        shutil.copy(os.path.join(d, name), os.path.join(out, name))
    for i, name in enumerate(os.listdir(d)):
        if i % count != rank:
            continue
        shutil.copy(os.path.join(d, name), os.path.join(out, name))
    for name in os.listdir(d):
        shutil.copy(os.path.join(d, name), os.path.join(out, name))
        if not name.endswith(".wav"):
            errors += 1
            if errors > 10:
                raise ValueError(name)
    return {name for i, name in enumerate(os.listdir(d)) if i % count == rank}


def gathered_by_split(d):
    best = {"train": None, "val": None}
    for split in os.listdir(d):
        if best[split] is None:
            best[split] = [load(split)]
        else:
            best[split] += [load(split)]
    return sorted(best)


# Checkpoints of which the file writes one


def goes_on(kept_in, net):
    found = glob.glob(os.path.join(kept_in, "*.ckpt"))  # possible DET203
    net.load_state_dict(torch.load(found[0]))
    torch.save(net.state_dict(), os.path.join(kept_in, "last.ckpt"))


def goes_on_of_another(taken_from, net, number):
    found = glob.glob(os.path.join(taken_from, "*.ckpt"))  # DET203
    net.load_state_dict(torch.load(found[0]))
    torch.save(net.state_dict(), os.path.join(taken_from, f"{number}.ckpt"))


# Names that are looked up in the top folder are of no other one


def walked_flat(shape):
    images = np.empty(shape)
    at = 0
    for _, _, files in os.walk("images/"):
        files.sort()
        for name in files:
            images[at] = np.asarray(Image.open("images/" + name))
            at += 1
    return images


def walked_flat_by_join(top):
    rows = []
    for _ in range(4):
        for folder, folders, files in os.walk(top):
            for at in range(len(files)):
                rows.append(np.load(os.path.join(top, sorted(files)[at])))
    return rows


def walked_flat_unsorted(top):
    rows = []
    for _, _, files in os.walk(top):  # DET203
        for name in files:
            rows.append(np.load(f"{top}/{name}"))
    return rows


def walked_by_name(top):
    rows = []
    for _, _, files in os.walk(top):  # DET203
        for name in sorted(files):
            print(f"{top}/{name}")
            rows.append(name)
    return rows


def walked_with_folder(top):
    rows = []
    for folder, _, files in os.walk(top):  # DET203
        for name in sorted(files):
            rows.append((folder, np.load(top + name)))
    return rows


# Sums of what is true or false are whole


def counted_by_class(d, classes):
    counts = {each: 0 for each in classes}
    for name in os.listdir(d):
        image = cv2.imread(os.path.join(d, name), -1)
        for each in classes:
            counts[each] += np.sum(np.equal(image, each))
    return counts


def counted_by_method(d, classes):
    counts = {each: 0 for each in classes}
    for name in os.listdir(d):
        image = cv2.imread(os.path.join(d, name), -1)
        for each in classes:
            counts[each] += (image == each).sum().item()
    return counts


def summed_by_class(d, classes):
    sums = {each: 0 for each in classes}
    for name in os.listdir(d):  # DET203
        image = cv2.imread(os.path.join(d, name), -1)
        for each in classes:
            sums[each] += np.sum(np.sqrt(image + each))
    return sums


# A part of a name, which others may have as well


def sorted_by_part(d):
    names = os.listdir(d)  # possible DET203
    names.sort(key=lambda name: int(name[6:8]))
    return [np.load(os.path.join(d, name)) for name in names]


def sorted_by_rest(d):
    names = sorted(os.listdir(d), key=lambda name: int(name[6:-4]))
    others = sorted(os.listdir(d), key=lambda name: (name[:2], name))
    return [np.load(os.path.join(d, name)) for name in names + others]


# Containers that a loop fills, and what is asked of them


def words_until_enough(d):
    seen = set()
    for name in os.listdir(d):  # DET203
        seen.update(words_of(name))
        if len(seen) > 100:
            break
    return seen


def sizes_until_enough(d):
    sizes = {}
    for name in os.listdir(d):  # DET203
        sizes[name] = os.path.getsize(name)
        if len(sizes) > 100:
            break
    return sizes


def a_list_for_each(d, names):
    found = {name: [] for name in names}
    for name in os.listdir(d):
        found[name].append(load(name))
    return [each for rows in found.values() for each in rows]


def lists_by_part(d):
    found = {}
    for name in os.listdir(d):  # DET203
        found[name[:3]] = found.get(name[:3], [])
        found[name[:3]] += [name]
    return found


def first_by_part(d):
    found = {}
    for name in os.listdir(d):  # DET203
        if name[:3] not in found.keys():
            found[name[:3]] = name
    return [found[each] for each in sorted(found)]


def first_by_part_for_others(d, found):
    for name in os.listdir(d):  # DET203
        if name[:3] not in found:
            found[name[:3]] = name


def length_by_part(d):
    groups = defaultdict(list)
    for name in os.listdir(d):
        groups[name[:3]].append(name)
    return len(groups.get("abc"))


def but_the_first(d):
    names = os.listdir(d)  # DET203
    del names[0]
    return names


def with_another_key(d):
    found = {name: load(name) for name in os.listdir(d)}
    return {**found, "mean": mean_of(found)}["mean"]


def most_frequent_words(d):
    counts = Counter()
    for name in os.listdir(d):  # DET203
        counts.update(words_of(name))
    return sorted(counts.items(), key=lambda item: -item[1])


class Totals:
    def measured(self, d):
        for name in os.listdir(d):
            self.size += os.path.getsize(os.path.join(d, name))

    def added_up(self, d):
        for name in os.listdir(d):  # DET203
            self.mean += load(name).mean()


def only_asked_whether_there_is_one(d):
    last = None
    for name in os.listdir(d):
        last = name
    if last is None:
        raise ValueError(d)


def into_files(d, files):
    for name in os.listdir(d):  # DET203
        files[name[:3]].write(load(name))


def sorted_in_parts(d):
    groups = {"a": [], "b": []}
    for name in os.listdir(d):
        groups[name[:1]].append(name)
    for each in groups.values():
        each.sort()
    return [x for rows in groups.values() for x in rows]


def the_last_words(d):
    words = set()
    for name in os.listdir(d):  # DET203
        words = set(words_of(name))
    return words



def sorted_in_pairs(d, labels):
    return sorted(zip(os.listdir(d), labels))  # DET203


def asked_in_lower_case(d):
    return "readme" in " ".join(os.listdir(d)).lower()


# The largest of all is the same in any order, also where a loop in the loop looks for it


def newest(d):
    newest = -1
    for folder, _, names in os.walk(d):
        for name in names:
            number = int(name.split("_")[1])
            if number > newest:
                newest = number
    return newest


def last_of_a_walk(d):
    last = -1
    for folder, _, names in os.walk(d):  # DET203
        for name in names:
            last = int(name.split("_")[1])
    return last


def best_of_equals(folder, model):
    rows = [(model.score(name), name) for name in os.listdir(folder)]  # DET203
    return max(rows, key=lambda row: row[0])
