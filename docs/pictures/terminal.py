#!/usr/bin/env python3
"""Draws what a command prints as a terminal in SVG, with the colours that it has there.

    docs/pictures/terminal.py PICTURE AVR-TVAR            writes docs/pictures/PICTURE.svg
    docs/pictures/terminal.py PICTURE AVR-TVAR --check    exit code 1 if it is not what the tool prints now, times aside

PICTURES has the commands, which run in the root of the repository.
"""
import html
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The arguments of `avr-tvar`; the first and the last lines that are shown, with dots in between.
PICTURES = {"violated": (["verify", "firmware-samples/stack-smash/stack-smash.Os.elf"], 11, 19)}
COLUMNS, CHARACTER, LINE, MARGIN = 118, 7.23, 17, 16
COLOURS = {"31": "#f2777a", "32": "#99cc99", "33": "#ffcc66", "34": "#6699cc", "35": "#cc99cc", "36": "#66cccc"}


def printed(tool, arguments):
    """The lines of the command with their escape sequences."""
    command = [tool, *arguments]
    colours = {**os.environ, "CLICOLOR_FORCE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=colours, capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"exit code {done.returncode}: {done.stderr}")
    return done.stdout.rstrip("\n").split("\n")


def spans(line):
    """The parts of a line, cut at its width, each with its style."""
    left, style, parts = COLUMNS, {}, []
    for text, codes in re.findall(r"([^\x1b]+)|\x1b\[([\d;]*)m", line):
        if text:
            parts.append((text[:left], dict(style)))
            left = max(0, left - len(text))
            continue
        for code in codes.split(";"):
            if code in ("", "0"):
                style = {}
            elif code == "1":
                style["font-weight"] = "bold"
            elif code == "2":
                style["opacity"] = "0.7"
            elif code in COLOURS:
                style["fill"] = COLOURS[code]
    return parts


def drawing(lines):
    """The picture."""
    width, height = round(2 * MARGIN + COLUMNS * CHARACTER), 2 * MARGIN + LINE * len(lines)
    rows = []
    for number, line in enumerate(lines):
        parts = "".join(
            f"<tspan{''.join(f' {name}={chr(34)}{value}{chr(34)}' for name, value in style.items())}>{html.escape(text)}</tspan>"
            for text, style in spans(line)
        )
        rows.append(f'<text x="{MARGIN}" y="{MARGIN + LINE * number + 13}" xml:space="preserve">{parts}</text>')
    body = "\n".join(rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12" fill="#d3d0c8">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#22252b"/>\n{body}\n</svg>\n'
    )


def without_times(text):
    """What is the same in each run."""
    lines = [line for line in text.split("\n") if ">work " not in line and ">memory " not in line]
    return re.sub(r" +[\d.]+ m?s(?=<)", "", re.sub(r"refinements +time", "", "\n".join(lines)))


def main():
    name, tool = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    arguments, first, last = PICTURES[name]
    lines = printed(tool, arguments)
    shown = lines if len(lines) <= first + last else [*lines[:first], "          ...", *lines[-last:]]
    text = drawing([f"$ avr-tvar {' '.join(arguments)}", *shown])
    file = pathlib.Path(__file__).parent / f"{name}.svg"
    if sys.argv[3:] == ["--check"]:
        if without_times(file.read_text()) != without_times(text):
            sys.exit(f"{file.relative_to(ROOT)} is not what the tool prints now: {pathlib.Path(__file__).name} writes it anew")
        print(f"{name}: the picture is what the tool prints")
    else:
        file.write_text(text)


main()
