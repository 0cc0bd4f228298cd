// html-file: writes a report as one HTML file at a path that a person names.

import { lstatSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { CommandResponse } from "../contracts/command-response.ts";
import { refuse, respond } from "../project/respond.ts";

/** The folder exists, and at the file's path is nothing but a file: a link is not written through. */
export function requireWritable(path: string): void {
  const bad = (message: string): never =>
    refuse("usage", { message, remediation: ["name a file in a folder that is there"], data: { file: path } });
  if (lstatSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true) bad(`There is no folder ${dirname(path)}.`);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile()) bad(`${path} is ${stats.isSymbolicLink() ? "a link" : "not a file"}; name another place.`);
}

export function writeHtml(path: string, html: string, run: string | null): CommandResponse {
  writeFileSync(path, html, { mode: 0o600 });
  const kilobytes = Math.ceil(Buffer.byteLength(html) / 1_000);
  return respond("ok", {
    run_id: run,
    message: `The report is in ${path} (${kilobytes} KB). It opens in any browser and asks for nothing.`,
    data: { file: path, bytes: Buffer.byteLength(html) },
  });
}
