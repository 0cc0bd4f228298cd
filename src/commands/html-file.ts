// html-file: writes a report as one HTML file at a path that a person names.

import { lstatSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { CommandResponse } from "../contracts/command-response.ts";
import { refuse, respond } from "../project/respond.ts";

/**
 * Refuses a path whose folder is missing, or at which there is anything but a file: a link in the
 * file's place is not written through.
 */
export function requireWritable(path: string): void {
  const refusePath = (message: string): never =>
    refuse("usage", {
      message,
      remediation: ["name a file in a folder that is there"],
      data: { file: path },
    });

  // A link to a folder will do: on some systems /tmp is one.
  if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true) {
    refusePath(`There is no folder ${dirname(path)}.`);
  }

  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile()) {
    refusePath(
      `${path} is ${stats.isSymbolicLink() ? "a link" : "not a file"}; name another place.`,
    );
  }
}

/**
 * Writes the file and responds with its path; `run`: the run that it reports on, if it is about
 * one.
 */
export function writeHtml(path: string, html: string, run: string | null): CommandResponse {
  writeFileSync(path, html, { mode: 0o600 });
  const kilobytes = Math.ceil(Buffer.byteLength(html) / 1_000);
  return respond("ok", {
    run_id: run,
    message: `The report is in ${path} (${kilobytes} KB). It opens in any browser and asks for nothing.`,
    data: { file: path, bytes: Buffer.byteLength(html) },
  });
}
