// style-screens: the style rules for smaller screens, for print, and for people who want less
// motion or their own colours.

/** For the dashboard and for a report in a file. */
export const baseScreenStyle = `@media (max-width: 1199px) {
  .cols, .two { grid-template-columns: minmax(0,1fr) }
  .w-head, .w-row { grid-template-columns: 200px minmax(0,1fr) 76px }
}
@media (max-width: 719px) {
  h1 { font-size: 20px; line-height: 26px }
  .section { margin-top: 24px }
  .item { padding: 12px }
  .head { flex-direction: column; gap: 12px }
  .figures { grid-template-columns: 1fr 1fr; gap: 16px 0 }
  .figures>div:nth-child(odd) { border: 0; padding-left: 0 }
  .figures>div { padding-right: 8px }
  .w-head { display: none }
  .w-row {
    grid-template-columns: minmax(0,1fr) auto; padding: 5px 12px; gap: 0 8px; min-height: 44px; contain-intrinsic-size: auto 44px;
  }
  .w-row .w-track { grid-column: 1/-1; grid-row: 2; height: 10px }
  .w-row .took { grid-row: 1; grid-column: 2 }
  .w-row .w-track i { top: 1px!important }
  .d1 .w-name { padding-left: 10px }
  .d2 .w-name { padding-left: 24px }
  .pair { grid-template-columns: 1fr; gap: 8px; padding: 12px }
  .diff .ln.o { display: none }
  .diff .ln { min-width: 30px }
  .diff { line-height: 24px }
  .lists, .lists tbody, .lists tr, .lists td, .lists th { display: block }
  .lists thead, .lists tfoot { display: none }
  .lists tr { padding: 10px 12px; border-top: 1px solid var(--line) }
  .lists tbody tr:first-child { border: 0 }
  .lists td, .lists th, .lists td.n { padding: 2px 0!important; border: 0; text-align: left; width: auto }
  .lists td[data-label]:before { content: attr(data-label) " "; color: var(--ink3); font-size: 12px }
  .lists .zero { display: none!important }
  .lists td.n { display: inline-block; margin-right: 12px }
  .command button { min-height: 28px }
  summary { padding-block: 4px }
  .link { display: inline-block; padding-block: 3px; min-width: 24px }
}
@media (prefers-reduced-motion: reduce) {
  * { animation: none!important; transition: none!important; scroll-behavior: auto!important }
}
@media (forced-colors: active) {
  .meter i, .track i, .w-track i, .swatch { forced-color-adjust: none }
}
`;

/**
 * For the dashboard alone. Below 1024 pixels the list of pages is narrow; below 720 it is at the
 * lower edge, as on a phone.
 */
export const dashboardScreenStyle = `@media (max-width: 1199px) {
  main { padding: 28px 32px 96px }
  .side { position: static }
}
@media (max-width: 1023px) {
  .frame { grid-template-columns: 72px minmax(0,1fr) }
  .rail { padding: 12px 6px; align-items: stretch }
  .brand { justify-content: center; padding: 4px 0 12px }
  .brand span { display: none }
  .nav, .nav.sub {
    flex-direction: column; gap: 2px; height: 48px; justify-content: center; padding: 0; margin: 0; font-size: 11px;
    line-height: 14px; position: relative;
  }
  .nav.sub:before { display: none }
  .nav.sub .icon { display: block }
  .nav .count { position: absolute; left: calc(50% + 11px); top: 5px; margin: 0; font-size: 11px }
  .nav .count .icon { display: none }
  .foot { padding: 8px 0 0 }
  .foot>*:not(.keep) { display: none }
  .foot .row { flex-direction: column }
  .run-line { grid-template-columns: minmax(0,1fr) 112px 84px }
  .run-line .budget { display: none }
  .diff-view { grid-template-columns: minmax(0,1fr) }
  .files { position: static; display: grid; grid-template-columns: 1fr 1fr; max-height: 220px }
  .log-row .seq { width: 52px }
  .log-row .time { width: 64px }
  .log-row .place, .log-row .who { display: none }
  .wide-only { display: none }
}
@media (max-width: 719px) {
  .frame { display: block }
  .rail { display: none }
  main { padding: 16px 16px 96px }
  .tabs {
    display: grid; grid-template-columns: repeat(5,1fr); position: fixed; left: 0; right: 0; bottom: 0; z-index: 10;
    background: var(--panel); border-top: 1px solid var(--line2); padding-bottom: env(safe-area-inset-bottom);
  }
  .tabs>* {
    display: flex; flex-direction: column; align-items: center; justify-content: center; gap: 3px; height: 54px; font-size: 11px;
    line-height: 14px; color: var(--ink2); position: relative; width: 100%;
  }
  .tabs [aria-current] { color: var(--ink); font-weight: 600; box-shadow: inset 0 2px var(--ink) }
  .tabs :focus-visible { outline-offset: -3px }
  .tabs .count { position: absolute; left: calc(50% + 6px); top: 5px; font-size: 11px; font-weight: 700 }
  .tabs .count .icon { display: none }
  .button { min-height: 40px; padding-inline: 14px }
  .switch button { min-height: 36px }
  .field { min-height: 40px; font-size: 16px }
  .asks .item { grid-template-columns: 16px minmax(0,1fr) }
  .asks .age { grid-column: 2; order: 3 }
  .run-line { grid-template-columns: minmax(0,1fr) auto; gap: 8px 12px }
  .run-line .title { grid-column: 1/-1; align-items: flex-start }
  .run-line .title b {
    white-space: normal; overflow: visible; display: -webkit-box; -webkit-line-clamp: 4; -webkit-box-orient: vertical;
  }
  .run-line .title .icon { margin-top: 3px }
  .run-line>.gauge, .run-line>.right { grid-row: 2; grid-column: 1 }
  .run-line>.right { grid-column: 2 }
  .run-line .now-line { grid-row: 3; grid-column: 1/-1; padding-left: 0 }
  .run-line .gauge { grid-template-columns: minmax(40px,1fr) auto; align-items: center }
  .ended { grid-template-columns: 16px minmax(0,1fr); padding: 10px 12px; gap: 2px 10px }
  .ended>:nth-child(3) { grid-column: 2 }
  .ended>:nth-child(n+4) { display: none }
  .ended .cut { white-space: normal; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical }
  .card-head { padding: 12px; grid-template-columns: 16px minmax(0,1fr) }
  .card-head .age { grid-column: 2; order: 3 }
  .card .body { padding: 0 12px 14px }
  .option { grid-template-columns: 22px minmax(0,1fr); padding: 11px 12px }
  .option .dim { grid-column: 2 }
  .log { height: max(300px,calc(100vh - 330px)) }
  .log-row {
    height: 58px; display: grid; grid-template-columns: 14px minmax(0,1fr) auto; padding: 6px 12px; gap: 0 8px; align-content: center;
  }
  .log-row .text {
    grid-row: 2; grid-column: 2/-1; white-space: normal; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical;
    line-height: 17px;
  }
  .log-row .seq { grid-column: 2; grid-row: 1 }
  .log-row .time { grid-column: 3; grid-row: 1 }
  .log-row :is(.seq, .time) { width: auto }
  .log-row .icon { grid-column: 1; grid-row: 1 }
  .filters { margin: 12px 0 }
  .filters .field { flex: 1 1 100% }
  .filters select.field { flex: 1 1 28%; padding-inline: 6px; font-size: 16px }
  .files { display: none }
  .file-choice { display: block; font-size: 16px }
  .diff-view { gap: 12px; margin-top: 12px }
  .brief .meta, .brief .row { display: none }
  .brief h1 { font-size: 16px; line-height: 22px }
  .brief+.run-tabs { margin-top: 8px }
  .tray { bottom: 64px; padding: 12px }
  .tray .tiny { display: none }
  .tray.idle { position: static; box-shadow: none }
  .tray.idle .tiny { display: block }
  .queue-line { padding: 10px 12px }
  .key-list { grid-template-columns: 1fr }
  .toast { bottom: 68px }
  .notice { flex-wrap: wrap }
  .diff .ad button { color: var(--ink3); width: 24px; height: 24px; line-height: 24px }
  .crumb a { display: inline-block; padding-block: 5px; min-width: 24px }
  .run-tabs a { padding: 10px 0 }
  .grid tbody th a, .queue-line a { display: inline-block; padding-block: 3px; min-width: 24px }
}
@media print {
  .rail, .tabs, .tray, .foot { display: none }
  .frame { display: block }
}
`;
