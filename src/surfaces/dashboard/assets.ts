// assets: builds what the dashboard's server serves, by its path: the page, its script, and an
// empty icon. The server serves nothing else, and the page loads nothing from other hosts.
//
// Invariants:
//   P1. The page needs one response to be seen: its style and its frame are in it. Only the script
//       is loaded, and it loads the facts.
//   P2. No facts are in the page itself: without the token it shows nothing.

import { createHash } from "node:crypto";
import { el } from "../../views/web/element.ts";
import { styleSheet } from "../../views/web/style.ts";
import { toHtml } from "../../views/web/to-html.ts";
import { renderRail, railTabs } from "./rail.ts";
import { securityPolicy } from "./guards.ts";

/** `policy`: its content security policy, if that differs from the other responses'. */
export type Asset = { readonly type: string; readonly body: string; readonly policy?: string };
export type Assets = Readonly<Record<string, Asset | undefined>>;

/**
 * The page's frame before any data is loaded. The script draws the same elements, and Preact reuses
 * them. P1
 */
function renderFrame(): string {
  const railState = { page: null, waits: 0, addressOf: (page: string) => `#${page}` };
  return toHtml(
    el(
      "div.frame",
      renderRail(railState, false, null),
      el("main", { id: "main", tabindex: "-1" }, el("h1", "…")),
      railTabs(railState, null),
    ),
  );
}

/** P1, P2 */
const buildPage = (): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>autopilot</title>
<link rel="icon" href="data:,">
<script src="/app.js" defer></script>
<style>${styleSheet}</style>
</head>
<body>
<div id="app">${renderFrame()}</div>
<noscript><main class="no-script"><h1>This page needs its script</h1><p>The same facts in the terminal: autopilot status, autopilot inbox, autopilot report. As a file without scripts: autopilot report --html FILE.</p></main></noscript>
</body>
</html>
`;

export const buildAssets = (script: string): Assets => ({
  __proto__: null as never, // a path such as /constructor finds nothing
  "/": {
    type: "text/html; charset=utf-8",
    body: buildPage(),
    policy: securityPolicy(`'sha256-${hashText(styleSheet)}'`),
  },
  "/app.js": { type: "text/javascript; charset=utf-8", body: script },
  "/favicon.ico": { type: "image/x-icon", body: "" },
});

const hashText = (text: string): string => createHash("sha256").update(text).digest("base64");
