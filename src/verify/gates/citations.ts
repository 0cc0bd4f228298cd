// citations: finds dangling references in a document: positions in files (`src/sum.js:12`), commits, and logs kept beside it. Pure.
//
// Invariants:
//   C1. A position counts if its file could be this project's: it is there now, was there before the work, or is of a kind that the project
//       has. What lies outside by its path (an installed package, a folder above) is unknown.
//   C2. Quoted text (closed code blocks) isn't a citation, unless its fence or first comment names the position it is quoted from.
//   C3. What was there is judged by the tree and its history, never by a word such as "removed".

import { type FilePosition, filePositions } from "../claims/file-positions.ts";
import { ignoredFolders } from "./tree-facts.ts";

/** `quote`: lines of code that are said to be there. */
export type Citation = Pick<FilePosition, "path" | "lines"> & { readonly quote?: readonly string[] };
export type CitableTree = {
  /** Every file, now or before the work. */
  readonly paths: ReadonlySet<string>;
  /** A file's texts, now and before the work; null if one of them cannot be read whole. */
  readonly texts: (path: string) => readonly string[] | null;
  /** Whether the history has a file that neither tree has. */
  readonly hadBefore?: (path: string) => boolean;
};

const citationsMax = 5_000;

export function findCitations(text: string): readonly Citation[] {
  const { prose, blocks } = splitDocument(text);
  const inProse = joinPositions(prose).flatMap((line) => filePositions(line).map(({ path, lines }) => ({ path, lines })));
  return [...inProse, ...blocks.flatMap(quotedPosition)].slice(0, citationsMax);
}

/** The files that citations may mean: by the whole path, or by its end. */
export function citedFiles(citations: readonly Citation[], paths: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>();
  for (const path of paths) byName.set(baseName(path), [...(byName.get(baseName(path)) ?? []), path]);
  return new Map(
    citations.map(({ path }) => {
      const relative = path.replace(/^\.\//, "");
      const named = byName.get(baseName(relative)) ?? [];
      if (paths.has(relative)) return [path, [relative]];
      return [path, named.filter((file) => file.endsWith(`/${relative}`) || (relative.startsWith("/") && relative.endsWith(`/${file}`)))];
    }),
  );
}

/** The positions that do not exist, as they were written. */
export function missingCitations(citations: readonly Citation[], tree: CitableTree): readonly string[] {
  const files = citedFiles(citations, tree.paths);
  const kinds = new Set([...tree.paths].map(extension));
  const missing = citations.flatMap((citation) => {
    const { path, lines } = citation;
    const written = `${path}:${[...new Set(lines)].join("-")}`;
    const candidates = files.get(path) ?? [];
    if (candidates.length === 0) {
      const isUnknown = isElsewhere(path) || !kinds.has(extension(path)) || tree.hadBefore?.(path.replace(/^\.\//, "")) === true; // C1, C3
      return isUnknown ? [] : [written];
    }
    const texts = candidates.map((file) => tree.texts(file));
    const readable = texts.filter((found) => found !== null).flat();
    if (lines.includes(0)) return [written];
    if (readable.length < texts.length || texts.includes(null)) return [];
    const holding = readable.filter((text) => Math.max(...lines) <= countLines(text));
    if (holding.length === 0) return [written];
    return holding.some((text) => standsThere(text, citation)) ? [] : [`${written} (the quoted code is not there)`];
  });
  return [...new Set(missing)];
}

const isElsewhere = (path: string): boolean =>
  /^(?:\/|~|\.\.\/)/.test(path) || path.split("/").some((part) => ignoredFolders.includes(part) || part === "site-packages");
const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const extension = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
const countLines = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

const linesNear = 5;
/** Whether at least half of what is quoted stands near the cited lines: a quote may leave lines out, and comment others. */
function standsThere(text: string, { lines, quote = [] }: Citation): boolean {
  const normalize = (line: string): string => line.replaceAll(/\s+/g, " ").trim();
  const quoted = quote.map(normalize).filter((line) => /\w{2}/.test(line) && !/^(?:\/\/|#|\/\*|\*|--|<!--)/.test(line));
  if (quoted.length === 0) return true;
  const [first, last] = [Math.min(...lines), Math.max(...lines)];
  const near = new Set(
    text
      .split("\n")
      .slice(Math.max(0, first - 1 - linesNear), last + quote.length + linesNear)
      .map(normalize),
  );
  return quoted.filter((line) => near.has(line)).length * 2 >= quoted.length;
}

/** Code in a line of text, `return a - b;`, as opposed to a name, a path or a command. */
const codeInText = /`([^`\n]*(?:[;{}=]|\w\s*\()[^`\n]*)`/g;
const quotesMin = 4;
const inventedShare = 0.8;

/**
 * Whether a document invents what it quotes beside positions. Single quotes prove nothing (one may be a proposal), so it counts if of
 * several nearly none stands in the file that is cited with it.
 */
export function findInventedQuotes(text: string, tree: CitableTree): readonly string[] {
  const normalize = (code: string): string => code.replaceAll(/\s+/g, " ").trim();
  const quotes = joinPositions(splitDocument(text).prose).flatMap((line) => {
    const [position, ...others] = filePositions(line);
    if (position === undefined || others.some(({ path }) => path !== position.path)) return [];
    return [...line.matchAll(codeInText)].map(([, code = ""]) => ({ path: position.path, lines: position.lines, code: normalize(code) }));
  });
  const files = citedFiles(quotes, tree.paths);
  const judged = quotes.flatMap((quote) => {
    const texts = (files.get(quote.path) ?? []).map((file) => tree.texts(file));
    if (texts.length === 0 || texts.includes(null)) return []; // unknown
    return [{ ...quote, isThere: texts.flat().some((found) => normalize(found ?? "").includes(quote.code)) }];
  });
  const invented = judged.filter(({ isThere }) => !isThere);
  if (judged.length < quotesMin || invented.length < judged.length * inventedShare) return [];
  return invented.map(({ path, lines, code }) => `${path}:${[...new Set(lines)].join("-")} (\`${code}\` is not in that file)`);
}

type Block = { readonly info: string; readonly lines: readonly string[] };

/** A long line in pieces that a pattern can search. */
const pieces = (line: string): readonly string[] => (line.length <= 2_000 ? [line] : (line.match(/.{1,2000}(?:\s|$)|.{2000}/g) ?? []));

/** A document's own text, and its closed code blocks (C2). */
function splitDocument(text: string): { readonly prose: readonly string[]; readonly blocks: readonly Block[] } {
  const prose: string[] = [];
  const blocks: Block[] = [];
  let open: { fence: string; info: string; lines: string[] } | null = null;
  for (const line of text.split("\n")) {
    const [, fence = "", info = ""] = /^\s{0,9}(`{3,}|~{3,})\s*([^`]*)$/.exec(line) ?? [];
    if (open === null) {
      if (fence === "") prose.push(...pieces(line));
      else open = { fence, info, lines: [] };
    } else if (fence.startsWith(open.fence) && info.trim() === "") {
      blocks.push(open);
      open = null;
    } else open.lines.push(line);
  }
  return { prose: open === null ? prose : [...prose, ...open.lines.flatMap(pieces)], blocks };
}

/** The lines that are the document's own text. */
export const proseLines = (text: string): readonly string[] => splitDocument(text).prose;

/** Lines in which a position stands together: a table's column of lines goes behind the row's path, `Line: 12` behind the line before it. */
function joinPositions(prose: readonly string[]): readonly string[] {
  const lines: string[] = [];
  let column = -1;
  for (const line of prose) {
    const cells = line.trim().startsWith("|")
      ? line
          .trim()
          .split("|")
          .map((cell) => cell.trim())
      : null;
    if (cells === null) column = -1;
    else if (column < 0) column = cells.findIndex((cell) => /^\**lines?(?: ?(?:no\.?|numbers?|\(s\)))?\**$/i.test(cell));
    const numbers = cells === null ? undefined : /^[`~L]*(\d{1,7}(?:\s?[-–—,]\s?\d{1,7})*)`?$/.exec(cells[column] ?? "")?.[1];
    const isContinued = /^[\s>*+-]*["'*_]*lines?\b["'*_]*\s*[:=]?["'*_\s]*\d/i.test(line);
    if (numbers !== undefined && cells !== null)
      lines.push(
        line,
        ...cells.flatMap((cell) =>
          /^[`*[]*[\w@./-]+\.\w+[`*\]]*(?:\(.*\))?$/.test(cell) ? [`${cell.replace(/\(.*\)$/, "")} lines ${numbers}`] : [],
        ),
      );
    else if (isContinued && lines.length > 0) lines.push(`${lines.pop() ?? ""} ${line.replace(/^[\s>*+-]+/, "")}`);
    else lines.push(line);
  }
  return lines;
}

/** The position that a block's fence (```12:20:src/sum.js, ```js src/sum.js:12) or first comment gives for its code. */
function quotedPosition({ info, lines }: Block): readonly Citation[] {
  const [, from, to, file] = /^(\d{1,7}):(\d{1,7}):(\S+)$/.exec(info.trim()) ?? [];
  if (file !== undefined) return [{ path: file, lines: [Number(from), Number(to)], quote: lines }];
  const [inInfo] = filePositions(info);
  if (inInfo !== undefined) return [{ path: inInfo.path, lines: inInfo.lines, quote: lines }];
  const comment = /^\s*(?:\/\/|#|--|\/\*|<!--)\s*(\S+)\s*(?:\*\/|-->)?$/.exec(lines[0] ?? "")?.[1];
  const [inComment] = comment === undefined ? [] : filePositions(comment);
  return inComment === undefined ? [] : [{ path: inComment.path, lines: inComment.lines, quote: lines.slice(1) }];
}

const commitName = /\bcommits?[\s:]+`?(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})`?(?![\w-])/gi;
const commitsMax = 50;

/** Commits that a document names as such. */
export const findCommitNames = (text: string): readonly string[] =>
  [...new Set(proseLines(text).flatMap((line) => [...line.matchAll(commitName)].map(([, name = ""]) => name.toLowerCase())))].slice(
    0,
    commitsMax,
  );

/** What a protocol tells somebody to make isn't claimed to be there, nor is a pattern such as `BUG-NNN.red.log`. */
const instruction =
  /\b(?:sav\w+|writ\w+|keep\w*|stor\w+|record\w*|redirect\w*|captur\w+|produc\w+|creat\w+|into|tee|will|should|must|if)\b|>\s?\S+\.log/i;

/** Logs a document names that should be in its own top folder and are missing: `quality/results/BUG-1.red.log` in a page under quality/. */
export function findMissingLogs(document: string, text: string, paths: ReadonlySet<string>): readonly string[] {
  const topFolder = document.includes("/") ? document.slice(0, document.indexOf("/") + 1) : null;
  if (topFolder === null) return [];
  const folders = new Set([...paths].map((path) => path.slice(0, path.lastIndexOf("/") + 1)));
  const isMissing = (log: string): boolean => {
    const place = log.startsWith(topFolder) ? log : `${topFolder}${log}`;
    const isOurs = place === log || (log.includes("/") && folders.has(place.slice(0, place.lastIndexOf("/") + 1)));
    return isOurs && !/N{2,}|X{2,}/.test(log) && !paths.has(place) && !paths.has(log);
  };
  const logs = proseLines(text)
    .filter((line) => !instruction.test(line))
    .flatMap((line) => [...line.matchAll(/(?<![\w./-])(?:\.\/)?([\w./-]+\.log)(?![\w/])/g)].map(([, path = ""]) => path));
  return [...new Set(logs.filter(isMissing))];
}
