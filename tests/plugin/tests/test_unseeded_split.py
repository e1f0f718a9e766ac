import pytest
from detlint_acme import UnseededSplit

from detlint.testing import check_example


@pytest.mark.parametrize("example", UnseededSplit.examples)
def test_example(example):
    check_example(UnseededSplit, example)
