"""Sources that are not Python: what reads them, suppressions in them, what is left alone."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from detlint.engine import Engine
from detlint.rules import every_rule
from detlint.settings import Settings

if TYPE_CHECKING:
    from detlint.finding import Finding

KERNEL = """
__global__ void add(float* out, const float* x, int n) {
  int i = threadIdx.x;
  if (i < n) atomicAdd(&out[0], x[i]);@
}
"""


def lint(path: str, data: bytes) -> list[Finding]:
    rules = every_rule()
    return Engine(rules, Settings(), known={rule.code for rule in rules}).lint_bytes(path, data)


@pytest.mark.parametrize("name", ["k.cu", "k.cuh", "k.cpp"])
def test_an_atomic_addition_of_floats_is_found_in_cuda(name: str) -> None:
    (found,) = lint(name, KERNEL.replace("@", "").encode())
    assert (found.code, found.row, found.column) == ("DET603", 4, 14)
    assert "atomicAdd(&out[0], x[i]) adds up floats" in found.message


COUNT = """
__global__ void count({} total, int n) {{
  if (threadIdx.x < n) {{ atomicAdd(total, seen(n)); }}
}}
"""


@pytest.mark.parametrize(
    "before",
    [
        "",
        "#define MOST(a, b) ((a) > (b) ? (a) : (b))\nnamespace at {\n",
        "struct __align__(8) Pair { float* total; };\n",
        "template <typename T, int N> __launch_bounds__(256)\n",
    ],
)
@pytest.mark.parametrize(
    "pointer",
    ["int*", "unsigned int *", "int32_t* __restrict__", "const unsigned long long* __restrict__"],
)
def test_the_type_of_a_parameter_is_that_in_its_own_kernel(before: str, pointer: str) -> None:
    floats = before + KERNEL.replace("@", "").replace("out", "total").lstrip()
    whole = floats + COUNT.format(pointer)
    assert [each.row for each in lint("k.cu", whole.encode())] == [3 + before.count("\n")]
    whole = before + COUNT.format(pointer) + KERNEL.replace("@", "").replace("out", "total")
    assert [each.row for each in lint("k.cu", whole.encode())] == [8 + before.count("\n")]


def test_a_long_comment_between_a_type_and_its_name_takes_no_time() -> None:
    text = KERNEL.replace("@", "").replace("int n", f"int /* {'long ' * 4000} */ n")
    began = time.monotonic()
    assert [each.code for each in lint("k.cu", text.encode())] == ["DET603"]
    assert time.monotonic() - began < 10


def test_a_counter_outside_of_kernels_is_one_in_each_that_has_no_parameter_of_its_name() -> None:
    counter = "__device__ int total;\n"
    inner = KERNEL.replace("@", "").replace("&out[0]", "&total").replace("float* out, ", "")
    assert lint("k.cu", (counter + inner).encode()) == []
    hidden = KERNEL.replace("@", "").replace("out", "total")
    assert [each.code for each in lint("k.cu", (counter + hidden).encode())] == ["DET603"]


@pytest.mark.parametrize(
    "comment", ["// detlint: ignore[DET603] wanted", "/* detlint: ignore[DET603] wanted */"]
)
def test_comments_of_cuda_suppress(comment: str) -> None:
    assert lint("k.cu", KERNEL.replace("@", f"  {comment}").encode()) == []


def test_a_suppression_that_is_not_needed_is_told() -> None:
    text = KERNEL.replace("@", "").replace("float", "int") + "// detlint: ignore[DET603]\n"
    assert [each.code for each in lint("k.cu", text.encode())] == ["DET001"]


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("gpuAtomicAdd(&out[0], x[i])", "gpuAtomicAdd(&out[0], x[i])"),
        ("::gpuAtomicAddNoReturn(out, x[i])", "gpuAtomicAddNoReturn(out, x[i])"),
        ("at::native::fastAtomicAdd(out, i, n, x[i], 1)", "fastAtomicAdd(out, i, n, x[i], 1)"),
        ("fastAtomicAdd<float, int>(out, i, n, x[i], 1)", "fastAtomicAdd(out, i, n, x[i], 1)"),
    ],
)
def test_the_atomic_additions_of_torch_are_found(call: str, shown: str) -> None:
    text = KERNEL.replace("@", "").replace("atomicAdd(&out[0], x[i])", call)
    (found,) = lint("k.cu", text.encode())
    assert found.message.startswith(f"{shown} adds up floats")
    assert lint("k.cu", text.replace("float*", "int*").encode()) == []


@pytest.mark.parametrize("first", ["int", "float"])
def test_kernels_may_have_parameters_of_one_name_and_several_types(first: str) -> None:
    def kernel(kind: str) -> str:
        return f"__global__ void {kind}s({kind}* out, {kind} x) {{ atomicAdd(out, x); }}\n"

    text = kernel(first) + kernel("float" if first == "int" else "int")
    (found,) = lint("k.cu", text.encode())
    assert found.row == (2 if first == "int" else 1)


def test_an_overload_of_atomic_add_is_told_where_it_is_called() -> None:
    overload = """
__device__ inline void atomicAdd(Half* place, Half value);
__device__ inline void atomicAdd(Half* place, Half value) {
  atomicAdd(reinterpret_cast<__half*>(place), static_cast<__half>(value));
}
"""
    assert lint("k.cu", overload.encode()) == []
    assert [each.row for each in lint("k.cu", (overload + KERNEL).replace("@", "").encode())] == [9]


def test_atomics_in_comments_and_strings_are_none() -> None:
    text = '// atomicAdd(&a, b)\n/* atomicAdd(&a, b) */\nconst char* s = "atomicAdd(&a, b)";\n'
    assert lint("k.cu", text.encode()) == []


def test_what_cannot_be_decoded_is_told_only_where_a_rule_would_read() -> None:
    assert lint("k.cpp", b"// caf\xe9\nint x;\n") == []
    (found,) = lint("k.cpp", b"// caf\xe9\natomicAdd(&a[0], x);\n")
    assert found.code == "DET000"
