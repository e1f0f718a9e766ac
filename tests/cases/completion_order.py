import asyncio
import concurrent.futures
import csv
import heapq
import json
import multiprocessing as mp
import os
import queue
import sys
from collections import defaultdict
from concurrent import futures as cf
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, as_completed, wait
from concurrent.futures import as_completed as finished
from functools import partial
from multiprocessing import Manager, Pool, Process, Queue
from multiprocessing.pool import ThreadPool
from threading import Thread

import fasttext
import hnswlib
import mine
import numpy as np
import pandas as pd
import polars as pl
import torch
from flwr.server.strategy import FedAvg
from gensim.models import Doc2Vec, FastText, Word2Vec, word2vec
from implicit.bpr import BayesianPersonalizedRanking
from joblib import Parallel, delayed
from p_tqdm import p_umap
from ray import tune
from ray.tune.schedulers import ASHAScheduler, FIFOScheduler
from torch.utils.data import DataLoader
from torchdata.nodes import ParallelMapper
from torchdata.stateful_dataloader import StatefulDataLoader
from tqdm import tqdm
from tqdm.asyncio import tqdm as atqdm
from webdataset import WebLoader


# as_completed


def appended(fs):
    rows = []
    for f in as_completed(fs):  # DET205
        rows.append(f.result())
    return rows


def by_every_name(fs):
    yield [f.result() for f in concurrent.futures.as_completed(fs)]  # DET205
    yield [f.result() for f in cf.as_completed(fs)]  # DET205
    yield [f.result() for f in finished(fs)]  # DET205


def with_a_bar(fs):
    rows = []
    for f in tqdm(as_completed(fs), total=len(fs)):  # DET205
        rows.append(f.result())
    return rows


def extended(fs):
    rows = []
    for f in as_completed(fs):  # DET205
        try:
            rows.extend(f.result())
        except ValueError as error:
            print(f"one failed: {error}")
    return rows


class Index:
    def build(self, fs):
        for f in as_completed(fs):  # DET205
            self.rows.append(f.result())


def first_wins(fs):
    for f in as_completed(fs):  # DET205
        if f.result() is not None:
            return f.result()


def written(fs, path):
    with open(path, "w") as file:
        for f in as_completed(fs):  # DET205
            file.write(json.dumps(f.result()) + "\n")


def yielded(fs):
    for f in as_completed(fs):  # DET205
        yield f.result()


def summed_up(fs):
    total = 0.0
    for f in as_completed(fs):  # DET205
        total += f.result()
    return total


def numbered(fs):
    index = {}
    for f in as_completed(fs):  # DET205
        index[f.result()] = len(index)
    return index


def chosen(fs, fast):
    arriving = as_completed(fs) if fast else fs  # DET205
    return [f.result() for f in arriving]


def dict_gone_through(fs):
    found = {}
    for f in as_completed(fs):  # DET205
        found[fs[f]] = f.result()
    return list(found.values())


def dict_updated_and_gone_through(fs):
    found = {}
    for f in as_completed(fs):  # DET205
        found.update(f.result())
    return [each for each in found]


def dict_returned(fs):
    found = {}
    for f in as_completed(fs):
        found[fs[f]] = f.result()
    return found


def dict_updated(fs):
    found = {}
    for f in as_completed(fs):
        found.update(f.result())
    return found


def dict_read_by_key(fs, keys):
    found = {}
    for f in as_completed(fs):
        found[fs[f]] = f.result()
    return [found[key] for key in keys]


def dict_with_its_keys(fs, keys):
    found = dict.fromkeys(keys)
    other = {key: None for key in keys}
    for f in as_completed(fs):
        found[fs[f]] = other[fs[f]] = f.result()
    return list(found.values()), list(other.values())


def by_index(fs):
    rows = [None] * len(fs)
    array = np.zeros(len(fs))
    for f in as_completed(fs):
        rows[fs[f]] = f.result()
        array[fs[f]] = f.result()
    return [row for row in rows if row], array.sum()


def sorted_afterwards(fs):
    rows = []
    for f in as_completed(fs):
        rows.append((fs[f], f.result()))
    rows.sort(key=lambda pair: pair[0])
    return [row for _, row in rows]


def sorted_where_returned(fs):
    rows = [(fs[f], f.result()) for f in as_completed(fs)]
    return [row for _, row in sorted(rows)]


def sorted_table(fs):
    rows = []
    for f in as_completed(fs):
        rows.append(f.result())
    table = pd.DataFrame(rows)
    table = table.sort_values("name")
    return table


def put_in_order_by_a_heap(fs):
    heap, following = [], 0
    for f in as_completed(fs):
        heapq.heappush(heap, f.result())
        while heap and heap[0][0] == following:
            yield heapq.heappop(heap)[1]
            following += 1


def only_waited_for(fs):
    for f in as_completed(fs):
        f.result()
    for _ in as_completed(fs):
        pass
    return [f.result() for f in fs]


def counted(fs):
    good, words = 0, 0
    for f in as_completed(fs):
        if f.result():
            good += 1
        words += len(f.result())
    return good, words


def in_a_set(fs):
    seen = set()
    for f in as_completed(fs):
        seen.add(f.result())
    return len(seen)


def largest(fs):
    return max(f.result() for f in as_completed(fs))


def progress(fs, bar, logger, callback):
    done = 0
    for f in as_completed(fs):
        done += 1
        bar.update(1)
        bar.set_postfix(last=f.result())
        logger.info("%d of %d", done, len(fs))
        print(f"{done}: {f.result()}")
        callback(done, len(fs))
        log_result(f.result())
    for number, f in enumerate(as_completed(fs), 1):
        print(f"{number} of {len(fs)}: {f.result()}")


def failures(fs):
    failed, notes = [], []
    for f in as_completed(fs):
        try:
            f.result()
        except OSError:
            notes.append(fs[f])
        if f.exception():
            failed.append(fs[f])
    return failed, notes


def grouped_and_counted(fs):
    groups = {"new": [], "old": []}
    for f in as_completed(fs):
        path, status = f.result()
        groups[status].append(path)
    print(len(groups["new"]), len(groups["old"]))
    if groups["old"]:
        print("some are old")


def grouped(fs):
    groups = {"new": [], "old": []}
    for f in as_completed(fs):  # DET205
        path, status = f.result()
        groups[status].append(path)
    return groups


def grouped_and_sorted(fs, progbar):
    groups = {"new": [], "old": []}
    for f in progbar(as_completed(fs)):
        path, status = f.result()
        groups[status].append(path)
    for status in groups:
        groups[status] = sorted(groups[status])
    return groups


def own_bar(fs, progress_bar):
    rows = []
    for f in progress_bar(as_completed(fs), len(fs)):  # DET205
        rows.append(f.result())
    return rows


class Store:
    def keep(self, key, value):
        self.values[key] = value

    def fill(self, fs):
        for f in as_completed(fs):
            self.values[fs[f]] = f.result()


def submission_order(jobs):
    with ThreadPoolExecutor() as executor:
        fs = [executor.submit(job) for job in jobs]
        rows = [f.result() for f in fs]
        rows += executor.map(str, jobs)
    return rows


def own_function(as_completed, fs):
    return [f.result() for f in as_completed(fs)]


# asyncio


async def gathered_as_completed(tasks):
    rows = []
    for task in asyncio.as_completed(tasks):  # DET205
        rows.append(await task)
    return rows


async def with_the_bar_of_asyncio(tasks):
    return [await task for task in atqdm.as_completed(tasks)]  # DET205


async def asynchronous_loop(tasks):
    rows = []
    async for task in asyncio.as_completed(tasks):  # DET205
        rows.append(await task)
    return rows


async def first_completed(tasks):
    rows = []
    while tasks:
        done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)  # DET205
        for task in done:
            rows.append(task.result())
    return rows


async def a_race(task, stop):
    done, pending = await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
    for each in pending:
        each.cancel()
    if stop in done:
        return None
    return task.result()


async def a_window(tasks, limit):
    while len(tasks) > limit:
        done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.gather(*done)
        for task in done:
            await task
    return await asyncio.gather(*tasks)


async def raised(tasks, own):
    done, _ = await asyncio.wait(tasks)
    mine = done.intersection(own)
    own.difference_update(mine)
    if mine:
        await asyncio.gather(*mine)


# wait


def first_of_the_futures(fs):
    rows = []
    while fs:
        done, fs = wait(fs, return_when=FIRST_COMPLETED)  # DET205
        for f in done:
            rows.append(f.result())
    return rows


def all_of_the_futures(fs):
    done, _ = concurrent.futures.wait(fs)  # DET205
    results = []
    for f in done:
        results.append(f.result())
    return results


def done_at_once(fs):
    return [f.result() for f in wait(fs).done]  # DET205


def first_of_the_pair(fs):
    return [f.result() for f in wait(fs)[0]]  # DET205


def only_barriers(fs, process, event):
    wait(fs)
    concurrent.futures.wait(fs, return_when=FIRST_COMPLETED)
    process.wait()
    event.wait(1)
    done, pending = wait(fs, timeout=1)
    if pending:
        raise TimeoutError(f"{len(done)} done")
    return [f.result() for f in fs]


# Pools


def unordered(paths):
    with Pool() as pool:
        return list(pool.imap_unordered(load, paths))  # DET205


def unordered_loop(pool, paths, file):
    for line in pool.imap_unordered(load, paths, chunksize=8):  # DET205
        file.write(line)


def unordered_but_sorted(pool, paths):
    return sorted(pool.imap_unordered(load, paths))


def unordered_but_dropped(pool, paths):
    list(tqdm(pool.imap_unordered(load, paths), total=len(paths)))
    for _ in pool.imap_unordered(load, paths):
        pass
    for number, _ in enumerate(pool.imap_unordered(load, paths)):
        print(number)


def unordered_by_index(pool, paths):
    rows = [None] * len(paths)
    for index, row in pool.imap_unordered(load, enumerate(paths)):
        rows[index] = row
    return rows


def ordered(pool, paths):
    return list(pool.imap(load, paths)) + pool.map(load, paths)


def actors(pool, values):
    return list(pool.map_unordered(lambda actor, v: actor.double.remote(v), values))  # DET205


class OwnPool:
    def imap_unordered(self, function, values):
        return map(function, values)

    def run(self, values):
        return list(self.imap_unordered(load, values))


# joblib


def unordered_generator(paths):
    return list(Parallel(n_jobs=4, return_as="generator_unordered")(map(delayed(load), paths)))  # DET205


def unordered_generator_by_name(paths):
    parallel = Parallel(n_jobs=4, return_as="generator_unordered")  # DET205
    for row in parallel(delayed(load)(path) for path in paths):
        yield row


def unordered_generator_counted(paths):
    with Parallel(n_jobs=4, return_as="generator_unordered") as parallel:
        return sum(1 for _ in parallel(delayed(load)(path) for path in paths))


def ordered_generators(paths):
    yield Parallel(n_jobs=4, return_as="generator")(map(delayed(load), paths))
    yield Parallel(n_jobs=4)(map(delayed(load), paths))
    yield list(Parallel(n_jobs=1, return_as="generator_unordered")(map(delayed(load), paths)))


# Loaders


def loaders(dataset, workers, options, flag, source):
    yield DataLoader(dataset, num_workers=4, in_order=False)  # DET205
    yield DataLoader(dataset, num_workers=workers, in_order=False)  # DET205
    yield torch.utils.data.DataLoader(dataset, in_order=False, **options)  # DET205
    yield StatefulDataLoader(dataset, num_workers=2, in_order=False)  # DET205
    yield WebLoader(dataset, num_workers=2, in_order=False)  # DET205
    yield ParallelMapper(source, load, num_workers=2, in_order=False)  # DET205
    yield DataLoader(dataset, in_order=False)
    yield DataLoader(dataset, num_workers=0, in_order=False)
    yield DataLoader(dataset, num_workers=1, in_order=False)
    yield DataLoader(dataset, num_workers=4, in_order=True)
    yield DataLoader(dataset, num_workers=4, in_order=flag)
    yield DataLoader(dataset, num_workers=4)


# Queues


def filled_by_processes(parts):
    results = mp.Queue()  # DET205
    workers = [Process(target=work, args=(part, results)) for part in parts]
    for worker in workers:
        worker.start()
    return [results.get() for _ in workers]


def filled_by_threads(parts):
    rows = []
    results = queue.Queue()  # DET205
    for part in parts:
        Thread(target=work, args=(part, results)).start()
    for _ in parts:
        row = results.get()
        rows.append(row)
    return rows


def until_a_mark(parts, executor):
    rows = []
    results = Queue()  # DET205
    for part in parts:
        executor.submit(work, part, results)
    while True:
        row = results.get()
        if row is None:
            break
        rows.append(row)
    return rows


def of_a_manager(parts):
    manager = Manager()
    results = manager.Queue()  # DET205
    with Pool() as pool:
        for part in parts:
            pool.apply_async(work, (part, results))
        return [results.get() for _ in parts]


def put_back_by_index(parts):
    results = mp.Queue()
    rows = [None] * len(parts)
    for number, part in enumerate(parts):
        Process(target=work, args=(number, part, results)).start()
    for _ in parts:
        number, row = results.get()
        rows[number] = row
    return rows


def sorted_by_index(parts):
    results = mp.Queue()
    workers = [Process(target=work, args=(part, results)) for part in parts]
    return sorted(results.get() for _ in workers)


def counted_results(parts):
    results, good = mp.Queue(), 0
    for part in parts:
        Process(target=work, args=(part, results)).start()
    for _ in parts:
        if results.get():
            good += 1
    return good


def one_worker(part):
    results = mp.Queue()
    worker = Process(target=work, args=(part, results))
    worker.start()
    rows = []
    for _ in range(10):
        rows.append(results.get())
    return rows


def work_for_workers(parts):
    tasks = mp.Queue()
    for part in parts:
        tasks.put(part)
    for _ in range(4):
        Process(target=work, args=(tasks,)).start()


def worker_of_a_queue(tasks):
    rows = []
    while not tasks.empty():
        rows.append(tasks.get())
    return rows


def breadth_first(root):
    waiting, seen = queue.Queue(), []
    waiting.put(root)
    while not waiting.empty():
        node = waiting.get()
        seen.append(node)
        for child in node.children:
            waiting.put(child)
    return seen


# Lists in a dict


def grouped_by_default(fs):
    groups = defaultdict(list)
    for f in as_completed(fs):  # DET205
        status, path = f.result()
        groups[status].append(path)
    return dict(groups)


def grouped_and_sorted_key_by_key(fs, verbose):
    progbar = partial(tqdm, desc="done") if verbose else lambda x: x
    groups = defaultdict(list)
    for f in progbar(as_completed(fs)):
        for key, value in f.result().items():
            groups[key].extend(value)
    for key in groups:
        groups[key] = sorted(groups[key])
    return dict(groups)


def grouped_and_gone_through(fs):
    groups = {}
    for f in as_completed(fs):  # DET205
        status, path = f.result()
        groups.setdefault(status, []).append(path)
    for paths in groups.values():
        emit(paths)


def grouped_by_future(fs):
    groups = defaultdict(list)
    for f in as_completed(fs):
        groups[fs[f]].extend(f.result())
    return groups


def grouped_and_sorted_in_place(fs):
    groups = {}
    for f in as_completed(fs):
        status, path = f.result()
        groups.setdefault(status, []).append(path)
    for paths in groups.values():
        paths.sort()
    return groups


def written_to_one_of_several_files(pool, todos):
    writers = {}
    for sample in pool.imap_unordered(load, todos):  # DET205
        for match in sample["matches"]:
            writer = writers.get(match)
            if writer is None:
                writers[match] = writer = open(match, "w")
            writer.write(sample["text"])


# Dicts that are written


def updated_and_dumped(fs, file):
    found = {}
    for f in as_completed(fs):  # DET205
        found.update(f.result())
    json.dump(found, file)


def updated_and_dumped_by_key(fs, file):
    found = {}
    for f in as_completed(fs):
        found.update(f.result())
    json.dump(found, file, sort_keys=True)


def _filled(fs):
    found = {}
    for f in as_completed(fs):  # DET205
        found[fs[f]] = f.result()
    return found


def dumped_elsewhere(fs, file):
    file.write(json.dumps(_filled(fs)))


# Numbers and messages


def numbered_for_messages(pool, lines):
    for number, line in enumerate(pool.imap_unordered(load, lines)):  # DET205
        sys.stdout.buffer.write(line)
        if number % 100 == 0:
            print(number, file=sys.stderr)


def printed_to_a_file(fs, file):
    for f in as_completed(fs):  # DET205
        print(f.result(), file=file)


# Other libraries


def one_by_one(pool, rows):
    while pool.has_next():
        rows.append(pool.get_next_unordered())  # DET205


def in_processes(pool, paths):
    return list(pool.uimap(load, paths)), p_umap(load, paths)  # DET205 DET205


# Queues that are kept, and read where others fill them


class Collector:
    def __init__(self, count):
        self.rows = queue.SimpleQueue()
        self.tasks = queue.Queue()
        self.one = queue.Queue()
        self.numbered = queue.Queue()
        self._threads = [Thread(target=self._work) for _ in range(count)]
        self._reader = Thread(target=self._read_one)

    def _work(self):
        while True:
            task = self.tasks.get()
            self._keep(task())

    def _keep(self, row):
        self.rows.put(row)
        self.numbered.put((1, row))

    def _read_one(self):
        self.one.put(1)

    def ask(self, task):
        self.tasks.put(task)

    def next_row(self):
        row = self.rows.get()  # DET205
        return row

    def next_one(self):
        return self.one.get()

    def next_numbered(self):
        index, row = self.numbered.get()  # possible DET205
        return index, row

    def has_any(self):
        return not self.rows.empty()


def filled_by_closures(parts):
    rows = queue.Queue()  # DET205

    def compute(part):
        rows.put(work(part))

    for part in parts:
        Thread(target=compute, args=(part,)).start()
    return [rows.get() for _ in parts]


def filled_by_one_closure(part):
    rows = queue.Queue()

    def compute():
        rows.put(work(part))

    Thread(target=compute).start()
    return [rows.get() for _ in range(3)]


class Filling(Thread):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows


def filled_by_a_class(parts):
    rows = queue.Queue()  # DET205
    workers = [Filling(rows) for _ in parts]
    return [rows.get() for _ in workers]


DONE = queue.Queue()


def finish(part):
    DONE.put(part)


def finish_all(parts, pool):
    for part in parts:
        pool.submit(finish, part)


def take_all(parts):
    return [DONE.get() for _ in parts]  # DET205


# Dicts in a dict


def merged_by_key(fs, file):
    found = defaultdict(dict)
    for f in as_completed(fs):  # DET205
        key, part = f.result()
        found[key].update(part)
    for key, part in sorted(found.items()):
        file.write(f"{key} {list(part)}")


def filled_by_key(fs):
    found = {"a": {}, "b": {}}
    for f in as_completed(fs):  # DET205
        key, name, part = f.result()
        found[key][name] = part
    return [[*part] for part in found.values()]


def filled_by_default(fs, key):
    found = {}
    for f in as_completed(fs):  # DET205
        name, part = f.result()
        found.setdefault(key, {}).update({name: part})
    return list(found[key])


def merged_and_looked_up(fs, names):
    found = defaultdict(dict)
    for f in as_completed(fs):
        key, part = f.result()
        found[key].update(part)
    return [found[key][name] for key, name in names]


def merged_and_sorted(fs):
    found = defaultdict(dict)
    for f in as_completed(fs):
        key, part = f.result()
        found[key].update(part)
    for key in found:
        found[key] = dict(sorted(found[key].items()))
    return [list(found[key]) for key in sorted(found)]


def merged_sets(fs):
    found = defaultdict(set)
    for f in as_completed(fs):
        key, part = f.result()
        found[key].update(part)
    return [len(part) for part in found.values()]


def filled_tables(fs, n):
    table = [[0] * n for _ in range(n)]
    for f in as_completed(fs):
        i, j, score = f.result()
        table[i][j] = score
    return [sum(row) for row in table]


def filled_for_each_and_returned(fs):
    found = defaultdict(dict)
    for f in as_completed(fs):
        found[f.name] = {}
        for name in f.result():
            found[f.name][name] = {}
    return found


class Reporters:
    def __init__(self, workers):
        self._results = mp.Queue()
        self._processes = [
            mp.Process(target=each, args=(self._results,)) for each in workers
        ]

    def take(self):
        return self._results.get()  # DET205


def train_shared(rank, model, optimizer):
    for x in range(rank, 100):
        loss = model(torch.tensor([x]))
        loss.backward()
        optimizer.step()


def act(rank, model, env):
    for x in range(rank, 100):
        env.step(model(torch.tensor([x])))


def hogwild(model, optimizer):
    model.share_memory()  # DET205
    optimizer.share_memory()
    for rank in range(4):
        mp.Process(target=train_shared, args=(rank, model, optimizer)).start()


def hogwild_in_one_line(optimizer):
    model = torch.nn.Linear(1, 1).share_memory()  # DET205
    return [Process(target=train_shared, args=(r, model, optimizer)) for r in range(4)]


class Learner(mp.Process):
    def __init__(self, model, optimizer):
        super().__init__()
        self.model, self.optimizer = model, optimizer

    def run(self):
        train_shared(0, self.model, self.optimizer)


def hogwild_by_class(model, optimizer):
    model.share_memory()  # DET205
    return [Learner(model, optimizer) for _ in range(4)]


def only_acts(model, env):
    model.share_memory()
    for rank in range(4):
        mp.Process(target=act, args=(rank, model, env)).start()


def one_learner(model, optimizer):
    model.share_memory()
    mp.Process(target=train_shared, args=(0, model, optimizer)).start()


def a_copy_each(model, optimizer):
    model.share_memory()
    for rank in range(4):
        mp.Process(target=train_shared, args=(rank, clone(model), optimizer)).start()


def noted_in_a_log(pool, work, items, logw):
    for name, status in pool.imap_unordered(work, items):  # possible DET205
        logw.writerow([name, status])


def written_to_a_table(pool, work, items, rows):
    for name, status in pool.imap_unordered(work, items):  # DET205
        rows.writerow([name, status])


class Averaging(FedAvg):
    def aggregate_fit(self, server_round, results, failures):  # DET205
        return super().aggregate_fit(server_round, results, failures)


class AveragingInOrder(FedAvg):
    def aggregate_fit(self, server_round, results, failures):
        results = sorted(results, key=lambda pair: pair[1].metrics["number"])
        return super().aggregate_fit(server_round, results, failures)


class Counting(FedAvg):
    def aggregate_fit(self, server_round, results, failures):
        print(len(results))
        return None, {}


class OfNoServer:
    def aggregate_fit(self, server_round, results, failures):
        return sum(results)


def rows_of_polars(out, table: pl.DataFrame, frame):
    table.group_by("k").agg(pl.len()).write_csv(out)  # DET205
    table.lazy().group_by("k").len().collect().write_parquet(out)  # DET205
    frame.group_by("k").mean().filter(pl.col("v") > 0).head(3)  # DET205
    np.save(out, table.unique().to_numpy())  # DET205
    np.save(out, table.select(pl.col("k").cast(int).unique().alias("k")).to_numpy())  # DET205
    np.save(out, frame.select(pl.col("k").unique())["k"].to_numpy())  # DET205
    return {name: i for i, name in enumerate(table.unique("k")["k"].to_list())}  # DET205


def groups_of_polars(out, table: pl.DataFrame):
    for key, group in table.group_by("k"):  # DET205
        out.write(f"{key}: {group.height}")
    return pl.concat([table.group_by("k").len(), table])  # possible DET205


def rows_of_polars_in_one_order(out, table: pl.DataFrame, frame):
    table.group_by("k").agg(pl.len()).sort("k").write_csv(out)
    table.group_by("k", maintain_order=True).len().write_csv(out)
    table.join(table.group_by("k").len(), on="k", how="left").write_csv(out)
    pl.concat([table.group_by("k").len(), table]).sort("k").write_csv(out)
    print(table.unique().height, len(table.unique()))
    sizes = table.group_by("k").len()
    known = set(table.unique("k")["k"].to_list())
    image = np.zeros(9)
    image[sizes["k"].to_numpy()] = sizes["len"]
    frame.unique()
    frame.select(pl.col("k").unique(maintain_order=True)).write_csv(out)
    frame.select(pl.col("k").unique().sort(), pl.col("v").unique().count()).write_csv(out)
    frame.select(pl.col("k").unique()).sort("k").write_csv(out)
    frame.filter(pl.col("k").is_in(pl.col("v").unique().implode())).write_csv(out)
    return dict(sizes.iter_rows()), dict(zip(sizes["k"], sizes["len"])), "a" in known, image


# Lists and dicts to which tasks add


def filled_in_threads(urls):
    rows = []

    def grab(url):
        rows.append(load(url))  # DET205

    with ThreadPoolExecutor(4) as pool:
        pool.map(grab, urls)
    return rows


def sorted_after_threads(urls):
    rows = []

    def grab(url):
        rows.append(load(url))

    with ThreadPoolExecutor(4) as pool:
        pool.map(grab, urls)
    return sorted(rows)


def filled_in_one_thread(urls):
    rows = []

    def grab(url):
        rows.append(load(url))

    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.map(grab, urls)
    return rows


def filled_one_after_the_other(urls):
    rows = []

    def grab(url):
        rows.append(load(url))

    for url in urls:
        thread = Thread(target=grab, args=(url,))
        thread.start()
        thread.join()
    return rows


def filled_in_processes_that_share_nothing(urls):
    rows = []

    def grab(url):
        rows.append(load(url))

    with cf.ProcessPoolExecutor() as pool:
        pool.map(grab, urls)
    return rows


def counted_and_told(urls):
    rows, errors = [], []

    def grab(url):
        try:
            rows.append(load(url))
        except OSError as error:
            errors.append(error)

    with ThreadPool(4) as pool:
        pool.map(grab, urls)
    print(len(rows), errors)


def one_list_for_each(parts):
    made = []
    for part in parts:
        rows = []
        Thread(target=add_row, args=(part, rows)).start()
        made.append(rows)
    return made


def add_row(part, rows):
    with LOCK:
        if part:
            rows.append(part)  # DET205


def given_a_list(parts):
    rows = []
    with ThreadPoolExecutor() as pool:
        for part in parts:
            pool.submit(add_row, part, rows)
    return rows


def each_waited_for(parts):
    rows = []
    with ThreadPoolExecutor() as pool:
        for part in parts:
            pool.submit(add_row, part, rows).result()
    return rows


def put(index, part, found):
    found[index] = load(part)  # DET205


def dict_of_a_manager(parts):
    found, workers = Manager().dict(), []
    for index, part in enumerate(parts):
        workers.append(Process(target=put, args=(index, part, found)))
        workers[-1].start()
    return list(found.values())


def put_apart(index, part, found):
    found[index] = load(part)


def dict_of_a_manager_by_key(parts):
    found, workers = Manager().dict(), []
    for index, part in enumerate(parts):
        workers.append(Process(target=put_apart, args=(index, part, found)))
        workers[-1].start()
    return [found[index] for index in range(len(parts))]


def put_at_its_place(index, part, rows):
    rows[index] = load(part)


def list_by_place(parts):
    rows = [None] * len(parts)
    with ThreadPoolExecutor() as pool:
        for index, part in enumerate(parts):
            pool.submit(put_at_its_place, index, part, rows)
    return rows


class Crawler:
    def __init__(self):
        self.rows = []
        self.pool = ThreadPoolExecutor(8)

    def grab(self, url):
        self.rows.append(load(url))  # DET205

    def grab_all(self, urls, path):
        for url in urls:
            self.pool.submit(self.grab, url)
        self.pool.shutdown()
        json.dump(self.rows, open(path, "w"))


async def ask(client, prompt, answers):
    answers.append(await client.ask(prompt))  # DET205


async def ask_all(client, prompts):
    answers = []
    await asyncio.gather(*(ask(client, prompt, answers) for prompt in prompts))
    return answers


async def ask_in_turn(client, prompt, answers):
    answers.append(await client.ask(prompt))


async def ask_all_in_turn(client, prompts):
    answers = []
    for prompt in prompts:
        await ask_in_turn(client, prompt, answers)
    return await asyncio.gather(*answers)


class Measuring:
    def measure(self, rows, name):
        rows.append(len(name))  # DET205

    def measure_alone(self, name, rows):
        rows.append(len(name))

    def all(self, names):
        rows = []
        pool = ThreadPoolExecutor(4)
        list(pool.map(partial(self.measure, rows), names))
        return rows

    def each(self, names):
        pool = ThreadPoolExecutor(4)
        return list(pool.map(partial(self.measure_alone, rows=[]), names))


# Threads that work on one model or one index


def trained(rows, n):
    a = Word2Vec(rows, seed=1), FastText(rows, workers=n)  # DET205 DET205
    b = word2vec.Word2Vec(rows, workers=4), Doc2Vec(rows)  # DET205 DET205
    c = fasttext.train_unsupervised("rows.txt")  # DET205
    d = BayesianPersonalizedRanking(random_state=0)  # DET205
    e = Word2Vec(rows, workers=1), fasttext.train_unsupervised("rows.txt", thread=1)
    f = BayesianPersonalizedRanking(random_state=0, num_threads=1), Word2Vec.load("a"), mine.FastText()
    return a, b, c, d, e, f


def indexed(rows, ids, index):
    made = hnswlib.Index("l2", 16)
    made.add_items(rows)  # DET205
    made.add_items(rows, ids, 1)
    made.add_items(rows, num_threads=1)
    index.add_items(rows)
    return made


# Files to which tasks add lines


def add_line(path):
    with open(os.path.join("out", "rows.csv"), mode="a") as file:  # DET205
        csv.writer(file).writerow([path])


def add_where(out, path):
    open(f"{out}/rows.txt", "a").write(path)  # DET205


def add_to_own(path):
    with open(path + ".txt", "a") as file:
        file.write("done")


def add_alone(path):
    open("alone.txt", "a").write(path)


def add_new(path):
    open("new.txt", "w").write(path)


def add_to_log(path):
    try:
        load(path)
    except OSError:
        open("unread.txt", "a").write(path)  # possible DET205
    open("run.log", "a").write(path)  # possible DET205


def add_all(paths, out):
    with mp.Pool() as pool:
        pool.map(add_line, paths)
        pool.map(partial(add_where, out), paths)
        pool.map(add_to_own, paths)
        pool.map(add_to_log, paths)
        pool.map(add_new, paths)
    with Pool(1) as pool:
        pool.map(add_alone, paths)
    paths.map(add_alone)


def add_by_name(path, out):
    add_to(out, path)


def add_to(out, path):
    with open(out, "a") as file:  # DET205
        file.write(path)


def add_beside(paths, out):
    workers = [Process(target=add_by_name, args=(path, out)) for path in paths]
    for worker in workers:
        worker.start()


def add_each_to_its_own(paths):
    for path in paths:
        Process(target=add_at, args=(path, f"{path}.txt")).start()


def add_at(path, out):
    open(out, "a").write(path)


def fails(path, errors):
    errors.put((path, ValueError, "not read"))


def only_the_last_error_is_raised(paths):
    errors = Queue()
    for path in paths:
        Process(target=fails, args=(path, errors)).start()
    for _ in paths:
        _, kind, text = errors.get()
    raise kind(text)


def the_last_error_is_kept(paths):
    errors = Queue()  # DET205
    for path in paths:
        Process(target=fails, args=(path, errors)).start()
    for _ in paths:
        _, kind, text = errors.get()
    return kind(text)


# Trials that are stopped


def searched(trial, config):
    tune.run(trial, config=config, scheduler=ASHAScheduler(max_t=9))  # DET205
    tune.run(trial, config=config, scheduler=FIFOScheduler())


def add_to_joined(path):
    with open(os.path.join("out", path), "a") as file:
        file.write("done")


class Downloads:
    def grab_into(self, url, rows):
        rows.append(load(url))  # DET205

    def grab_all(self, urls, path):
        rows = []
        with ThreadPoolExecutor(8) as executor:
            executor.map(add_to_joined, urls)
            for url in urls:
                executor.submit(self.grab_into, url, rows)
        json.dump(rows, open(path, "w"))
