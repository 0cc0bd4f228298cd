// answer-examples: finds examples in a document that call a function and say what comes back:
// `mean([1, 2]) // => 1.5`, or `>>> mean([1, 2])` with its value below. Pure.
//
// Invariants:
//   A1. Only calls whose arguments are literals, or constants that the example writes out, and only
//       values that are written out themselves.
//   A2. What an example does before is done too, if it is such a call. Behind anything else that
//       calls something, the rest of the block is left out: what it sets may matter.
//   A3. An example that is introduced as wrong, old or planned, or as one from elsewhere ("on
//       Windows"), says nothing of what is.

import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { isClosedOver, isWrittenOut } from "../broken-expectations/near-values.ts";

export type AnswerFamily = "js" | "py";
/** `error`: its name, or an empty text if only that there is one. `text`: what is printed. */
export type Wanted =
  | { readonly value: string }
  | { readonly text: string }
  | { readonly error: string };
/** A call, or the value of a constant. `wanted`: null if the example says nothing of it. */
export type AnswerStep = {
  readonly code: string;
  readonly constant: string | null;
  readonly wanted: Wanted | null;
};
export type AnswerBlock = { readonly family: AnswerFamily; readonly steps: readonly AnswerStep[] };

const stepsMax = 300;
/** A3. A list, by words. */
const aboutOtherTimes =
  /\b(?:previously|formerly|used to|old|legacy|wrong|wrongly|bug|bugs|buggy|incorrect\w*|broken|should|instead|propos\w+|planned|hypothetical|imagine|suppose|pseudo\w*)\b|\bbefore\b(?=\s*(?:[:.,*]|$| (?:the|this|v?\d)))/i;
const scriptBlock = /^(?:js|javascript|mjs|cjs|jsx|ts|typescript|mts|tsx|node)\b/i;
const pythonBlock = /^(?:$|(?:py|python\d?|pycon|doctest|console|text)\b)/i;

/**
 * `names`: the functions that are known. `isOwn`: whether what an example imports from is of the
 * project.
 */
export type KnownFunctions = {
  readonly names: Readonly<Record<AnswerFamily, ReadonlySet<string>>>;
  readonly isOwn: (source: string) => boolean;
};

/** The blocks of a document that call any of these functions. */
export function findAnswerBlocks(
  text: string,
  { names, isOwn }: KnownFunctions,
): readonly AnswerBlock[] {
  const namespaces = findNamespaces(text, isOwn);
  const known = {
    js: withoutForeign(text, names.js, isOwn),
    py: withoutForeign(text, names.py, isOwn),
  };

  return splitBlocks(text)
    .filter(({ before }) => !aboutOtherTimes.test(before)) // A3
    .map(({ info, lines: written }): AnswerBlock => {
      const lines =
        namespaces === null ? written : written.map((line) => line.replaceAll(namespaces, ""));
      if (scriptBlock.test(info)) return { family: "js", steps: parseScript(lines, known.js) };

      const isSession = pythonBlock.test(info) && lines.some((line) => /^\s*>>> /.test(line));
      return { family: "py", steps: isSession ? parseSession(lines, known.py) : [] };
    })
    .filter(({ steps }) => steps.length <= stepsMax)
    .filter(({ steps }) => steps.some(({ wanted }) => wanted !== null));
}

type DocumentBlock = {
  readonly info: string;
  readonly before: string;
  readonly lines: readonly string[];
};

/** Fenced blocks, and sessions of Python without fences; each with the line of text before it. */
function splitBlocks(text: string): readonly DocumentBlock[] {
  const blocks: DocumentBlock[] = [];
  let open: { fence: string; info: string; before: string; lines: string[] } | null = null;
  let before = "";
  let session: string[] = [];
  const endSession = (): void => {
    if (session.length > 0) blocks.push({ info: "", before, lines: session });
    session = [];
  };

  for (const line of text.split("\n")) {
    const [, fence = "", info = ""] = /^\s{0,9}(`{3,}|~{3,})\s*([^`]*)$/.exec(line) ?? [];
    if (open !== null) {
      if (fence.startsWith(open.fence) && info.trim() === "") {
        blocks.push(open);
        open = null;
      } else {
        open.lines.push(line);
      }
    } else if (fence !== "") {
      endSession();
      open = { fence, info: info.trim(), before, lines: [] };
    } else if (/^\s*>>> /.test(line) || (session.length > 0 && line.trim() !== "")) {
      session.push(line);
    } else {
      endSession();
      if (line.trim() !== "") before = line;
    }
  }

  endSession();
  return blocks;
}

/**
 * Without names that the document takes from elsewhere: `import { sum } from "lodash"`, `from math
 * import fsum`, `function sum(`.
 */
function withoutForeign(
  text: string,
  names: ReadonlySet<string>,
  isOwn: (source: string) => boolean,
): ReadonlySet<string> {
  const imported = [
    ...text.matchAll(/\bimport\s+(?<what>[^;"'`]{1,400}?)\s+from\s*["'](?<source>[^"'\n]+)["']/g),
    ...text.matchAll(
      /\b(?:const|let|var)\s+(?<what>\{[^}]*\}|[\w$]+)\s*=\s*(?:await\s+)?(?:require|import)\(["'](?<source>[^"'\n]+)["']/g,
    ),
    ...text.matchAll(/^\s*(?:>>> )?from\s+(?<source>[\w.]+)\s+import\s+(?<what>[^\n]+)/gm),
  ].flatMap(({ groups }) => (isOwn(groups?.source ?? "") ? [] : [groups?.what ?? ""]));

  const defined = [
    ...text.matchAll(/^\s*(?:>>> )?(?:async\s+)?(?:function\*?|def|class)\s+([\w$]+)/gm),
    ...text.matchAll(
      /^\s*(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:\([^)]*\)|[\w$]+)\s*=>/gm,
    ),
  ].map(([, name = ""]) => name);
  const foreign = new Set([...imported, ...defined].flatMap((what) => what.match(/[\w$]+/g) ?? []));
  return new Set([...names].filter((name) => !foreign.has(name)));
}

/**
 * What stands before functions of the project: `stats.` behind `import stats` or `import * as stats
 * from "./stats.js"`.
 */
function findNamespaces(text: string, isOwn: (source: string) => boolean): RegExp | null {
  const names = [
    ...text.matchAll(
      /\bimport\s+(?:\*\s*as\s+)?(?<name>[A-Za-z_$][\w$]*)\s+from\s*["'](?<source>[^"'\n]+)["']/g,
    ),
    ...text.matchAll(
      /\b(?:const|let|var)\s+(?<name>[\w$]+)\s*=\s*(?:await\s+)?(?:require|import)\(["'](?<source>[^"'\n]+)["']/g,
    ),
    ...text.matchAll(/^\s*(?:>>> )?import\s+(?<source>[\w.]+)(?:\s+as\s+(?<name>\w+))?\s*$/gm),
  ].flatMap(({ groups }) =>
    isOwn(groups?.source ?? "") ? [groups?.name ?? groups?.source ?? ""] : [],
  );
  if (names.length === 0) return null;

  const words = names.map((name) => name.replaceAll(/[.$]/g, String.raw`\$&`));
  return new RegExp(String.raw`(?<![\w.$"'/-])(?:${words.join("|")})\.(?=[A-Za-z_$][\w$]*\()`, "g");
}

const arrow = /^\s*(?:=>|==>|→|⇒|➜|->|returns?:?(?=\s)|result:)\s*/i;
/** "throws RangeError", "RangeError: …", "throws an error"; not "throws if …". */
const thrown =
  /^(?!.*\b(?:if|when|unless|for)\b)(?:(?:[Tt]hrows?|[Rr]aises?|[Rr]ejects with|Uncaught)\b:?\s*(?:an?\s+)?(?:`?([A-Z]\w*(?:Error|Exception)|Error)\b|(?:error|exception)\b|$)|([A-Z]\w*(?:Error|Exception)|Error)(?=:|$))/;

function parseScript(lines: readonly string[], names: ReadonlySet<string>): readonly AnswerStep[] {
  const steps: AnswerStep[] = [];
  const known = new Set(names);
  let statement = "";

  for (const [index, line] of lines.entries()) {
    const { code, comment } = splitComment(line);
    const isAlone = code.trim() === "";

    // Of a line of its own only an arrow says that it is about the one above.
    const last = steps.at(-1);
    const isBelowCode = statement === "" && lines[index - 1]?.trim() !== "";
    const isOpenCall = last?.wanted === null && last.constant === null;
    if (isAlone && isBelowCode && isOpenCall && arrow.test(comment)) {
      steps.splice(-1, 1, { ...last, wanted: readComment(comment) });
    }

    if (isAlone && /^(?:on|under|assuming|given|after)\b/i.test(comment)) return steps; // A3

    statement = `${statement}\n${code}`.trim();
    if (statement === "" || isOpen(statement)) continue;
    const whole = statement.replace(/;$/, "");
    statement = "";
    if (importStatement.test(whole)) continue;

    const step = readStatement(whole, known);
    if (step === null && /[\w$\])]\s*\(|`|=/.test(whole)) return steps; // A2
    if (step !== null) {
      steps.push(step.constant === null ? { ...step, wanted: readComment(comment) } : step);
    }
  }

  return steps;
}

const importStatement =
  /^(?:import\b(?!\()|export\b|(?:const|let|var)\b[^=]*=\s*(?:await\s+)?(?:require|import)\()/;

/** A line's code, and the text of the comment behind it. */
function splitComment(line: string): { readonly code: string; readonly comment: string } {
  const masked = maskText(line, "js", "comments");
  const code = masked.replace(/(?:\/\/|\/\*\s*\*\/)\s*$/, "").trimEnd();
  const [, comment = ""] = /^\s*\/[/*]([^]*?)(?:\*\/)?$/.exec(line.slice(code.length)) ?? [];
  return { code, comment: comment.trim() };
}

/** Whether a statement has more opening than closing brackets, so that it goes on. */
function isOpen(statement: string): boolean {
  const code = maskText(statement, "js");
  const count = (brackets: RegExp): number => code.match(brackets)?.length ?? 0;
  return count(/[([{]/g) > count(/[)\]}]/g);
}

function readStatement(whole: string, known: Set<string>): AnswerStep | null {
  const [, constant, value = ""] =
    /^(?:const|let|var)\s+([\w$]+)(?:\s*:[^=]+)?\s*=\s*([^]+)$/.exec(whole) ?? [];
  if (constant !== undefined && isValue(value)) {
    known.add(constant);
    return { code: value, constant, wanted: null };
  }

  const printed = /^console\.log\(([^]+)\)$/.exec(whole)?.[1];
  const called = constant === undefined ? whole : value;
  const code = (printed ?? called).trim().replace(/^await\s+/, "");
  return isPlainCall(code, known) ? { code, constant: null, wanted: null } : null;
}

/** A1: one call with nothing behind it. */
function isPlainCall(code: string, known: ReadonlySet<string>): boolean {
  const name = /^([A-Za-z_$][\w$]*)\(/.exec(code)?.[1];
  if (name === undefined || !known.has(name) || !code.endsWith(")")) return false;
  if (findClosingBracket(maskText(code, "js"), code.indexOf("(")) !== code.length) return false;

  return isClosedOver(toFinite(code), known) && !/\bMath\.random\b/.test(code);
}

/** Numbers without digits are literals too. */
const toFinite = (code: string): string => code.replaceAll(/\b(?:NaN|Infinity)\b/g, "0");
const isValue = (code: string): boolean => code.trim() !== "" && isWrittenOut(toFinite(code));

/** What a comment says that a call gives; null if it says nothing, or not exactly. */
function readComment(comment: string): Wanted | null {
  if (aboutOtherTimes.test(comment.replaceAll(/"[^"]*"|'[^']*'/g, ""))) return null; // A3
  const hasArrow = arrow.test(comment);
  const said = comment.replace(arrow, "").trim();
  const [isThrown, first, second] = thrown.exec(said) ?? [];
  if (isThrown !== undefined) return { error: first ?? second ?? "" };
  if (/…|\.{3}|≈|~/.test(said)) return null;

  const value = readLeadingValue(said);
  const isAlone = value === said.replace(/;$/, "") && !/^\d$/.test(value);
  if (value !== null && (hasArrow || isAlone)) return { value };

  // `// => grand-hotel`, and what `console.log` prints
  const isWord = /^[^\s"'`[{(<]+$/.test(said) && !/^\W|\W$/.test(said);
  const isText = isWord && /[a-z]/i.test(said) && /[\d_./:@-]/.test(said);
  return hasArrow && isText ? { text: said } : null;
}

/** The value with which a text begins, if only an aside follows: `3.5 (the mean)`. */
function readLeadingValue(said: string): string | null {
  const masked = maskText(said, "js");
  const simple = simpleValue.exec(masked)?.[0];
  const quoted = /^(["'`])(?:\\.|(?!\1).)*\1/.exec(said)?.[0];
  const bracketEnd = /^[[{(]/.test(said) ? findClosingBracket(masked, 0) : null;
  const end = simple?.length ?? quoted?.length ?? bracketEnd ?? 0;
  if (end === 0) return null;

  const value = said.slice(0, end);
  const isAside = /^\s*(?:;|$|\(|,\s+[a-z]|[—–#]|-\s|\/\/)/.test(said.slice(end));
  return isAside && isValue(value) ? value : null;
}

const simpleValue =
  /^(?:-?(?:\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?n?|Infinity)|NaN|true|false|null|undefined|None|True|False)(?![\w.])/i;

function parseSession(lines: readonly string[], names: ReadonlySet<string>): readonly AnswerStep[] {
  const steps: AnswerStep[] = [];
  const known = new Set(names);

  for (const { code, output } of splitSession(lines)) {
    if (code === "" || /^(?:from|import)\s/.test(code)) continue;

    const [, constant = "", value = ""] = /^([A-Za-z_]\w*)\s*=(?!=)\s*([^]+)$/.exec(code) ?? [];
    if (constant !== "" && isValue(value)) {
      known.add(constant);
      steps.push({ code: value, constant, wanted: null });
      continue;
    }

    const printed = /^print\(([^]+)\)$/.exec(code)?.[1];
    const call = printed ?? code;
    if (!isPlainCall(call, known)) return steps; // A2
    steps.push({ code: call, constant: null, wanted: readOutput(output, printed !== undefined) });
  }

  return steps;
}

/** The statements of a session of Python, without comments, with the lines below each. */
function splitSession(
  lines: readonly string[],
): readonly { readonly code: string; readonly output: readonly string[] }[] {
  const statements: { parts: string[]; output: string[]; indent: string; isEnded: boolean }[] = [];

  for (const line of lines) {
    const [, indent = "", first] = /^(\s*)>>> (.*)$/.exec(line) ?? [];
    const current = statements.at(-1);
    const isContinuation = /^\s*\.\.\.(?: |$)/.test(line);

    if (first !== undefined) {
      statements.push({ parts: [first], output: [], indent, isEnded: false });
    } else if (current === undefined || current.isEnded) {
      continue;
    } else if (isContinuation && current.output.length === 0) {
      current.parts.push(line.replace(/^\s*\.\.\. ?/, ""));
    } else if (line.trim() === "" || /^\s*>>>/.test(line)) {
      current.isEnded = true;
    } else {
      current.output.push(line.slice(current.indent.length));
    }
  }

  return statements.map(({ parts, output }) => {
    const code = maskText(parts.join("\n"), "py", "comments").replaceAll(/#\s*$/gm, "").trim();
    return { code, output };
  });
}

function readOutput(output: readonly string[], isPrinted: boolean): Wanted | null {
  const text = output.join("\n").trim();
  if (text === "" || /…|\.{3}/.test(text.replace(/^Traceback[^]*\n(?=\S)/, ""))) return null;

  const lastLine = output.at(-1)?.trim() ?? "";
  const error = /^Traceback\b/.test(text) ? /^(?:\w+\.)*(\w+)/.exec(lastLine)?.[1] : undefined;
  if (error !== undefined) return { error };
  if (isPrinted) return { text };
  return isValue(text) ? { value: text } : null;
}
