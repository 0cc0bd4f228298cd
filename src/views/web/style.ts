// style: composes the style sheet of the dashboard: its frame and pages, and the base style that it
// shares with reports.

import { baseStyle } from "./style-base.ts";
import { dashboardScreenStyle } from "./style-screens.ts";

/** The frame around every page. */
const frame = `#app { min-height: 100vh }
@media (scripting: none) {
  #app { display: none }
}
.frame { display: grid; grid-template-columns: 208px minmax(0,1fr); min-height: 100vh }
.skip {
  position: fixed; left: 8px; top: -60px; z-index: 20; background: var(--accent); color: var(--on-accent); padding: 8px 12px;
  border-radius: 6px;
}
.skip:focus { top: 8px }
`;

/** The list of pages beside the content, and the page itself. */
const navigation = `.rail {
  position: sticky; top: 0; height: 100vh; display: flex; flex-direction: column; padding: 16px 12px 12px;
  border-right: 1px solid var(--line); gap: 2px; overflow-y: auto;
}
.brand { display: flex; align-items: center; gap: 8px; padding: 4px 8px 16px; font-weight: 600; letter-spacing: -.01em }
.nav {
  display: flex; align-items: center; gap: 10px; height: 32px; padding: 0 8px; border-radius: 6px; color: var(--ink2);
  font-weight: 500; font-size: 13px;
}
.nav:hover, .nav[aria-current] { background: var(--sunk); color: var(--ink) }
.nav.sub { margin-left: 25px; height: 28px; font-weight: 450; position: relative }
.nav.sub:before { content: ""; position: absolute; left: -9px; top: 0; bottom: 0; border-left: 1px solid var(--line2) }
.nav.sub .icon { display: none }
.count { margin-left: auto; color: var(--you); font-size: 12px; font-weight: 600; display: flex; gap: 4px; align-items: center }
.count .icon { width: 12px; height: 12px }
.foot { margin-top: auto; display: grid; gap: 6px; padding: 12px 8px 0; font-size: 12px; line-height: 16px; color: var(--ink3) }
.foot .button { justify-content: center; flex: 1 }
main { padding: 36px 48px 96px; max-width: 1296px; width: 100%; min-width: 0; outline: none }
.tabs { display: none }
.no-script, .lone { max-width: 720px; margin: 0 auto }
`;

/** Buttons, switches and fields. */
const controls = `.button {
  display: inline-flex; align-items: center; gap: 6px; min-height: 30px; padding: 4px 10px; border: 1px solid var(--line2);
  border-radius: 6px; background: var(--panel); font-size: 13px; font-weight: 500; white-space: nowrap;
}
.button:hover { border-color: var(--control) }
.button.first { background: var(--ink); color: var(--bg); border-color: var(--ink) }
.button.first:hover { opacity: .9 }
.button.quiet { border-color: transparent; background: none; color: var(--ink2) }
.button.quiet:hover { background: var(--sunk); color: var(--ink) }
.button[aria-disabled=true] {
  opacity: 1; color: var(--ink3); background: var(--sunk); border: 1px dashed var(--line2); cursor: not-allowed;
}
.button[aria-pressed=true] { border-color: var(--ink); box-shadow: inset 0 0 0 1px var(--ink) }
.switch { display: inline-flex; border: 1px solid var(--line2); border-radius: 6px; background: var(--panel); overflow: clip }
.switch button { padding: 3px 10px; min-height: 28px; font-size: 12px; font-weight: 500; color: var(--ink2) }
.switch button+button { border-left: 1px solid var(--line) }
.switch button[aria-pressed=true] { background: var(--sunk); color: var(--ink); box-shadow: inset 0 -2px var(--ink) }
.switch button:focus-visible { outline-offset: -2px }
kbd {
  border: 1px solid var(--line2); border-bottom-width: 2px; border-radius: 4px; padding: 0 4px; font-size: 11px; line-height: 16px;
  color: var(--ink2); background: var(--panel);
}
.field {
  min-width: 0; border: 1px solid var(--control); border-radius: 6px; background: var(--panel); padding: 4px 9px; min-height: 30px;
  font-size: 13px; width: 100%;
}
textarea.field { min-height: 52px; resize: vertical; line-height: 18px }
`;

/** The page Now: what waits for a person, and a line for each run. */
const nowPage = `.asks { background: var(--you-bg); border-color: var(--you-line) }
.asks .item+.item { border-color: var(--you-line) }
.asks a.item:hover { background: color-mix(in srgb,var(--you) 7%,transparent) }
.asks .item { display: grid; grid-template-columns: 16px minmax(0,1fr) auto; gap: 2px 12px }
.asks .icon { margin-top: 2px }
.asks .icon .cut-out { stroke: var(--you-bg) }
.asks .item p {
  grid-column: 2/-1; color: var(--ink2); font-size: 13px; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical;
  overflow: hidden;
}
.asks h3 { display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden }
.run-line {
  display: grid; grid-template-columns: minmax(0,1fr) 118px 84px 84px; gap: 2px 20px; align-items: center;
  content-visibility: auto; contain-intrinsic-size: auto 63px;
}
.run-line .title { grid-column: 1; grid-row: 1; display: flex; gap: 8px; align-items: center; min-width: 0 }
.run-line .title .icon { width: 14px; height: 14px }
.run-line .title b { font-weight: 550 }
.run-line .now-line { padding-left: 22px; grid-column: 1; grid-row: 2 }
.run-line>.gauge { grid-column: 2; grid-row: 1/span 2 }
.run-line>.budget { grid-column: 3 }
.run-line>.right { grid-column: -2; grid-row: 1/span 2 }
.gauge { display: grid; gap: 5px; font-size: 12px; line-height: 14px; color: var(--ink2) }
.now-line { color: var(--ink2); display: flex; gap: 8px; min-width: 0; font: 12px/18px var(--mono); font-variant-ligatures: none }
.now-line .project { white-space: nowrap; font: 500 12px/18px var(--sans) }
.pulse {
  width: 6px; height: 6px; border-radius: 50%; background: var(--run); margin: 6px 1px; flex: none;
  animation: pulse 2.4s infinite ease-in-out;
}
@keyframes pulse {
  50% { opacity: .25 }
}
[data-still] .pulse { animation: none; background: none; box-shadow: inset 0 0 0 1.5px var(--ink3) }
.ended { display: grid; grid-template-columns: 16px minmax(0,1fr) auto 90px 56px; gap: 0 12px; align-items: center; padding: 9px 16px }
`;

/** The Inbox: a card for each question. */
const inboxPage = `.card { border: 1px solid var(--line); border-radius: 8px; background: var(--panel); margin-bottom: 12px }
.card.on { border-color: var(--line2); box-shadow: 0 1px 2px rgb(0 0 0/.04),0 6px 20px -8px rgb(0 0 0/.1) }
.card>h2 { font: inherit }
.card-head {
  display: grid; grid-template-columns: 16px minmax(0,1fr) auto; gap: 2px 12px; padding: 14px 16px; width: 100%; border-radius: 8px;
}
.card-head .icon { margin-top: 2px }
.card-head .about { grid-column: 2/-1 }
.card-head b { font-weight: 550; font-size: 14px }
.card.on .card-head b { font-size: 16px; line-height: 22px; letter-spacing: -.01em }
.card .body { padding: 0 16px 16px 44px; display: grid; gap: 14px }
.options { display: grid; gap: 8px }
.option {
  display: grid; grid-template-columns: 22px minmax(0,1fr) auto; gap: 10px; padding: 9px 12px; border: 1px solid var(--line2);
  border-radius: 6px; align-items: baseline; font-size: 13px;
}
.option:hover { border-color: var(--control) }
.option b { font-weight: 550 }
.option[aria-checked=true] { border-color: var(--ink); box-shadow: inset 0 0 0 1px var(--ink) }
`;

/** The page of a run. */
const runPage = `.crumb { font-size: 12px; line-height: 16px; color: var(--ink3); margin-bottom: 8px }
.run-tabs { display: flex; gap: 20px; border-bottom: 1px solid var(--line); margin-top: 20px }
.run-tabs a {
  padding: 8px 0; color: var(--ink2); font-weight: 500; font-size: 13px; margin-bottom: -1px; border-bottom: 2px solid transparent;
}
.run-tabs a:hover, .run-tabs a[aria-current] { color: var(--ink) }
.run-tabs a[aria-current] { border-color: var(--ink) }
.live { display: flex; gap: 10px; align-items: center; padding: 8px 14px; margin-top: 20px; min-width: 0 }
.live .cut { flex: 1 }
.side { position: sticky; top: 16px; margin-top: 16px }
.pane { padding: 14px 16px; font-size: 13px }
.pane h3 { margin-bottom: 10px }
`;

/** The log of a run. */
const logPage = `.filters { display: flex; flex-wrap: wrap; gap: 8px; margin: 20px 0 12px; align-items: center }
.filters .field { width: auto }
.filters input.field { flex: 1 1 220px }
.filters select.field { max-width: 200px }
.log { height: max(320px,calc(100vh - 320px)); overflow-y: auto; position: relative; contain: strict; overflow-anchor: none }
.log-row {
  contain: strict; height: 30px; display: flex; gap: 0 12px; align-items: center; padding: 0 16px; font-size: 13px; line-height: 20px;
  text-rendering: optimizeSpeed; width: 100%; cursor: pointer;
}
.log-row>* { flex: none }
.log-row .seq { width: 56px }
.log-row .time { width: 68px }
.log-row .place { width: 168px }
.log-row .text { flex: 1 }
.log-row:hover { background: var(--hover) }
.log-row .icon { width: 14px; height: 14px }
.log-row[aria-current] { background: var(--sunk) }
.log-row:focus-visible { outline-offset: -2px }
`;

/** The diff of a run, with notes on lines. */
const diffPage = `.diff-view { display: grid; grid-template-columns: 264px minmax(0,1fr); gap: 24px; margin-top: 20px; align-items: start }
.files { position: sticky; top: 16px; max-height: calc(100vh - 32px); overflow-y: auto }
.files button {
  display: grid; grid-template-columns: 14px minmax(0,1fr) auto; gap: 0 8px; padding: 7px 8px; width: 100%; border-radius: 6px;
  font-size: 13px; align-items: center;
}
.files .icon { width: 14px; height: 14px }
.files button:hover { background: var(--hover) }
.files button[aria-current] { background: var(--sunk) }
.files small { grid-column: 2/-1; color: var(--ink3); font-size: 12px; line-height: 16px }
.files button:focus-visible { outline-offset: -2px }
.file-choice { display: none }
.diff .ad { min-width: 24px }
.diff .ad button {
  width: 20px; height: 20px; border-radius: 4px; text-align: center; color: transparent; font: 600 13px/20px var(--sans);
}
.diff tr:hover .ad button, .diff .ad button:focus-visible { background: var(--accent); color: var(--on-accent) }
.diff .noted td { padding: 8px 12px 10px; font: 13px/20px var(--sans); background: var(--panel); border-block: 1px solid var(--line) }
.note-box { border-left: 2px solid var(--accent); padding-left: 10px; max-width: 640px }
.tray {
  position: sticky; bottom: 16px; margin-top: 20px; padding: 12px 16px; display: flex; gap: 12px; align-items: center;
  flex-wrap: wrap; border-color: var(--line2); box-shadow: 0 8px 28px -10px rgb(0 0 0/.25);
}
`;

/** Dialogs and messages. */
const dialogs = `dialog {
  border: 1px solid var(--line2); border-radius: 12px; background: var(--panel); color: inherit; padding: 20px 24px;
  width: min(560px,calc(100vw - 32px)); max-height: calc(100vh - 48px); box-shadow: 0 24px 80px -20px rgb(0 0 0/.5);
}
dialog::backdrop { background: rgb(0 0 0/.4) }
.key-list { display: grid; grid-template-columns: 1fr 1fr; gap: 2px 32px; margin: 12px 0 16px }
.key-list div {
  display: flex; justify-content: space-between; gap: 12px; padding: 4px 0; font-size: 13px; border-bottom: 1px solid var(--line);
}
.toast {
  position: fixed; left: 50%; bottom: 24px; transform: translateX(-50%); background: var(--ink); color: var(--bg); padding: 8px 14px;
  border-radius: 8px; font-size: 13px; z-index: 30; max-width: calc(100vw - 32px);
}
`;

const pages = [nowPage, inboxPage, runPage, logPage, diffPage, dialogs].join("");

/** The rules for small screens come last, because they override the others. */
export const styleSheet = [
  baseStyle,
  frame,
  navigation,
  controls,
  pages,
  dashboardScreenStyle,
].join("");
