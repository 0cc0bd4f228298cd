// draw: generates the files of `.openclaw-autopilot/` from the journal.
//
// Invariants:
//   D1. The same journal gives the same files, byte for byte.
//   D2. No foreign content is overwritten unread: a line is taken into the journal (events-file.ts)
//       or stays, an edited page is set aside and reported.
//   D3. A reader finds a whole page, the old one or the new one. The two logs grow by whole lines;
//       one that isn't as we left it is written anew.
//   D4. No link is followed: if anything but a file is where one of ours belongs, nothing is
//       written.

import { listSome } from "../../kit/list-some.ts";
import {
  appendFileSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { basename, join, relative } from "node:path";
import { PortfolioCheckpoint, portfolioFiles } from "../../contracts/portfolio/portfolio.ts";
import { renderCheckpointLines } from "../views/checkpoints.ts";
import { isUntouched, renderSnapshot } from "../views/front-matter.ts";
import {
  type SnapshotPage,
  buildPortfolioPage,
  buildProjectPage,
  buildTaskPage,
} from "../views/pages.ts";
import type { PortfolioView } from "../planner/state.ts";
import { oneLine } from "../../views/wording.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { ensureFolderBelow, refuseInTheWay } from "../../project/own-folder.ts";
import { type DrawnCursor, joinLines, readSettledBytes } from "./events-file.ts";
import type { PortfolioPaths } from "./folder.ts";
import { keepCopy, replaceFile, keepSoundLines } from "./log-lines.ts";
import { sha256 } from "../../project/sha256.ts";

export type DrawRequest = {
  readonly paths: PortfolioPaths;
  readonly state: PortfolioView;
  readonly seq: number;
  readonly cursor: DrawnCursor;
  /** How far the events file follows the journal; null if it has to be compared again. */
  readonly events: Omit<DrawnCursor, "seq"> | null;
};

const cursorPath = ({ ownFolder }: PortfolioPaths): string => join(ownFolder, "drawn.json");
const eventsPath = ({ pagesFolder }: PortfolioPaths): string =>
  join(pagesFolder, portfolioFiles.events);
const checkpointsPath = ({ pagesFolder }: PortfolioPaths): string =>
  join(pagesFolder, portfolioFiles.checkpoints);

export function readCursor(paths: PortfolioPaths): DrawnCursor {
  try {
    const stored = JSON.parse(readOwnFile(cursorPath(paths)) ?? "") as Partial<DrawnCursor>;
    const { seq, bytes, crc = -1, fileMark = "" } = stored;
    if (typeof seq === "number" && typeof bytes === "number") return { seq, bytes, crc, fileMark };
  } catch {
    // Without a cursor everything is drawn again.
  }

  return { seq: 0, bytes: 0, crc: 0, fileMark: "" };
}

/** Draws everything but the events file, as far as it changed; returns warnings for a person. */
export function draw({ paths, state, seq, cursor, events }: DrawRequest): readonly string[] {
  const warnings: string[] = [];
  drawCheckpoints(paths, state, warnings);

  const portfolioPage = join(paths.pagesFolder, portfolioFiles.portfolio);
  if (seq > cursor.seq || !existsSync(portfolioPage)) {
    drawChangedPages(paths, state, cursor.seq, warnings);
  }

  writeCursor({ paths, seq, cursor, events });
  return warnings;
}

/** The pages of what changed since this line of the journal, and the portfolio's own. */
function drawChangedPages(
  paths: PortfolioPaths,
  state: PortfolioView,
  since: number,
  warnings: string[],
): void {
  for (const project of Object.values(state.projects)) {
    if (project.changed <= since) continue;
    const name = `${portfolioFiles.projects}/${project.project_id}.md`;
    drawPage(paths, name, buildProjectPage(state, project), warnings);
  }

  for (const task of Object.values(state.tasks)) {
    if (task.changed <= since) continue;
    const name = `${portfolioFiles.tasks}/${task.task_id}.md`;
    drawPage(paths, name, buildTaskPage(task), warnings);
  }

  drawPage(paths, portfolioFiles.portfolio, buildPortfolioPage(state), warnings);
}

/**
 * Notes how far the files follow the journal. Without it the next process that opens the portfolio
 * compares more than it needs to.
 */
export function writeCursor({ paths, seq, cursor, events }: Omit<DrawRequest, "state">): void {
  if (events === null || (seq === cursor.seq && events.fileMark === cursor.fileMark)) return;
  replaceFile(cursorPath(paths), `${JSON.stringify({ seq, ...events })}\n`, 0o600);
}

/** Creates every folder and file that the format requires. */
export function createLayout(paths: PortfolioPaths): void {
  for (const folder of [
    paths.pagesFolder,
    join(paths.pagesFolder, portfolioFiles.projects),
    join(paths.pagesFolder, portfolioFiles.tasks),
    join(paths.pagesFolder, "events"),
  ]) {
    ensureFolderBelow(paths.root, relative(paths.root, folder), 0o755); // D4
  }

  ensureFolderBelow(paths.root, relative(paths.root, paths.ownFolder)); // D4
  for (const path of [eventsPath(paths), checkpointsPath(paths)]) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) writeFileSync(path, "", { flag: "wx" });
    else if (!stat.isFile()) refuseInTheWay(path, describeKind(stat), "file"); // D4
  }
}

function describeKind(stat: Stats): "link" | "folder" | "pipe" {
  if (stat.isSymbolicLink()) return "link";
  return stat.isDirectory() ? "folder" : "pipe";
}

/**
 * Appends what is missing. Invalid lines, such as torn ones, are set aside; every change is
 * reported. Returns whether the file was changed.
 */
function drawCheckpoints(paths: PortfolioPaths, state: PortfolioView, warnings: string[]): boolean {
  const path = checkpointsPath(paths);
  const bytes = readSettledBytes(path, 0);
  const sound = keepSoundLines(
    paths,
    portfolioFiles.checkpoints,
    bytes.toString("utf8"),
    PortfolioCheckpoint,
  );
  warnings.push(...sound.warnings);

  const present = new Set(sound.kept);
  const missing = renderCheckpointLines(state).filter((line) => !present.has(line));
  if (sound.warnings.length > 0) {
    replaceLog(path, joinLines([...sound.kept, ...missing]), bytes.length);
    return true;
  }

  if (missing.length === 0) return false;
  appendFileSync(path, joinLines(missing)); // D3
  return true;
}

/**
 * Replaces a log of which so many bytes were read; what another tool appended to it meanwhile is
 * appended to the new one.
 */
function replaceLog(path: string, lines: Buffer, readBytes: number): void {
  const oldFile = openSync(path, "r");
  try {
    replaceFile(path, lines);
    const lateBytes = readFileSync(oldFile).subarray(readBytes);
    if (lateBytes.length > 0) appendFileSync(path, lateBytes); // D2
  } finally {
    closeSync(oldFile);
  }
}

function drawPage(
  paths: PortfolioPaths,
  name: string,
  { fields, body }: SnapshotPage,
  warnings: string[],
): void {
  const path = join(paths.pagesFolder, name);
  const text = renderSnapshot(fields, body, sha256);
  const currentText = readOwnFile(path);
  if (currentText === text) return;
  if (currentText !== null && !isUntouched(currentText, sha256)) {
    const copyPath = keepCopy(paths, basename(name), currentText); // D2
    const difference = describeDifference(currentText, text);
    warnings.push(
      `${name} was changed by hand${difference}; the journal counts, and what it said is kept in ${copyPath}`,
    );
  }

  replaceFile(path, text);
}

/** The lines of an edited page that the journal doesn't give, in a few words. */
function describeDifference(currentText: string, text: string): string {
  const newLines = new Set(text.split("\n"));
  const added = currentText.split("\n").filter((line) => line.trim() !== "" && !newLines.has(line));
  return added.length === 0 ? "" : ` (${listSome(added.map((line) => `"${oneLine(line, 80)}"`))})`;
}

type NamedPage = readonly [name: string, page: () => SnapshotPage];
const listPages = (state: PortfolioView): readonly NamedPage[] => [
  [portfolioFiles.portfolio, () => buildPortfolioPage(state)],
  ...Object.values(state.projects).map((project): NamedPage => [
    `${portfolioFiles.projects}/${project.project_id}.md`,
    () => buildProjectPage(state, project),
  ]),
  ...Object.values(state.tasks).map((task): NamedPage => [
    `${portfolioFiles.tasks}/${task.task_id}.md`,
    () => buildTaskPage(task),
  ]),
];

/** Draws pages again that somebody changed or removed while the journal stayed as it was. */
export function restorePages(paths: PortfolioPaths, state: PortfolioView): readonly string[] {
  const warnings: string[] = [];
  for (const [name, page] of listPages(state)) {
    const text = readOwnFile(join(paths.pagesFolder, name));
    if (text === null || !isUntouched(text, sha256)) drawPage(paths, name, page(), warnings);
  }

  return warnings;
}

/**
 * Draws a portfolio whose journal was just copied here; returns warnings for a person. Foreign
 * lines in an events file are taken in when it is first opened.
 */
export function drawNewCopy(
  paths: PortfolioPaths,
  state: PortfolioView,
  lines: readonly string[],
): readonly string[] {
  createLayout(paths);
  if (readFileSync(eventsPath(paths)).length === 0) {
    replaceFile(eventsPath(paths), joinLines(lines));
  }

  return redraw(paths, state, lines).warnings;
}

/**
 * Regenerates every page. Returns the files that were different; the events file is among them, but
 * is written when the portfolio is left.
 */
export function redraw(
  paths: PortfolioPaths,
  state: PortfolioView,
  lines: readonly string[],
): { readonly different: readonly string[]; readonly warnings: readonly string[] } {
  const isSame = readFileSync(eventsPath(paths)).equals(joinLines(lines));
  const different: string[] = isSame ? [] : [portfolioFiles.events];
  const warnings: string[] = [];
  if (drawCheckpoints(paths, state, warnings)) different.push(portfolioFiles.checkpoints);
  for (const [name, createPage] of listPages(state)) {
    const page = createPage();
    const currentText = readOwnFile(join(paths.pagesFolder, name));
    if (currentText !== renderSnapshot(page.fields, page.body, sha256)) different.push(name);
    drawPage(paths, name, page, warnings);
  }

  return { different, warnings };
}
