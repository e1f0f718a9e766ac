"""The rows of a data set, in the order in which they were handed out."""

from concurrent.futures import ProcessPoolExecutor, as_completed


def row(number):
    return [number, sum(each % 7 for each in range(20_000))]


if __name__ == "__main__":
    rows = []
    with ProcessPoolExecutor(4) as executor:
        futures = [executor.submit(row, number) for number in range(100)]
        for done, _ in enumerate(as_completed(futures)):
            print(f"{done} of {len(futures)} done")
        for future in futures:
            rows.append(future.result())
    print(rows)
