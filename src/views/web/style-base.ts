// style-base: colours, type and the small parts, for the dashboard and for a report in a file. Contrast is checked by a test.

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

export const baseStyle = `:root{color-scheme:light dark;${variables};
--sans:Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Liberation Sans",sans-serif;
--mono:ui-monospace,"SF Mono","JetBrains Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
[data-theme=light]{color-scheme:light}[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:14px/20px var(--sans);text-rendering:geometricPrecision;overflow-wrap:anywhere}
h1,h2,h3,p,ul,ol,dl,dd,figure,blockquote{margin:0;padding:0}ul,ol{list-style:none}
h1{font-size:24px;line-height:30px;font-weight:600;letter-spacing:-.02em;text-wrap:balance}
h2{font-size:13px;line-height:20px;font-weight:600}h3{font-size:14px;line-height:20px;font-weight:550}
strong{font-weight:550}a{color:inherit;text-decoration:none}
.link{color:var(--accent);text-decoration:underline;text-underline-offset:3px;text-decoration-thickness:1px}
button,input,select,textarea{font:inherit;color:inherit;text-rendering:inherit}
button{cursor:pointer;background:none;border:0;padding:0;text-align:inherit}
:focus{outline:none}:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:6px}h1:focus-visible{outline:none}
table{border-collapse:collapse;width:100%}th{font-weight:500;text-align:left;color:var(--ink3);font-size:12px;line-height:16px}
code,kbd,pre,.mono{font-family:var(--mono);font-size:12px;letter-spacing:-.01em;font-variant-ligatures:none}
.num,time,.figures,.took{font-variant-numeric:tabular-nums}.right{text-align:right}
.second{color:var(--ink2)}.dim{color:var(--ink3)}.small{font-size:13px}.tiny{font-size:12px;line-height:16px}
.no-wrap{white-space:nowrap}.cut{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;min-width:0}
.hidden-text{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.row{display:flex;align-items:center;gap:8px}.wrap{flex-wrap:wrap}.grow{flex:1}.top{align-items:flex-start}.gap-top{margin-top:12px}
svg{display:block}.icon{width:16px;height:16px;flex:none}.icon :is(.line,.cut-out){fill:none;stroke:currentColor;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}.icon .full{fill:currentColor}.icon .cut-out{stroke:var(--panel);stroke-width:1.7}
.c-run{color:var(--run)}.c-you,.c-parked{color:var(--you)}.c-ok,.c-gap,.c-tick{color:var(--ok)}.c-bad{color:var(--bad)}
.c-waits,.c-again,.c-skipped,.c-stopped,.c-unproved,.c-paused,.c-claim{color:var(--ink3)}
.status{display:inline-flex;align-items:center;gap:6px;white-space:nowrap;font-weight:500}.status .icon{width:14px;height:14px}
.status span{color:var(--ink2)}.status.c-you span,.status.c-bad span{color:inherit}
.panel{background:var(--panel);border:1px solid var(--line);border-radius:8px;min-width:0}.pad{padding:14px 16px}.clip{overflow:clip}
.section{margin-top:32px;min-width:0}.section>header{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 8px;margin-bottom:8px}.section>header .dim{font-size:12px}
.head{display:flex;gap:16px;align-items:flex-start}.head>div:first-child{flex:1;min-width:0}.head p{margin-top:6px;color:var(--ink2);max-width:84ch;text-wrap:pretty}
.cols{display:grid;grid-template-columns:minmax(0,1fr) 312px;gap:0 32px;align-items:start}.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 32px}
.item{display:block;position:relative;padding:12px 16px;width:100%}.item+.item{border-top:1px solid var(--line)}a.item:hover,button.item:hover{background:var(--hover)}
.panel>.item:first-child{border-radius:8px 8px 0 0}.panel>.item:last-child{border-radius:0 0 8px 8px}.item:focus-visible{outline-offset:-2px}
.facts{display:grid;grid-template-columns:auto minmax(0,1fr);gap:6px 16px;font-size:13px}.facts dt{color:var(--ink3)}.facts.ends dd{text-align:right}
.stack{display:grid;gap:14px}.stack>*{min-width:0}.item.row{display:flex}
.meter{height:4px;border-radius:2px;background:var(--line);position:relative;overflow:hidden}.meter i{position:absolute;inset:0 auto 0 0;background:var(--ink2);border-radius:2px}
.meter i.over{background:var(--you)}.meter b{position:absolute;top:0;bottom:0;width:1px;background:var(--ink3)}
.track{display:flex;gap:2px;width:100%}.track i{flex:1;height:8px;border-radius:2px;border:1px solid var(--line2)}
.track .ok{background:var(--ok);border-color:var(--ok)}.track .run{border-color:var(--run);background:linear-gradient(90deg,var(--run) 55%,transparent 55%)}
.track .you{border-color:var(--you);background:repeating-linear-gradient(135deg,var(--you) 0 2px,transparent 2px 4px)}.track .bad{background:var(--bad);border-color:var(--bad)}
.track .unproved{border-style:dashed;border-color:var(--control)}.track .skipped{background:var(--line2)}
.claim{border-left:2px dashed var(--control);padding-left:10px;color:var(--ink2);white-space:pre-wrap}
.code-point{border:1px solid var(--bad);color:var(--bad);border-radius:3px;font:10px/12px var(--mono);padding:0 2px;margin:0 1px;white-space:nowrap;unicode-bidi:isolate}
.command{display:flex;align-items:center;gap:8px;background:var(--sunk);border-radius:6px;padding:5px 6px 5px 10px;line-height:18px;min-width:0}.command+.command{margin-top:8px}
.command code{flex:1;min-width:0;overflow-x:auto;white-space:pre;scrollbar-width:none}.command button{font:500 12px/18px var(--sans);color:var(--ink2);padding:1px 6px;border-radius:4px}.command button:hover{background:var(--line);color:var(--ink)}
.notice{display:flex;gap:10px;padding:10px 14px;border:1px solid var(--line2);border-radius:8px;margin-bottom:24px;font-size:13px;background:var(--panel);align-items:flex-start}
.notice>.icon{margin-top:2px}.notice>div{flex:1;min-width:0}.notice.you{background:var(--you-bg);border-color:var(--you-line)}.notice.bad{border-color:var(--bad)}.notice .icon .cut-out{stroke:var(--you-bg)}
.blank{padding:56px 24px;text-align:center;margin-top:24px}.blank>.icon{width:28px;height:28px;margin:0 auto 16px;color:var(--ink3)}.blank h2{font-size:16px;line-height:24px}
.blank p{color:var(--ink2);margin:6px auto 16px;max-width:56ch}.blank .command{text-align:left;max-width:512px;margin-inline:auto}
.figures{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));margin-top:24px}.figures>div{padding:2px 20px;border-left:1px solid var(--line)}.figures>div:first-child{border:0;padding-left:0}
.figures b{display:block;font-size:20px;line-height:28px;font-weight:550;letter-spacing:-.02em}.figures small{display:block;font-size:12px;line-height:16px;color:var(--ink2)}.label{color:var(--ink3);font-size:12px;line-height:16px}
.meta{display:flex;flex-wrap:wrap;gap:4px 16px;margin-top:10px;color:var(--ink2);font-size:13px;align-items:center}
.grid td,.grid th{padding:9px 8px;border-top:1px solid var(--line);vertical-align:top;font-size:13px}.grid thead th{border:0;font-size:12px;vertical-align:bottom}.lists thead th{white-space:nowrap}
.grid tr>:first-child{padding-left:16px}.grid tr>:last-child{padding-right:16px}.grid tbody tr:hover{background:var(--hover)}.grid th.n,.grid td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}.grid .zero{color:var(--ink3)}.grid tbody th{color:var(--ink);font-size:13px}
pre{margin:8px 0 0;padding:10px 12px;background:var(--sunk);border-radius:6px;line-height:18px;overflow-x:auto;white-space:pre;max-height:420px}
summary{cursor:pointer;color:var(--ink2);font-size:12px;border-radius:4px;width:max-content;max-width:100%}
.chart{padding:16px 16px 10px}.chart text{font:11px var(--sans);fill:var(--ink3);font-variant-numeric:tabular-nums}.chart svg{width:100%;height:auto;overflow:visible}
.swatch{display:inline-block;width:10px;height:10px;border-radius:2px;flex:none}.b-s1{background:var(--s1);fill:var(--s1)}.b-s2{background:var(--s2);fill:var(--s2)}.b-s3{background:var(--s3);fill:var(--s3)}.b-s4{background:var(--s4);fill:var(--s4)}
.waterfall{position:relative;padding:0 0 6px;overflow:hidden}
.w-head,.w-row{display:grid;grid-template-columns:250px minmax(0,1fr) 82px;align-items:center;width:100%;min-height:28px;padding:0 16px 0 12px;gap:12px}
.w-head{min-height:32px;color:var(--ink3);font-size:12px;border-bottom:1px solid var(--line);margin-bottom:4px}.w-axis{position:relative;height:16px;line-height:16px}.w-axis span{position:absolute;transform:translateX(-50%);white-space:nowrap}.w-axis span:first-child{transform:none}.w-axis span:last-child:not(:first-child){transform:translateX(-100%)}
.w-row{font-size:13px;content-visibility:auto;contain-intrinsic-size:auto 28px}button.w-row:hover{background:var(--hover)}.w-row[aria-pressed=true]{background:var(--sunk)}.w-row:focus-visible{outline-offset:-2px}
.w-name{display:flex;gap:8px;align-items:center;min-width:0}.w-name .icon{width:14px;height:14px}.d0{font-weight:550}.d1 .w-name{padding-left:22px;color:var(--ink2)}.d2 .w-name{padding-left:44px;color:var(--ink2);font-size:12px}
.w-track{position:relative;height:28px}.w-track i{position:absolute;top:10px;height:8px;border-radius:2px;min-width:3px;background:var(--ink3)}.d0 .w-track i{top:12px;height:4px;background:var(--ink2)}
.w-track .agent{background:var(--s2)}.w-track .runner{background:var(--ok)}.w-track .bad,.d0 .w-track i.bad{background:var(--bad)}.w-track .open{background:linear-gradient(90deg,var(--run) 0 calc(100% - 10px),transparent)}
.w-track i.you{background:repeating-linear-gradient(135deg,var(--you) 0 2px,transparent 2px 5px);border:1px solid var(--you)}.d0 .w-track i.parked,.w-track i.parked{height:8px;top:10px;background:repeating-linear-gradient(90deg,var(--you) 0 2px,transparent 2px 5px)}
.w-key{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:12px;color:var(--ink3);padding:8px 16px 4px}.w-key span{display:flex;gap:6px;align-items:center}.w-key .w-track{width:18px;height:8px}.w-key .w-track i{left:0;width:18px;top:0}
.diff{font:12px/20px var(--mono);font-variant-ligatures:none}.diff td{padding:0;vertical-align:top}.diff .ln{min-width:44px;color:var(--ink3);text-align:right;padding-right:8px;user-select:none}.diff .mk{min-width:22px;text-align:center}
.diff .tx{width:100%;white-space:pre-wrap;padding-right:12px;tab-size:2}.diff .add{background:var(--ok-bg)}.diff .del{background:var(--bad-bg)}.diff .hunk td{background:var(--sunk);color:var(--ink3);padding:4px 12px}.diff .add .mk{color:var(--ok)}.diff .del .mk{color:var(--bad)}.diff .add .ln,.diff .del .ln{color:var(--ink2)}
.pair{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:24px;padding:12px 16px;font-size:13px}.pair+.pair{border-top:1px solid var(--line)}
@media(max-width:1199px){.cols,.two{grid-template-columns:minmax(0,1fr)}.w-head,.w-row{grid-template-columns:200px minmax(0,1fr) 76px}}
@media(max-width:719px){h1{font-size:20px;line-height:26px}.section{margin-top:24px}.item{padding:12px}.head{flex-direction:column;gap:12px}
.figures{grid-template-columns:1fr 1fr;gap:16px 0}.figures>div:nth-child(odd){border:0;padding-left:0}.figures>div{padding-right:8px}
.w-head{display:none}.w-row{grid-template-columns:minmax(0,1fr) auto;padding:5px 12px;gap:0 8px;min-height:44px;contain-intrinsic-size:auto 44px}.w-row .w-track{grid-column:1/-1;grid-row:2;height:10px}.w-row .took{grid-row:1;grid-column:2}.w-row .w-track i{top:1px!important}.d1 .w-name{padding-left:10px}.d2 .w-name{padding-left:24px}
.pair{grid-template-columns:1fr;gap:8px;padding:12px}.diff .ln.o{display:none}.diff .ln{min-width:30px}.diff{line-height:24px}
.lists,.lists tbody,.lists tr,.lists td,.lists th{display:block}.lists thead,.lists tfoot{display:none}.lists tr{padding:10px 12px;border-top:1px solid var(--line)}.lists tbody tr:first-child{border:0}
.lists td,.lists th,.lists td.n{padding:2px 0!important;border:0;text-align:left;width:auto}.lists td[data-label]:before{content:attr(data-label) " ";color:var(--ink3);font-size:12px}.lists .zero{display:none!important}.lists td.n{display:inline-block;margin-right:12px}
.command button{min-height:28px}summary{padding-block:4px}.link{display:inline-block;padding-block:3px;min-width:24px}}
@media(prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important;scroll-behavior:auto!important}}
@media(forced-colors:active){.meter i,.track i,.w-track i,.swatch{forced-color-adjust:none}}
`;
