// style-drawings: the style of charts, of the waterfall of a run and of diffs, for the dashboard
// and for a report in a file.

/** Charts. */
const charts = `.chart { padding: 16px 16px 10px }
.chart text { font: 11px var(--sans); fill: var(--ink3); font-variant-numeric: tabular-nums }
.chart svg { width: 100%; height: auto; overflow: visible }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 2px; flex: none }
.b-s1 { background: var(--s1); fill: var(--s1) }
.b-s2 { background: var(--s2); fill: var(--s2) }
.b-s3 { background: var(--s3); fill: var(--s3) }
.b-s4 { background: var(--s4); fill: var(--s4) }
`;

/** The waterfall of a run: `.d0` is a phase, `.d1` a step, `.d2` a step of a task. */
const waterfall = `.waterfall { position: relative; padding: 0 0 6px; overflow: hidden }
.w-head, .w-row {
  display: grid; grid-template-columns: 250px minmax(0,1fr) 82px; align-items: center; width: 100%; min-height: 28px;
  padding: 0 16px 0 12px; gap: 12px;
}
.w-head { min-height: 32px; color: var(--ink3); font-size: 12px; border-bottom: 1px solid var(--line); margin-bottom: 4px }
.w-axis { position: relative; height: 16px; line-height: 16px }
.w-axis span { position: absolute; transform: translateX(-50%); white-space: nowrap }
.w-axis span:first-child { transform: none }
.w-axis span:last-child:not(:first-child) { transform: translateX(-100%) }
.w-row { font-size: 13px; content-visibility: auto; contain-intrinsic-size: auto 28px }
button.w-row:hover { background: var(--hover) }
.w-row[aria-pressed=true] { background: var(--sunk) }
.w-row:focus-visible { outline-offset: -2px }
.w-name { display: flex; gap: 8px; align-items: center; min-width: 0 }
.w-name .icon { width: 14px; height: 14px }
.d0 { font-weight: 550 }
.d1 .w-name { padding-left: 22px; color: var(--ink2) }
.d2 .w-name { padding-left: 44px; color: var(--ink2); font-size: 12px }
.w-track { position: relative; height: 28px }
.w-track i { position: absolute; top: 10px; height: 8px; border-radius: 2px; min-width: 3px; background: var(--ink3) }
.d0 .w-track i { top: 12px; height: 4px; background: var(--ink2) }
.w-track .agent { background: var(--s2) }
.w-track .runner { background: var(--ok) }
.w-track .bad, .d0 .w-track i.bad { background: var(--bad) }
.w-track .open { background: linear-gradient(90deg,var(--run) 0 calc(100% - 10px),transparent) }
.w-track i.you { background: repeating-linear-gradient(135deg,var(--you) 0 2px,transparent 2px 5px); border: 1px solid var(--you) }
.d0 .w-track i.parked, .w-track i.parked {
  height: 8px; top: 10px; background: repeating-linear-gradient(90deg,var(--you) 0 2px,transparent 2px 5px);
}
.w-key { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 12px; color: var(--ink3); padding: 8px 16px 4px }
.w-key span { display: flex; gap: 6px; align-items: center }
.w-key .w-track { width: 18px; height: 8px }
.w-key .w-track i { left: 0; width: 18px; top: 0 }
`;

/** The lines of a diff, and pairs of a claim and what was found. */
const diffs = `.diff { font: 12px/20px var(--mono); font-variant-ligatures: none }
.diff td { padding: 0; vertical-align: top }
.diff .ln { min-width: 44px; color: var(--ink3); text-align: right; padding-right: 8px; user-select: none }
.diff .mk { min-width: 22px; text-align: center }
.diff .tx { width: 100%; white-space: pre-wrap; padding-right: 12px; tab-size: 2 }
.diff .add { background: var(--ok-bg) }
.diff .del { background: var(--bad-bg) }
.diff .hunk td { background: var(--sunk); color: var(--ink3); padding: 4px 12px }
.diff .add .mk { color: var(--ok) }
.diff .del .mk { color: var(--bad) }
.diff .add .ln, .diff .del .ln { color: var(--ink2) }
.pair { display: grid; grid-template-columns: minmax(0,1fr) minmax(0,1fr); gap: 24px; padding: 12px 16px; font-size: 13px }
.pair+.pair { border-top: 1px solid var(--line) }
`;

export const drawingStyle = `${charts}${waterfall}${diffs}`;
