"""The design tokens: every colour and size of the window and of the plots, for light and dark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """One set of colours. Text has a contrast of at least 4.5, lines and symbols of 3.0.

    Attributes:
        series: the colours of groups, models and runs, in order of use.
        model: what the surrogate believes. observed: what was measured.
        outlined: series colours too light for the paper, drawn with an ink outline.
        colormap: of surfaces.
    """

    name: str
    ink: str
    muted: str
    line: str
    control: str  # outline of controls, 3.0 against paper
    paper: str
    canvas: str
    accent: str
    accent_text: str  # on accent
    selected: str  # background of the chosen thing
    good: str
    warning: str
    bad: str
    focus: str
    model: str
    observed: str
    series: tuple[str, ...]
    outlined: tuple[str, ...]
    colormap: str = "viridis"


LIGHT = Theme(
    name="light",
    ink="#1F2933",
    muted="#616E7C",
    line="#E4E7EB",
    control="#7B8794",
    paper="#FFFFFF",
    canvas="#F5F7FA",
    accent="#0B69A3",
    accent_text="#FFFFFF",
    selected="#E3F1FA",
    good="#187844",
    warning="#8D5B00",
    bad="#B3261E",
    focus="#0B69A3",
    model="#0072B2",
    observed="#D55E00",
    series=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7A6F00", "#5C4B8A"),
    outlined=("#56B4E9", "#E69F00"),
)

DARK = Theme(
    name="dark",
    ink="#E6EAEE",
    muted="#A3AFBB",
    line="#323C47",
    control="#7B8794",
    paper="#1B222A",
    canvas="#12171D",
    accent="#4FA9DE",
    accent_text="#0B141B",
    selected="#1D3A4E",
    good="#5CC98F",
    warning="#E9B44C",
    bad="#FF8A80",
    focus="#7CC4F0",
    model="#4FA9DE",
    observed="#F0843C",
    series=("#4FA9DE", "#F0843C", "#2CC197", "#E39CC4", "#8FD0F5", "#F2B632", "#C9BC2E", "#A99BDB"),
    outlined=(),
)

FONT_BODY = 10  # points, at 100 % text size
FONT_SMALL = 9
FONT_HEADING = 16
FONT_CARD = 11
TARGET = 28  # pixels, the smallest height of a control
GAP = 12
RADIUS = 8


def css_colours(theme: Theme) -> dict[str, str]:
    """{variable: colour} for pages of HTML."""
    colours = {name: value for name, value in vars(theme).items() if str(value).startswith("#")}
    return colours | {f"series{index}": colour for index, colour in enumerate(theme.series)}


def css_variables() -> str:
    """The colours as variables of CSS: on the screen as the system has them, light on paper."""
    light, dark = (
        " ".join(f"--{name}: {colour};" for name, colour in css_colours(theme).items())
        for theme in (LIGHT, DARK)
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )
