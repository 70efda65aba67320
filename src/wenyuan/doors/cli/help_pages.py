"""How help looks: two columns of plain text, the same on terminals and in pipes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

_WIDEST_LABEL = 26


class HelpPages:
    """Renders one page of help; cyclopts calls it for the usage, the description and each panel."""

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        if usage:
            for line in textwrap.wrap(f"Usage: {usage}", _width(options), subsequent_indent="    "):
                console.out(line, highlight=False)
            console.out("", highlight=False)

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        text = _plain(description)
        for paragraph in filter(None, text.split("\n\n")):
            console.out(textwrap.fill(paragraph, _width(options)), highlight=False)
            console.out("", highlight=False)

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        if not panel.entries:
            return
        console.out(f"{panel.title}:", style="bold", highlight=False)
        rows = [(_label(entry), _described(entry)) for entry in panel.entries]
        column = min(_WIDEST_LABEL, max(len(label) for label, _ in rows)) + 4
        for label, description in rows:
            lines = textwrap.wrap(description, max(20, _width(options) - column)) or [""]
            if len(label) + 4 > column:
                console.out(f"  {label}", highlight=False)
                label = ""
            for line in lines:
                console.out(f"  {label}".ljust(column) + line, highlight=False)
                label = ""
        console.out("", highlight=False)


def _width(options: ConsoleOptions) -> int:
    return min(options.max_width, 100)


def _plain(description: Any) -> str:
    """The text of what cyclopts describes things with."""
    if description is None:
        return ""
    return str(getattr(description, "primary_renderable", description)).strip()


def _label(entry: HelpEntry) -> str:
    labels = (*entry.positive_shorts, *entry.display_labels_with_metavar)
    return ", ".join(dict.fromkeys(labels))


def _described(entry: HelpEntry) -> str:
    description = _plain(entry.description)
    return f"{description} One of: {', '.join(entry.choices)}." if entry.choices else description
