"""Cases of DET204."""

import itertools
import json
import os
import random
import re
import weakref
from collections import Counter, defaultdict
from enum import Enum, IntEnum
from operator import itemgetter
from pathlib import Path
from typing import Dict, FrozenSet, List, Literal, Optional, Set

import Levenshtein
import editdistance
import pandas as pd
import torch
import yaml
from tqdm import tqdm

# What people write: names made unique.


def list_of_set(labels: List[str]):
    classes = list(set(labels))  # DET204
    return {name: index for index, name in enumerate(classes)}


def in_order_of_addresses(layers: torch.nn.ModuleList, generator):
    registry = weakref.WeakSet(layers)
    for layer in registry:  # DET204
        layer.weight.add_(torch.randn(layer.weight.shape, generator=generator))


def tuple_of_set(labels: List[str]):
    return tuple(set(labels))  # DET204


def numbered(words: List[str]):
    return {word: index for index, word in enumerate(set(words))}  # DET204


def seeded_shuffle(paths: List[str], seed):
    unique = list(set(paths))  # DET204
    random.Random(seed).shuffle(unique)
    return unique


def seeded_sample(paths: List[str], seed):
    return random.Random(seed).sample(list(set(paths)), 10)  # DET204


def seeded_permutation(speakers: List[str]):
    names = list({speaker.lower() for speaker in speakers})  # DET204
    return [names[index] for index in torch.randperm(len(names))]


def vocabulary(lines):
    vocab = set()
    for line in lines:
        vocab.update(line.split())
    return {"<pad>": 0, **{word: number for number, word in enumerate(vocab, 1)}}  # DET204


def characters(text):
    chars = list(set(text.lower()))  # DET204
    return chars


def from_file(path):
    with open(path) as file:
        words = {line.strip() for line in file}
    return list(words)  # DET204


def loop_that_appends(labels: List[str]):
    found = []
    for label in set(labels):  # DET204
        found.append(label)
    return found


def loop_that_writes(file, labels: List[str]):
    for label in set(labels):  # DET204
        file.write(label)


def loop_that_prints(labels: List[str]):
    for label in {*labels}:
        print(label)


def loop_that_prints_to_a_file(labels: List[str], file):
    for label in {*labels}:  # DET204
        print(label, file=file)


def loop_that_yields(labels: List[str]):
    for label in set(labels):  # DET204
        yield label


def yields_from(labels: List[str]):
    yield from set(labels)  # DET204


def loop_that_numbers(labels: List[str]):
    index = {}
    for label in set(labels):  # DET204
        index[label] = len(index)
    return index


def loop_that_fills_a_dict_that_is_read(labels: List[str]):
    sizes = {}
    for label in set(labels):  # DET204
        sizes[label] = size_of(label)
    return [f"{label} {size}" for label, size in sizes.items()]


def loop_with_draws(labels: List[str]):
    return {label: random.random() for label in set(labels)}  # DET204


def comprehension(labels: List[str]):
    return [size_of(label) for label in set(labels)]  # DET204


def joined(labels: List[str]):
    return ", ".join(set(labels))  # DET204


def popped(labels: List[str]):
    names = set(labels)
    return names.pop()  # DET204


def first(labels: List[str]):
    return next(iter(set(labels)))  # DET204


def indexed(labels: List[str]):
    return list(set(labels))[0]  # DET204


def unpacked():
    left, right = {"train", "valid"}  # DET204
    return left, right


def starred(labels: List[str]):
    names = [*set(labels), "other"]  # DET204
    return names


def passed_as_arguments(labels: List[str]):
    return build(*set(labels))  # DET204


def extended(labels: List[str]):
    names = ["<pad>"]
    names.extend(set(labels))  # DET204
    names += set(labels)  # DET204
    return names


def mapped(labels: List[str]):
    return list(map(size_of, set(labels)))  # DET204


def chained(labels: List[str]):
    return list(itertools.islice(set(labels), 5))  # DET204


def with_progress(labels: List[str]):
    return [size_of(label) for label in tqdm(set(labels))]  # DET204


def floats_over_a_set(text: str, weights):
    return sum(float(weights[word]) for word in set(text.split()))  # DET204


# Ties.


def most_common(labels: List[str]):
    return max(set(labels), key=labels.count)  # DET204


def longest(labels: List[str]):
    return max(set(labels), key=len)  # DET204


def by_length(labels: List[str]):
    return sorted(set(labels), key=len)  # DET204


def by_count(labels: List[str], counts: Dict[str, int]):
    return sorted(set(labels), key=lambda label: -counts[label])  # DET204


def by_length_and_name(labels: List[str]):
    return sorted(set(labels), key=lambda label: (len(label), label))


def by_natural_order(labels: List[str]):
    return sorted(set(labels), key=natural_key)


def by_place(labels: List[str], order: List[str]):
    return sorted(set(labels), key=order.index), sorted(set(labels), key=str.lower)


def by_length_for_a_set(labels: List[str]):
    return set(sorted(set(labels), key=len)), len(sorted(set(labels), key=len))


# What a set is made of.


def literal():
    return [size_of(name) for name in {"train", "test"}]  # DET204


def keys_of_dicts(left: Dict[str, int], right: Dict[str, int]):
    return [left[key] for key in left.keys() & right.keys()]  # DET204


def taken_away(found, state):
    return list(set(state.state_dict().keys()) - set(found))  # DET204


def taken_from_the_unknown(found):
    return list(found.keys() - {"epoch"})  # DET204


def union(labels: Set[str], more):
    return list(labels | more), list(labels.union(more))  # DET204 DET204


def annotated(labels: FrozenSet[str]):
    return list(labels)  # DET204


def optional(labels: Optional[Set[str]] = None):
    return list(labels or ()), [label for label in labels]  # DET204


def names_of_layers(model):
    names = {name for name, _ in model.named_modules()}
    return list(names)  # DET204


def class_names(model):
    return list({type(module).__name__ for module in model.modules()})  # DET204


def files(folder):
    return list({os.path.splitext(name)[0] for name in os.listdir(folder)} | {"readme"})  # DET204


def found_by_pattern(text):
    return list(set(re.findall(r"\w+", text)))  # DET204


def tuples(labels: List[str]):
    return list({(label, len(label)) for label in labels})  # DET204


def paths(names: List[str]):
    return list({Path(name) for name in names})  # DET204


def by_use(items):
    return [item for item in set(items) if item.startswith("train")]  # DET204


def by_name(file_names):
    return list(set(file_names))  # DET204


def keyword_names(**options):
    return list(options.keys() - {"seed"})  # DET204


class Split(Enum):
    TRAIN = 1
    TEST = 2


class Level(IntEnum):
    LOW = 1
    HIGH = 2


def enumeration():
    return [size_of(split) for split in {Split("train"), Split("test")}]  # DET204


def integer_enumeration():
    return [size_of(level) for level in {Level(1), Level(2)}]


# Numbers: their order does not vary from run to run.


def ints(rows):
    numbers = list(set(map(int, rows)))
    lengths = list({len(row) for row in rows})
    places = list(set(range(10)) - {3})
    literals = [size_of(number) for number in {1, 2, 3}]
    flags = list({True, False, None})
    return numbers, lengths, places, literals, flags


def annotated_ints(labels: List[int], ids: Set[int], table: Dict[int, str]):
    return list(set(labels)), list(ids), list(table.keys() - ids)


def counted(rows):
    seen = set()
    for index, row in enumerate(rows):
        seen.add(index)
    return list(seen)


def pairs_of_numbers(sizes: List[int]):
    return list({(size, 2 * size) for size in sizes})


def unknown(rows, labels, targets):
    return list(set(rows)), list(set(labels)), [x for x in set(targets)], set(rows).pop()  # possible DET204 DET204 DET204 DET204


def attribute_of_unknown(config):
    return list(set(config.labels)), {kind: 1 for kind in set(config.kinds)}  # possible DET204


def tensor_values(batch):
    return list(set(batch.tolist()))  # possible DET204


# Sorted, or without an order.


def sorted_at_once(labels: List[str]):
    return sorted(set(labels)), sorted(list(set(labels))), sorted(x for x in set(labels))


def rebound(labels: List[str]):
    labels = set(labels)
    labels = sorted(labels)
    return [size_of(label) for label in labels]


def sorted_in_place(labels: List[str]):
    names = list(set(labels))
    names.sort()
    return names


def sorted_after_the_loop(labels: List[str]):
    found = []
    for label in set(labels):
        found.append(size_of(label))
    found.sort()
    return found


def reduced(labels: List[str]):
    names = set(labels)
    return len(names), max(names), any(size_of(x) for x in names), Counter(names), "a" in names


def algebra(labels: List[str], others: Set[str]):
    names = set(labels) - others
    names |= {label.lower() for label in others}
    return names, {size_of(name) for name in names}, names <= others, frozenset(names)


def summed(labels: List[str]):
    return sum(len(label) for label in set(labels))


def only_looked_up(labels: List[str], rows):
    known = list(set(labels))
    return [row for row in rows if row in known]


def looked_up_dict(labels: List[str]):
    return {label: size_of(label) for label in set(labels)}


def counted_by_key(labels: List[str]):
    counts = defaultdict(int)
    for label in set(labels):
        counts[label] += 1
    return counts


def errors(labels: List[str], known: List[str]):
    missing = set(labels) - set(known)
    for name in missing:
        if name.startswith("_"):
            raise ValueError(name)
    for name in missing:
        assert name not in known
    if missing:
        raise ValueError(f"missing: {', '.join(missing)}")
    assert not missing, list(missing)


def deleted(table, labels: List[str]):
    for label in set(labels):
        del table[label]
    for label in set(labels):
        table.pop(label)
    for label in set(labels):
        os.remove(label)


def only_one(labels: List[str]):
    names = set(labels)
    if len(names) == 1:
        return names.pop()
    assert len(names) == 1
    return next(iter(names)), list(names)[0]


def single():
    return list({"only"}), wrap(layer_classes={Split})


def added_to_a_set(labels: List[str], table):
    reached: Set[str] = set()
    for label in set(labels):
        reached.update(table[label])
    return reached


def worklist(start: str, graph):
    todo, seen = {start}, set()
    while todo:
        node = todo.pop()
        seen.add(node)
        todo |= graph[node] - seen
    return len(seen)


def each_by_itself(modules, labels: List[str]):
    for name in set(labels):
        modules[name] = torch.jit.script(modules[name])
    for name in set(labels):
        modules[name].load_state_dict(torch.load(name))


def dropped_columns(dataset, kept):
    return dataset.remove_columns(list(set(dataset.column_names) - set(kept)))


def parts_of_a_batch(batch, adapter_names: List[str]):
    unique = set(adapter_names)
    parts = [[i for i, name in enumerate(adapter_names) if name == each] for each in unique]
    for number, name in enumerate(unique):
        batch[parts[number]] += size_of(name)
    return batch


def passed_on(labels: List[str]):
    return build(set(labels)), {"labels": set(labels)}


def membership(name):
    return name in {"train", "test"} or name in set(os.environ)


# Sets that functions share.

SPLITS = {"train", "valid", "test"}
SIZES = {32, 64}
ALLOWED = {"a", "b"}


def splits():
    return list(SPLITS)  # DET204


def sizes():
    return list(SIZES)


def allowed(name):
    return name in ALLOWED


class Tokenizer:
    SPECIAL = {"<pad>", "<unk>"}

    def __init__(self, lines):
        self.words = set()
        self.ids: Set[int] = set()
        self.known: Set[str] = set()
        for line in lines:
            self.words.update(line.split())

    def index(self):
        return {word: number for number, word in enumerate(self.words)}  # DET204

    def everything(self):
        return list(self.words | self.SPECIAL)  # DET204

    def special(self):
        for word in self.SPECIAL:  # DET204
            yield word

    def numbers(self):
        return list(self.ids)

    def is_known(self, word):
        return word in self.known

    def in_order(self):
        return sorted(self.words)


class Other:
    def __init__(self, words):
        self.words = words

    def index(self):
        return list(self.words)


def taken_away_one_by_one(dataset, unwanted: Set[str], text):
    for column in unwanted:
        dataset = dataset.remove_columns(column)
    for mark in unwanted:
        text = text.replace(mark, "")
    return dataset, text


def replaced_one_by_one(text, marks: Set[str], names):
    for mark in marks:  # DET204
        text = text.replace(mark, names[mark])
    return text


def pairs_sorted_again(labels: List[str], paths: Set[str]):
    return sorted(zip(paths, [size_of(path) for path in paths]))


def named_by_the_loop(tokenizer, line):
    return [word for word in set(tokenizer.cut(line))]  # DET204


# What is listed for people to read.


class Vocabulary:
    def __init__(self, words: Set[str]):
        self.words = frozenset(words)

    def __repr__(self):
        return f"Vocabulary({', '.join(self.words)})"

    def save(self, file):
        file.write("\n".join(self.words))  # DET204


def messages(click, msg, parser, found: Set[str], expected: Set[str]):
    print(", ".join(found), list(found))
    click.echo(", ".join(found))
    msg.info("found", list(found))
    parser.add_argument("--split", help=", ".join(found))
    missing_keys = list(expected - found)
    unexpected_keys = list(found - expected)
    return missing_keys, unexpected_keys


def added_though_missing(table, found: Set[str], expected: Set[str]):
    missing = expected - found
    for name in missing:  # DET204
        table.append(name)
    return table


# What is handed to functions that cannot be seen: data are, and most others look things up.


def handed_on(tokenizer, trainer, index, model, words: Set[str]):
    tokenizer.add_tokens(list(words))  # DET204
    trainer.train_on(list(words))  # DET204
    model.save("model", separately=list(words))  # possible DET204
    index.clean_up(list(words))  # possible DET204
    dataset = model.features.select(*words)
    return dataset.select_columns(list(words))


def _lengths_of(words):
    return [size_of(word) for word in words]


def _are_known(words, table):
    return all(word in table for word in words)


def handed_on_in_the_file(words: Set[str], table):
    return _lengths_of(list(words)), _are_known(list(words), table)  # DET204


def in_common(left: Set[str], right: Set[str]):
    shared = left & right
    if not shared:
        return None
    return next(iter(shared)), list(left.intersection(right))[0], (left & right).pop()


_NUMBER_WORDS = list(set("one two three".split()))
_LETTERS = list(set("abcdefgh"))  # DET204


def like_number(text):
    return text in _NUMBER_WORDS or text.lower() in _NUMBER_WORDS


# Read far from where they are made.


def made_in_branches(lines, lower):
    words = (
        set(line.lower() for line in lines)
        if lower
        else set(line.strip() for line in lines)
    )
    others = words
    kept = others - {"the"}
    return [size_of(word) for word in kept]  # DET204


def several_lines(labels: List[str], others: Set[str]):
    return list(  # a comment
        set(labels)  # DET204
        .union(others)
    )


def named_in_a_loop(labels: List[str]):
    if (names := set(labels)) and len(names) > 2:
        return list(names)  # DET204
    return []


if SPLITS:
    LANGUAGES = {"de", "en", "fr"}


def languages():
    return [size_of(language) for language in LANGUAGES]  # DET204


def moved(options, root: str):
    for key in {"model_file", "dict_file"}:
        if options.get(key) is not None:
            options[key] = find_model(options.get("folder"), options[key], options["kind"])
    return options


def pairs_in_a_dict(words: Set[str]):
    found = {"".join(pair): pair[0] for pair in itertools.product(words, ".,")}
    return list(itertools.product(words, ".,")), found  # DET204


class Tables:
    fallback = {"train"}

    def __init__(self, labels: List[str], extensions: List[str], stop_words: List[str]):
        self.labels: Set[str] = set(labels)
        self.extensions = tuple(set(extensions))
        self.stop_words = list(set(stop_words))

    def one(self):
        if self.fallback and len(self.labels) == 1:
            return next(iter(self.labels))
        return next(iter(self.labels))  # DET204

    def convert(self):
        for label in self.labels:
            self[label] = self.size_of(self[label])
        return self


def single_in_a_local(model):
    kinds = {"2:4"}
    grown = {"2:4"}
    grown.add("1:2")
    for kind in kinds:
        model.append(kind)
    for kind in grown:  # DET204
        model.append(kind)


def refilled(model, other, labels: List[str]):
    state = model.state_dict()
    sizes = {"a": 1, "b": 2}
    for key in state.keys() & other.keys():
        state[key] = other[key]
    for label in set(labels):
        sizes[label] = size_of(label)
    return list(state), list(sizes)


def stop(labels: List[str]):
    stop_words = list(set(labels))
    return {"stop": list(set(labels)), "words": [size_of(word) for word in stop_words]}


def told(logger, json, found: Set[str], expected: Set[str], reasons):
    strange = found - expected
    if strange:
        logger.warning("strange: %s", list(strange))
        logger.info(f"strange: {[name.upper() for name in strange]}")
        raise ValueError(
            "strange: " + ", ".join(name.upper() for name in strange)
        )
    reasons.append(f"strange: {list(strange)}")
    return json.dumps({name: 1 for name in found}, sort_keys=True)


def processed(data, transform):
    for name in set(data.keys()) & {"image", "mask"}:
        data[name] = transform(data, name)
    return data


def numbered_by_the_largest(data, labels: Set[str]):
    for label in labels:  # DET204
        data[label] = max(data.values()) + 1
    return data


def with_none(names: Set[Optional[str]], flags: Set[Optional[int]]):
    return list(names), list({"a", None}), list(flags), list({1, None})  # DET204 DET204


def _parts_of(names: Set[str]):
    for name in names:
        first, *rest = name.split(".")
        yield first
        yield from rest


def all_parts(names: Set[str]):
    found = set()
    found.update(_parts_of(names))
    return found | set(_parts_of(names))


def shortened_for_a_message(logger, model: dict[str, object], given: Set[str]):
    missing = set(model) - given
    shown = list(missing)[:5]
    if len(missing) > 5:
        shown.append("...")
    logger.warning("no weights for {} layers: {}".format(len(missing), shown))


def shortened_for_more(logger, given: Set[str]):
    shown = list(given)[:5]  # DET204
    shown.append("...")
    logger.warning(shown)
    return shown


def masked(arrays: dict[str, np.ndarray], keys: Set[str]):
    mask = np.ones(3, dtype=bool)
    for key in keys:
        mask = mask & ~np.isnan(arrays[key])
    return mask


# A set that another function made, or is given


def lines_of(path):
    found = set()
    for line in open(path):
        found.add(line.strip())
    return found


def number_lines(path):
    return {line: index for index, line in enumerate(lines_of(path))}  # DET204


def split_lines(path):
    return {line for line in open(path)}, 1


def listed_lines(path):
    lines, _ = split_lines(path)
    return list(lines)  # DET204


def find_tags(text, tags):
    found = []
    for tag in tags:
        found += find(text, tag)
    return found


def find_both(text):
    wanted = {"name", "place"}
    return find_tags(text, wanted)  # DET204


def knows(text, tags):
    return [word for word in text.split() if word in tags]


def known_words(text):
    wanted = {"name", "place"}
    return knows(text, wanted)


class Words:
    def __init__(self, path):
        self.words = set(open(path).read().split())


def number_words(path):
    return {word: index for index, word in enumerate(Words(path).words)}  # DET204


def most_frequent(texts: list[str], limit):
    counts = defaultdict(int)
    for text in texts:
        for word in set(text.split()):  # DET204
            counts[word] += 1
    return sorted(counts.items(), key=lambda item: -item[1])[:limit]


def by_number(texts: list[str]):
    numbers = {}
    for text in texts:
        for word in set(text.split()):
            numbers[word] = number_of(word)
    return sorted(numbers.items(), key=lambda item: item[1])


# A length that decides together with more


def one_size(sizes: set[str]):
    if len(sizes) != 1 or not sizes or next(iter(sizes)) == "":
        raise ValueError
    return next(iter(sizes))


def perhaps_one_size(sizes: set[str], known):
    if len(sizes) != 1 and known or next(iter(sizes)) == "":  # DET204
        raise ValueError


# What is in two sets is of the type of either


def chosen(names):
    scores = {"recall": 1, "precision": 2}
    return list(set(names).intersection(scores.keys()))  # DET204


def chosen_numbers(names):
    return list(set(names).intersection({1, 2})), list(set(names) & {1, 2})


# Attributes of base classes and of those that derive from them


class Drawing:
    shapes = None

    def draw_one(self, generator):
        return self._marks[generator.integers(len(self._marks))]

    def draw_all(self, out):
        for shape in self.shapes:  # DET204
            out.append(shape)

    def has(self, mark):
        return mark in self._known


class Sketch(Drawing):
    def __init__(self, lines):
        self._marks = list({line.strip() for line in lines})  # DET204
        self._known = list({line.strip() for line in lines})
        self.shapes = {line.split(":")[0] for line in lines}


class Catalog:
    def __init__(self, lines):
        self.captions = {line.strip() for line in lines}
        self._own = list({line.strip() for line in lines})
        self._places = list({line.strip() for line in lines})  # DET204


class Index(Catalog):
    def __init__(self, lines):
        super().__init__(lines)
        self._own = sorted(line.strip() for line in lines)


class Numbered(Index):
    def write(self, out):
        for caption in self.captions:  # DET204
            out.write(caption)

    def places(self):
        return {place: number for number, place in enumerate(self._places)}

    def own(self):
        return self._own[0]


class Apart:
    def first(self):
        return self._own[0] + self._places[0]


class OfAnother(torch.nn.Sequential):
    def __init__(self, lines):
        self._parts = list({line.strip() for line in lines})  # DET204


# A sum is the same for many


def by_weight(lines, weight):
    found = {line.strip() for line in lines}
    return sorted(found, key=lambda name: sum(weight[each] for each in name))  # DET204


# What a loop leaves in its own variable


def any_of(lines):
    kinds = {line.strip() for line in lines}
    for kind in kinds:  # DET204
        print(kind)
    return kind


def none_of(lines):
    for kind in {line.strip() for line in lines}:
        print(kind)
    kind = sorted(lines)[0]
    return kind


# A list for each element of the set, in a dict


def looked_up_by_key(rows):
    kinds = {row["kind"].strip() for row in rows}
    scores = defaultdict(list)
    for kind in kinds:
        scores[kind].append(rows[kind])
    for kind in kinds:
        print(kind, scores[kind])
    return scores["a"], scores.get("b")


def gone_through(rows):
    kinds = {row["kind"].strip() for row in rows}
    scores = defaultdict(list)
    for kind in kinds:  # DET204
        scores[kind].append(rows[kind])
    return [sum(each) for each in scores.values()]


def handed_out(rows):
    scores = defaultdict(list)
    for kind in {row["kind"].strip() for row in rows}:  # DET204
        scores[kind].append(rows[kind])
    return scores


def several_in_a_list(rows):
    scores = defaultdict(list)
    for kind in {row["kind"].strip() for row in rows}:  # DET204
        scores[kind[0]].append(rows[kind])
    return scores["a"]


# What a dict in an attribute holds, which another method puts there


class Pools:
    def __init__(self, size):
        self.size = size
        self.numbers, self.names, self.seen = {}, {}, {}

    def fill(self, user):
        self.numbers[user] = [number for number in range(self.size)]
        self.names[user] = [str(number) for number in range(self.size)]
        self.seen[user] = load(user)

    def draw(self, user):
        numbers = list(set(self.numbers[user]) - set(self.seen[user]))
        names = list(set(self.names[user]))  # DET204
        seen = list(set(self.seen[user]))  # DET204
        return random.sample(numbers, 9), random.sample(names, 9), random.sample(seen, 9)


# Numbers that only stand for words in two texts of which the edit distance is asked


def word_errors(said, heard):
    words = set(said.split() + heard.split())
    letters = dict(zip(words, range(len(words))))
    first = [chr(letters[word]) for word in said.split()]
    second = [chr(letters[word]) for word in heard.split()]
    return Levenshtein.distance("".join(first), "".join(second))


def word_errors_of_numbers(said, heard):
    numbers = {word: number for number, word in enumerate(set(said.split() + heard.split()))}
    first = [numbers[word] for word in said.split()]
    return editdistance.eval(first, [numbers[word] for word in heard.split()])


def numbered_words(said, heard):
    words = set(said.split() + heard.split())
    numbers = dict(zip(words, range(len(words))))  # DET204
    first = [numbers[word] for word in said.split()]
    return first, editdistance.eval(first, [numbers[word] for word in heard.split()])


# Sets in a dict or a list that begin empty


def grouped(names: List[str]):
    groups = defaultdict(set)
    for name in names:
        groups[name[0]].add(name.lower())
    return {key: list(held) for key, held in groups.items()}  # DET204


def grouped_without_order(names: List[str]):
    groups = defaultdict(set)
    for name in names:
        groups[name[0]].add(name.lower())
    return {key: sorted(held) for key, held in groups.items()}, len(groups["a"])


def grouped_numbers(names: List[str]):
    groups = defaultdict(set)
    for name in names:
        groups[name].add(len(name))
    return [list(held) for held in groups.values()]


def grouped_by_default(names: List[str]):
    groups = {}
    for name in names:
        groups.setdefault(name[0], set()).add(name.lower())
    return [each for held in groups.values() for each in held]  # DET204


def grouped_if_missing(names: List[str]):
    groups = {}
    for name in names:
        if name[0] not in groups:
            groups[name[0]] = set()
        groups[name[0]].update(name.split())
    return {key: list(groups[key]) for key in groups}  # DET204


def each_made_a_list(names: List[str]):
    groups = defaultdict(set)
    for name in names:
        groups[name[0]].add(name.lower())
    for key in groups:
        groups[key] = list(groups[key])  # DET204
    return groups


def each_sorted(names: List[str]):
    groups = defaultdict(set)
    for name in names:
        groups[name[0]].add(name.lower())
    for key in groups:
        groups[key] = sorted(groups[key])
    return [list(each) for each in groups.values()]


def stored_in_a_loop(names: List[str]):
    groups = {}
    for name in names:
        groups[name] = set(name.split())
    return [each for name in names for each in groups[name]]  # DET204


def in_two_dicts(names: List[str]):
    groups = defaultdict(lambda: defaultdict(set))
    for name in names:
        groups[name[0]][name[1]].add(name.lower())
    return [list(held) for inner in groups.values() for held in inner.values()]  # DET204


def in_a_list(names: List[str]):
    groups = [set() for _ in range(9)]
    for name in names:
        groups[len(name)].add(name.lower())
    return [list(held) for held in groups]  # DET204


def of_a_record(names: List[str]):
    seen = {"names": set(), "sizes": set()}
    for name in names:
        seen["names"].add(name.lower())
        seen["sizes"].add(len(name))
    return list(seen["sizes"])


def of_texts_in_a_record(path):
    seen = {"unique": set(), "others": {}}
    for line in open(path):
        for each in line.split(","):
            seen["unique"].add(each)
    return {each: i for i, each in enumerate(seen["unique"])}  # DET204


def of_a_record_that_is_stored_in_a_loop(path):
    seen = {"terms": set()}
    for line in open(path):
        seen["sizes"] = set()
        seen["terms"].add(line)
        seen["sizes"].add(len(line))
    return list(seen["sizes"])


def of_names_in_a_dict_of_sets(path):
    seen = defaultdict(set)
    for line in open(path):
        seen["terms"].add(line)
        seen["sizes"].add(len(line))
    return list(seen["sizes"])


def of_a_record_with_another_part(path, key):
    seen = {"terms": set(), "sizes": set()}
    for line in open(path):
        seen["terms"].add(line)
        seen["sizes"].add(len(line))
    seen[key] = set()
    return list(seen["sizes"])


class Records:
    def __init__(self):
        self.seen = {}
        self.seen["unique"] = set()
        self.seen["sizes"] = set()

    def fill(self, path):
        for line in open(path):
            self.seen["unique"].add(line)
            self.seen["sizes"].add(len(line))

    def of_a_record(self):
        return list(self.seen["unique"]), 1  # DET204

    def of_numbers_in_a_record(self):
        return list(self.seen["sizes"])


def of_a_mixed_record(rows):
    record = {"word": rows[0].lower(), "count": 3}
    counts = {record["count"], 3}
    words = {record["word"], "other"}
    return rows.index(7), list(counts), list(words)  # DET204


class Grouped:
    def __init__(self):
        self.words = {}
        self.firsts = defaultdict(set)

    def fill(self, names: List[str]):
        for name in names:
            self.words[name] = set(name.split())
            self.firsts[name[0]].add(name.lower())

    def words_of(self, name):
        return list(self.words[name])  # DET204

    def beginning_with(self, first):
        return list(self.firsts[first])  # DET204

    def all_words(self):
        for words in self.words.values():
            yield from words  # DET204


# Several sets gone through at once


def in_a_row(names: List[str]):
    return list(itertools.chain(*[set(name.split()) for name in names]))  # DET204


def in_a_row_of_each(names: List[str]):
    return list(itertools.chain.from_iterable(set(name.split()) for name in names))  # DET204


def combined(actions: Dict[str, int], agents):
    possible = set(map(str, actions))
    choices = (possible for _ in agents)
    return {each: index for index, each in enumerate(itertools.product(*choices))}  # DET204


def without_order_in_the_end(names: List[str]):
    sets = [set(name.split()) for name in names]
    return sorted(itertools.chain(*sets)), set(itertools.chain.from_iterable(sets))


# Numbers that are given in a loop, of what may be strings


def by_length(rows):
    numbers = {}
    for kind in set(rows.kinds):  # DET204
        if kind not in numbers:
            numbers[kind] = len(numbers)
    return numbers


def by_count(rows):
    numbers, count = {}, 0
    for kind in set(rows.kinds):  # DET204
        numbers[kind] = count
        count += 1
    return numbers


def by_place(rows):
    numbers = {}
    for place, kind in enumerate(set(rows.kinds)):  # DET204
        numbers[kind] = place
    return numbers


def by_product(rows):
    numbers, index = {}, 0
    for pair in list(itertools.product(set(rows.kinds), repeat=2)):  # DET204
        numbers[pair] = index
        index += 1
    return numbers


def no_numbers(rows):
    sizes = {}
    for kind in set(rows.kinds):
        sizes[kind] = len(kind)
    return sizes["a"]


# A set that is united in a loop


def united(texts):
    words = set()
    for text in texts:
        words = words.union(text.split())
    return list(words)  # DET204


def united_in_loops(graphs: dict[str, dict[str, set[str]]], kinds: set[str]):
    found = set()
    for graph in graphs.values():
        for kind in kinds:
            for name in graph[kind]:
                found = found.union(name)
    return found


def added_in_loops(graphs: dict[str, dict[str, set[str]]], kinds: set[str]):
    found = []
    for graph in graphs.values():
        for kind in kinds:  # DET204
            found = found + [graph[kind]]
    return found


# Columns of a data frame


def as_array(frame):
    columns = list(set(frame.columns) - {"target"})  # DET204
    return frame[columns].values


def written(frame):
    frame[list(set(frame.columns) - {"target"})].to_csv("a.csv")  # possible DET204


def learned(frame, model):
    columns = list(set(frame.columns) - {"target"})  # DET204
    inputs = frame[columns]
    model.fit(inputs, frame["target"])


def given_back(frame):
    columns = list(set(frame.columns) - {"target"})
    frame[columns] = scaled(frame[columns])
    return frame


def only_described(frame):
    columns = list(set(frame.columns) - {"target"})
    print(frame[columns].mean())
    return len(frame[columns])


def as_a_key(table: Dict[str, int], names: List[str]):
    return table[tuple({name.lower() for name in names})]


def keeps_a_first(paths: list[str]):
    found = {}
    for path in set(paths):  # DET204
        key = path.split("_")[0]
        if key not in found:
            found[key] = path
    return found


def keeps_a_parent(edges: list[tuple[str, str]]):
    parents = {}
    for child, parent in set(edges):  # DET204
        if child not in parents:
            parents[child] = parent
    return parents


def keeps_what_a_key_tells(paths: list[str]):
    found = {}
    for path in set(paths):
        key = path.split("_")[0]
        if key not in found:
            found[key] = key.upper()
    return found


def numbered_in_a_function(rows):
    found = set()
    for row in rows:
        found.add(row.thing)
    return number_things(list(found))  # DET204


def number_things(things):
    return {thing: place for place, thing in enumerate(things)}


class Things:
    def __init__(self, things):
        self.place_of = {thing: place for place, thing in enumerate(things)}


def numbered_by_an_object(rows):
    return Things(list({row.thing for row in rows}))  # DET204


class Numbering:
    def _things(self, rows):
        return list({row.thing for row in rows})  # DET204

    def fit(self, rows):
        self.place_of = {thing: place for place, thing in enumerate(self._things(rows))}


def counted_in_a_function(rows):
    return count_things(list({row.thing for row in rows}))


def count_things(things):
    return sum(1 for thing in things if thing)


def numbered_in_a_loop(rows):
    place_of = {}
    for thing in {row.thing for row in rows}:  # DET204
        place_of[thing] = len(place_of)
    return place_of


def numbered_for_a_call(rows, graph):
    for place, thing in enumerate({row.thing for row in rows}):  # DET204
        graph.add_node(place, thing)


def collected_names(rows):
    found = set()
    for row in rows:
        found.add(row["name"])
    return list(found)  # DET204


def collected_things(rows):
    found = set()
    for row in rows:
        found.add(row["thing"])
    return list(found)  # possible DET204


def listed_words(rows):
    found = set()
    for row in rows:
        found.add(row.thing)
    words = list(found)  # DET204
    return words


def groups_of_a_worklist(names: list[str]):
    todo, groups = set(names), []
    while todo:
        first = todo.pop()  # DET204
        group = {name for name in todo if name[0] == first[0]}
        todo -= group
        groups.append(group | {first})
    return groups


def reached_by_a_worklist(edges, starts: set[str]):
    todo, seen = set(starts), set()
    while len(todo) > 0:
        node = todo.pop()
        seen.add(node)
        todo |= edges[node] - seen
    return seen


# The keys of dicts that containers hold


def dump_of_list_of_dicts(tags: set[str], file):
    json.dump([{tag: len(tag) for tag in tags}], file)  # DET204


def dump_of_nested_dicts(tags: set[str], file):
    found = {"rows": [0, {tag: len(tag) for tag in tags}]}  # DET204
    file.write(json.dumps({"all": found}))


def dump_with_sorted_keys(tags: set[str], file):
    json.dump([{tag: len(tag) for tag in tags}], file, sort_keys=True)


def dump_with_keys_that_are_not_sorted(tags: set[str], file):
    json.dump({tag: len(tag) for tag in tags}, file, sort_keys=False)  # DET204


def dump_by_yaml(tags: set[str], file):
    yaml.dump({tag: len(tag) for tag in tags}, file)


def dump_by_yaml_as_it_is(tags: set[str], file):
    yaml.safe_dump([{tag: 0 for tag in tags}], file, sort_keys=False)  # DET204


def dump_of_appended_dicts(tags: set[str], n: int, file):
    rows = []
    for _ in range(n):
        rows.append({tag: n for tag in tags})  # DET204
    rows += [{"all": n}]
    json.dump(rows[1:], file)


def dump_of_dicts_filled_one_by_one(tags: set[str], n: int, file):
    rows = []
    for i in range(n):
        row = {}
        for tag in tags:  # DET204
            row[tag] = i
        rows.append(row)
    json.dump(rows, file)


def dicts_asked_for_their_keys(tags: set[str], key: str, file):
    found = {"a": {tag: 0 for tag in tags}}
    for row in found.values():
        file.write(f"{row[key]} {len(row)}")
    return [row[key] for row in [found["a"]]]


def dicts_gone_through(tags: set[str], file):
    found = {}
    found["a"] = {tag: 0 for tag in tags}  # DET204
    for row in found.values():
        file.write(" ".join(row))


class HoldsDicts:
    def __init__(self, tags: set[str]):
        self._tables = [{tag: 0 for tag in tags}]  # DET204

    def save(self, file):
        json.dump({"tables": self._tables}, file)


# The columns of tables


def table_of_columns(tags: set[str], path):
    pd.DataFrame({tag: [1, 2] for tag in tags}).to_csv(path)  # possible DET204


def table_of_rows(tags: set[str], n: int, path):
    rows = [{tag: i for tag in tags} for i in range(n)]  # DET204
    pd.DataFrame(rows).to_csv(path)


def table_of_records(tags: set[str], path):
    pd.DataFrame.from_records([dict.fromkeys(tags, 0)]).to_csv(path)  # possible DET204


def table_with_columns_given(tags: set[str], path):
    pd.DataFrame({tag: [1, 2] for tag in tags}, columns=sorted(tags)).to_csv(path)


def table_asked_for_a_column(tags: set[str], key: str):
    table = pd.DataFrame({tag: [1, 2] for tag in tags})
    return table[key].sum(), table.groupby(key)


def table_as_an_array(tags: set[str]):
    table = pd.DataFrame({tag: [1, 2] for tag in tags})  # DET204
    return torch.tensor(table.values)


def tables_joined(left, right, path):
    shared = list(set(left.columns) & set(right.columns))  # possible DET204
    pd.concat([left[shared], right[shared]]).to_csv(path)


def tables_joined_and_read(left, right):
    shared = list(set(left.columns) & set(right.columns))  # DET204
    return pd.concat([left[shared], right[shared]]).values


# What is kept by a key


def resumed(names: list[str], load, save):
    finished = set(load()["finished"])
    for name in names:
        if name not in finished:
            finished.add(name)
            save({"finished": list(finished)})  # possible DET204


def resumed_by_a_state(names: list[str], state, save):
    over = set(state.get("over", []))
    for name in names:
        over.add(name)
        state["over"] = list(over)  # possible DET204
        save(state)


def reported(found: set[str]):
    return {"citations": list(found), "size": len(found)}  # possible DET204


def say(report):
    print("too few" if len(report["citations"]) < 3 else "fine", report["citations"])


def kept_and_numbered(found: set[str], save):
    save({"vocabulary": list(found)})  # DET204


def numbered_by_what_was_kept(state):
    return {word: index for index, word in enumerate(state["vocabulary"])}


def kept_and_filled(found: set[str], report, save):
    report["additions"].append("x")
    save({"additions": list(found)})  # DET204


def united(*several: set[str]):
    return frozenset().union(*several)


def of_all(names: set[str]):
    return united(*map(set, names))


def numbered(*several: str):
    return {each: index for index, each in enumerate(several)}


def numbers_of_all(names: set[str]):
    return numbered(*names)  # DET204


# Numbers, as far as what a set was made of tells


class Graph:
    def __init__(self, made):
        self.size, self.marks = made.size, made.marks

    def with_node(self, kind):
        return len(self.marks)

    def label_of(self, kind):
        return f"{kind}-{self.size}"


def merged(graph, kinds):
    return {kind: graph.with_node(kind) for kind in kinds}


def picks_a_node(graph, kinds):
    nodes = set(merged(graph, kinds).values())
    return random.Random(0).choice(list(nodes))  # possible DET204


def picks_a_place(graph, kinds):
    found = {}
    for kind in kinds:
        found[kind] = max(graph.marks) + 1
    return random.Random(0).choice(list(set(found.values())))  # possible DET204


def picks_a_label(graph, kinds):
    found = {}
    for kind in kinds:
        found[kind] = graph.label_of(kind)
    return random.Random(0).choice(list(set(found.values())))  # DET204


def picks_either(graph, kinds):
    found = {}
    for kind in kinds:
        found[kind] = graph.with_node(kind) if kind else graph.called(kind)
    return random.Random(0).choice(list(set(found.values())))  # DET204


def nothing_then_anything(rows, known):
    found = None if known else rows
    return random.Random(0).choice(list(set(found)))  # DET204


class Adapted:
    def layers_of(self, model):
        lora_module_names = set()
        for name, _ in model.named_modules():
            lora_module_names.add(name.split(".")[-1])
        if "lm_head" in lora_module_names:
            lora_module_names.remove("lm_head")
        return list(lora_module_names)

    def kinds_of(self, model):
        kinds = set()
        for name, _ in model.named_modules():
            kinds.add(name.split(".")[-1])
        return list(kinds)  # DET204

    def numbers_of(self, model):
        module_names = {name.split(".")[-1] for name, _ in model.named_modules()}
        return {name: place for place, name in enumerate(module_names)}  # DET204


def first_of(names):
    return [name for name in names][0]


def picks_by_function(names: list[str]):
    unmatched_names = set(names)
    return first_of(unmatched_names)  # DET204


def cuts_of_a_text(text, parts):
    rows = []
    for part in parts:
        rows.append(text[len(part) :])
    return random.Random(0).choice(list(set(rows)))  # DET204


def some_of_the_rows(rows, out):
    for row in set(rows[1:]):  # possible DET204
        out.append(row)


def through_an_array(count, out):
    import numpy

    out.extend(set(numpy.array([f"case{i}" for i in range(count)]).tolist()))  # DET204
    out.extend(set(numpy.array(range(count)).tolist()))


def foreground_of(found, unique):
    return random.Random(0).choice(list(set(unique) - {0}))  # possible DET204


def named_of(found, unique):
    return random.Random(0).choice(list(set(unique) - {None}))  # DET204


def keys_of_records(found, others):
    here, there, numbered = defaultdict(list), {}, defaultdict(list)
    for row in found.records:
        here[row["speaker_name"]].append(row)
        numbered[row["turn"]].append(row)
    for row in others.records:
        there[row["speaker_name"]] = row
    lines = [(name, here[name]) for name in set(here.keys()) | set(there.keys())]  # DET204
    lines += [(turn, numbered[turn]) for turn in set(numbered.keys())]  # possible DET204
    lines += [(name, there[name]) for name in sorted(set(here.keys()) - set(there.keys()))]
    return lines


def ranked_by_length(names: list[str]):
    rows = []
    for name in set(names):  # DET204
        rows.append((len(name), name))
    rows.sort(key=lambda row: row[0])
    return rows[:2]


def ranked_by_all(names: list[str]):
    rows = []
    for name in set(names):
        rows.append((len(name), name))
    rows.sort(key=lambda row: (row[0], row[1]))
    return rows[:2]


def ranked_as_records(names: list[str], counts):
    rows = [{"name": name, "count": counts[name]} for name in set(names)]  # DET204
    rows.sort(key=itemgetter("count"), reverse=True)
    return rows[:2]


def ranked_by_name(names: list[str], counts):
    rows = [{"name": name, "count": counts[name]} for name in set(names)]
    return sorted(rows, key=itemgetter("name"))[:2]


def margin_of(name) -> float:
    return name.count("a") / 2


def ranked_by_floats(names: list[str]):
    rows = [(margin_of(name), name) for name in set(names)]  # possible DET204
    return sorted(rows, key=lambda row: -row[0])[:2]


def back_in_order(names: list[str], numbers):
    rows = []
    for name in set(names):
        rows.append((int(name[3:]), numbers[name]))
    rows.sort(key=lambda row: row[0])
    return rows


def sorted_by_key(rows):
    names = {}
    for row in rows:
        names.setdefault(row["kind"], set()).add(row["name"])
    for kind in names:
        names[kind] = sorted(names[kind])
    return [[name for name in names[kind]] for kind in names]


def sorted_for_some(rows):
    names = {}
    for row in rows:
        names.setdefault(row["kind"], set()).add(row["name"])
    for kind in names:
        if kind != "other":
            names[kind] = sorted(names[kind])
    return [[name for name in names[kind]] for kind in names]  # DET204


def sorted_by_item(rows):
    names = {}
    for row in rows:
        names.setdefault(row["kind"], set()).add(row["name"])
    for kind, held in list(names.items()):
        names[kind] = sorted(held)
    return [[name for name in held] for held in names.values()]


SPACES = {"time", "place"}


def added_for_both(notes):
    total = torch.zeros(4)
    for space in SPACES:  # DET204
        if space == "time":
            total *= notes[space]
        else:
            total += notes[space]
    return total


def read_by_the_other(notes):
    total, seen = torch.zeros(4), {}
    for space in SPACES:  # DET204
        if space == "time":
            seen["at"] = notes[space]
        else:
            total += notes[space] * seen.get("at", 1)
    return total


def parts_of(pairs):
    held = {(name, other) for name, other in pairs}
    return {"held": held, "listed": sorted(held), "seed": 3}


def of_a_record(pairs, rng):
    parts = parts_of(pairs)
    rng.shuffle(parts["listed"])
    kept = list(parts["held"])  # DET204
    rng.shuffle(kept)
    return kept, parts["listed"]


def edges_of(graph):
    return {(u, v) if u <= v else (v, u) for u, v in graph.edges()}


def shuffled_edges(graph, rng):
    edges = list(edges_of(graph))  # possible DET204
    rng.shuffle(edges)
    return edges


def names_of_labels(rows: list[str]):
    return dict(enumerate(set(rows)))  # DET204


def numbers_of_clusters(true, found):
    import numpy as np

    true = true - np.min(true)
    return {label: place for place, label in enumerate(set(true))}


def names_of_clusters(true, found):
    true = true - found
    return {label: place for place, label in enumerate(set(true))}  # DET204


def matched_clusters(true, found):
    import numpy as np

    true = true - np.min(true)
    kinds, ids = list(set(true)), list(set(found))
    for kind in kinds:
        if kind not in ids:
            found[0] = kind
    return {label: place for place, label in enumerate(set(found))}  # possible DET204


def matched_names(true, found):
    kinds, ids = list(set(true)), list(set(found))  # possible DET204
    for kind in kinds:
        if kind not in ids:
            found[0] = kind
    return {label: place for place, label in enumerate(set(found))}  # DET204


# The name of a column tells what it holds, however its table was read.


def numbered_columns(path):
    rows = pd.read_csv(path)
    a = {x: place for place, x in enumerate(set(rows["userId"].unique()))}  # possible DET204
    b = {x: place for place, x in enumerate(set(rows.item_id.tolist()))}  # possible DET204
    return a, b, {x: place for place, x in enumerate(set(rows["brand"].unique()))}  # DET204


def numbered_columns_of_a_pickle(path):
    rows = pd.read_pickle(path)
    a = {x: place for place, x in enumerate(set(rows["userId"].unique()))}  # possible DET204
    return a, {x: place for place, x in enumerate(set(rows["brand"].unique()))}  # DET204


# Rows that are chosen by a list of their labels stand in its order


def rows_of_labels(table: pd.DataFrame, other: pd.DataFrame, path):
    keep = list({str(each) for each in table.index})  # DET204
    table.loc[keep, :].to_csv(path)
    kept = list({str(each) for each in table.index})  # DET204
    table.loc[kept].to_csv(path)
    labels = set(table.index) - set(other.index)
    table.loc[list(labels), ["size"]].to_csv(path)  # possible DET204


def rows_of_labels_in_any_order(table: pd.DataFrame, path):
    keep = list({str(each) for each in table.index})
    table.loc[keep, "kept"] = True
    kept = table.loc[keep]
    print(kept["size"].mean(), len(kept))
    kept.sort_index().to_csv(path)
    return table.loc[keep, "size"].sum(), table.loc[:, "size"]


def parts_below(folder, weights):
    found = set(weights.values())
    return [os.path.join(folder, each) for each in found]  # DET204


# Every part of a statement runs


def after_what_may_fail(path, names: Set[str]):
    try:
        size = os.path.getsize(path)
    except OSError:
        size = 0
    else:
        rows = list(names)  # DET204
        return size, rows
    return size, []


def in_the_guard_of_a_case(value, names: Set[str]):
    match value:
        case str() if show(list(names)):  # DET204
            return 1
    return 0


class Word:
    def __init__(self, text: str):
        self.text = text

    def __hash__(self):
        return len(self.text)

    def __eq__(self, other):
        return self.text == other.text


def of_objects_that_are_told_apart_by_what_they_hold(texts: List[str]):
    return list({Word(each) for each in texts})  # possible DET204


def first_of_segments(record, found):
    ids = set(record.get("segments", []))
    first = list(ids)[0]  # possible DET204
    return [each for each in found if int(each) + 1 in ids], first


# A list in a list, and what is put into what nothing reads, show an order where something reads it


def _parts(line):
    return list(set(re.split("; ", line)))


def only_compared(lines):
    rows, found = [], []
    for line in lines:
        rows.append(_parts(line))
    for number, (line, row) in enumerate(zip(lines, rows)):
        kept = set()
        for each in row:
            kept.add(each)
        found.append((number, line[0], len(kept)))
    return found


def first_of_each(lines):
    rows = []
    for line in lines:
        names = list(set(re.split("; ", line)))  # DET204
        rows.append(names)
    return [row[0] for _, row in zip(lines, rows)]


def written(lines, file):
    rows = [" ".join(set(re.split("; ", line))) for line in lines]  # DET204
    texts = []
    for line in lines:
        texts.append(" ".join(set(re.split("; ", line))))  # DET204
    file.write("\n".join(rows + texts))


def rows_that_nobody_reads(line):
    table = pd.DataFrame(columns=["a", "b"])
    places = pd.DataFrame(columns=["a"])
    count, found = 0, {}
    for each in set(re.split("; ", line)):
        count += len(each)
        found[each] = 1
        places.loc[len(places)] = [each]
    for each in found.keys():
        table = pd.concat([table, pd.DataFrame([{"a": each, "b": found[each]}])])
        table = table.append([{"a": each}], ignore_index=True)
    print(count, len(table))


def rows_that_are_kept(line, path, kept):
    table = pd.DataFrame(columns=["a"])
    for each in set(re.split("; ", line)):  # DET204
        table = pd.concat([table, pd.DataFrame([{"a": each}])])
    table.to_csv(path)
    for each in set(re.split("; ", line)):  # DET204
        kept.rows.append(each)


def last_of_all(line, texts):
    for each in set(re.split("; ", line)):  # DET204
        last = each
    if last.endswith("x"):
        texts.clear()


def asked_and_printed(line, others, file):
    found, rows = set(), []
    for each in set(re.split("; ", line)):  # DET204
        for other in others:
            if each.startswith(other):
                found.add(each)
        if len(found) > 3:
            break
    for each in set(re.split("; ", line)):  # DET204
        rows.append(each)
    for row in rows:
        print(json.dumps(row), file=file)
    return [other for other in others if other not in found]


# Types


def copied(marks: set[str]):
    own = marks.copy()
    return [each for each in own]  # DET204


def literal(marks: set[Literal["train", "test"]]):
    return list(marks)  # DET204
