// page-file: wraps content as an HTML page that is one file.
//
// Invariants:
//   F1. It opens without a server and loads nothing: it has no script and no address, and its
//       content security policy forbids both.

import type { Child } from "./element.ts";
import { baseStyle } from "./style-base.ts";
import { escapeHtml, toHtml } from "./to-html.ts";

const contentSecurityPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
/** What a page in a file has besides the base style. */
const fileStyle = `main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 96px }
details.file { border-top: 1px solid var(--line) }
details.file:first-of-type { border: 0 }
details.file>summary { padding: 10px 14px; width: auto; max-width: none; font-size: 13px; color: var(--ink) }
.toc { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 20px; font-size: 13px }
.pair .claim { max-height: 160px; overflow: auto }
.w-row { content-visibility: visible }
footer { margin-top: 48px; color: var(--ink3); font-size: 12px }
@media (max-width: 719px) {
  main { padding: 16px 16px 64px }
}
@media print {
  details.file { break-inside: avoid }
  .panel { border-color: #bbb }
}
`;

/** F1 */
export function renderHtmlPage(title: string, ...content: readonly Child[]): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}"><meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title><link rel="icon" href="data:,"><style>${baseStyle}${fileStyle}</style></head>
<body><main>${content.map(toHtml).join("")}</main></body></html>
`;
}
