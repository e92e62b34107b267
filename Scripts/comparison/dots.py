"""Draws the tables of a page as dot plots (W. S. Cleveland, "The Elements of Graphing Data", 1985).

Each column of figures is a panel with a separate axis: a dot further left is better. The axis is
logarithmic if the figures of the column differ by more than a factor of ten.
"""
import math
import re
from html import escape

width, margin, line, head = 1240, 10, 18, 46
names, gap = 350, 14
ours, others, ink, rule = "#c2185b", "#455a64", "#212121", "#cfd8dc"


def figure(cell):
    """Returns the number in a cell of one number and at most one unit; None for other cells."""
    match = re.fullmatch(r"(-?[\d,]+(?:\.\d+)?)(?: [a-zA-Z]+)?", cell)
    return float(match[1].replace(",", "")) if match else None


def tables(page):
    """Yields heading, column headings and rows of each section that has a table of figures."""
    for section in re.split(r"(?m)^## ", page)[1:]:
        lines = [text for text in section.split("\n") if text.startswith("|")]
        cells = [[cell.strip().replace("\\", "") for cell in re.split(r"(?<!\\)\|", text)[1:-1]] for text in lines]
        rows = [row for row in cells[2:] if not row[0].startswith("**")]
        figures = [[figure(cell) for cell in row[1:]] for row in rows]
        shown = [index for index in range(len(cells[0]) - 1) if sum(row[index] is not None for row in figures) > 1]
        if shown:
            yield (section.split("\n", 1)[0], [cells[0][index + 1] for index in shown],
                   [(row[0], [(found[index], row[index + 1]) for index in shown]) for row, found in zip(rows, figures)])


def text(x, y, words, size=11, anchor="start", fill=ink):
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">{escape(words)}</text>'


def wrapped(words, letters):
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + len(word) >= letters:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def colour(program):
    return ours if program.startswith("duplex") else others


def panel(left, wide, top, heading, column):
    """Yields the SVG of one column from x = `left` on: a dot for each row that has a figure."""
    values = [value for _, (value, _) in column if value is not None]
    least, most = min(values), max(values)
    logarithmic = least > 0 and most > 10 * least
    scale = math.log if logarithmic else float
    span = scale(most) - scale(least) or 1
    # Leaves space for the text of the figure beside the rightmost dot.
    room = wide - 64
    title = wrapped(heading + (" (log)" if logarithmic else ""), wide / 6)
    yield from (text(left, top - 12 * (len(title) - index), words) for index, words in enumerate(title))
    yield f'<path d="M{left:.0f} {top:.0f}v{line * len(column)}" stroke="{rule}"/>'
    for index, (program, (value, cell)) in enumerate(column):
        if value is not None:
            x, y = left + 5 + room * (scale(value) - scale(least)) / span, top + line * (index + 0.5)
            yield f'<circle cx="{x:.1f}" cy="{y:.0f}" r="4" fill="{colour(program)}"/>'
            yield text(x + 7, y + 4, cell, 10)


def drawing(page):
    """Returns the page's tables as SVG."""
    parts, y = [], margin
    for heading, columns, rows in tables(page):
        parts.append(text(margin, y + 14, heading, 14))
        top = y + 20 + head
        wide = (width - names - margin) / len(columns)
        for index, (program, _) in enumerate(rows):
            parts.append(text(names - gap, top + line * (index + 0.5) + 4, program, 11, "end", colour(program)))
        for number, column in enumerate(columns):
            parts += panel(
                names + wide * number, wide - gap, top, column, [(program, cells[number]) for program, cells in rows])
        y = top + line * len(rows) + 24
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" viewBox="0 0 {width} {y}" '
            f'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>' + "\n".join(parts) + "</svg>\n")
