// usage-patterns: the patterns by which usage examples of documents are read.
// Invariants A1 and on: verify/experiments/documents/usage-examples.ts.

import { oneOf } from "../../../kit/compose-pattern.ts";

const otherTimes = String.raw`previously formerly used\x20to old legacy planned propos\w+ hypothetical
  imagine suppose pseudo\w*`;
const mistakes = String.raw`wrong wrongly bug bugs buggy incorrect\w* broken should instead`;
/** "Previously this returned", "the wrong result", "Before v2:" (A3). */
export const notAboutNow = new RegExp(
  String.raw`\b${oneOf(`${otherTimes} ${mistakes}`)}\b|` +
    String.raw`\bbefore\b(?=\s*(?:[:.,*]|$| (?:the|this|v?\d)))`,
  "i",
);

/** "On Windows", "given a file": the calls below hold elsewhere, or after something else (A3). */
export const conditionComment = /^(?:on|under|assuming|given|after)\b/i;

/** `>>> mean([1, 2])`. */
export const sessionPrompt = /^\s*>>> /;

/** `=> 1.5`, `→ 1.5`, `returns 1.5`. */
export const resultArrow = /^\s*(?:=>|==>|→|⇒|➜|->|returns?:?(?=\s)|result:)\s*/i;

const errorName = "([A-Z]\\w*(?:Error|Exception)|Error)";
const throwsWord = String.raw`(?:[Tt]hrows?|[Rr]aises?|[Rr]ejects with|Uncaught)\b:?\s*(?:an?\s+)?`;
/** "throws RangeError", "RangeError: …", "throws an error"; not "throws if …". */
export const thrownError = new RegExp(
  String.raw`^(?!.*\b(?:if|when|unless|for)\b)` +
    `(?:${throwsWord}(?:\`?${errorName}\\b|(?:error|exception)\\b|$)|${errorName}(?=:|$))`,
);

const number = String.raw`-?(?:\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?n?|Infinity)`;
const constants = "NaN true false null undefined None True False";
/** `-1.5e3`, `true`, `None`, at the beginning of a text. */
export const leadingLiteral = new RegExp(
  String.raw`^(?:${number}|${oneOf(constants)})(?![\w.])`,
  "i",
);
/** `"a"`, at the beginning of a text. */
export const leadingString = /^(["'`])(?:\\.|(?!\1).)*\1/;
/** What may follow a value: ` (the mean)`, `, because …`, `;`. */
export const asideBehindValue = /^\s*(?:;|$|\(|,\s+[a-z]|[—–#]|-\s|\/\/)/;

/** `import { mean } from "./stats.js"`, `const stats = require("stats")`. */
export const scriptImport =
  /^(?:import\b(?!\()|export\b|(?:const|let|var)\b[^=]*=\s*(?:await\s+)?(?:require|import)\()/;
/** `const values: number[] = [1, 2]`: the name, and the value. */
export const scriptConstant = /^(?:const|let|var)\s+([\w$]+)(?:\s*:[^=]+)?\s*=\s*([^]+)$/;
/** `values = [1, 2]`: the name, and the value. */
export const sessionConstant = /^([A-Za-z_]\w*)\s*=(?!=)\s*([^]+)$/;

const requireCall = String.raw`(?:await\s+)?(?:require|import)\(["'](?<module>[^"'\n]+)["']`;

/** Imports of names: `names` has them, `module` is where they come from. */
export const namedImports: readonly RegExp[] = [
  // `import { sum } from "lodash"`
  /\bimport\s+(?<names>[^;"'`]{1,400}?)\s+from\s*["'](?<module>[^"'\n]+)["']/g,
  // `const { sum } = require("lodash")`
  new RegExp(
    String.raw`\b(?:const|let|var)\s+(?<names>\{[^}]*\}|[\w$]+)\s*=\s*${requireCall}`,
    "g",
  ),
  // `from math import fsum`
  /^\s*(?:>>> )?from\s+(?<module>[\w.]+)\s+import\s+(?<names>[^\n]+)/gm,
];

/** Imports of a whole module under a name, or under its own. */
export const moduleImports: readonly RegExp[] = [
  // `import * as stats from "./stats.js"`
  /\bimport\s+(?:\*\s*as\s+)?(?<name>[A-Za-z_$][\w$]*)\s+from\s*["'](?<module>[^"'\n]+)["']/g,
  // `const stats = require("./stats.js")`
  new RegExp(String.raw`\b(?:const|let|var)\s+(?<name>[\w$]+)\s*=\s*${requireCall}`, "g"),
  // `import stats as st`
  /^\s*(?:>>> )?import\s+(?<module>[\w.]+)(?:\s+as\s+(?<name>\w+))?\s*$/gm,
];

/** Functions that the document defines itself. */
export const definedNames: readonly RegExp[] = [
  // `function sum(`, `def sum(`
  /^\s*(?:>>> )?(?:async\s+)?(?:function\*?|def|class)\s+([\w$]+)/gm,
  // `const sum = (a, b) =>`
  /^\s*(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:\([^)]*\)|[\w$]+)\s*=>/gm,
];
