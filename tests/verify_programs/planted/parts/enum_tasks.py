"""What the network has to predict about a molecule."""
from dataclasses import dataclass
from enum import Enum


class Task(Enum):
    SOLUBILITY = "solubility"
    TOXICITY = "toxicity"
    BINDING = "binding"
    PERMEABILITY = "permeability"
    CLEARANCE = "clearance"
    STABILITY = "stability"


@dataclass(frozen=True)
class Study:
    title: str
    tasks: tuple

    def active(self, disabled=()):
        wanted = set(self.tasks)  # planted: string_hash
        return wanted.difference(disabled)


PHASE_ONE = Study("phase one", tuple(Task))
