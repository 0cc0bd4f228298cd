// draw: the files of `.openclaw-autopilot/`, from the journal.
//
// Invariants:
//   D1. Drawn from the same journal, the files are the same, byte for byte.
//   D2. Nothing of somebody else's is overwritten unread: a line is taken into the journal, a page that a hand changed is kept aside and told.
//   D3. A page is there whole, the old one or the new. The two logs only grow, a batch of whole lines at a time.
//   D4. No link is followed: what lies where a file of ours belongs is a file, or nothing is written.

import { createHash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative } from "node:path";
import * as v from "valibot";
import { PortfolioEvent, portfolioFiles } from "../../contracts/portfolio.ts";
import { checkpointLines } from "../views/checkpoints.ts";
import { seqKey } from "../views/event-line.ts";
import { isUntouched, snapshotOf } from "../views/front-matter.ts";
import { type Page, portfolioPage, projectPage, taskPage } from "../views/pages.ts";
import type { PortfolioView } from "../planner/state.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { folderBelow, refuseInTheWay } from "../../project/own-folder.ts";
import type { PortfolioPaths } from "./folder.ts";

/** How far the files follow the journal: up to which entry, and how long the events file was then. */
export type Cursor = { readonly seq: number; readonly bytes: number };
/** What stands in the events file behind what we know of. */
export type Beyond = {
  readonly foreign: readonly string[];
  readonly warnings: readonly string[];
  /** How many of the lines to draw stand there already. */
  readonly there: number;
  /** The file is not ours as we left it, so it is written anew. */
  readonly isTorn: boolean;
};
export type Drawn = {
  readonly paths: PortfolioPaths;
  readonly state: PortfolioView;
  readonly seq: number;
  readonly lines: readonly string[];
  readonly cursor: Cursor;
  readonly beyond: Beyond;
};

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const cursorPath = ({ own }: PortfolioPaths): string => join(own, "drawn.json");
const eventsPath = ({ shown }: PortfolioPaths): string => join(shown, portfolioFiles.events);
const checkpointsPath = ({ shown }: PortfolioPaths): string => join(shown, portfolioFiles.checkpoints);

export function readCursor(paths: PortfolioPaths): Cursor {
  try {
    const said = JSON.parse(readOwnFile(cursorPath(paths)) ?? "") as Partial<Cursor>;
    if (typeof said.seq === "number" && typeof said.bytes === "number") return { seq: said.seq, bytes: said.bytes };
  } catch {
    // Without a note everything is drawn again.
  }
  return { seq: 0, bytes: 0 };
}

/** Reads what stands behind the cursor: lines of the journal that were not noted as drawn, another tool's, or bytes that are no line. */
export function linesBeyond(paths: PortfolioPaths, cursor: Cursor, undrawn: readonly string[]): Beyond {
  const size = statSync(eventsPath(paths), { throwIfNoEntry: false })?.size ?? 0;
  if (size === cursor.bytes) return { foreign: [], warnings: [], there: 0, isTorn: false };
  const warning = "events.jsonl was shorter than we left it; it is written anew from the journal";
  if (size < cursor.bytes) return { foreign: [], warnings: [warning], there: 0, isTorn: true };
  const rows = textFrom(eventsPath(paths), cursor.bytes, size).split("\n");
  const tail = rows.pop() ?? "";
  const known = new Set(undrawn);
  const foreign: string[] = [];
  const warnings: string[] = [];
  const kept: string[] = [];
  let there = 0;
  let isInOrder = true;
  for (const row of rows) {
    const fault = known.has(row) ? null : faultOf(row);
    if (known.has(row)) isInOrder = isInOrder && foreign.length === 0 && undrawn[there++] === row;
    else if (fault === null) foreign.push(row);
    else {
      kept.push(row);
      warnings.push(`events.jsonl: a line that isn't an event was set aside: ${fault}`);
    }
  }
  if (tail !== "") {
    kept.push(tail);
    warnings.push("events.jsonl ended in the middle of a line; the rest was set aside");
  }
  if (kept.length > 0) keepCopy(paths, "events.jsonl", `${kept.join("\n")}\n`);
  // The file has the journal's order: what is not in the journal yet may only stand behind all that is.
  const isTorn = kept.length > 0 || !isInOrder || (foreign.length > 0 && undrawn.length > there);
  return { foreign, warnings, there: there + foreign.length, isTorn };
}

/** Why a line is no event of another tool's; null if it is one. */
function faultOf(row: string): string | null {
  let said: unknown;
  try {
    said = JSON.parse(row);
  } catch {
    return "not JSON";
  }
  const read = v.safeParse(PortfolioEvent, said);
  if (!read.success) return `${v.getDotPath(read.issues[0]) ?? ""} ${read.issues[0].message}`.trim();
  return typeof read.output.meta?.[seqKey] === "number" ? "it says that it is ours, and the journal does not know it" : null;
}

function textFrom(path: string, from: number, to: number): string {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(to - from);
    let read = 0;
    while (read < bytes.length) {
      const n = readSync(fd, bytes, read, bytes.length - read, from + read);
      if (n === 0) break;
      read += n;
    }
    return bytes.toString("utf8", 0, read);
  } finally {
    closeSync(fd);
  }
}

/** Draws what changed; gives what a person should know. */
export async function draw(drawn: Drawn, allLines: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const { paths, state, seq, cursor } = drawn;
  layOut(paths);
  const warnings: string[] = [];
  await drawEvents(drawn, allLines);
  drawCheckpoints(paths, state);
  if (seq > cursor.seq || !existsSync(join(paths.shown, portfolioFiles.portfolio))) {
    for (const project of Object.values(state.projects))
      if (project.changed > cursor.seq)
        drawPage(paths, `${portfolioFiles.projects}/${project.project_id}.md`, projectPage(state, project), warnings);
    for (const task of Object.values(state.tasks))
      if (task.changed > cursor.seq) drawPage(paths, `${portfolioFiles.tasks}/${task.task_id}.md`, taskPage(task), warnings);
    drawPage(paths, portfolioFiles.portfolio, portfolioPage(state), warnings);
  }
  const bytes = statSync(eventsPath(paths)).size;
  if (seq !== cursor.seq || bytes !== cursor.bytes) replace(cursorPath(paths), `${JSON.stringify({ seq, bytes })}\n`, 0o600);
  return warnings;
}

/** Every folder and file the seed's own check looks for. */
export function layOut(paths: PortfolioPaths): void {
  for (const folder of [
    paths.shown,
    join(paths.shown, portfolioFiles.projects),
    join(paths.shown, portfolioFiles.tasks),
    join(paths.shown, "events"),
  ]) {
    folderBelow(paths.root, relative(paths.root, folder), 0o755); // D4
  }
  folderBelow(paths.root, relative(paths.root, paths.own)); // D4
  for (const path of [eventsPath(paths), checkpointsPath(paths)]) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) writeFileSync(path, "", { flag: "wx" });
    else if (!found.isFile()) refuseInTheWay(path, found.isSymbolicLink() ? "link" : found.isDirectory() ? "folder" : "pipe", "file"); // D4
  }
}

async function drawEvents({ paths, lines, beyond }: Drawn, allLines: () => Promise<readonly string[]>): Promise<void> {
  if (beyond.isTorn) return replace(eventsPath(paths), joined(await allLines()));
  const missing = lines.slice(beyond.there);
  if (missing.length > 0) appendFileSync(eventsPath(paths), joined(missing)); // D3
}

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

function drawCheckpoints(paths: PortfolioPaths, state: PortfolioView): void {
  const wanted = checkpointLines(state);
  if (wanted.length === 0) return;
  const text = readOwnFile(checkpointsPath(paths)) ?? "";
  const there = new Set(text.split("\n"));
  const missing = wanted.filter((line) => !there.has(line));
  if (missing.length > 0) appendFileSync(checkpointsPath(paths), `${text === "" || text.endsWith("\n") ? "" : "\n"}${joined(missing)}`);
}

function drawPage(paths: PortfolioPaths, name: string, { fields, body }: Page, warnings: string[]): void {
  const path = join(paths.shown, name);
  const text = snapshotOf(fields, body, sha256);
  const before = readOwnFile(path);
  if (before === text) return;
  if (before !== null && !isUntouched(before, sha256)) {
    const kept = keepCopy(paths, basename(name), before); // D2
    warnings.push(`${name} was changed by hand; the journal counts, and what it said is kept in ${kept}`);
  }
  replace(path, text);
}

function keepCopy({ own }: PortfolioPaths, name: string, text: string): string {
  const kept = join(folderBelow(own, "kept"), `${name}.${sha256(text).slice(0, 12)}`);
  replace(kept, text, 0o600);
  return kept;
}

/** D3. Not synced: what a power cut loses is drawn again. */
function replace(path: string, text: string, mode = 0o644): void {
  const draft = `${path}.${process.pid}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode, flag: "wx" }); // D4: a name that is there, a link say, is never written through
  renameSync(draft, path);
}

/** Draws everything anew; says what was different. */
export function redraw(
  paths: PortfolioPaths,
  state: PortfolioView,
  lines: readonly string[],
): { readonly different: readonly string[]; readonly warnings: readonly string[] } {
  layOut(paths);
  const different: string[] = [];
  const warnings: string[] = [];
  const events = readFileSync(eventsPath(paths), "utf8");
  if (events !== joined(lines)) {
    different.push(portfolioFiles.events);
    replace(eventsPath(paths), joined(lines));
  }
  drawCheckpoints(paths, state);
  const pages: [string, Page][] = [
    [portfolioFiles.portfolio, portfolioPage(state)],
    ...Object.values(state.projects).map((project): [string, Page] => [
      `${portfolioFiles.projects}/${project.project_id}.md`,
      projectPage(state, project),
    ]),
    ...Object.values(state.tasks).map((task): [string, Page] => [`${portfolioFiles.tasks}/${task.task_id}.md`, taskPage(task)]),
  ];
  for (const [name, page] of pages) {
    const before = readOwnFile(join(paths.shown, name));
    if (before !== snapshotOf(page.fields, page.body, sha256)) different.push(name);
    drawPage(paths, name, page, warnings);
  }
  replace(cursorPath(paths), `${JSON.stringify({ seq: state.seq, bytes: statSync(eventsPath(paths)).size })}\n`, 0o600);
  return { different, warnings };
}
