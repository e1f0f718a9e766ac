"""What makes environments of reinforcement learning, draws in them and seeds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.calls import owner_word, word_of
from detlint.dataflow.facts.found import FileFacts
from detlint.dataflow.facts.seeds import seeds_given
from detlint.dataflow.slices import SAME, closure
from detlint.index.facts import MEASURED
from detlint.models import randomness
from detlint.models.containers import HOLDING
from detlint.models.model import words
from detlint.models.names import means_seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Op

_REWARD = 1  # its place among what a step gives
_MADE = SAME | words("attr augment binary comprehension item iter list tuple unpack")
_MOST = 60  # what is made of one reward


class EnvironmentFacts(FileFacts):
    """Answers for the functions of one file."""

    def of_environments(self, call: Op) -> str | None:
        """Calls that make an environment of reinforcement learning, or, of a class of one, draw
        from the generator that it has."""
        if not randomness.ENVIRONMENTS.isdisjoint(self._training.called(call)):
            return self._name_of(call)
        return "draw" if self._draws_in_environment(call) else None

    def of_registered_environments(self, call: Op) -> str | None:
        """Calls that name an environment of the program's own, whose class draws as it says."""
        given = call.given("entry_point", 1)
        point = "" if given is None else self._values.constant(given)
        library = isinstance(point, str) and point.startswith(randomness.GYMS)
        is_own = any(map(randomness.REGISTERING, self._training.called(call)))
        return self._name_of(call) if is_own and not library else None

    def _name_of(self, call: Op) -> str:
        """The name of an environment, without its package; "" of any."""
        given = call.given("id", 0)
        name = ... if given is None else self._values.constant(given)
        return name.rpartition(":")[2] if isinstance(name, str) else ""

    def of_unseen_environments(self, call: Op) -> str | None:
        """Calls that seem to make one of another library: ``CityLearnEnv(schema)``."""
        named = any(map(randomness.may_be_environment, self._training.called(call)))
        seeded = any(means_seed(name or "") for name, _ in call.arguments())
        return "environment" if named and not seeded else None

    def _draws_in_environment(self, call: Op) -> bool:
        """``self.np_random.uniform(0, 1)``."""
        generator = call.args[0].args[0] if call.args[0].code == "attr" else call
        named = [x for x in (generator, *generator.uses) if x.name == randomness.OF_ENVIRONMENT]
        if not any(x.code in ("attr", "store_attr") and x.args[0].is_self for x in named):
            return False
        bases = self._unit.qualified_bases(generator.function.outermost.class_name)
        stores = self._unit.stores(randomness.OF_ENVIRONMENT)
        kept = (each.args[1] for each in stores)
        made = (each.args[0] if each.code == "unpack" else each for each in kept)
        return any(each.startswith(randomness.GYMS) for each in bases) and not any(
            randomness.SEEDING_OWN.isdisjoint(each.called) for each in made
        )

    def of_environment_steps(self, call: Op) -> str | None:
        """``state, reward, *_ = env.step(action)``: not of an optimizer or its schedule. Also what
        plays by itself, ``evaluate_policy(model, env)``."""
        if not randomness.PLAYING.isdisjoint(self._training.called(call)):
            return MEASURED
        steps = word_of(call) == "step" and call.args[1:]
        if not steps or all(each.code == "drop" for each in call.uses):
            return None
        return MEASURED if self._is_measured(call) else "environment"

    def _is_measured(self, step: Op) -> bool:
        """Whether a mean is taken of the rewards that steps give: ``np.mean(returns)``."""
        rewards = (x for x in step.uses if x.code == "unpack" and x.name[0] == _REWARD)
        return any(map(_is_mean, closure(rewards, self._made_of, _MOST)))

    def _made_of(self, value: Op) -> Iterator[Op]:
        """What is made of a number, held with others or given to who calls the function."""
        for use in value.uses:
            if use.code == "call" and use.args[0] is not value and word_of(use) in HOLDING:
                yield from (each for each in use.uses if each.code == "change")
            elif use.code in _MADE or use.code == "call":
                yield use
            elif use.code == "return":
                yield from use.function.known_calls.calls

    def of_environment_seeds(self, call: Op) -> str | None:
        """Calls that give such a one a seed, or a space, or what may be either."""
        if any(map(randomness.seeds_no_environment, self._training.called(call))):
            return None
        given = any(self._values.constant(each) is not None for each in seeds_given(call))
        return _seeded_by(call) if given else None

    @staticmethod
    def of_spaces(call: Op) -> str | None:
        """Calls that draw from a space of an environment."""
        return "space" if word_of(call) == "sample" and _is_of_space(call) else None


def _is_mean(op: Op) -> bool:
    """``np.mean(x)``, ``x.mean()``, ``sum(x) / len(x)``."""
    if op.code == "binary" and op.name == "Div":
        return op.args[0].code == "call" and "builtins.sum" in op.args[0].called
    return op.code == "call" and word_of(op) in randomness.MEANS


def _is_of_space(call: Op) -> bool:
    """``env.action_space.sample()``."""
    method = call.args[0]
    owner = method.args[0] if method.code == "attr" else method
    return owner.code == "attr" and owner.name in randomness.SPACES


def _seeded_by(call: Op) -> str:
    """What a call that is given a seed gives it to: an environment, its space, or either."""
    if _is_of_space(call):
        return "space"
    owner, word = owner_word(call), word_of(call)
    # What a method of the program's own gives it to is seen there.
    is_plain = owner == "self" or (owner and word in randomness.SEEDING_ENVIRONMENTS)
    return "environment" if is_plain else f"{word}()"
