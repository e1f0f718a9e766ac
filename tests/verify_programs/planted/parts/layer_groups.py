"""Learning rates by group. Layers are spread over groups, so that no group grows too large."""


class Layer:
    def __init__(self, name, module):
        self.name = name
        self.module = module

    def parameters(self):
        return list(self.module.parameters(recurse=False))


def layers(model):
    return [Layer(name, module) for name, module in model.named_modules() if list(module.parameters(recurse=False))]


def spread(model, rates=(0.3, 0.1, 0.03)):
    groups = [{"params": [], "lr": rate} for rate in rates]
    for layer in layers(model):
        chosen = groups[hash(layer) % len(groups)]  # planted: object_address
        chosen["params"] += layer.parameters()
    return [group for group in groups if group["params"]]
