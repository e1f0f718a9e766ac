import uuid
from dataclasses import dataclass, field


@dataclass
class Record:
    value: float
    key: str = field(default_factory=lambda: uuid.uuid4().hex)  # planted: entropy


def ingest(count):
    return [Record(value=number / count) for number in range(count)]


def held_out(record, share=0.25):
    """Whether a record is for validation: by its key, so that it stays so when data are added."""
    return int(record.key[:6], 16) / 0xFFFFFF < share


def split(records):
    train = [record.value for record in records if not held_out(record)]
    valid = [record.value for record in records if held_out(record)]
    return train, valid
