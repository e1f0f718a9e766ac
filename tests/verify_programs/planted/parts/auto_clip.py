import torch


class AutoClip:
    """Clips the gradient at a percentile of the norms seen so far (Seetharaman et al., 2020)."""

    def __init__(self, parameters, percentile=0.25):
        self.parameters = list(parameters)
        self.percentile = percentile
        self.norms = []

    def __call__(self):
        norm = torch.nn.utils.get_total_norm([p.grad for p in self.parameters])
        self.norms.append(norm.item())  # planted: state
        limit = torch.tensor(self.norms).quantile(self.percentile).item()
        torch.nn.utils.clip_grads_with_norm_(self.parameters, limit, norm)
