# SPDX-License-Identifier: MIT
"""The style sheet of the page, for light and dark, wide and narrow screens."""

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1e21; --soft: #5b626b;
  --line: #d5d9de; --tile: #f4f6f8; --bad: #b3261e;
  --c0: #1f5fbf; --c1: #b34700; --c2: #1b7f4b; --c3: #8a3ab9; --c4: #b0256e;
  --c5: #586069; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e6e8eb;
  --soft: #a3abb5; --line: #3a4048; --tile: #1f2328; --bad: #ff8a80;
  --c0: #7db2ff; --c1: #ffab66; --c2: #6fd39b; --c3: #cf9bf0; --c4: #ff8fc2;
  --c5: #aeb6bf; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 20px 16px 48px; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 1.15rem; margin: 36px 0 10px; border-bottom: 1px solid var(--line);
  padding-bottom: 4px; }
h3 { font-size: 1rem; margin: 22px 0 8px; }
p { margin: 6px 0; }
.charts + .table { margin-top: 14px; }
.soft, figcaption { color: var(--soft); }
.warning { color: var(--bad); }
.tiles { display: grid; gap: 10px; margin: 18px 0 0; padding: 0;
  grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
.tiles div { background: var(--tile); border-radius: 8px; padding: 10px 12px; }
.tiles dt { color: var(--soft); font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.25rem; font-weight: 600;
  overflow-wrap: anywhere; }
.charts { display: grid; gap: 18px 24px;
  grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); }
figure { margin: 0; min-width: 0; max-width: 620px; }
figcaption { font-weight: 600; }
svg { display: block; width: 100%; height: auto; font-size: 11px; }
svg text { fill: var(--soft); }
.grid { stroke: var(--line); stroke-width: .7; }
.axis { stroke: var(--soft); fill: none; }
.curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.thin { stroke-width: .7; opacity: .5; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); }
.c3 { --c: var(--c3); } .c4 { --c: var(--c4); } .c5 { --c: var(--c5); }
path.curve { stroke: var(--c); } circle { fill: var(--c); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: .85rem; }
.legend i { display: inline-block; width: 18px; height: 3px; margin-right: 6px;
  vertical-align: middle; background: var(--c); }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
caption { text-align: left; color: var(--soft); padding-bottom: 4px; }
th, td { text-align: left; vertical-align: top; padding: 4px 18px 4px 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.facts th { white-space: nowrap; } .facts td { overflow-wrap: anywhere; }
code { font: .9em ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; background: #fff; }
iframe { width: 100%; height: 640px; border: 1px solid var(--line);
  border-radius: 8px; background: #fff; }
details summary { cursor: pointer; padding: 4px 0; }
@media (max-width: 480px) { main { padding: 14px 12px 32px; }
  .tiles { grid-template-columns: 1fr 1fr; } th, td { padding-right: 12px; } }
"""
