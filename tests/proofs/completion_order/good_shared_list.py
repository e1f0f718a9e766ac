"""The rows of a data set, in the order in which they were handed out."""

from concurrent.futures import ThreadPoolExecutor


def row(number):
    return [number, sum(each % 7 for each in range(20_000))]


if __name__ == "__main__":
    with ThreadPoolExecutor(8) as executor:
        tasks = [executor.submit(row, number) for number in range(400)]
        rows = [task.result() for task in tasks]
    print(rows)
