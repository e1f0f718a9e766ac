"""Products of sparse matrices and layers that cuDNN runs."""

from __future__ import annotations

from detlint.operations.rows import NATIVE, Alternative, Operation, spelled

_SPARSE = '''
def sparse_mm(sparse, dense):
    """sparse @ dense, of a sparse matrix and a dense one."""
    sparse = sparse.to_sparse_coo().coalesce()
    rows, columns = sparse.indices()
    terms = sparse.values()[:, None] * dense[columns]
    return dense.new_zeros(sparse.shape[0], dense.shape[1]).index_add(0, rows, terms)
'''

_DENSE = """
def sparse_mm(sparse, dense):
    return sparse.to_dense() @ dense
"""

_LSTM = '''
import torch

class LSTM(torch.nn.Module):
    """torch.nn.LSTM(…, num_layers, dropout=dropout); its masks come from torch's generator."""

    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__()
        sizes = [input_size] + [hidden_size] * (num_layers - 1)
        self.layers = torch.nn.ModuleList(torch.nn.LSTM(size, hidden_size) for size in sizes)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, input):
        states = []
        for number, layer in enumerate(self.layers):
            input, state = layer(self.dropout(input) if number else input)
            states.append(state)
        hidden, cell = (torch.cat(each) for each in zip(*states))
        return input, (hidden, cell)
'''

_WITHOUT_CUDNN = """
import torch

def without_cudnn(module, *inputs):
    with torch.backends.cudnn.flags(enabled=False):
        return module(*inputs)
"""

LIBRARIES = (
    Operation(
        name="torch.sparse.mm",
        overloads=spelled("aten::_sparse_addmm aten::mm aten::addmm aten::mv aten::hspmm"),
        api=spelled(
            "torch.sparse.{mm,addmm} torch.mm torch.matmul torch.addmm torch.mv torch.hspmm"
        ),
        condition="a sparse matrix times a dense one, other than by bmm; transposed ones above "
        "all, as in the backward",
        direction="forward",
        silent=True,
        reason="cuSPARSE promises the same bits in each run for some of its algorithms only, and "
        "torch asks for one of those in bmm alone.",
        alternatives=(
            Alternative("gather and index_add, which is deterministic if enabled", _SPARSE),
            Alternative("a dense product, where that fits", _DENSE),
        ),
        source="https://docs.nvidia.com/cuda/cusparse/#cusparsespmm",
    ),
    Operation(
        name="torch.nn.LSTM",
        overloads=("aten::_cudnn_rnn",),
        api=spelled("torch.nn.{LSTM,GRU,RNN}"),
        condition="dropout between two or more layers, in training, through cuDNN, in a run that "
        "goes on from a saved state of the generators",
        direction="forward",
        silent=True,
        reason="The masks come from a generator of cuDNN's, which torch seeds from its own when "
        "that was seeded or restored, and whose state it does not save. Two runs from one seed "
        "agree; one that goes on from a checkpoint draws other masks than one that never stopped.",
        alternatives=(
            Alternative("one layer each, and dropout as a module between them", _LSTM),
            Alternative("run it without cuDNN", _WITHOUT_CUDNN),
        ),
        source=NATIVE + "cudnn/RNN.cpp",
    ),
)
