"""What functions do with files: which place of their arguments names one, and what they read."""

from __future__ import annotations

import re

from detlint.models.model import words

# What writes a file, with the place of the argument that says where.
WRITERS = {
    **dict.fromkeys(words("cv2.imwrite numpy.save numpy.savetxt numpy.savez"), 0),
    **dict.fromkeys(words("json.dump pickle.dump torch.save yaml.dump yaml.safe_dump"), 1),
    "shutil.copyfileobj": 1,
}
# Methods by which a table is written out or shown with the names of its columns, by which others
# find these.
OF_TABLES = frozenset(
    f"to_{each}"
    for each in words("csv excel feather hdf html json latex markdown parquet sql string")
)
# Methods of files, which take what is written.
INTO_FILES = words("write write_bytes write_text writelines writerow writerows")
# Keywords that say which file a table is written to, or read from.
PLACES = words("excel_writer file filepath_or_buffer fname io path path_or_buf path_or_buffer")
# What reads tables and lists of samples, with the kind that it is of.
READERS = {
    **dict.fromkeys(
        words("pandas.read_csv pandas.read_table polars.read_csv polars.scan_csv"), "text"
    ),
    **dict.fromkeys(words("csv.reader csv.DictReader numpy.loadtxt numpy.genfromtxt"), "text"),
    **dict.fromkeys(words("builtins.open io.open codecs.open datasets.load_dataset"), "text"),
    **dict.fromkeys(words("json.load pandas.read_json"), "json"),
    **{
        f"{library}.read_{kind}": kind
        for library in ("pandas", "polars")
        for kind in ("excel", "feather", "hdf", "parquet", "pickle")
    },
}
# The kinds of what methods of tables write: `to_csv`; other kinds are called as they are.
KINDS = {"csv": "text", "json": "json", **{x: x for x in words("excel feather hdf parquet pickle")}}
CONTENTS = words("read_text read_bytes")  # methods of a path that give what lies there
# What reads files that hold no samples.
OTHER_READERS = ("configparser.", "omegaconf.", "pickle.", "toml", "torch.", "yaml.")
# What is given the name of a file, or what writes into one.
BY_NAME = words(
    """builtins.open codecs.open csv.DictReader csv.DictWriter csv.reader csv.writer gzip.open
    io.open pandas.ExcelWriter"""
)
# What tells a data base something; it keeps new rows in the order in which they come, …
TELLING = words("execute executemany sql")
# … unless it looks for a row that has the same key.
_INSERTS = re.compile(
    r"(?is)\s*INSERT\s+INTO\b(?!.*\bON\s+(?:CONFLICT|DUPLICATE)\b)",
)
# What opens a file, whose mode is given second.
OPENERS = words("builtins.open codecs.open gzip.open io.open")
# What puts the time into the bytes that it makes, unless it is given another as `mtime`; and what
# does so if it is opened to write: an archive has the times of its files (Python 3.11 to 3.14).
STAMPED = words("gzip.compress shutil.make_archive")
STAMPED_OPEN = words("gzip.open GzipFile tarfile.open ZipFile")
# What in the format of a log has each of its lines begin with the time; and what opens its file.
LOGGED_TIME = "asctime"
LOGS = words("FileHandler RotatingFileHandler TimedRotatingFileHandler basicConfig dictConfig")
# Options by which rows are added to a file or a table.
APPENDING = {"mode": "a", "if_exists": "append"}
# What reads settings, of which several files hold the same.
SETTINGS = ("json.load", "toml", "yaml.")
# What is filled in an order that its result depends on: hashes, archives.
HASHES = ("hashlib.", "zlib.", "xxhash.", "blake3.", "tarfile.")
# What is given the name of a file, or a part of it.
NAMED = words(
    """builtins.open os.makedirs os.mkdir os.path.join pathlib.Path numpy.load numpy.save torch.load
    torch.save"""
)


def inserts(statement: object) -> bool:
    """Whether a statement of SQL adds rows."""
    return isinstance(statement, str) and _INSERTS.match(statement) is not None
