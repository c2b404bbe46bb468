"""The stylesheet: shapes and sizes once, colours for light and for dark.

No CSS variables: librsvg and Inkscape do not know them, and the pictures are to look right there too.
"""

from __future__ import annotations

_PAGE = ("#ffffff", "#14181d")
_INK = ("#1c2733", "#e4e9ee")
_FAINT = ("#5b6b7b", "#9aa8b5")
_LINE = ("#6b7c8d", "#8b9aa8")
_ERROR = ("#c02b2b", "#ff7b72")
_FILLS = {
    "pass": ("#eef1f4", "#252c34"),
    "task": ("#e3effc", "#15314f"),
    "callback": ("#fdf0d5", "#4a3612"),
    "choice": ("#efe6fb", "#37255a"),
    "wait": ("#e6f4f4", "#123c3e"),
    "succeed": ("#e2f5e5", "#143d22"),
    "fail": ("#fde5e5", "#511c1f"),
    "group": ("#f7f9fb", "#1a2027"),
}
_FONTS = "system-ui,-apple-system,'Segoe UI','Noto Sans','Noto Sans CJK SC','PingFang SC',sans-serif"
_FORM = (
    f"text{{font-family:{_FONTS};text-anchor:middle}}",
    ".title{font-size:16px;font-weight:600}",
    ".name{font-size:13px;font-weight:600}",
    ".note,.label{font-size:11px}",
    ".left{text-anchor:start}.right{text-anchor:end}",
    ".plate{opacity:.9}",
    ".shape{stroke-width:1.2}",
    ".edge{fill:none;stroke-width:1.4}",
    ".edge.error{stroke-dasharray:6 4}",
    "circle.end{fill:none;stroke-width:3}",
)


def _colours(which: int) -> list[str]:
    ink, line, error = _INK[which], _LINE[which], _ERROR[which]
    return [
        f"text,circle.start{{fill:{ink}}}circle.end{{stroke:{ink}}}",
        f".note{{fill:{_FAINT[which]}}}",
        f".page,.plate{{fill:{_PAGE[which]}}}",
        f".shape,.edge{{stroke:{line}}}.head{{fill:{line}}}",
        *(f".{kind}>.shape{{fill:{fill[which]}}}" for kind, fill in _FILLS.items()),
        f".fail>.shape,.edge.error{{stroke:{error}}}.head.error,.label.error{{fill:{error}}}",
    ]


STYLE = "\n".join([*_FORM, *_colours(0), "@media (prefers-color-scheme:dark){", *_colours(1), "}"])
"""CSS of every picture."""
