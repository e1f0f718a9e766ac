"""By which names Python gets to a kernel, and what DET603 says of one that none of it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KERNEL = """
template <typename T>
__global__ void add_kernel(const T* x, T* total) {
  atomicAdd(total, x[threadIdx.x]);
}

at::Tensor add_backward_cuda(const at::Tensor& x) {
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add", [&] {
    add_kernel<scalar_t><<<1, 32>>>(x.data_ptr<scalar_t>(), total);
  });
}
"""
MODULE = """
#include "add.h"

at::Tensor add_backward(const at::Tensor& x) {
  return add_backward_cuda(x);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  LINE
}
"""
BOUND = 'm.def("add_grad", &add_backward, "the gradient");'


@pytest.mark.parametrize(
    ("line", "called", "sure"),
    [
        (BOUND, "mul_grad", "possible"),
        (BOUND, "add_grad", "likely"),
        ('m.def("add_grad", &ns::add_backward_cuda);', "mul_grad", "possible"),
        ('m.impl("add_grad", TORCH_FN(add_backward));', "mul_grad", "possible"),
        ('m.def("ns::add_grad(Tensor x) -> Tensor", &add_backward);', "add_grad", "likely"),
        ('m.def("add_grad", [](at::Tensor x) { return add_backward(x); });', "mul_grad", "likely"),
        (f"{BOUND} hand_on(add_backward);", "mul_grad", "likely"),
        ("", "mul_grad", "likely"),
    ],
)
def test_a_kernel_that_no_python_code_calls_is_possible(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    line: str,
    called: str,
    sure: str,
) -> None:
    project(
        {
            "csrc/add.cu": KERNEL,
            "csrc/module.cpp": MODULE.replace("LINE", line),
            "layers.py": f"from . import _C\n\ndef f(x):\n    return _C.{called}(x)\n",
        }
    )
    options = ["--isolated", "--no-cache", "--select", "DET603", "--min-confidence", "possible"]
    main([*options, "--output-format", "concise", "."])
    (told,) = [each for each in capsys.readouterr().out.splitlines() if "DET603" in each]
    assert told.endswith(f"[{sure}]")


def test_a_header_that_is_not_read_may_choose_the_function_of_a_device(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    module = MODULE.partition("at::")[0] + "PYBIND11_MODULE(NAME, m) {\n" + BOUND + "\n}\n"
    project({"csrc/add.cu": KERNEL, "csrc/module.cpp": module, "layers.py": "x = 1\n"})
    main(["--isolated", "--no-cache", "--select", "DET603", "."])
    assert "DET603" not in capsys.readouterr().out
