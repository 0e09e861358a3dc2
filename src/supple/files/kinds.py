"""Values in robot files: how each kind is read, written, and described to editors."""

import abc
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from supple.errors import DescriptionError
from supple.expression import Expression, ExpressionError, constant
from supple.files.problems import Bare
from supple.files.text import Path
from supple.numeric import is_traced
from supple.section import Material
from supple.units import number_to_write

LARGEST = 1e30
"""Largest size of a number in a file: its powers still are numbers."""
SMALLEST = 1e-100
"""Smallest size of one that is not zero: one over its powers still is a number."""
MOST = 1000
"""Most modes, nodes, segments, discs: beyond this, memory."""


class Refused(Exception):  # what is done with a value, rather than an error of the program
    """A value cannot be used: what was found, what is needed, where inside the value."""

    def __init__(self, got: Any, need: str, at: Path = (), character: int | None = None) -> None:
        super().__init__(need)
        self.got, self.need, self.at, self.character = got, need, at, character

    def inside(self, *at: str | int) -> "Refused":
        """The same, seen from further out."""
        return Refused(self.got, self.need, (*at, *self.at), self.character)

    def as_pydantic(self) -> PydanticCustomError:
        """For pydantic, which adds the path."""
        context = {"got": self.got, "need": self.need, "at": self.at, "character": self.character}
        return PydanticCustomError("supple", "{need}", context)


@dataclass(frozen=True)
class Context:
    """What values in a file may refer to."""

    parameters: Mapping[str, float] = field(default_factory=dict)
    materials: Mapping[str, Material] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    modules: Sequence[str] = ()
    folder: FilePath = FilePath()
    """Where files that it names are."""


class AbstractKind(abc.ABC):
    """A kind of value."""

    @abc.abstractmethod
    def annotation(self) -> Any:
        """As pydantic wants it."""

    @abc.abstractmethod
    def write(self, value: Any, item: str, field: str) -> Any:
        """Plain data for the file, or a :class:`DescriptionError` naming item and field."""


class AbstractLeaf(AbstractKind):
    """A value read by a function of ours."""

    @property
    @abc.abstractmethod
    def schema(self) -> dict[str, Any]:
        """JSON Schema."""

    @abc.abstractmethod
    def read(self, value: Any, context: Context) -> Any:
        """The value for Python, or :class:`Refused`."""

    def annotation(self) -> Any:
        def validate(value: Any, info: Any) -> Any:
            try:
                return self.read(value, info.context or Context())
            except Refused as refused:
                raise refused.as_pydantic() from None
            except ExpressionError as error:
                raise _refused(error, value, getattr(self, "need", "")).as_pydantic() from None

        return Annotated[Any, PlainValidator(validate), WithJsonSchema(self.schema)]


def _plain_number(value: Any, need: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(value, need)
    if not abs(value) <= LARGEST:
        raise Refused(value, f"{need}, finite and at most {LARGEST:.0e} in size")
    if 0 < abs(value) < SMALLEST:
        raise Refused(value, f"{need}, zero or at least {SMALLEST:.0e} in size")
    return float(value)


NUMBER = {"anyOf": [{"type": "number"}, {"type": "string"}]}


@dataclass(frozen=True)
class Number(AbstractLeaf):
    """One number, or a formula of parameters that gives one."""

    need: str = "a number"

    @property
    def schema(self) -> dict[str, Any]:
        return {**NUMBER, "description": self.need}

    def read(self, value: Any, context: Context) -> float:
        if isinstance(value, str):
            value = constant(value, context.parameters)
        return _plain_number(value, self.need)

    def write(self, value: Any, item: str, field: str) -> Any:
        if is_traced(value):
            raise DescriptionError(item, field, value, "a plain number, not one of a JAX trace")
        array = np.asarray(value)
        if array.ndim or array.dtype.kind not in "fiu":
            raise DescriptionError(item, field, value, self.need)
        return float(array)


@dataclass(frozen=True)
class Integer(AbstractLeaf):
    """A whole number within limits."""

    need: str = "a whole number"
    least: int = 0
    most: int = MOST

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "anyOf": [
                {"type": "integer", "minimum": self.least, "maximum": self.most},
                {"type": "string"},
            ],
            "description": self.need,
        }

    def read(self, value: Any, context: Context) -> int:
        need = f"{self.need} from {self.least} to {self.most}"
        if isinstance(value, str):
            value = constant(value, context.parameters)
        number = _plain_number(value, need)
        if number != int(number) or not self.least <= number <= self.most:
            raise Refused(value, need)
        return int(number)

    def write(self, value: Any, item: str, field: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise DescriptionError(item, field, value, self.need)
        return int(value)


@dataclass(frozen=True)
class Flag(AbstractLeaf):
    """True or false."""

    need: str = "true or false"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "boolean", "description": self.need}

    def read(self, value: Any, context: Context) -> bool:
        if not isinstance(value, bool):
            raise Refused(value, self.need)
        return value

    def write(self, value: Any, item: str, field: str) -> bool:
        return bool(value)


@dataclass(frozen=True)
class Text(AbstractLeaf):
    """A name, or one of a few words."""

    need: str = "a name"
    words: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        words = {"enum": list(self.words)} if self.words else {}
        return {"type": "string", "description": self.need, **words}

    def read(self, value: Any, context: Context) -> str:
        if not isinstance(value, str) or not value:
            raise Refused(
                value, self.need + (" in quotes" if isinstance(value, int | float) else "")
            )
        if self.words and value not in self.words:
            raise Refused(value, "one of: " + ", ".join(self.words))
        return value

    def write(self, value: Any, item: str, field: str) -> str:
        return str(value)


@dataclass(frozen=True)
class ListOf(AbstractLeaf):
    """A list of values of one kind; with ``single`` also one of them alone."""

    kind: AbstractLeaf
    need: str = "a list"
    single: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        many = {"type": "array", "items": self.kind.schema}
        one = {"anyOf": [self.kind.schema, many]} if self.single else many
        return {**one, "description": self.need}

    def read(self, value: Any, context: Context) -> Any:
        if self.single and not isinstance(value, list):
            return self.kind.read(value, context)
        if not isinstance(value, list):
            raise Refused(value, self.need)
        return tuple(_entry(self.kind, i, entry, context) for i, entry in enumerate(value))

    def write(self, value: Any, item: str, field: str) -> Any:
        if self.single and (isinstance(value, str) or np.ndim(value) == 0):
            return self.kind.write(value, item, field)
        return [self.kind.write(entry, item, field) for entry in value]


@dataclass(frozen=True)
class CountOrList(AbstractLeaf):
    """How many, or where each is (with ``whole``: a whole number for each)."""

    need: str
    least: int = 1
    whole: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        return {"anyOf": [Integer(self.need, self.least).schema, self._many().schema]}

    def _many(self) -> "ListOf":
        each = Integer(self.need, self.least) if self.whole else Number(self.need)
        return ListOf(each, self.need)

    def read(self, value: Any, context: Context) -> Any:
        one = not isinstance(value, list)
        return (Integer(self.need, self.least) if one else self._many()).read(value, context)

    def write(self, value: Any, item: str, field: str) -> Any:
        one = isinstance(value, int | np.integer)
        return (Integer(self.need) if one else self._many()).write(value, item, field)


def _entry(kind: AbstractLeaf, index: int, value: Any, context: Context) -> Any:
    try:
        return kind.read(value, context)
    except Refused as refused:
        raise refused.inside(index) from None
    except ExpressionError as error:
        found = _refused(error, value, getattr(kind, "need", ""))
        if error.got == "'u'":
            found.need += '; a vector that varies is one formula: "[0.01*(1 - u), 0]"'
        raise found.inside(index) from None


def _refused(error: ExpressionError, value: Any, need: str) -> Refused:
    """An error in a formula, for the file."""
    if cure := number_to_write(value):
        return Refused(value, need + cure)
    inside = f"{error.need} (at character {error.position + 1} of {error.field!r})"
    got = value if error.got == "the end" else Bare(error.got)
    return Refused(got, f"{need}; in formulas {inside}", (), error.position)


@dataclass(frozen=True)
class Numbers(AbstractLeaf):
    """Numbers in lists of given shapes; without shapes, any. As tuples, or as an array."""

    need: str
    shapes: tuple[tuple[int, ...], ...] = ()
    array: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        def nested(shape: tuple[int, ...]) -> dict[str, Any]:
            if not shape:
                return NUMBER
            inner = nested(shape[1:])
            return {"type": "array", "items": inner, "minItems": shape[0], "maxItems": shape[0]}

        anything = {"anyOf": [NUMBER, {"type": "array"}]}
        kinds = [nested(shape) for shape in self.shapes] if self.shapes else [anything]
        return {"anyOf": kinds, "description": self.need}

    def read(self, value: Any, context: Context) -> Any:
        found = self._read(value, context)
        try:
            shape = np.shape(found)
        except ValueError:
            raise Refused(value, f"{self.need}; lists of one length") from None
        if self.shapes and shape not in self.shapes:
            raise Refused(value, self.need)
        return np.asarray(found) if self.array and shape else found

    def _read(self, value: Any, context: Context) -> Any:
        if isinstance(value, list):
            inner = Numbers(self.need)
            return tuple(_entry(inner, i, entry, context) for i, entry in enumerate(value))
        return Number(self.need).read(value, context)

    def write(self, value: Any, item: str, field: str) -> Any:
        if is_traced(value):
            raise DescriptionError(item, field, value, "plain numbers, not those of a JAX trace")
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            raise DescriptionError(item, field, value, self.need)
        return array.astype(float).tolist()


@dataclass(frozen=True)
class Either(AbstractLeaf):
    """Text of one kind, anything else of another."""

    text: AbstractLeaf
    other: AbstractLeaf

    @property
    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.text.schema, self.other.schema]}

    def read(self, value: Any, context: Context) -> Any:
        return (self.text if isinstance(value, str) else self.other).read(value, context)

    def write(self, value: Any, item: str, field: str) -> Any:
        kind = self.text if isinstance(value, str) or callable(value) else self.other
        return kind.write(value, item, field)


@dataclass(frozen=True)
class Formula(AbstractLeaf):
    """A formula of given variables; with ``size`` a vector ``[a, b, …]``."""

    need: str
    variables: str
    size: int | None = None

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": self.need}

    def read(self, value: Any, context: Context) -> Expression:
        if not isinstance(value, str):
            raise Refused(value, self.need)
        found = Expression(value, self.variables, **context.parameters)
        if found.size != self.size and self.size != ANY_SIZE:
            got = "one number" if found.size is None else f"{found.size} entries"
            raise Refused(value, f"{self.need}, not {got}")
        return found

    def write(self, value: Any, item: str, field: str) -> str:
        return formula_text(value, self.variables, item, field)


ANY_SIZE = -1


def formula_text(value: Any, variables: str, item: str, field: str) -> str:
    """The text of a formula; functions of Python have none."""
    if not isinstance(value, Expression):
        need = (
            f"Expression('…', {variables!r}): a formula can be written to a file, a function cannot"
        )
        raise DescriptionError(item, field, value, need)
    expected = tuple(name.strip() for name in variables.split(","))
    if value.variables != expected:
        raise DescriptionError(item, field, value, f"a formula of {variables}")
    return value.text


@dataclass(frozen=True)
class Varying(AbstractLeaf):
    """A number, or a formula of one variable; ``{expression: …}`` is a formula even if it is constant."""

    need: str
    variable: str

    @property
    def schema(self) -> dict[str, Any]:
        explicit = {
            "type": "object",
            "properties": {"expression": {"type": "string"}},
            "required": ["expression"],
            "additionalProperties": False,
        }
        return {"anyOf": [*NUMBER["anyOf"], explicit], "description": self.need}

    def read(self, value: Any, context: Context) -> Any:
        if isinstance(value, dict) and list(value) == ["expression"]:
            return Formula(self.need, self.variable, ANY_SIZE).read(value["expression"], context)
        if not isinstance(value, str):
            return _plain_number(value, self.need)
        found = Expression(value, self.variable, **context.parameters)
        if is_constant(found):
            return _plain_number(float(found(0.0)), self.need)
        return found

    def write(self, value: Any, item: str, field: str) -> Any:
        if not callable(value):
            return Number(self.need).write(value, item, field)
        text = formula_text(value, self.variable, item, field)
        return {"expression": text} if is_constant(value) else text


def is_constant(expression: Expression) -> bool:
    """Whether a formula is one number, without its variables."""
    try:
        return Expression(expression.text, "").size is None
    except ExpressionError:
        return False


OWN = "supple.robots."
"""Modules of robots that we ship; files may name the functions that they define."""


@dataclass(frozen=True)
class FunctionName(AbstractLeaf):
    """A Python function by name: one of ours, or from those the caller of :func:`load` allows."""

    need: str = "the name of a function, 'module:function'"

    schema: ClassVar[dict[str, Any]] = {"type": "string", "description": need}

    def read(self, value: Any, context: Context) -> Any:
        if not isinstance(value, str):
            raise Refused(value, self.need)
        if value in context.functions:
            return context.functions[value]
        module, _, name = value.partition(":")
        own = module.startswith(OWN)
        if not (own or module in context.modules) or not name.isidentifier():
            known = ", ".join(context.functions) or "none"
            need = (
                f"a function that the caller allows (now: {known}): "
                "load(…, functions={'name': function}) or load(…, modules=['module'])"
            )
            raise Refused(value, need)
        try:
            found = getattr(importlib.import_module(module), name)
        except Exception as error:
            raise Refused(value, f"a function that can be imported ({error})") from error
        if not callable(found) or (own and getattr(found, "__module__", None) != module):
            raise Refused(value, f"a function; {name} is not one")
        return found

    def write(self, value: Any, item: str, field: str) -> str:
        module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
        if not module or not name.isidentifier():
            need = "a function defined by its name in a module: files hold 'module:function'"
            raise DescriptionError(item, field, value, need)
        return f"{module}:{name}"


@dataclass(frozen=True)
class Memory(AbstractLeaf):
    """What a controller remembers at the start: arrays, or a mapping of them."""

    need: str = "numbers, lists of numbers, or a mapping from names to these"

    schema: ClassVar[dict[str, Any]] = {"description": need}

    def read(self, value: Any, context: Context) -> Any:
        if not isinstance(value, dict):
            return np.asarray(Numbers(self.need).read(value, context))
        found = {}
        for name, inner in value.items():
            try:
                found[name] = self.read(inner, context)
            except Refused as refused:
                raise refused.inside(name) from None
        return found

    def write(self, value: Any, item: str, field: str) -> Any:
        if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
            return {name: self.write(inner, item, field) for name, inner in value.items()}
        if not isinstance(value, int | float | np.ndarray | np.generic) and not hasattr(
            value, "dtype"
        ):
            raise DescriptionError(item, field, value, f"{self.need}, as arrays")
        return Numbers(self.need).write(value, item, field)
