"""The report's style sheet: the program's own colours, for light, dark and paper."""

from __future__ import annotations

from resources.theme import DARK, LIGHT, Theme

_RULES = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--canvas); color: var(--ink); line-height: 1.5;
  font: 15px/1.5 Inter, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 6px; }
h2 { font-size: 17px; margin: 0; }
p { margin: 0 0 8px; max-width: 75ch; }
.lead { color: var(--muted); font-size: 16px; margin-bottom: 20px; }
.question { color: var(--muted); font-size: 13px; margin: 0 0 10px; }
.cards { display: flex; flex-wrap: wrap; gap: 16px; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
  padding: 16px 18px; flex: 1 1 100%; min-width: 0; }
section.half { flex: 1 1 45%; }
section.wide { flex: 7 1 50%; } section.narrow { flex: 5 1 34%; }
.facts { display: flex; flex-wrap: wrap; gap: 8px 36px; margin: 10px 0 14px; }
.facts div { min-width: 90px; } .facts dt { color: var(--muted); font-size: 13px; }
.facts dd { margin: 0; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; min-width: 60%; margin-top: 4px;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 20px 5px 8px; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; font-size: 13px; color: var(--muted); }
tbody th { white-space: nowrap; color: var(--ink); font-weight: 400; font-size: inherit; }
td.number, th.number { text-align: right; }
tr.best td { font-weight: 600; }
.fitted th, .fitted td { padding: 5px 10px 5px 0; } .fitted table { width: 100%; }
.fitted tbody th { white-space: normal; }
.tight th, .tight td { padding: 4px 6px; font-size: 12px; white-space: nowrap; }
.crowded th, .crowded td { padding: 4px 8px 4px 0; font-size: 12px; }
.crowded th { overflow-wrap: anywhere; min-width: 6ch; }
.right { background: var(--selected); font-weight: 600; }
details { margin-top: 10px; } summary { cursor: pointer; color: var(--accent); font-size: 14px; }
summary:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
code { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
footer { color: var(--muted); font-size: 13px; margin-top: 20px; }
svg { display: block; width: 100%; height: auto; margin: 0 auto; overflow: visible; }
svg text { font-size: 12px; fill: var(--muted); paint-order: stroke; stroke: var(--paper);
  stroke-width: 3px; }
svg .name { fill: var(--ink); } svg .label { font-size: 12.5px; }
svg .grid { stroke: var(--line); } svg .axis { stroke: var(--control); }
svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .pale { fill: none; stroke: var(--line); stroke-width: 1.2; }
svg .dashed { stroke: var(--control); stroke-width: 1.5; stroke-dasharray: 5 4; }
svg .interval { stroke-width: 3; stroke-linecap: round; } svg .leader { stroke-width: 1; }
svg .dot { stroke: var(--paper); stroke-width: 1; } svg .faint { opacity: .55; }
svg .hatched { fill: var(--line); stroke: var(--control); stroke-dasharray: 3 3; }
svg .cm { stroke: var(--control); } svg .dm { fill: var(--control); }
svg .hollow { stroke-width: 1.5; } svg circle.hollow { fill: none; stroke: var(--observed); }
svg .d-seen { fill: var(--observed); }
svg .arc { fill: none; stroke-width: 1.6; } svg .apart { stroke-dasharray: 4 3; }
svg .token { fill: var(--canvas); stroke: var(--line); }
svg .missed { fill: var(--canvas); stroke: var(--bad); stroke-width: 1.5; }
svg .base { font: 11px ui-monospace, "DejaVu Sans Mono", monospace; fill: var(--ink); }
svg .wrong { fill: var(--bad); font-weight: 600; }
@media screen and (max-width: 760px) {
  section.half, section.wide, section.narrow { flex-basis: 100%; }
}
"""

_PRINT = """
@page { margin: 15mm; }
@media print {
  body { background: #fff; font-size: 10pt; } main { max-width: none; padding: 0; }
  main > .cards { display: block; } .cards > section { margin-bottom: 12px; }
  .cards > div { flex: 1 1 40%; }
  section { break-inside: avoid; } section.long { break-inside: auto; }
  section > svg { max-width: 460px; } h2, .question { break-after: avoid; }
  .scroll { overflow: visible; } .scroll table { font-size: 8.5pt; }
  .scroll th, .scroll td { padding: 3px 6px 3px 3px; font-size: inherit; }
  .scroll.crowded table { font-size: 6.5pt; } .crowded th { white-space: normal; }
  tr { break-inside: avoid; } thead { display: table-header-group; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def style_sheet() -> str:
    """Plain CSS; paper is always light."""
    light, dark = _variables(LIGHT), _variables(DARK)
    series = "".join(
        f"svg .c{i} {{ stroke: var(--s{i}); }} svg .d{i} {{ fill: var(--s{i}); }}\n"
        for i in range(len(LIGHT.series))
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"{_RULES}{series}svg .fill0 {{ fill: var(--s0); }}\n{_PRINT}"
    )


def _variables(theme: Theme) -> str:
    names = ("ink", "muted", "line", "control", "paper", "canvas", "accent", "selected", "bad")
    colours = {name: getattr(theme, name) for name in (*names, "focus", "observed")}
    colours |= {f"s{i}": colour for i, colour in enumerate(theme.series)}
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
