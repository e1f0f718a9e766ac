"""Tensors: types, sizes, gradients, and the operators that compute them."""
