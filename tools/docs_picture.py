"""The picture of the first page, drawn from the bundled data at each build."""

from html import escape

import demele

PICTURE = "assets/information.svg"
CELL, LEFT, TOP = 56, 48, 34


def information_picture() -> str:
    """Return the information of the codes and factors of the demonstration as a picture, in SVG."""
    sample = demele.data.demo()
    matrix = demele.mig(sample.codes, sample.factors).matrix
    if matrix is None:
        raise ValueError("mig has no matrix")
    values = matrix.to_numpy()
    parts = [
        _text(LEFT + (column + 0.5) * CELL, TOP - 10, str(name), "middle") for column, name in enumerate(matrix.columns)
    ]
    for row, name in enumerate(matrix.index):
        y = TOP + row * CELL / 2
        parts.append(_text(LEFT - 8, y + CELL / 4 + 4, str(name), "end"))
        for column, value in enumerate(values[row]):
            x, strength = LEFT + column * CELL, value / values.max()
            box = f'x="{x}" y="{y}" width="{CELL}" height="{CELL / 2}"'
            parts.append(f'<rect {box} fill="rgb{_colour(strength)}" stroke="white"/>')
            shade = "white" if strength > 0.55 else "#222"
            parts.append(_text(x + CELL / 2, y + CELL / 4 + 4, f"{value:.2f}", "middle", shade))
    width, height = LEFT + CELL * values.shape[1], TOP + CELL / 2 * values.shape[0]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" '
        'font-family="sans-serif" font-size="11">'
        f'<rect width="{width}" height="{height:g}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _colour(strength: float) -> tuple[int, int, int]:
    """From almost white to dark teal."""
    low, high = (240, 248, 247), (0, 77, 72)
    red, green, blue = (round(a + (b - a) * strength) for a, b in zip(low, high, strict=True))
    return red, green, blue


def _text(x: float, y: float, content: str, anchor: str, colour: str = "#222") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}">{escape(content)}</text>'
