"""What gives another value in each run: calls, attributes, files, objects, and words in a text.

By the causes that verify tells. A name stands for all that end with it: with its last part, or with
the last two where one says little. What the linter follows into seeds is in ``randomness.ENTROPY``.
"""

from __future__ import annotations

from detlint.models.model import words

# Clocks that tell nothing but what has passed between two calls.
MEASURING = words(
    """
    perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns thread_time
    thread_time_ns clock_gettime clock_gettime_ns default_timer os.times time.clock loop.time
    get_event_loop().time get_running_loop().time .time timeit.timeit timer.timeit timeit.repeat
    timeit.Timer benchmark.Timer benchmark.timer autorange blocked_autorange adaptive_autorange
    testing.measure testing.jiffies start.elapsed_time starter.elapsed_time
    start_event.elapsed_time begin.elapsed_time getitimer setitimer getstats get_stats_profile
    key_averages total_average
    """
)
# Names that are drawn, and that a file may have.
DRAWN_FILES = words(
    """
    mkstemp mktemp NamedTemporaryFile SharedMemory ShareableList arbitrary_address
    _get_candidate_names
    """
)
# The name of the machine: another one on another machine, and in another container.
OF_MACHINE = words("gethostname getfqdn platform.node os.uname platform.uname nodename")
CALLS = {
    "CLOCK": MEASURING
    | words(
        """
        formatdate make_msgid email.utils.localtime utils.localtime date_time_string
        log_date_time_string time2netscape time2isoz formatTime .create_time process.create_time
        proc.create_time client.DateTime Period.now arrow.now arrow.utcnow pendulum.now
        pendulum.today Time.now tf.timestamp tensorflow.timestamp
        """
    ),
    "LOAD": words(
        """
        getloadavg getrusage get_traced_memory get_tracemalloc_memory take_snapshot
        getallocatedblocks shutil.disk_usage statvfs fstatvfs sched_getcpu cpu_percent
        cpu_times cpu_times_percent cpu_num memory_info memory_full_info memory_percent memory_maps
        virtual_memory .num_fds .num_threads process.num_threads num_ctx_switches io_counters
        net_io_counters disk_io_counters testing.memusage cuda.mem_get_info cuda.temperature
        cuda.power_draw cuda.clock_rate device_memory_used
        """
    ),
    "DRAWN_NAME": DRAWN_FILES | words("mkdtemp TemporaryDirectory"),
    "ENTROPY": words(
        """
        getrandbits torch.seed getsockname uuid6 uuid7 uuid8 RAND_bytes RAND_pseudo_bytes mksalt
        gensalt generate_key get_random_bytes
        """
    ),
    "PROCESS": OF_MACHINE
    | words(
        """
        getpgid getpgrp getsid os.fork forkpty pty.fork tcgetpgrp _current_frames pids
        process_iter psutil.Process ppid pthread_getcpuclockid posix_spawn posix_spawnp
        """
    ),
    "COLLECTION": words(
        """
        gc.collect gc.get_count gc.get_stats gc.get_objects gc.get_referrers getweakrefcount
        getweakrefs
        """
    ),
    "READINESS": words("get_nowait active_count active_children all_tasks"),
    "THREAD_ORDER": words(
        "as_completed imap_unordered connection.wait select.select os.wait os.wait3 accept"
    ),
    "OBJECT_ADDRESS": words("addressof data_ptr buffer_info"),
    "PROGRAM": words(
        """
        subprocess.run subprocess.Popen subprocess.call check_output check_call getoutput
        getstatusoutput os.system os.popen create_subprocess_exec
        create_subprocess_shell subprocess_exec subprocess_shell posix_spawn posix_spawnp spawnl
        spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe pty.spawn pexpect.run
        pexpect.spawn exec_command urlopen urlretrieve getresponse requests.get requests.post
        """
    ),
    "UNWRITTEN_MEMORY": words(
        """
        empty_like new_empty empty_strided new_empty_strided empty_permuted torch.empty np.empty
        numpy.empty ma.empty np.ndarray numpy.ndarray to_empty resize_ skip_init
        """
    ),
}
# What starts another program and goes on at once, and what waits until that has ended.
BEGINNING = words("Popen create_subprocess_exec create_subprocess_shell posix_spawn posix_spawnp")
ENDING = (".wait(", ".wait3(", ".communicate(", ".poll(", "waitpid(", ".returncode", "stdout.read")
# Libraries of which all that is called measures the machine, but for what stands above.
MEASURING_LIBRARIES = ("psutil.", "pynvml.", "GPUtil.", "gpustat.")
# What of these stays the same on one machine.
SAME = words("cpu_affinity cpu_count disk_partitions boot_time nvmlInit nvmlDeviceGetCount")

# When a file was written or read last, as ``os.stat`` and ``os.path`` name it, …
FILE_TIMES = words(
    """
    st_mtime st_mtime_ns st_ctime st_ctime_ns st_atime st_atime_ns st_birthtime st_birthtime_ns
    getmtime getctime getatime
    """
)
# … what gives that with the rest of what is known of a file, …
STATS = words("stat lstat fstat")
# … and all attributes that tell one of the causes, whatever the object is called.
ATTRIBUTES = {
    "CLOCK": FILE_TIMES
    | words(
        """
        record.created record.msecs relativeCreated date_time total_tt cpu_time_total
        self_cpu_time_total device_time_total format_dict
        """
    ),
    "LOAD": words(
        """
        ru_utime ru_stime ru_maxrss ru_minflt ru_majflt ru_nvcsw ru_nivcsw ru_inblock ru_oublock
        f_bavail f_bfree f_favail f_ffree
        """
    ),
    "ENTROPY": words("authkey server_port server_address"),
    "PROCESS": words("record.process record.thread native_id nodename si_pid P_NOWAIT P_NOWAITO"),
    "PROGRAM": words(
        """
        returncode proc.stdout process.stdout child.stdout started.stdout popen.stdout p.stdout
        proc.stderr process.stderr child.stderr started.stderr popen.stderr p.stderr
        """
    ),
    "OBJECT_ADDRESS": words(
        "ctypes.data __array_interface__ __cuda_array_interface__ _cdata cuda_stream"
    ),
}

# What files of the system tell, by how their names begin, the first that fits; a name that ends
# with a space stands for itself alone.
_FILES = {
    "": """/proc/cpuinfo /proc/version /proc/cmdline /proc/mounts /proc/filesystems /proc/devices
        /proc/partitions /proc/self/cmdline /proc/self/comm /proc/self/cwd /proc/self/exe
        /proc/self/cgroup /proc/self/environ /proc/self/limits /proc/self/mountinfo
        /proc/self/mounts /proc/sys/kernel/hostname /proc/sys/kernel/osrelease
        /sys/devices/system/cpu/online /sys/devices/system/cpu/possible
        /sys/devices/system/cpu/present /sys/module/""",
    "ENTROPY": "/dev/random /dev/urandom /dev/hwrng /proc/sys/kernel/random/",
    "CLOCK": "/proc/uptime /proc/driver/rtc /proc/timer_list /sys/class/rtc/ /dev/rtc",
    "PROCESS": "/proc/self/task /proc/sys/kernel/ns_last_pid /proc/[ /proc/*",
    "OBJECT_ADDRESS": """/proc/self/maps /proc/self/numa_maps /proc/self/map_files
        /proc/self/auxv /proc/self/syscall""",
    "LOAD": "/proc/ /sys/",
}
FILES = {
    **dict.fromkeys(("/proc ", "/proc/self ", "/proc/thread-self "), "PROCESS"),
    **{start: told for told, starts in _FILES.items() for start in starts.split()},
}
# Objects of these classes give such a value, whichever of their methods is asked.
OBJECTS = {
    "random.SystemRandom": "ENTROPY",
    "psutil.Process": "LOAD",
    **dict.fromkeys(
        (
            *("subprocess.Popen", "asyncio.subprocess.Process", "os._wrap_close"),
            *("http.client.HTTPResponse", "requests.models.Response"),
        ),
        "PROGRAM",
    ),
}
# Words in a text: in the format of a log, in a query of a database, for ``os.sysconf``.
TEXTS = {
    **dict.fromkeys(("asctime", "CURRENT_TIME", "CURRENT_DATE", "('now'", "'now')"), "CLOCK"),
    "SC_AVPHYS_PAGES": "LOAD",
}

# Variables of the environment that a launcher, a batch system or a shell sets anew in each run.
VARIABLES = words("MASTER_PORT TORCHELASTIC_RUN_ID RANDOM SRANDOM SLURM_JOB_ID PBS_JOBID LSB_JOBID")
# What makes a generator or seeds one, and asks the system where it is given nothing.
UNSEEDED = words(
    """
    seed seed_all default_rng Random RandomState SeedSequence PCG64 PCG64DXSM MT19937 Philox SFC64
    Sobol Halton LatinHypercube PoissonDisk MultinomialQMC MultivariateNormalQMC TPESampler
    RandomSampler CmaEsSampler NSGAIISampler NSGAIIISampler QMCSampler GPSampler
    """
)
# What torch tells of a GPU's memory, which hangs on what was computed, and not on the load alone.
OF_GPUS = words(
    """
    cuda.memory_allocated cuda.memory_reserved cuda.max_memory_allocated cuda.max_memory_reserved
    cuda.memory_stats cuda.memory_usage cuda.utilization
    """
)
# What takes items in their order, beside loops.
IN_ORDER = words(
    """
    list tuple enumerate iter next zip map dict fromkeys pop join array tensor stack cat sum chain
    islice popitem asarray as_tensor fromiter concatenate hstack vstack Series DataFrame Categorical
    reduce accumulate filter deque Counter extend writelines bytes bytearray product permutations
    combinations cycle zip_longest starmap from_iterable batched pairwise groupby sorted min max
    heapify nlargest nsmallest dumps dump print
    """
)
