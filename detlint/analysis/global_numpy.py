"""Whether something seeds NumPy's global generator, or hands an estimator its ``random_state``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.seeding import means_seeding, seeds_elsewhere
from detlint.analysis.uses import last_name
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_CALL = re.compile(r"(?<!def )(?<![\w.])(\w*[sS]eed\w*)\([^)\s]")
_STATE = re.compile(
    r"\b(?:np|numpy)\.random\.set_state\(|\bseed_everything\(|\bguard\.enable\(|import guard\.auto"
    r"|\bset_random_seed\("
)
# torch's alone; and ``seed(…)``, whose library is told by its import.
_OTHERS = re.compile(r"(?:manual_seed\w*|seed|\w*Seed(?:Sequence|Generator)|get_seed)$")
_SEED_OF_NUMPY = re.compile(r"from[ \t]+numpy\.random[ \t]+import\b[^\n]*\bseed\b")

# clf.set_params(random_state=0), clf.random_state = 0, setattr(clf, "random_state", 0)
_LATER = re.compile(
    r"set_params\([^)]*random_state|(?<!self)\.random_state\s*=(?!=)"
    r"|setattr\([^)]*[\"']\w*random_state|[\"']\w+__random_state[\"']"
)

# They set the ``random_state`` of the estimator that they are given.
_SETTERS = re.compile(
    r"(?:sklearn|imblearn)\.(?:ensemble|linear_model|impute|multioutput|under_sampling)(?:\.\w+)*\."
    r"(?:\w*Bagging\w+|AdaBoost\w+|RUSBoostClassifier|EasyEnsembleClassifier|RANSACRegressor"
    r"|IterativeImputer|ClassifierChain|RegressorChain|InstanceHardnessThreshold)"
)
_SEED = re.compile(r"random_state|seed|\brng\b|\brs\b")
# Of scikit-learn's calls that take both, these leave the estimator as it is.
_UNSEEDING = re.compile(
    r"^(?:\w*SearchCV|cross_\w+|permutation_\w+|learning_curve|OutputCodeClassifier)$"
)


def seeds_numpy(code: str) -> bool:
    """Whether code seeds the global generator, by NumPy's function or by a helper."""
    if seeds_elsewhere(code, "numpy", set(), dotted=True) or _STATE.search(code):
        return True
    if _SEED_OF_NUMPY.search(code):
        return True
    calls = (match[1] for match in _CALL.finditer(code))
    return any(means_seeding(name) and not _OTHERS.match(name) for name in calls)


def is_seeded_later(code: str) -> bool:
    """Whether code gives estimators their ``random_state`` after they were made."""
    return _LATER.search(code) is not None


def is_asked(module: Module, call: cst.Call) -> bool:
    """Whether an estimator is made only to be asked for its parameters."""
    parent = module.parent(call)
    return isinstance(parent, cst.Attribute) and parent.attr.value in ("get_params", "__class__")


def is_seeded_outside(module: Module, call: cst.Call, code: str) -> bool:
    """Whether an estimator, here or under the name it is bound to, goes where it is seeded."""
    for above in module.ancestors(call):
        if isinstance(above, cst.Call) and _seeds_arguments(module, above):
            return True
        if isinstance(above, cst.Assign):
            if isinstance(module.bindings.scope_of(above).node, cst.ClassDef):
                return True  # what a class offers its subclasses, which may seed it
            names = (last_name(each.target) for each in above.targets)
            return any(_is_passed_with_seed(name, code) for name in names if name)
        if isinstance(above, cst.BaseSmallStatement):
            break
    return False


def _seeds_arguments(module: Module, call: cst.Call) -> bool:
    name = module.called(call) or ""
    if name.startswith("sklearn.") and not _SETTERS.fullmatch(name):
        return False
    given = (
        each.keyword.value if each.keyword else module.tree.text(each.value) for each in call.args
    )
    return any(_SEED.search(each) for each in given)


def _is_passed_with_seed(name: str, code: str) -> bool:
    """``clone(self.estimator, self.random_state)``, or the like for a setter of scikit-learn."""
    calls = rf"(\w*)\((?:\w+\s*=\s*)?(?:\w+\.)*{name}\s*,([^()]*)"
    return any(
        _SEED.search(match[2]) and not _UNSEEDING.search(match[1])
        for match in re.finditer(calls, code)
    )
