// style-base: the style of colours, text and small parts, for the dashboard and for a report in a
// file. A test checks the contrast.

import { drawingStyle } from "./style-drawings.ts";
import { baseScreenStyle } from "./style-screens.ts";

/** Every colour, light and dark: the test reads this table. */
export const colours: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  bg: ["#fafaf8", "#0e0f11"],
  panel: ["#ffffff", "#141619"],
  sunk: ["#f3f3f0", "#1b1e22"],
  hover: ["#f6f6f3", "#191c20"],
  line: ["#e7e7e2", "#24282d"],
  line2: ["#d3d3cd", "#363b42"],
  control: ["#87877f", "#6d747e"],
  ink: ["#1a1a18", "#ebecee"],
  ink2: ["#52524c", "#b0b5bd"],
  ink3: ["#666660", "#8f959f"],
  accent: ["#3947c2", "#9aa5ff"],
  "on-accent": ["#ffffff", "#0e0f11"],
  ok: ["#1b7a49", "#55c48e"],
  "ok-bg": ["#e6f4ec", "#12291e"],
  you: ["#935500", "#ecb04d"],
  "you-bg": ["#fffaef", "#1d1a12"],
  "you-line": ["#eedfbf", "#3d331c"],
  bad: ["#bd2c2c", "#ff8a80"],
  "bad-bg": ["#fcebe9", "#321818"],
  run: ["#1f5fc4", "#78aefc"],
  "run-bg": ["#f2f6fd", "#131a25"],
  s1: ["#2f3e8f", "#aab4ff"],
  s2: ["#5468cf", "#7f8ce4"],
  s3: ["#7c8de0", "#5866c8"],
  s4: ["#7d7d76", "#8a9099"],
};

const variables = Object.entries(colours)
  .map(([name, [light, dark]]) => `--${name}:light-dark(${light},${dark})`)
  .join(";");

/** Colours and fonts, as custom properties. */
const root = `:root {
  color-scheme: light dark; ${variables};
  --sans: Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Liberation Sans",sans-serif;
  --mono: ui-monospace,"SF Mono","JetBrains Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
}
[data-theme=light] { color-scheme: light }
[data-theme=dark] { color-scheme: dark }
`;

/** Elements without a class. */
const elements = `* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body {
  margin: 0; background: var(--bg); color: var(--ink); font: 14px/20px var(--sans); text-rendering: geometricPrecision;
  overflow-wrap: anywhere;
}
h1, h2, h3, p, ul, ol, dl, dd, figure, blockquote { margin: 0; padding: 0 }
ul, ol { list-style: none }
h1 { font-size: 24px; line-height: 30px; font-weight: 600; letter-spacing: -.02em; text-wrap: balance }
h2 { font-size: 13px; line-height: 20px; font-weight: 600 }
h3 { font-size: 14px; line-height: 20px; font-weight: 550 }
strong { font-weight: 550 }
a { color: inherit; text-decoration: none }
.link { color: var(--accent); text-decoration: underline; text-underline-offset: 3px; text-decoration-thickness: 1px }
button, input, select, textarea { font: inherit; color: inherit; text-rendering: inherit }
button { cursor: pointer; background: none; border: 0; padding: 0; text-align: inherit }
:focus { outline: none }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 6px }
h1:focus-visible { outline: none }
table { border-collapse: collapse; width: 100% }
th { font-weight: 500; text-align: left; color: var(--ink3); font-size: 12px; line-height: 16px }
code, kbd, pre, .mono { font-family: var(--mono); font-size: 12px; letter-spacing: -.01em; font-variant-ligatures: none }
`;

/** Classes of text: its colour, size and alignment. */
const textClasses = `.num, time, .figures, .took { font-variant-numeric: tabular-nums }
.right { text-align: right }
.second { color: var(--ink2) }
.dim { color: var(--ink3) }
.small { font-size: 13px }
.tiny { font-size: 12px; line-height: 16px }
.no-wrap { white-space: nowrap }
.cut { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0 }
.hidden-text { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
`;

/** Rows of elements side by side. */
const rows = `.row { display: flex; align-items: center; gap: 8px }
.wrap { flex-wrap: wrap }
.grow { flex: 1 }
.top { align-items: flex-start }
.gap-top { margin-top: 12px }
`;

/** Icons, and the colours of states. */
const icons = `svg { display: block }
.icon { width: 16px; height: 16px; flex: none }
.icon :is(.line, .cut-out) { fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round }
.icon .full { fill: currentColor }
.icon .cut-out { stroke: var(--panel); stroke-width: 1.7 }
.c-run { color: var(--run) }
.c-you, .c-parked { color: var(--you) }
.c-ok, .c-gap, .c-tick { color: var(--ok) }
.c-bad { color: var(--bad) }
.c-waits, .c-again, .c-skipped, .c-stopped, .c-unproved, .c-paused, .c-claim { color: var(--ink3) }
.status { display: inline-flex; align-items: center; gap: 6px; white-space: nowrap; font-weight: 500 }
.status .icon { width: 14px; height: 14px }
.status span { color: var(--ink2) }
.status.c-you span, .status.c-bad span { color: inherit }
`;

/** Panels, sections and lists of items. */
const panels = `.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; min-width: 0 }
.pad { padding: 14px 16px }
.clip { overflow: clip }
.section { margin-top: 32px; min-width: 0 }
.section>header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 8px; margin-bottom: 8px }
.section>header .dim { font-size: 12px }
.head { display: flex; gap: 16px; align-items: flex-start }
.head>div:first-child { flex: 1; min-width: 0 }
.head p { margin-top: 6px; color: var(--ink2); max-width: 84ch; text-wrap: pretty }
.cols { display: grid; grid-template-columns: minmax(0,1fr) 312px; gap: 0 32px; align-items: start }
.two { display: grid; grid-template-columns: minmax(0,1fr) minmax(0,1fr); gap: 0 32px }
.item { display: block; position: relative; padding: 12px 16px; width: 100% }
.item+.item { border-top: 1px solid var(--line) }
a.item:hover, button.item:hover { background: var(--hover) }
.panel>.item:first-child { border-radius: 8px 8px 0 0 }
.panel>.item:last-child { border-radius: 0 0 8px 8px }
.item:focus-visible { outline-offset: -2px }
`;

/** Small parts: pairs of names and values, meters, claims, commands. */
const parts = `.facts { display: grid; grid-template-columns: auto minmax(0,1fr); gap: 6px 16px; font-size: 13px }
.facts dt { color: var(--ink3) }
.facts.ends dd { text-align: right }
.stack { display: grid; gap: 14px }
.stack>* { min-width: 0 }
.item.row { display: flex }
.meter { height: 4px; border-radius: 2px; background: var(--line); position: relative; overflow: hidden }
.meter i { position: absolute; inset: 0 auto 0 0; background: var(--ink2); border-radius: 2px }
.meter i.over { background: var(--you) }
.meter b { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--ink3) }
.track { display: flex; gap: 2px; width: 100% }
.track i { flex: 1; height: 8px; border-radius: 2px; border: 1px solid var(--line2) }
.track .ok { background: var(--ok); border-color: var(--ok) }
.track .run { border-color: var(--run); background: linear-gradient(90deg,var(--run) 55%,transparent 55%) }
.track .you { border-color: var(--you); background: repeating-linear-gradient(135deg,var(--you) 0 2px,transparent 2px 4px) }
.track .bad { background: var(--bad); border-color: var(--bad) }
.track .unproved { border-style: dashed; border-color: var(--control) }
.track .skipped { background: var(--line2) }
.claim { border-left: 2px dashed var(--control); padding-left: 10px; color: var(--ink2); white-space: pre-wrap }
.code-point {
  border: 1px solid var(--bad); color: var(--bad); border-radius: 3px; font: 10px/12px var(--mono); padding: 0 2px; margin: 0 1px;
  white-space: nowrap; unicode-bidi: isolate;
}
.command {
  display: flex; align-items: center; gap: 8px; background: var(--sunk); border-radius: 6px; padding: 5px 6px 5px 10px;
  line-height: 18px; min-width: 0;
}
.command+.command { margin-top: 8px }
.command code { flex: 1; min-width: 0; overflow-x: auto; white-space: pre; scrollbar-width: none }
.command button { font: 500 12px/18px var(--sans); color: var(--ink2); padding: 1px 6px; border-radius: 4px }
.command button:hover { background: var(--line); color: var(--ink) }
`;

/** Notices, empty pages and key figures. */
const notices = `.notice {
  display: flex; gap: 10px; padding: 10px 14px; border: 1px solid var(--line2); border-radius: 8px; margin-bottom: 24px;
  font-size: 13px; background: var(--panel); align-items: flex-start;
}
.notice>.icon { margin-top: 2px }
.notice>div { flex: 1; min-width: 0 }
.notice.you { background: var(--you-bg); border-color: var(--you-line) }
.notice.bad { border-color: var(--bad) }
.notice .icon .cut-out { stroke: var(--you-bg) }
.blank { padding: 56px 24px; text-align: center; margin-top: 24px }
.blank>.icon { width: 28px; height: 28px; margin: 0 auto 16px; color: var(--ink3) }
.blank h2 { font-size: 16px; line-height: 24px }
.blank p { color: var(--ink2); margin: 6px auto 16px; max-width: 56ch }
.blank .command { text-align: left; max-width: 512px; margin-inline: auto }
.figures { display: grid; grid-template-columns: repeat(4,minmax(0,1fr)); margin-top: 24px }
.figures>div { padding: 2px 20px; border-left: 1px solid var(--line) }
.figures>div:first-child { border: 0; padding-left: 0 }
.figures b { display: block; font-size: 20px; line-height: 28px; font-weight: 550; letter-spacing: -.02em }
.figures small { display: block; font-size: 12px; line-height: 16px; color: var(--ink2) }
.label { color: var(--ink3); font-size: 12px; line-height: 16px }
.meta { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 10px; color: var(--ink2); font-size: 13px; align-items: center }
`;

/** Tables, code blocks and details. */
const tables = `.grid td, .grid th { padding: 9px 8px; border-top: 1px solid var(--line); vertical-align: top; font-size: 13px }
.grid thead th { border: 0; font-size: 12px; vertical-align: bottom }
.lists thead th { white-space: nowrap }
.grid tr>:first-child { padding-left: 16px }
.grid tr>:last-child { padding-right: 16px }
.grid tbody tr:hover { background: var(--hover) }
.grid th.n, .grid td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
.grid .zero { color: var(--ink3) }
.grid tbody th { color: var(--ink); font-size: 13px }
pre {
  margin: 8px 0 0; padding: 10px 12px; background: var(--sunk); border-radius: 6px; line-height: 18px; overflow-x: auto;
  white-space: pre; max-height: 420px;
}
summary { cursor: pointer; color: var(--ink2); font-size: 12px; border-radius: 4px; width: max-content; max-width: 100% }
`;

/** The merge queue of a portfolio. */
const queues = `.queue-line {
  display: grid; grid-template-columns: 24px 14px minmax(0,1fr) auto; gap: 0 10px; align-items: center; padding: 9px 16px;
  font-size: 13px;
}
.queue-line.unnumbered { grid-template-columns: 14px minmax(0,1fr) auto }
.queue-line .icon { width: 14px; height: 14px }
.in-batch { box-shadow: inset 2px 0 var(--run); background: var(--run-bg) }
`;

/** The rules for small screens come last, because they override the others. */
export const baseStyle = [
  root,
  elements,
  textClasses,
  rows,
  icons,
  panels,
  parts,
  notices,
  tables,
  queues,
  drawingStyle,
  baseScreenStyle,
].join("");
