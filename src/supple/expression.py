"""Formulas written as text, for laws of time, profiles along rods and routings of tendons.

The grammar is small and closed: numbers, named variables, ``+ - * / **``, parentheses, the constants and
functions below, ``where(4 < t < 7, a, b)``, and a vector ``[a, b, c]`` as the whole formula. Nothing is ever
handed to Python. All arithmetic is that of floating-point numbers, so that no formula can take long.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from supple.errors import DescriptionError

MAX_LENGTH = 4000
"""Characters in a formula."""
MAX_DEPTH = 40
"""Parentheses, signs and powers within each other."""

CONSTANTS = {"pi": math.pi, "tau": math.tau, "e": math.e}


class ExpressionError(DescriptionError):
    """A formula cannot be read; ``position`` counts its characters from 0."""

    def __init__(self, text: str, position: int, got: str, need: str) -> None:
        shown = text if len(text) <= 80 else text[:77] + "…"
        super().__init__("expression", shown, got, need)
        self.position = position
        self.args = (f"{shown!r}: got {got} at character {position + 1}; need {need}",)


def _clip(xp: Any, x: Any, low: Any, high: Any) -> Any:
    """The number held within [low, high]; at both ends its derivative is that of what follows (see laws)."""
    return xp.where(x < low, low, xp.where(x >= high, high, x))


def _rise(xp: Any, x: Any) -> Any:
    s = _clip(xp, x, 0.0, 1.0)
    return s**3 * (10 + s * (6 * s - 15))


def _same_in_numpy(name: str) -> Callable[..., Any]:
    return lambda xp, x: getattr(xp, name)(x)


FUNCTIONS: dict[str, tuple[int, int, Callable[..., Any], str]] = {
    **{
        name: (1, 1, _same_in_numpy(name), "")
        for name in ("sin", "cos", "tan", "abs", "floor", "sign")
    },
    **{
        name: (1, 1, _same_in_numpy(name), "")
        for name in ("sinh", "cosh", "tanh", "exp", "log", "sqrt")
    },
    "asin": (1, 1, lambda xp, x: xp.arcsin(x), ""),
    "acos": (1, 1, lambda xp, x: xp.arccos(x), ""),
    "atan": (1, 1, lambda xp, x: xp.arctan(x), ""),
    "atan2": (2, 2, lambda xp, y, x: xp.arctan2(y, x), "y, x"),
    "mod": (2, 2, lambda xp, a, b: xp.mod(a, b), "a, b: what is left of a after multiples of b"),
    "min": (2, 8, lambda xp, *x: reduce(xp.minimum, x), "the least of several"),
    "max": (2, 8, lambda xp, *x: reduce(xp.maximum, x), "the largest of several"),
    "clip": (3, 3, _clip, "x, low, high: x held between low and high"),
    "step": (1, 1, lambda xp, x: xp.where(x < 0, 0.0, 1.0), "0 below 0, then 1"),
    "ramp": (1, 1, lambda xp, x: _clip(xp, x, 0.0, 1.0), "0 below 0, x, 1 above 1"),
    "rise": (1, 1, _rise, "0 below 0, 6x⁵ - 15x⁴ + 10x³, 1 above 1: starts and ends at rest"),
    "hat": (1, 1, lambda xp, x: xp.maximum(1 - xp.abs(x), 0.0), "1 at 0, falling to 0 at ±1"),
}
"""Fewest and most arguments, what it does with NumPy or jax.numpy, and its explanation."""

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


class _Number(NamedTuple):
    value: float


class _Variable(NamedTuple):
    place: int
    entry: tuple[int, ...]


class _Chain(NamedTuple):
    """First, then operators with what follows them, from left to right."""

    first: Any
    rest: tuple[tuple[str, Any], ...]


class _Call(NamedTuple):
    name: str
    arguments: tuple[Any, ...]


class _Where(NamedTuple):
    compared: tuple[Any, ...]
    signs: tuple[str, ...]
    yes: Any
    no: Any


class _Vector(NamedTuple):
    entries: tuple[Any, ...]


def _value(node: Any, xp: Any, given: tuple[Any, ...]) -> Any:
    if isinstance(node, _Number):
        return np.float64(node.value) if xp is np else node.value
    if isinstance(node, _Variable):
        return given[node.place][(..., *node.entry)] if node.entry else given[node.place]
    if isinstance(node, _Chain):
        total = _value(node.first, xp, given)
        for sign, term in node.rest:
            total = _ARITHMETIC[sign](total, _value(term, xp, given))
        return total
    if isinstance(node, _Where):
        sides = [_value(side, xp, given) for side in node.compared]
        tests = [
            _COMPARE[sign](a, b) for sign, (a, b) in zip(node.signs, pairwise(sides), strict=True)
        ]
        chosen = reduce(operator.and_, tests)
        return xp.where(chosen, _value(node.yes, xp, given), _value(node.no, xp, given))
    arguments = [_value(argument, xp, given) for argument in node.arguments]
    if node.name == "-":
        return -arguments[0]
    if node.name == "**":
        exponent = node.arguments[1]
        if isinstance(exponent, _Number) and exponent.value in range(-64, 65):
            return arguments[0] ** int(
                exponent.value
            )  # smooth also where the base is 0 or negative
        return xp.power(*arguments)
    return FUNCTIONS[node.name][2](xp, *arguments)


def _folded(node: Any) -> Any:
    """A node without variables as the number it is."""
    if isinstance(node, _Chain):
        parts = (node.first, *(term for _, term in node.rest))
    elif isinstance(node, _Where):
        parts = (*node.compared, node.yes, node.no)
    else:
        parts = node.arguments
    if not all(isinstance(part, _Number) for part in parts):
        return node
    with np.errstate(all="ignore"):
        return _Number(float(_value(node, np, ())))


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


_TOKENS = re.compile(
    r"(?P<number>(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<parameter>\$[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<sign>\*\*|<=|>=|[-+*/()\[\],<>])"
    r"|(?P<space>\s+)",
    re.ASCII,
)


def _tokens(text: str) -> list[_Token]:
    found, position = [], 0
    while position < len(text):
        match = _TOKENS.match(text, position)
        if match is None:
            cures = {"^": "** for a power", "=": "<, <=, > or >= inside where(…)", "%": "mod(a, b)"}
            need = cures.get(text[position], "numbers, names, + - * / ** ( ) [ ] and commas")
            raise ExpressionError(text, position, repr(text[position]), need)
        if match.lastgroup != "space":
            found.append(_Token(str(match.lastgroup), match.group(), position))
        position = match.end()
    return [*found, _Token("end", "", len(text))]


class _Parser:
    """Recursive descent; each method reads one rule of the grammar and leaves the next token ahead."""

    def __init__(
        self,
        text: str,
        variables: Mapping[str, tuple[int, ...]],
        parameters: Mapping[str, float | int],
    ) -> None:
        self.text = text
        self.variables = variables
        self.parameters = parameters
        self.tokens = _tokens(text)
        self.next = 0
        self.depth = 0

    @property
    def ahead(self) -> _Token:
        return self.tokens[self.next]

    def refuse(self, need: str, token: _Token | None = None) -> ExpressionError:
        token = self.ahead if token is None else token
        got = "the end" if token.kind == "end" else repr(token.text)
        return ExpressionError(self.text, token.position, got, need)

    def take(self, *texts: str) -> _Token | None:
        """The next token if it is one of these signs."""
        if self.ahead.kind == "sign" and self.ahead.text in texts:
            self.next += 1
            return self.tokens[self.next - 1]
        return None

    def expect(self, text: str, need: str) -> None:
        if self.take(text) is None:
            raise self.refuse(need)

    def whole(self) -> Any:
        if self.take("["):
            entries = [self.sum()]
            while self.take(","):
                entries.append(self.sum())
            self.expect("]", "a comma or ]")
            node: Any = _Vector(tuple(entries))
        else:
            node = self.sum()
        if self.ahead.kind != "end":
            raise self.refuse("an operator or the end")
        return node

    def sum(self) -> Any:
        return self.chain(("+", "-"), lambda: self.chain(("*", "/"), self.signed))

    def chain(self, signs: tuple[str, ...], operand: Callable[[], Any]) -> Any:
        first, rest = operand(), []
        while sign := self.take(*signs):
            rest.append((sign.text, operand()))
        return _folded(_Chain(first, tuple(rest))) if rest else first

    def signed(self) -> Any:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.refuse(f"at most {MAX_DEPTH} parentheses and signs within each other")
        sign = self.take("+", "-")
        if sign is None:
            node = self.power()
        else:
            node = self.signed()
            node = _folded(_Call("-", (node,))) if sign.text == "-" else node
        self.depth -= 1
        return node

    def power(self) -> Any:
        base = self.atom()
        return _folded(_Call("**", (base, self.signed()))) if self.take("**") else base

    def atom(self) -> Any:
        token = self.ahead
        self.next += 1
        if token.kind == "number":
            return _Number(float(token.text))
        if token.kind == "name":
            return self.named(token)
        if token.kind == "parameter":
            return self.parameter(token)
        if token.text == "(" and token.kind == "sign":
            inner = self.sum()
            self.expect(")", "an operator or )")
            return inner
        if token.text == "[":
            raise self.refuse("a vector [a, b] as the whole expression, not within it", token)
        raise self.refuse("a number, a name or (", token)

    def named(self, token: _Token) -> Any:
        name = token.text
        if self.take("("):
            return self.call(token)
        if name in self.variables:
            return self.variable(token)
        if name in CONSTANTS:
            return _Number(CONSTANTS[name])
        if name in FUNCTIONS or name == "where":
            raise self.refuse(f"{name}(…) with its arguments", token)
        known = ", ".join([*self.variables, *CONSTANTS])
        raise self.refuse(f"one of: {known}, or a function such as sin(…)", token)

    def parameter(self, token: _Token) -> Any:
        if token.text[1:] not in self.parameters:
            known = ", ".join(f"${name}" for name in self.parameters)
            raise self.refuse(
                (known and f"one of: {known}") or "no parameters: there are none", token
            )
        return _Number(float(self.parameters[token.text[1:]]))

    def variable(self, token: _Token) -> Any:
        sizes = self.variables[token.text]
        entry = []
        for size in sizes:
            need = f"{token.text}[…] with a number from 0 to {size - 1}"
            self.expect("[", need)
            if not self.ahead.text.isdecimal() or len(self.ahead.text) > 3:
                raise self.refuse(need)
            entry.append(int(self.ahead.text))
            if entry[-1] >= size:
                raise self.refuse(need)
            self.next += 1
            self.expect("]", "]")
        return _Variable(list(self.variables).index(token.text), tuple(entry))

    def call(self, token: _Token) -> Any:
        name = token.text
        if name == "where":
            return self.where()
        if name not in FUNCTIONS:
            raise self.refuse("one of the functions " + ", ".join([*FUNCTIONS, "where"]), token)
        fewest, most, _, _ = FUNCTIONS[name]
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        self.expect(")", "a comma or )")
        if not fewest <= len(arguments) <= most:
            count = str(fewest) if fewest == most else f"{fewest} to {most}"
            raise self.refuse(f"{count} arguments of {name}, not {len(arguments)}", token)
        return _folded(_Call(name, tuple(arguments)))

    def where(self) -> Any:
        compared, signs = [self.sum()], []
        while sign := self.take(*_COMPARE):
            signs.append(sign.text)
            compared.append(self.sum())
        if not signs:
            raise self.refuse("a comparison <, <=, > or >= as the first argument of where")
        self.expect(",", "a comma")
        yes = self.sum()
        self.expect(",", "a comma")
        no = self.sum()
        self.expect(")", ")")
        return _folded(_Where(tuple(compared), tuple(signs), yes, no))


def _declared(variables: Any) -> dict[str, tuple[int, ...]]:
    """Names and sizes of "t", "t, X" or "t, position[3]"."""
    names = variables.split(",") if isinstance(variables, str) else list(variables)
    found: dict[str, tuple[int, ...]] = {}
    for name in (part.strip() for part in names if part.strip()):
        match = re.fullmatch(r"([A-Za-z_][A-Za-z_0-9]*)((\[\d{1,3}\])*)", name, re.ASCII)
        if match is None or match[1] in FUNCTIONS or match[1] in found:
            raise DescriptionError("Expression", "variables", name, "names such as 't' or 'X, t'")
        found[match[1]] = tuple(int(size) for size in re.findall(r"\d+", match[2]))
    return found


class Expression:
    """A formula of named variables, as a function that can be compared, printed and stored in a file.

    ``Expression("20 + 20*sin(5*pi*t)", "t")`` is a law of time, ``Expression("0.01*(1 - u/2)", "u")`` a
    radius along a rod, ``Expression("[0.01*cos(tau*u), 0.01*sin(tau*u)]", "u")`` a routing. Called with
    numbers or NumPy arrays it computes with NumPy, with JAX's arrays with jax.numpy. Keyword arguments are
    the values of parameters, written ``$name`` in the text. Equal texts are equal functions, so that they
    share compiled runs.
    """

    text: str
    variables: tuple[str, ...]
    _tree: Any

    def __init__(self, text: str, variables: Any = "t", /, **parameters: float | int) -> None:
        if not isinstance(text, str):
            raise DescriptionError("Expression", "text", text, "a formula as text")
        if len(text) > MAX_LENGTH:
            need = f"at most {MAX_LENGTH} characters"
            raise ExpressionError(text, MAX_LENGTH, f"{len(text)} characters", need)
        declared = _declared(variables)
        tree = _Parser(text, declared, parameters).whole()
        names = tuple(
            name + "".join(f"[{size}]" for size in sizes) for name, sizes in declared.items()
        )
        object.__setattr__(self, "text", _with_values(text, parameters).strip())
        object.__setattr__(self, "variables", names)
        object.__setattr__(self, "_tree", tree)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Expression cannot be changed: {name}")

    @property
    def size(self) -> int | None:
        """Number of entries of a vector, None for a scalar."""
        return len(self._tree.entries) if isinstance(self._tree, _Vector) else None

    def __call__(self, *given: Any) -> Any:
        """The value; of vectors (…, size), where … is the common shape of the scalar variables."""
        if len(given) != len(self.variables):
            raise TypeError(f"{self!r} takes {len(self.variables)} arguments, not {len(given)}")
        xp: Any = jnp if any(isinstance(value, jax.Array) for value in given) else np
        if xp is np:
            given = tuple(np.asarray(value, dtype=float) for value in given)
        with np.errstate(all="ignore"):
            if not isinstance(self._tree, _Vector):
                return _value(self._tree, xp, given)
            entries = [_value(entry, xp, given) for entry in self._tree.entries]
            scalars = [x for x, name in zip(given, self.variables, strict=True) if "[" not in name]
            shape = np.broadcast_shapes(*(np.shape(x) for x in (*entries, *scalars)))
            return xp.stack([xp.broadcast_to(x, shape) for x in entries], axis=-1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        return (self.text, self.variables) == (other.text, other.variables)

    def __hash__(self) -> int:
        return hash((self.text, self.variables))

    def __repr__(self) -> str:
        return f"Expression({self.text!r}, {', '.join(self.variables)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.text, ", ".join(self.variables))


def _with_values(text: str, parameters: Mapping[str, float | int]) -> str:
    """The text with ``$name`` replaced by values, to their last digit."""
    pieces, end = [], 0
    for token in _tokens(text):
        if token.kind == "parameter":
            number = repr(float(parameters[token.text[1:]]))
            pieces += [text[end : token.position], f"({number})" if number[0] == "-" else number]
            end = token.position + len(token.text)
    return "".join([*pieces, text[end:]])


def constant(text: str, parameters: Mapping[str, float | int] | None = None) -> float:
    """The number that a formula without variables is."""
    value = Expression(text, "", **(parameters or {}))()
    if np.ndim(value):
        raise ExpressionError(text, 0, "a vector", "one number")
    return float(value)
