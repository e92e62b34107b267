"""Measures rows and prints them as Markdown: python3 page.py DUPLEX BENCHMARKS PAGE|- ROW...

With a PAGE, what was measured takes the place of the sections of the same headings in it, and all of it is drawn beside
it. A row is one of `host.rows`, or lab=OUTPUT=FOLDER: what the sound lab has printed, and where the recordings lie that
it kept.
"""
import os
import re
import sys
import tempfile

import dots
import host
import lab
from measuring import processor_model

introduction = """# duplex beside others

Made by `Scripts/bench --keep`, all at once or some rows at a time; less is better in every column. All programs of a
table were measured in the same run, in turn; in the sound lab, whose clock counts instructions, runs can be put
together. Those on the machine itself ran on {processor}, the figures of the sound lab do not depend on a machine.

![Each table as dot plots: the further left, the better](BENCH.svg)
"""


def replaced(page, sections):
    """The page's sections with these in the place of their namesakes, new ones at the end."""
    parts = re.split(r"(?m)^(?=## )", page)[1:]
    kept = {part.split("\n", 1)[0]: part.strip() + "\n" for part in parts}
    for section in sections:
        text = section.markdown()
        kept[text.split("\n", 1)[0]] = text
    return "\n".join([introduction.format(processor=processor_model()), *kept.values()])


def write(page, sections):
    before = ""
    if os.path.exists(page):
        with open(page, encoding="utf-8") as file:
            before = file.read()
    after = replaced(before, sections)
    for name, text in ((page, after), (page.removesuffix("md") + "svg", dots.drawing(after))):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    duplex, benchmarks, page, *rows = sys.argv[1:]
    repository = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for row in rows:
            if row.startswith("lab="):
                _, output, kept = row.split("=")
                sections = lab.sections(output, kept)
            else:
                sections = [host.rows[row](duplex, benchmarks)]
            for section in sections:
                print(section.markdown(), flush=True)
            # At once: what is measured stays, whatever becomes of the next row.
            if page != "-":
                write(page, sections)
        os.chdir(repository)


if __name__ == "__main__":
    main()
