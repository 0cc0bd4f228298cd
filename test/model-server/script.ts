// script: what the model shall answer, as words in double brackets. They stand in a prompt, in an
// option or in a file:
//   [[write FILE|TEXT]] a call of whatever tool writes files [[bash COMMAND]] a call of whatever
//   tool runs commands [[tool NAME|{json}]] a call of that very tool [[say TEXT]] text [[fill
//   BYTES]] text of that length [[think TOKENS]] thinking of that length [[hang MS]] silence before
//   the first byte; without MS for ever [[slow MS]] a pause before every frame [[drop]] the socket
//   is cut in mid-stream [[status CODE]] an error of the vendor's; [[status
//   CODE|{"retryAfterS":30,"times":2,"limit":"usage","midStream":true}]] [[usage {json}]] other
//   token figures than the believable ones, whole or in part
// A literal \n in TEXT is a new line. One answer is everything up to and including a call; the last
// answer has none.
//
// Invariants:
//   S1. A script without a word isn't a script.
//   S2. A script that stands several times in one prompt is one script: prompts repeat what they
//       were given.

import { type Json, numberOf, objectOf, textOf } from "./json.ts";

export type Usage = {
  /** What was neither read from nor written to a cache. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Thinking is part of it. */
  readonly outputTokens: number;
  readonly thinkingTokens: number;
};
export type Action = {
  readonly action: "write" | "bash" | "tool";
  readonly name: string;
  readonly text: string;
};
export type Refusal = {
  readonly status: number;
  readonly retryAfterS: number;
  /** How often the step is refused before it is answered; the server counts. */
  readonly times: number;
  /** A limit of requests a minute, or of what a plan or a purse allows. */
  readonly limit: "rate" | "usage";
  /** After the first frames, as an event of the stream. */
  readonly midStream: boolean;
};
export type Planned = {
  readonly text: string;
  readonly thinkingTokens: number;
  readonly action: Action | null;
  readonly hangMs: number;
  readonly slowMs: number;
  readonly isDropped: boolean;
  readonly refusal: Refusal | null;
  readonly usage: Partial<Usage>;
};

const word =
  /\[\[(write|bash|tool|say|fill|think|hang|slow|drop|status|usage)(?:[ |]([\s\S]*?))?\]\](?!\])/g;
type Word = { readonly name: string; readonly rest: string };

export const hasScript = (text: string): boolean => wordsOf(text).length > 0; // S1

/** The answers that a script plans, in order; the last one ends the turn. */
export function plannedIn(script: string): readonly Planned[] {
  const answers: Planned[] = [];
  let open: Planned = nothing;

  for (const word of wordsOf(script)) {
    open = meanings[word.name]?.(open, word.rest) ?? open;
    if (open.action === null) continue;
    answers.push(open);
    open = nothing;
  }

  return [...answers, open];
}

const nothing: Planned = {
  text: "",
  thinkingTokens: 0,
  action: null,
  hangMs: 0,
  slowMs: 0,
  isDropped: false,
  refusal: null,
  usage: {},
};

function wordsOf(text: string): readonly Word[] {
  const words = [...text.matchAll(word)].map(([, name = "", rest = ""]) => ({
    name,
    rest: rest.trim(),
  }));
  const isRepeated = (length: number): boolean =>
    words.length % length === 0 &&
    words.every(
      ({ name, rest }, at) =>
        name === words[at % length]?.name && rest === words[at % length]?.rest,
    );
  const period = words.findIndex((_, at) => at > 0 && isRepeated(at));

  return period > 0 ? words.slice(0, period) : words; // S2
}

const split = (rest: string): readonly [string, string] => {
  const at = rest.indexOf("|");
  return at < 0 ? [rest.trim(), ""] : [rest.slice(0, at).trim(), rest.slice(at + 1)];
};
const unescaped = (text: string): string => text.replaceAll("\\n", "\n");
const read = (text: string): Json => (text.trim() === "" ? {} : (JSON.parse(text) as Json));

const meanings: Readonly<Record<string, (open: Planned, rest: string) => Planned>> = {
  write: (open, rest) => {
    const [name, text] = split(rest);
    return { ...open, action: { action: "write", name, text: unescaped(text) } };
  },
  bash: (open, rest) => ({ ...open, action: { action: "bash", name: "", text: rest } }),
  tool: (open, rest) => {
    const [name, text] = split(rest);
    return { ...open, action: { action: "tool", name, text: text === "" ? "{}" : text } };
  },
  say: (open, rest) => ({ ...open, text: open.text + unescaped(rest) }),
  fill: (open, rest) => ({
    ...open,
    text:
      open.text +
      "All work and no play. ".repeat(Math.ceil(Number(rest) / 22)).slice(0, Number(rest)),
  }),
  think: (open, rest) => ({ ...open, thinkingTokens: Number(rest) }),
  hang: (open, rest) => ({ ...open, hangMs: rest === "" ? Infinity : Number(rest) }),
  slow: (open, rest) => ({ ...open, slowMs: Number(rest) }),
  drop: (open) => ({ ...open, isDropped: true }),
  status: (open, rest) => {
    const [code, more] = split(rest);
    const reported = objectOf(read(more));

    const refusal: Refusal = {
      status: Number(code),
      retryAfterS: numberOf(reported["retryAfterS"], 30),
      times: numberOf(reported["times"], Infinity),
      limit: textOf(reported["limit"]) === "usage" ? "usage" : "rate",
      midStream: reported["midStream"] === true,
    };

    return { ...open, refusal };
  },
  usage: (open, rest) => ({ ...open, usage: objectOf(read(rest)) }),
};
