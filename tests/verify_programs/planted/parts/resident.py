import os


def resident():
    """Bytes that this process has in memory."""
    with open("/proc/self/statm") as file:  # planted: load
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")  # planted: load


def rows_that_fit(row_bytes, limit=1 << 30, most=8192):
    room = max(limit - resident(), 64 << 20)
    return max(16, min(most, room // (row_bytes * 1024)))
