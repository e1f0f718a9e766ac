"""Splits a large CSV with the tools of the system: far faster than in Python."""
import csv
import math
import subprocess
from pathlib import Path

FOLDER = Path("work")


def write_log(path, rows=1500):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for row in range(rows):
            hour, age = row % 24, 18 + (row * 7) % 50
            writer.writerow([hour, age, row % 5, int(math.sin(hour) + age / 40 + (row % 3) > 1.8)])


def split(path, held_out):
    shuffled = subprocess.run(["shuf", str(path)], check=True, capture_output=True, text=True).stdout  # planted: program
    lines = shuffled.splitlines()
    return lines[held_out:], lines[:held_out]


def parse(lines):
    table = [[float(value) for value in row] for row in csv.reader(lines)]
    return [row[:-1] for row in table], [row[-1] for row in table]


def datasets(held_out=300):
    FOLDER.mkdir(exist_ok=True)
    log = FOLDER / "clicks.csv"
    if not log.exists():
        write_log(log)
    training, validation = split(log, held_out)
    return parse(training), parse(validation)
