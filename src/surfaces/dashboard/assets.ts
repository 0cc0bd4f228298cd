// assets: the one page, its script and its style, by their paths. Nothing else is served, and nothing comes from elsewhere.

import { styleSheet } from "../../views/web/style.ts";

export type Asset = { readonly type: string; readonly body: string };
export type Assets = Readonly<Record<string, Asset | undefined>>;

/** No facts are in the page itself: without the token it shows nothing. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>autopilot</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/app.css">
<script src="/app.js" defer></script>
</head>
<body>
<div id="app"></div>
<noscript><main class="no-script"><h1>This page needs its script</h1><p>The same facts in the terminal: autopilot status, autopilot inbox, autopilot report. As a file without scripts: autopilot report --html FILE.</p></main></noscript>
</body>
</html>
`;

export const assetsOf = (script: string): Assets => ({
  __proto__: null as never,
  "/": { type: "text/html; charset=utf-8", body: page },
  "/app.js": { type: "text/javascript; charset=utf-8", body: script },
  "/app.css": { type: "text/css; charset=utf-8", body: styleSheet },
  "/favicon.ico": { type: "image/x-icon", body: "" },
});
