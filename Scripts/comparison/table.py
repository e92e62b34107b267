"""A section of Scripts/BENCH.md: a table of figures, the leaders, and why duplex is behind."""


class Column:
    """A column of figures; less is better."""

    def __init__(self, heading, digits=2, reason=None):
        self.heading, self.digits = heading, digits
        # A sentence that says why duplex is behind in this column.
        self.reason = reason

    def shown(self, value):
        return value if isinstance(value, str) else "" if value is None else f"{value:,.{self.digits}f}"


class Section:
    def __init__(self, heading, how, columns):
        self.heading, self.how, self.columns = heading, how, columns
        self.rows = []
        self.missing = []

    def add(self, program, values):
        """Adds a program with its figures in column order; None for a missing figure."""
        self.rows.append((program, values))

    def miss(self, program, why):
        self.missing.append(f"{program} {why}")

    def ahead(self, index):
        """Returns the leading programs of a column; None if fewer than two have a figure."""
        column = self.columns[index]
        figures = {program: values[index] for program, values in self.rows
                   if values[index] is not None and not isinstance(values[index], str)}
        if len(figures) < 2:
            return None
        least = column.shown(min(figures.values()))
        return [program for program, value in figures.items() if column.shown(value) == least]

    def markdown(self):
        # A column without any figure is left out.
        shown = [index for index in range(len(self.columns))
                 if any(values[index] is not None for _, values in self.rows)]
        columns = [self.columns[index] for index in shown]
        lines = [f"## {self.heading}", "", self.how, ""]
        lines.append("| | " + " | ".join(column.heading for column in columns) + " |")
        lines.append("| --- |" + " ---: |" * len(columns))
        for program, values in self.rows:
            cells = [column.shown(values[index]) for index, column in zip(shown, columns)]
            lines.append(f"| {program} | " + " | ".join(cells) + " |")
        winners = [self.ahead(index) for index in shown]
        if any(winners):
            lines.append("| **ahead** | " + " | ".join(", ".join(winner or []) for winner in winners) + " |")
        reasons = [f"duplex is behind in \"{column.heading}\": {column.reason or 'the reason is not known.'}"
                   for column, winner in zip(columns, winners)
                   if winner and not any(program.startswith("duplex") for program in winner)]
        if reasons:
            lines += ["", *[f"- {reason}" for reason in reasons]]
        if self.missing:
            lines += ["", "Missing: " + "; ".join(self.missing) + "."]
        return "\n".join(lines) + "\n"
