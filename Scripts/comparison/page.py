"""Measures rows and prints them as Markdown: python3 page.py DUPLEX BENCHMARKS PAGE|- ROW...

With a PAGE, the measured sections replace the sections with the same headings in that file, and all
its tables are drawn in an SVG file beside it. A row is a name in `host.rows`, or lab=OUTPUT=FOLDER:
the file with the output of the sound lab, and the folder with the recordings that it kept.
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


def replaced(page, sections, processor):
    """Returns the page; sections replace those with the same heading, new ones come last.

    Without a processor, the page keeps the one that it names.
    """
    named = re.search(r"itself ran on (.*), the figures of", page)
    processor = processor or (named[1] if named else processor_model())
    parts = re.split(r"(?m)^(?=## )", page)[1:]
    kept = {part.split("\n", 1)[0]: part.strip() + "\n" for part in parts}
    for section in sections:
        text = section.markdown()
        kept[text.split("\n", 1)[0]] = text
    return "\n".join([introduction.format(processor=processor), *kept.values()])


def write(page, sections, processor):
    before = ""
    if os.path.exists(page):
        with open(page, encoding="utf-8") as file:
            before = file.read()
    after = replaced(before, sections, processor)
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
                sections, processor = lab.sections(output, kept), None
            else:
                processor = processor_model()
                sections = [host.rows[row](duplex, benchmarks)]
            for section in sections:
                print(section.markdown(), flush=True)
            # Written after each row, so that the results stay if a later row fails.
            if page != "-":
                write(page, sections, processor)
        os.chdir(repository)


if __name__ == "__main__":
    main()
