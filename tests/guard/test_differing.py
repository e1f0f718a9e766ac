"""What gives another value in each run has the cause that verify tells, however it is written."""

from __future__ import annotations

import random
import subprocess
import sys
import tracemalloc
from inspect import cleandoc
from pathlib import Path

import pytest
from statement_runs import flows

from guard.diff import Source
from guard.diff.statements import Calling, Node
from guard.digests import traits
from guard.digests.traits import MISSING, Traits, traits_of, value_of
from guard.observe.statements import statements
from guard.trace.statements import Call
from guard.verification.explaining import origin_of
from guard.verification.texts import Text

# A line is an expression, with what is imported before it; the modules that it names are.
EXPRESSIONS = {
    Source.CLOCK: """
        time.time()
        time.time_ns()
        time.perf_counter()
        time.monotonic_ns()
        time.process_time()
        time.thread_time_ns()
        time.clock_gettime(time.CLOCK_REALTIME)
        time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        time.localtime().tm_sec
        time.gmtime()
        time.ctime()
        time.asctime()
        time.strftime('%S')
        datetime.datetime.now().microsecond
        datetime.datetime.now(datetime.timezone.utc)
        datetime.datetime.utcnow().timestamp()
        datetime.datetime.today()
        datetime.date.today().toordinal()
        datetime.datetime.fromtimestamp(time.time())
        os.times()
        os.times().elapsed
        timeit.default_timer()
        timeit.timeit('1 + 1', number=9)
        timeit.repeat('1 + 1', number=9)
        timeit.Timer('1 + 1').timeit(9)
        timeit.Timer('1 + 1').autorange()
        torch.utils.benchmark.Timer('1 + 1').timeit(9).median
        torch.utils.benchmark.Timer('1 + 1').blocked_autorange().mean
        asyncio.get_event_loop().time()
        asyncio.get_running_loop().time()
        loop.time()
        start.elapsed_time(end)
        email.utils.formatdate()
        email.utils.localtime()
        email.utils.make_msgid()
        http.cookiejar.time2isoz()
        xmlrpc.client.DateTime().value
        signal.getitimer(signal.ITIMER_REAL)
        signal.setitimer(signal.ITIMER_REAL, 5)
        cProfile.Profile().getstats()
        pstats.Stats('a').total_tt
        profile.key_averages()
        logging.makeLogRecord({}).relativeCreated
        record.created
        np.datetime64('now')
        np.testing.measure('1 + 1')
        pd.Timestamp.now()
        pd.Timestamp('now')
        pd.to_datetime('today')
        psutil.Process().create_time()
        os.stat('a').st_mtime
        os.lstat('a').st_ctime_ns
        os.path.getmtime('a')
        Path('a').stat().st_atime
        entry.stat().st_mtime_ns
        os.stat('a')
        Path('a').stat()
        os.fstat(file.fileno())
        max(paths, key=os.path.getctime)
        zipfile.ZipFile('a').infolist()[0].date_time
        gzip.compress(b'a')
        tarfile.open('a', 'w')
        open('/proc/uptime').read()
        Path('/proc/uptime').read_text().split()[0]
        open('/sys/class/rtc/rtc0/since_epoch').read()
        db.execute("SELECT strftime('%f', 'now')").fetchone()
        db.execute('SELECT CURRENT_TIMESTAMP').fetchone()
    """,
    Source.LOAD: """
        os.getloadavg()
        os.getloadavg()[0]
        resource.getrusage(resource.RUSAGE_SELF)
        resource.getrusage(0).ru_nivcsw
        resource.getrusage(0).ru_maxrss
        usage.ru_minflt
        os.statvfs('/').f_bavail
        os.fstatvfs(file.fileno())
        shutil.disk_usage('/').free
        os.sysconf('SC_AVPHYS_PAGES')
        tracemalloc.get_traced_memory()[1]
        tracemalloc.take_snapshot()
        tracemalloc.get_tracemalloc_memory()
        sys.getallocatedblocks()
        psutil.cpu_percent()
        psutil.virtual_memory().available
        psutil.swap_memory().used
        psutil.cpu_freq().current
        psutil.net_io_counters().bytes_sent
        psutil.Process().memory_info().rss
        psutil.Process().num_ctx_switches().involuntary
        process.io_counters()
        torch.cuda.mem_get_info()
        torch.cuda.temperature()
        pynvml.nvmlDeviceGetPowerUsage(card)
        open('/proc/meminfo').readline()
        open('/proc/stat').read()
        Path('/proc/loadavg').read_text()
        Path('/proc/self/schedstat').read_text().split()
        open('/proc/self/status').read()
        open('/proc/self/io').read()
        open(f'/proc/{os.getpid()}/statm').read()
        open('/proc/interrupts').read()
        open('/proc/net/dev').read()
        Path('/sys/class/thermal/thermal_zone0/temp').read_text()
        open('/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq').read()
        open('/sys/fs/cgroup/memory.current').read()
    """,
    Source.PROCESS: """
        os.getpid()
        os.getppid()
        os.getpgid(0)
        os.getpgrp()
        os.getsid(0)
        os.fork()
        pty.fork()[0]
        os.posix_spawn('/bin/true', ['true'], {})
        os.posix_spawnp('true', ['true'], os.environ)
        os.spawnlp(os.P_NOWAIT, 'true', 'true')
        os.spawnv(os.P_NOWAIT, '/bin/true', ['true'])
        threading.get_ident()
        threading.get_native_id()
        threading.current_thread().ident
        threading.current_thread().native_id
        threading.main_thread().ident
        multiprocessing.current_process().pid
        multiprocessing.parent_process().pid
        subprocess.Popen(['true']).pid
        list(sys._current_frames())
        psutil.Process().pid
        psutil.Process().ppid()
        psutil.pids()
        context.pids()
        record.thread
        time.pthread_getcpuclockid(threading.get_ident())
        os.readlink('/proc/self')
        Path('/proc/self').readlink()
        os.path.realpath('/proc/thread-self')
        os.listdir('/proc')
        os.listdir('/proc/self/task')
        list(Path('/proc').iterdir())
        glob.glob('/proc/[0-9]*')
        open('/proc/sys/kernel/ns_last_pid').read()
        socket.gethostname()
        socket.getfqdn()
        platform.node()
        os.uname().nodename
        subprocess.run(['echo', str(os.getpid())])
    """,
    Source.ENTROPY: """
        os.urandom(4)
        os.getrandom(4)
        uuid.uuid1()
        uuid.uuid4().hex
        uuid.uuid7().int
        secrets.token_hex()
        secrets.token_bytes(4)
        secrets.token_urlsafe()
        secrets.randbelow(9)
        secrets.randbits(9)
        secrets.choice(items)
        secrets.SystemRandom().random()
        random.SystemRandom().choice(items)
        random.Random().random()
        random.seed()
        ssl.RAND_bytes(4)
        numpy.random.default_rng().random()
        numpy.random.RandomState().rand()
        numpy.random.SeedSequence().entropy
        numpy.random.Generator(numpy.random.PCG64()).random()
        numpy.random.MT19937()
        numpy.random.Philox()
        numpy.random.SFC64()
        torch.seed()
        torch.random.seed()
        torch.Generator().seed()
        torch.cuda.seed_all()
        bcrypt.gensalt()
        Fernet.generate_key()
        multiprocessing.current_process().authkey
        server.socket.getsockname()[1]
        http.server.HTTPServer(('', 0), handler).server_port
        open('/dev/urandom', 'rb').read(4)
        Path('/proc/sys/kernel/random/uuid').read_text()
        db.execute('SELECT * FROM rows ORDER BY random()')
        db.execute('SELECT hex(randomblob(4))')
    """,
    Source.GENERATOR: """
        random.getstate()
        np.random.get_state()
        torch.get_rng_state()
        torch.initial_seed()
    """,
    Source.VARIABLE: """
        os.environ['MASTER_PORT']
        int(os.environ.get('SLURM_JOB_ID', 0))
        f"{os.getenv('TORCHELASTIC_RUN_ID')}-{rank}"
        random.Random(os.environ['RANDOM'])
    """,
    Source.DRAWN_NAME: """
        tempfile.mkdtemp()
        tempfile.mkstemp()[1]
        tempfile.mktemp()
        tempfile.NamedTemporaryFile().name
        tempfile.TemporaryDirectory().name
        next(tempfile._get_candidate_names())
        multiprocessing.shared_memory.SharedMemory(create=True, size=4).name
        multiprocessing.shared_memory.ShareableList([1]).shm.name
        multiprocessing.connection.arbitrary_address('AF_UNIX')
    """,
    Source.OBJECT_ADDRESS: """
        id(items)
        ctypes.addressof(ctypes.c_int())
        array.array('i', [1]).buffer_info()[0]
        torch.ones(3).data_ptr()
        weight.untyped_storage().data_ptr()
        np.ones(3).ctypes.data
        rows.__array_interface__['data'][0]
        open('/proc/self/maps').readline()
        os.listdir('/proc/self/map_files')
    """,
    Source.COLLECTION: """
        gc.collect()
        gc.get_count()
        gc.get_stats()
        len(gc.get_objects())
        weakref.getweakrefcount(items)
    """,
    Source.READINESS: """
        job.done()
        ready.is_set()
        job.cancel()
        items.qsize()
        items.get_nowait()
        items.get(timeout=1)
        asyncio.wait(jobs, timeout=1)
        asyncio.wait_for(job, 1)
        asyncio.timeout(1)
        concurrent.futures.wait(jobs, 1)
        list(concurrent.futures.as_completed(jobs, timeout=1))
        threading.active_count()
        multiprocessing.active_children()
        asyncio.all_tasks()
    """,
    Source.THREAD_ORDER: """
        list(concurrent.futures.as_completed(jobs))
        list(pool.imap_unordered(f, items))
        multiprocessing.connection.wait(ends)
        os.wait()
        socket.socket().accept()
        multiprocessing.connection.Listener().accept()
    """,
    Source.PROGRAM: """
        subprocess.run(['shuf', '-n1', 'a'], capture_output=True).stdout
        subprocess.run(['awk', 'BEGIN { srand(); print rand() }'], capture_output=True)
        subprocess.run(['cat', '/proc/uptime'], capture_output=True)
        subprocess.run(['date', '+%N'], cwd=tempfile.mkdtemp(), capture_output=True)
        subprocess.check_output('echo $RANDOM', shell=True)
        subprocess.getoutput('mktemp -u')
        subprocess.getstatusoutput('uuidgen')
        subprocess.call(['sort', '-R', 'a'])
        subprocess.Popen(['ps'], stdout=subprocess.PIPE).communicate()
        os.popen('date').read()
        os.system('ls -U')
        os.spawnlp(os.P_WAIT, 'true', 'true')
        os.spawnve(os.P_WAIT, '/bin/true', ['true'], {})
        asyncio.create_subprocess_exec('date')
        urllib.request.urlopen('http://localhost').read()
        proc.stdout.readline()
        proc.returncode
    """,
    Source.UNWRITTEN_MEMORY: """
        np.empty(3)
        np.empty_like(rows)
        np.ndarray(3)
        np.ma.empty(3)
        torch.empty(3)
        torch.empty_strided((3,), (1,))
        weight.new_empty(3)
        weight.resize_(9)
        layer.to_empty(device='cpu')
    """,
    Source.NOT_SHOWN: """
        os.cpu_count()
        memory.kept(state, done)
        os.sysconf('SC_PAGE_SIZE')
        psutil.cpu_count()
        open('/proc/cpuinfo').read()
        os.readlink('/proc/self/exe')
        os.getcwd()
        os.environ['MASTER_ADDR']
        settings['MASTER_PORT']
        asyncio.timeout(None)
        os.path.exists('a')
        Path('a').stat().st_size
        sys.version_info
        platform.python_version()
        math.sqrt(3)
        uuid.uuid5(uuid.NAMESPACE_DNS, 'a')
        self.created
        self.times
        zlib.crc32(b'a')
        '/proceedings/stat'
        os.readlink('/proceedings')
    """,
}
WRITTEN = {
    "another name": ("from time import time as now", "now()", Source.CLOCK),
    "a module under another name": ("import datetime as dt", "dt.datetime.now()", Source.CLOCK),
    "a class under another name": ("from datetime import datetime as D", "D.now()", Source.CLOCK),
    "a function of its own name": ("from os import getpid", "getpid()", Source.PROCESS),
    "getattr": ("import time", "getattr(time, 'time')()", Source.CLOCK),
    "getattr of an object": ("", "getattr(usage, 'ru_nivcsw')", Source.LOAD),
    "partial": ("import functools, os", "functools.partial(os.urandom, 4)()", Source.ENTROPY),
    "handed on": ("import os", "pool.submit(os.getpid).result()", Source.PROCESS),
    "handed on by another name": ("from os import getpid as g", "pool.submit(g)", Source.PROCESS),
    "asked for by name": ("import os", "ask = getattr(os, 'getpid')", Source.PROCESS),
    "map": ("import os", "list(map(os.urandom, [4]))", Source.ENTROPY),
    "a text": ("import os", "f'{os.getpid()}'", Source.PROCESS),
    "a comprehension": ("import os", "[os.urandom(1) for _ in range(3)]", Source.ENTROPY),
    "a condition": ("import time", "1 if time.time() % 2 > 1 else 2", Source.CLOCK),
    "a lambda": ("import time", "sorted(items, key=lambda e: time.time())", Source.CLOCK),
    "a walrus": ("import time", "(now := time.time()) + now", Source.CLOCK),
    "a star": ("import os", "f(*os.getloadavg())", Source.LOAD),
}
BLOCKS = {
    "with": ("import time\nwith opened(time.time()) as a:\n    pass", Source.CLOCK),
    "a default": ("import os\ndef f(a=os.getpid()):\n    pass", Source.PROCESS),
    "a decorator": ("import time\n@named(time.time())\ndef f():\n    pass", Source.CLOCK),
    "a loop": ("import os\nfor a in os.urandom(3):\n    pass", Source.ENTROPY),
    "a field": ("import time\na: float = field(default_factory=time.time)", Source.CLOCK),
    "lines": ("import os\na = [\n    1,\n    os.getpid(),\n]", Source.PROCESS),
}
# Values that a line reads under a name.
SYSTEM = random.SystemRandom()  # detlint: ignore[DET101] it is what is asked about
HELD = {
    "a generator of the system": (SYSTEM, "held.random()", Source.ENTROPY),
    "a path of the process": (Path("/proc/self"), "held.readlink()", Source.PROCESS),
    "a path": (Path("/proc/self/schedstat"), "held.read_text()", Source.LOAD),
    "a clock": (Path("/proc/uptime"), "held.read_text()", Source.CLOCK),
    "a name": ("/proc/self/maps", "open(held).read()", Source.OBJECT_ADDRESS),
    "a query": ("SELECT a FROM b ORDER BY random()", "db.execute(held)", Source.ENTROPY),
    "a query for the time": ("SELECT unixepoch('now')", "db.execute(held)", Source.CLOCK),
}


def _cause(text: str, held: object = MISSING) -> Source:
    lines = statements(text)
    (statement, *_) = (e for e in lines.values() if e.line > 1 and not e.kind.startswith("Import"))
    read = () if held is MISSING else [value_of(e, {"held": held}, {}) for e in statement.reads]
    paths = tuple(0 if each is MISSING else traits_of([each]) for each in read)
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)
    return origin_of(node, Traits(sum(paths), 0, paths)).source


@pytest.mark.parametrize(
    ("line", "source"),
    [(line, each) for each, text in EXPRESSIONS.items() for line in cleandoc(text).split("\n")],
)
def test_what_differs_has_its_cause(line: str, source: Source) -> None:
    assert _cause(f"import os\na = {line}") is source


@pytest.mark.parametrize("way", WRITTEN)
def test_however_it_is_written(way: str) -> None:
    imports, line, source = WRITTEN[way]

    assert _cause(f"{imports}\na = {line}") is source


@pytest.mark.parametrize("way", BLOCKS)
def test_wherever_it_stands(way: str) -> None:
    text, source = BLOCKS[way]

    assert _cause(text) is source


@pytest.mark.parametrize("what", HELD)
def test_what_is_held_under_a_name(what: str) -> None:
    held, line, source = HELD[what]

    assert _cause(f"import os\na = {line}", held) is source


def test_a_function_that_is_called_under_another_name_with_arguments(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import resource\ndef used(f=resource.getrusage):\n    f(0)\n")

    assert Text([str(path)]).called == {str(path): {(3, "f"): "resource.getrusage"}}


@pytest.mark.parametrize(
    "made",
    ["pool.submit(time.time_ns).result", "partial(time.time_ns)", "getattr(time, 'time_ns')"],
)
def test_what_was_handed_on_begins_it(made: str, tmp_path: Path) -> None:
    head = "import time; from functools import partial\n"
    pool = "from concurrent.futures import ThreadPoolExecutor; pool = ThreadPoolExecutor(1)\n"
    found = flows(tmp_path, f"{head}{pool}ask = {made}\na = ask()\n")
    (node,) = (each for each in found.nodes if each.statement.line == 4)
    (origin,) = node.origins

    assert (origin.statement.line, origin_of(origin, Traits()).source) == (3, Source.CLOCK)


def test_a_long_text_is_not_copied() -> None:
    long = "a" * 50_000_000
    tracemalloc.start()
    traits.told_by(long)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 1_000_000


def test_what_values_are_made_of_are_bits_of_their_own() -> None:
    held = {name: each for name, each in vars(traits).items() if type(each) is int}
    public = [each for name, each in held.items() if not name.startswith("_")]
    single = [each for each in public if each.bit_count() == 1]

    assert len(single) == len({*single})


@pytest.mark.parametrize(("asked", "source"), [("wait()", Source.PROGRAM), ("pid", Source.PROCESS)])
def test_a_program_that_was_started(asked: str, source: Source) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as started:
        assert _cause(f"import os\na = held.{asked}", started) is source
