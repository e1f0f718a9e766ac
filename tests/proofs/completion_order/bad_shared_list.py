"""The rows of a data set, in the order in which threads come to add them."""

from concurrent.futures import ThreadPoolExecutor


def add(number, rows):
    total = sum(each % 7 for each in range(20_000))
    rows.append([number, total])


if __name__ == "__main__":
    rows = []
    with ThreadPoolExecutor(8) as executor:
        for number in range(400):
            executor.submit(add, number, rows)
    print(rows)
