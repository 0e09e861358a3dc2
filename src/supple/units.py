"""Quantities written with a unit, answered with the number to write: everything here is in SI units."""

import math
import re

_PREFIXES = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "c": 1e-2, "d": 0.1, "": 1.0,
             "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9}  # fmt: skip
_SCALED = {"m": (1.0, "m"), "Pa": (1.0, "Pa"), "N": (1.0, "N"), "g": (1e-3, "kg"), "s": (1.0, "s"),
           "Hz": (1.0, "1/s"), "J": (1.0, "J"), "W": (1.0, "W"), "rad": (1.0, "rad"),
           "l": (1e-3, "m³"), "L": (1e-3, "m³"), "bar": (1e5, "Pa"), "K": (1.0, "K"),
           "mol": (1.0, "mol")}  # fmt: skip
_FIXED = {"deg": (math.pi / 180, "rad"), "°": (math.pi / 180, "rad"), "rpm": (math.pi / 30, "rad/s"),
          "rev": (2 * math.pi, "rad"), "%": (1e-2, ""), "min": (60.0, "s"), "h": (3600.0, "s"),
          "in": (0.0254, "m"), "ft": (0.3048, "m"), "lb": (0.45359237, "kg"), "psi": (6894.757293, "Pa"),
          "atm": (101325.0, "Pa"), "Nm": (1.0, "N m"), "kgf": (9.80665, "N"), "t": (1e3, "kg")}  # fmt: skip
_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s.].*?)\s*")
_FACTOR = re.compile(r"\s*([*·/]?)\s*([A-Za-zµ°%]+)\s*(?:\^?(-?\d)|([²³]))?")
_POWERS = {"²": 2, "³": 3}


def in_si(text: str) -> tuple[float, str] | None:
    """The number and the SI unit of a quantity such as "200 GPa", or None if it is not one."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return None
    value, units, place = float(found[1]), found[2], 0
    words: list[str] = []
    while place < len(units):
        one = _FACTOR.match(units, place)
        known = None if one is None else _unit(one[2])
        if one is None or known is None:
            return None
        power = int(one[3] or _POWERS.get(one[4], 1))
        value *= known[0] ** (-power if one[1] == "/" else power)
        mark = "/" if one[1] == "/" else " " if words else ""
        words.append(
            mark + known[1] + ("" if power == 1 else {2: "²", 3: "³"}.get(power, f"^{power}"))
        )
        place = one.end()
    return float(f"{value:.12g}"), "".join(words)


def _unit(symbol: str) -> tuple[float, str] | None:
    """Size and SI name of one unit with its prefix."""
    if symbol in _FIXED:
        return _FIXED[symbol]
    for prefix, size in _PREFIXES.items():
        base = _SCALED.get(symbol.removeprefix(prefix)) if symbol.startswith(prefix) else None
        if base is not None:
            return size * base[0], base[1]
    return None


def number_to_write(value: object) -> str:
    """What to write instead of a quantity with a unit, to be added to a message; else nothing."""
    if isinstance(value, list | tuple):
        return next(filter(None, map(number_to_write, value)), "")
    found = in_si(value) if isinstance(value, str) else None
    if found is None:
        return ""
    number, unit = found
    brief = f"{number:.4g}"
    digits = brief if float(brief) == number else f"{number:.12g}"
    return f"; numbers are in SI units: {digits}" + (f" ({unit})" if unit else "")
