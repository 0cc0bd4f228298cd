// citations: finds dangling references in a document: positions in files (`src/sum.js:12`), and
// logs kept beside it. Pure.
//
// Invariants:
//   C1. A position counts if its file could be this project's: it is there now, was there before
//       the work, or has an extension that the project uses. Nothing is said about files outside
//       the project (an installed package, a folder above).
//   C2. Quoted text (closed code blocks) isn't a citation, unless its fence or first comment names
//       the position it is quoted from.
//   C3. Whether a file existed is judged by the tree and its history, never by a word such as
//       "removed".

import { type FilePosition, findFilePositions } from "../claims/file-positions.ts";
import { ignoredFolders } from "./tree-facts.ts";

/** `quote`: lines of code that are said to be there. */
export type Citation = Pick<FilePosition, "path" | "lines"> & {
  readonly quote?: readonly string[];
};
export type CitableTree = {
  /** Every file, now or before the work. */
  readonly paths: ReadonlySet<string>;
  /** A file's texts, now and before the work; null if one of them cannot be read whole. */
  readonly texts: (path: string) => readonly string[] | null;
  /** Whether the history has a file that neither tree has. */
  readonly hadBefore?: (path: string) => boolean;
};

const citationsMax = 5_000;

/** The file positions that a document cites in its prose or beside a code block. */
export function findCitations(text: string): readonly Citation[] {
  const { prose, blocks } = splitDocument(text);
  const inProse = joinPositions(prose).flatMap((line) =>
    findFilePositions(line).map(({ path, lines }) => ({ path, lines })),
  );
  return [...inProse, ...blocks.flatMap(findQuotedPosition)].slice(0, citationsMax);
}

/** The files that citations may mean: by the whole path, or by its end. */
export function findCitedFiles(
  citations: readonly Citation[],
  paths: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    byName.set(baseName(path), [...(byName.get(baseName(path)) ?? []), path]);
  }

  const findCandidates = (citedPath: string): readonly string[] => {
    if (paths.has(citedPath)) return [citedPath];
    const sameName = byName.get(baseName(citedPath)) ?? [];
    return sameName.filter(
      (file) =>
        file.endsWith(`/${citedPath}`) ||
        (citedPath.startsWith("/") && citedPath.endsWith(`/${file}`)),
    );
  };

  return new Map(citations.map(({ path }) => [path, findCandidates(path.replace(/^\.\//, ""))]));
}

/** The positions that do not exist, as they were written. */
export function findMissingCitations(
  citations: readonly Citation[],
  tree: CitableTree,
): readonly string[] {
  const files = findCitedFiles(citations, tree.paths);
  const extensions = new Set([...tree.paths].map(extension));
  const isUnknown = (path: string): boolean =>
    isElsewhere(path) ||
    !extensions.has(extension(path)) ||
    tree.hadBefore?.(path.replace(/^\.\//, "")) === true; // C1, C3

  const missing = citations.map((citation) => {
    const { path, lines } = citation;
    const candidates = files.get(path) ?? [];
    if (candidates.length === 0) return isUnknown(path) ? null : formatPosition(citation);
    if (lines.includes(0)) return formatPosition(citation);
    const texts = candidates.map((file) => tree.texts(file));
    if (texts.includes(null)) return null; // one that can't be read may have the line
    const longEnough = texts
      .flatMap((versions) => versions ?? [])
      .filter((text) => Math.max(...lines) <= countLines(text));
    if (longEnough.length === 0) return formatPosition(citation);

    return longEnough.some((text) => isQuotedNearby(text, citation))
      ? null
      : `${formatPosition(citation)} (the quoted code is not there)`;
  });
  return [...new Set(missing.filter((position) => position !== null))];
}

const formatPosition = ({ path, lines }: Pick<Citation, "path" | "lines">): string =>
  `${path}:${[...new Set(lines)].join("-")}`;

const isElsewhere = (path: string): boolean =>
  /^(?:\/|~|\.\.\/)/.test(path) ||
  path.split("/").some((part) => ignoredFolders.includes(part) || part === "site-packages");
const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const extension = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
const countLines = (text: string): number =>
  text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

/** How far from the cited lines a quote may stand. */
const linesNear = 5;
/**
 * Whether at least half of what is quoted stands near the cited lines: a quote may leave lines out,
 * and add comments.
 */
function isQuotedNearby(text: string, { lines, quote = [] }: Citation): boolean {
  const quotedLines = quote
    .map(squeezeSpace)
    .filter((line) => /\w{2}/.test(line) && !/^(?:\/\/|#|\/\*|\*|--|<!--)/.test(line));
  if (quotedLines.length === 0) return true;
  const from = Math.max(0, Math.min(...lines) - 1 - linesNear);
  const to = Math.max(...lines) + quote.length + linesNear;
  const nearLines = new Set(text.split("\n").slice(from, to).map(squeezeSpace));

  return quotedLines.filter((line) => nearLines.has(line)).length * 2 >= quotedLines.length;
}

const squeezeSpace = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Code in a line of text, `return a - b;`, as opposed to a name, a path or a command. */
const codeInText = /`([^`\n]*(?:[;{}=]|\w\s*\()[^`\n]*)`/g;
/** Fewer quotes are not judged; and so large a share of them has to be missing. */
const quotesMin = 4;
const inventedShare = 0.8;

/**
 * Code that a document quotes beside a position and that isn't in the cited file. A single such
 * quote proves nothing, it may be a proposal: they count only if there are several quotes and
 * nearly none of them stands in its file.
 */
export function findInventedQuotes(text: string, tree: CitableTree): readonly string[] {
  const isThere = lookUpQuotes(findQuotes(text), tree);
  const judged = [...isThere].flatMap(([quote, found]) =>
    found === null ? [] : [{ quote, isThere: found }],
  );
  const invented = judged.filter(({ isThere }) => !isThere);
  if (judged.length < quotesMin || invented.length < judged.length * inventedShare) return [];

  return invented.map(({ quote }) => describeQuote(quote));
}

/**
 * The same for code that stands right behind its position (``src/sum.js:12: `return a - b;` ``):
 * what follows directly is a quotation, and one that isn't in its file is wrong by itself. Calls
 * (`sum()`) and shortened code are names rather than quotations.
 */
export function findMisquotes(
  text: string,
  tree: CitableTree,
  isJudged: (citation: Citation) => boolean,
): readonly string[] {
  const quotes = findQuotes(text).filter(
    ({ isBehind, code, path, lines }) =>
      isBehind && isJudged({ path, lines }) && !/^[\w.$]+\([^()]*\)$|…|\.\.\./.test(code),
  );
  return [...lookUpQuotes(quotes, tree)]
    .filter(([, found]) => found === false)
    .map(([quote]) => describeQuote(quote));
}

/**
 * Whether each quote is in a version of its file; null if there is no such file, or one that can't
 * be read.
 */
const lookUpQuotes = (
  quotes: readonly Quote[],
  tree: CitableTree,
): ReadonlyMap<Quote, boolean | null> => {
  const files = findCitedFiles(quotes, tree.paths);
  return new Map(
    quotes.map((quote) => {
      const texts = (files.get(quote.path) ?? []).map((file) => tree.texts(file));
      const isUnknown = texts.length === 0 || texts.includes(null);
      return [
        quote,
        isUnknown
          ? null
          : texts.flat().some((version) => squeezeSpace(version ?? "").includes(quote.code)),
      ];
    }),
  );
};

const describeQuote = (quote: Quote): string =>
  `${formatPosition(quote)} (\`${quote.code}\` is not in that file)`;

/** `isBehind`: only punctuation stands between the position and the code. */
type Quote = Pick<Citation, "path" | "lines"> & {
  readonly code: string;
  readonly isBehind: boolean;
};

/** Code in lines that cite exactly one file. */
function findQuotes(text: string): readonly Quote[] {
  return joinPositions(splitDocument(text).prose).flatMap((line) => {
    const [position, ...others] = findFilePositions(line);
    if (position === undefined || others.some(({ path }) => path !== position.path)) return [];
    const { path, lines } = position;

    return [...line.matchAll(codeInText)].map(({ 1: code = "", index }) => {
      const isBehind =
        index >= position.to && /^[\s`:|()*_–—-]{0,8}$/.test(line.slice(position.to, index));
      return { path, lines, code: squeezeSpace(code), isBehind };
    });
  });
}

/** `info`: what stands behind the opening fence. */
export type Block = { readonly info: string; readonly lines: readonly string[] };

/**
 * Cuts a line of over 2000 characters, if possible at a space, into pieces that a pattern can
 * search quickly.
 */
const splitLongLine = (line: string): readonly string[] =>
  line.length <= 2_000 ? [line] : (line.match(/.{1,2000}(?:\s|$)|.{2000}/g) ?? []);

/** A document's own text, and its closed code blocks (C2). */
function splitDocument(text: string): {
  readonly prose: readonly string[];
  readonly blocks: readonly Block[];
} {
  const prose: string[] = [];
  const blocks: Block[] = [];
  let open: { fence: string; info: string; lines: string[] } | null = null;

  for (const line of text.split("\n")) {
    const [, fence = "", info = ""] = /^\s{0,9}(`{3,}|~{3,})\s*([^`]*)$/.exec(line) ?? [];
    if (open === null) {
      if (fence === "") prose.push(...splitLongLine(line));
      else open = { fence, info, lines: [] };
    } else if (fence.startsWith(open.fence) && info.trim() === "") {
      blocks.push(open);
      open = null;
    } else {
      open.lines.push(line);
    }
  }

  return {
    prose: open === null ? prose : [...prose, ...open.lines.flatMap(splitLongLine)],
    blocks,
  };
}

/** The closed code blocks of a document. */
export const readCodeBlocks = (text: string): readonly Block[] => splitDocument(text).blocks;

/** The lines that are the document's own text. */
export const readProseLines = (text: string): readonly string[] => splitDocument(text).prose;

/**
 * Brings a position together in one line: `| src/sum.js | 12 |` under a head `Line`, or `Line: 12`
 * below the line with the path.
 */
function joinPositions(prose: readonly string[]): readonly string[] {
  const lines: string[] = [];
  let column = -1;

  for (const line of prose) {
    const cells = splitRow(line);
    if (cells === null) {
      column = -1;
    } else if (column < 0) {
      column = cells.findIndex((cell) =>
        /^\**lines?(?: ?(?:no\.?|numbers?|\(s\)))?\**$/i.test(cell),
      );
    }

    const numbers =
      cells === null
        ? undefined
        : /^[`~L]*(\d{1,7}(?:\s?[-–—,]\s?\d{1,7})*)`?$/.exec(cells[column] ?? "")?.[1];

    const continuesLine = /^[\s>*+-]*["'*_]*lines?\b["'*_]*\s*[:=]?["'*_\s]*\d/i.test(line);
    if (numbers !== undefined && cells !== null) {
      const paths = cells.filter((cell) => /^[`*[]*[\w@./-]+\.\w+[`*\]]*(?:\(.*\))?$/.test(cell));
      lines.push(line, ...paths.map((cell) => `${cell.replace(/\(.*\)$/, "")} lines ${numbers}`));
    } else if (continuesLine && lines.length > 0) {
      lines.push(`${lines.pop() ?? ""} ${line.replace(/^[\s>*+-]+/, "")}`);
    } else {
      lines.push(line);
    }
  }

  return lines;
}

/** The cells of a table's row; null if the line isn't one. */
function splitRow(line: string): readonly string[] | null {
  const row = line.trim();
  return row.startsWith("|") ? row.split("|").map((cell) => cell.trim()) : null;
}

/**
 * The position that a block's fence (```12:20:src/sum.js, ```js src/sum.js:12) or first comment
 * gives for its code.
 */
function findQuotedPosition({ info, lines }: Block): readonly Citation[] {
  const [, from, to, file] = /^(\d{1,7}):(\d{1,7}):(\S+)$/.exec(info.trim()) ?? [];
  if (file !== undefined) return [{ path: file, lines: [Number(from), Number(to)], quote: lines }];
  const [inInfo] = findFilePositions(info);
  if (inInfo !== undefined) return [{ path: inInfo.path, lines: inInfo.lines, quote: lines }];
  const comment = /^\s*(?:\/\/|#|--|\/\*|<!--)\s*(\S+)\s*(?:\*\/|-->)?$/.exec(lines[0] ?? "")?.[1];
  const [inComment] = comment === undefined ? [] : findFilePositions(comment);

  return inComment === undefined
    ? []
    : [{ path: inComment.path, lines: inComment.lines, quote: lines.slice(1) }];
}

/** Words of an instruction: a log that somebody is told to write isn't claimed to be there. */
const instruction =
  /\b(?:sav\w+|writ\w+|keep\w*|stor\w+|record\w*|redirect\w*|captur\w+|produc\w+|creat\w+|into|tee|will|should|must|if)\b|>\s?\S+\.log/i;

/**
 * Logs a document names that should be in its own top folder and are missing:
 * `quality/results/BUG-1.red.log` in a page under quality/.
 */
export function findMissingLogs(
  document: string,
  text: string,
  paths: ReadonlySet<string>,
): readonly string[] {
  const topFolder = document.includes("/") ? document.slice(0, document.indexOf("/") + 1) : null;
  if (topFolder === null) return [];
  const folders = new Set([...paths].map((path) => path.slice(0, path.lastIndexOf("/") + 1)));

  const isMissing = (log: string): boolean => {
    const fullPath = log.startsWith(topFolder) ? log : `${topFolder}${log}`;
    const isInTopFolder =
      fullPath === log ||
      (log.includes("/") && folders.has(fullPath.slice(0, fullPath.lastIndexOf("/") + 1)));

    const isPattern = /N{2,}|X{2,}/.test(log); // `BUG-NNN.red.log` stands for many
    return isInTopFolder && !isPattern && !paths.has(fullPath) && !paths.has(log);
  };

  const logs = readProseLines(text)
    .filter((line) => !instruction.test(line))
    .flatMap((line) =>
      [...line.matchAll(/(?<![\w./-])(?:\.\/)?([\w./-]+\.log)(?![\w/])/g)].map(
        ([, path = ""]) => path,
      ),
    );
  return [...new Set(logs.filter(isMissing))];
}
