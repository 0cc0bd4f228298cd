// draw: generates the files of `.openclaw-autopilot/` from the journal.
//
// Invariants:
//   D1. The same journal gives the same files, byte for byte.
//   D2. No foreign content is overwritten unread: a line is taken into the journal, an edited page is set aside and reported.
//   D3. A page is there whole, the old one or the new. The two logs only grow, a batch of whole lines at a time.
//   D4. No link is followed: what is where a file of ours belongs is a file, or nothing is written.

import { createHash } from "node:crypto";
import { appendFileSync, existsSync, lstatSync, readFileSync, type Stats, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { PortfolioCheckpoint, portfolioFiles } from "../../contracts/portfolio.ts";
import { checkpointLines } from "../views/checkpoints.ts";
import { isUntouched, snapshotOf } from "../views/front-matter.ts";
import { type Page, portfolioPage, projectPage, taskPage } from "../views/pages.ts";
import type { PortfolioView } from "../planner/state.ts";
import { oneLine } from "../../views/wording.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { ensureFolderBelow, refuseInTheWay } from "../../project/own-folder.ts";
import { type Cursor, joinLines } from "./events-file.ts";
import type { PortfolioPaths } from "./folder.ts";
import { keepCopy, replace, soundLines } from "./log-lines.ts";

export type Drawn = {
  readonly paths: PortfolioPaths;
  readonly state: PortfolioView;
  readonly seq: number;
  readonly cursor: Cursor;
  /** As far as the events file was brought up; null if it has to be looked at again. */
  readonly events: Omit<Cursor, "seq"> | null;
};

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const cursorPath = ({ own }: PortfolioPaths): string => join(own, "drawn.json");
const eventsPath = ({ shown }: PortfolioPaths): string => join(shown, portfolioFiles.events);
const checkpointsPath = ({ shown }: PortfolioPaths): string => join(shown, portfolioFiles.checkpoints);

export function readCursor(paths: PortfolioPaths): Cursor {
  try {
    const stored = JSON.parse(readOwnFile(cursorPath(paths)) ?? "") as Partial<Cursor>;
    const { seq, bytes, crc = -1, file = "" } = stored;
    if (typeof seq === "number" && typeof bytes === "number") return { seq, bytes, crc, file };
  } catch {
    // Without a note everything is drawn again.
  }
  return { seq: 0, bytes: 0, crc: 0, file: "" };
}

/** Draws what changed beside the events file; gives what a person should know. */
export function draw({ paths, state, seq, cursor, events }: Drawn): readonly string[] {
  const warnings: string[] = [];
  drawCheckpoints(paths, state, warnings);
  if (seq > cursor.seq || !existsSync(join(paths.shown, portfolioFiles.portfolio))) {
    for (const project of Object.values(state.projects))
      if (project.changed > cursor.seq)
        drawPage(paths, `${portfolioFiles.projects}/${project.project_id}.md`, projectPage(state, project), warnings);
    for (const task of Object.values(state.tasks))
      if (task.changed > cursor.seq) drawPage(paths, `${portfolioFiles.tasks}/${task.task_id}.md`, taskPage(task), warnings);
    drawPage(paths, portfolioFiles.portfolio, portfolioPage(state), warnings);
  }
  writeCursor({ paths, seq, cursor, events });
  return warnings;
}

/** Without it, the next one that takes the portfolio in hand reads again what is behind the old one. */
export function writeCursor({ paths, seq, cursor, events }: Omit<Drawn, "state">): void {
  if (events === null || (seq === cursor.seq && events.file === cursor.file)) return;
  replace(cursorPath(paths), `${JSON.stringify({ seq, ...events })}\n`, 0o600);
}

/** Every folder and file the format's own check looks for. */
export function createLayout(paths: PortfolioPaths): void {
  for (const folder of [
    paths.shown,
    join(paths.shown, portfolioFiles.projects),
    join(paths.shown, portfolioFiles.tasks),
    join(paths.shown, "events"),
  ]) {
    ensureFolderBelow(paths.root, relative(paths.root, folder), 0o755); // D4
  }
  ensureFolderBelow(paths.root, relative(paths.root, paths.own)); // D4
  for (const path of [eventsPath(paths), checkpointsPath(paths)]) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) writeFileSync(path, "", { flag: "wx" });
    else if (!stat.isFile()) refuseInTheWay(path, kindOf(stat), "file"); // D4
  }
}

function kindOf(stat: Stats): "link" | "folder" | "pipe" {
  if (stat.isSymbolicLink()) return "link";
  return stat.isDirectory() ? "folder" : "pipe";
}

/**
 * Appends what is missing. Invalid lines, such as torn ones, are set aside; every change is reported. Returns whether the file was changed.
 */
function drawCheckpoints(paths: PortfolioPaths, state: PortfolioView, warnings: string[]): boolean {
  const checkpoints = checkpointLines(state);
  const text = readOwnFile(checkpointsPath(paths)) ?? "";
  const { kept: validLines, warnings: found } = soundLines(paths, portfolioFiles.checkpoints, text, PortfolioCheckpoint);
  warnings.push(...found);
  const present = new Set(validLines);
  const missing = checkpoints.filter((line) => !present.has(line));
  if (found.length > 0) replace(checkpointsPath(paths), joinLines([...validLines, ...missing]));
  else if (missing.length > 0) appendFileSync(checkpointsPath(paths), joinLines(missing)); // D3
  return found.length > 0 || missing.length > 0;
}

function drawPage(paths: PortfolioPaths, name: string, { fields, body }: Page, warnings: string[]): void {
  const path = join(paths.shown, name);
  const text = snapshotOf(fields, body, sha256);
  const before = readOwnFile(path);
  if (before === text) return;
  if (before !== null && !isUntouched(before, sha256)) {
    const kept = keepCopy(paths, basename(name), before); // D2
    const difference = differenceOf(before, text);
    warnings.push(`${name} was changed by hand${difference}; the journal counts, and what it said is kept in ${kept}`);
  }
  replace(path, text);
}

const linesShown = 3;

/** What a page says that the journal doesn't, in a few words. */
function differenceOf(before: string, text: string): string {
  const newLines = new Set(text.split("\n"));
  const added = before.split("\n").filter((line) => line.trim() !== "" && !newLines.has(line));
  const more = added.length > linesShown ? ` and ${added.length - linesShown} more` : "";
  return added.length === 0
    ? ""
    : ` (${added
        .slice(0, linesShown)
        .map((line) => `"${oneLine(line, 80)}"`)
        .join(", ")}${more})`;
}

type NamedPage = readonly [name: string, page: () => Page];
const pagesOf = (state: PortfolioView): readonly NamedPage[] => [
  [portfolioFiles.portfolio, () => portfolioPage(state)],
  ...Object.values(state.projects).map((project): NamedPage => [
    `${portfolioFiles.projects}/${project.project_id}.md`,
    () => projectPage(state, project),
  ]),
  ...Object.values(state.tasks).map((task): NamedPage => [`${portfolioFiles.tasks}/${task.task_id}.md`, () => taskPage(task)]),
];

/** Draws the pages again that somebody changed or removed, though the journal did not go on. */
export function restorePages(paths: PortfolioPaths, state: PortfolioView): readonly string[] {
  const warnings: string[] = [];
  for (const [name, page] of pagesOf(state)) {
    const text = readOwnFile(join(paths.shown, name));
    if (text === null || !isUntouched(text, sha256)) drawPage(paths, name, page(), warnings);
  }
  return warnings;
}

/** Draws a portfolio whose journal has just come here. If another's events are there, they are taken in when it is first opened. */
export function drawFirst(paths: PortfolioPaths, state: PortfolioView, lines: readonly string[]): void {
  createLayout(paths);
  if (readFileSync(eventsPath(paths)).length === 0) replace(eventsPath(paths), joinLines(lines));
  redraw(paths, state, lines);
}

/** Regenerates every page; returns what was different, the events file too, which is brought up when the portfolio is left. */
export function redraw(
  paths: PortfolioPaths,
  state: PortfolioView,
  lines: readonly string[],
): { readonly different: readonly string[]; readonly warnings: readonly string[] } {
  const isSame = readFileSync(eventsPath(paths)).equals(joinLines(lines));
  const different: string[] = isSame ? [] : [portfolioFiles.events];
  const warnings: string[] = [];
  if (drawCheckpoints(paths, state, warnings)) different.push(portfolioFiles.checkpoints);
  for (const [name, make] of pagesOf(state)) {
    const page = make();
    const before = readOwnFile(join(paths.shown, name));
    if (before !== snapshotOf(page.fields, page.body, sha256)) different.push(name);
    drawPage(paths, name, page, warnings);
  }
  return { different, warnings };
}
