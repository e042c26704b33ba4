from typing import TypedDict

__version__: str
STRATEGIES: list[str]
POLICIES: list[str]

class Error(ValueError):
    item: int | str | None

class Fields(TypedDict):
    names: list[str]
    # Span, size, alignment, fixed, lowest and highest offset, group.
    items: list[tuple[list[int], int, int, int | None, int, int | None, int | None]]
    conflicts: list[tuple[int, int]]
    capacity: int | None

def pack(fields: Fields, strategy: str, steps: int | None, seconds: float | None) -> str: ...
def select(fields: Fields, weights: list[int], steps: int | None, seconds: float | None) -> str: ...
def plan(source: bytes | Fields, options: str) -> str: ...
