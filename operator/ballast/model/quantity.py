"""Kubernetes quantities: ``50Mi``, ``1e6``, ``500k``, ``2048``.

Grammar and rounding are those of apimachinery's ``resource.Quantity``: a decimal number, then a
binary suffix (Ki to Ei), a decimal suffix (n to E) or an exponent; fractions of one round up.
"""

import re
from decimal import ROUND_CEILING, Decimal

from ballast.model.settings.values import LONG_MAX

MAX_QUANTITY = LONG_MAX
_MAX_LENGTH = 64
_FORM = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))"
    r"(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]{1,2}))?"
)
_FACTORS = {
    "": Decimal(1),
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    **{suffix: Decimal(1000) ** (i + 1) for i, suffix in enumerate("kMGTPE")},
    **{f"{suffix}i": Decimal(1024) ** (i + 1) for i, suffix in enumerate("KMGTPE")},
}


def parse_quantity(value: object) -> int:
    """Return the quantity in units, rounded up.

    Raises `ValueError` for another type, another form, or what does not fit 63 bits.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("must be a quantity such as 50Mi, 1e6 or 1048576")  # noqa: TRY004
    text = str(value) if not isinstance(value, int) or abs(value) <= MAX_QUANTITY else "too large"
    if len(text) > _MAX_LENGTH:
        raise ValueError("is too long for a quantity")
    form = _FORM.fullmatch(text)
    if form is None:
        raise ValueError("is not a quantity such as 50Mi, 1e6 or 1048576")
    factor = (
        Decimal(10) ** int(form["exponent"]) if form["exponent"] else _FACTORS[form["suffix"] or ""]
    )
    number = (Decimal(form["number"]) * factor).to_integral_value(rounding=ROUND_CEILING)
    if abs(number) > MAX_QUANTITY:
        raise ValueError("does not fit 63 bits")
    return int(number)


def format_bytes(count: int) -> str:
    """Return a short human form with a binary suffix: ``1.2Ti``, ``512``."""
    if count < 1024:
        return str(count)
    amount = float(count)
    for suffix in ("Ki", "Mi", "Gi", "Ti", "Pi"):
        amount /= 1024
        if amount < 1024:
            return f"{amount:.1f}{suffix}"
    return f"{amount / 1024:.1f}Ei"
