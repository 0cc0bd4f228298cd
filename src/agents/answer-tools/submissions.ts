// submissions: handles an agent's calls of the runner's own tools: to submit its result, ask a
// person, or leave a note.
//
// Invariants:
//   D1. A submitted result is judged at once, and the answer names its mistakes, so that the agent
//       can fix it in the same turn.
//   D2. The last accepted result counts; a later refused one does not undo it.
//   D3. What an agent can leave here is bounded, however often it calls.

import type { Says } from "../../contracts/outcome.ts";
import type { TurnRequest } from "../../ports/agent.ts";
import type { ToolAnswer } from "../../ports/meter.ts";
import { toolNames } from "./tools.ts";
import { wholeHead } from "../../kit/whole-words.ts";

/**
 * Validates a return by the schema of this name: returns the claim with the facts it yields, or
 * every mistake as text.
 */
export type ValidateReturn = (
  name: string,
  value: unknown,
  context?: ReturnContext,
) =>
  | { readonly claim: unknown; readonly says: Says; readonly warning?: string }
  | { readonly errors: readonly string[]; readonly isJunk?: boolean };

/** The agent's prompt, and its earlier return, if known. */
export type ReturnContext = { readonly prompt?: string; readonly previous?: unknown };

export const submissionLimits = {
  callsMax: 200,
  notesMax: 20,
  noteCharsMax: 2000,
  questionCharsMax: 4000,
  optionsMax: 20,
  optionCharsMax: 500,
  errorsMax: 50,
  errorCharsMax: 1000,
} as const;

export type Submissions = {
  readonly onTool: (name: string, value: unknown) => Promise<ToolAnswer>;
  readonly accepted: () => {
    readonly claim: unknown;
    readonly says: Says;
    readonly warnings?: readonly string[];
  } | null;
  /** The mistakes of the last submitted result, if none was accepted. */
  readonly mistakes: () => readonly string[];
  readonly question: () => string | null;
  /** The answers to choose from; none if the question takes free text. */
  readonly options: () => readonly string[];
  readonly notes: () => readonly string[];
};

/** What the agent has left so far in this turn. */
type TurnSubmissions = {
  accepted: { claim: unknown; says: Says; warnings?: readonly string[] } | null;
  mistakes: readonly string[];
  question: string | null;
  options: readonly string[];
  readonly notes: string[];
  callCount: number;
};

/** Opens the submissions of one turn. `returns`: what is to be submitted; null if nothing. */
export function openSubmissions(
  returns: TurnRequest["returns"],
  validateReturn: ValidateReturn,
  context: ReturnContext = {},
): Submissions {
  const left: TurnSubmissions = {
    accepted: null,
    mistakes: [],
    question: null,
    options: [],
    notes: [],
    callCount: 0,
  };
  const judge =
    returns === null ? null : (value: unknown) => validateReturn(returns.name, value, context);

  const answer = (name: string, value: unknown): ToolAnswer => {
    left.callCount += 1;
    // D3
    if (left.callCount > submissionLimits.callsMax) {
      return refuse("Too many calls in this turn. End your turn now.");
    }

    if (name === toolNames.submit) return submitResult(left, judge, value);
    if (name === toolNames.ask) return askPerson(left, value);
    if (name === toolNames.note) return addNote(left, value);

    return refuse(`There is no tool ${JSON.stringify(name.slice(0, 100))} here.`);
  };

  return {
    onTool: (name, value) => Promise.resolve(answer(name, value)),
    accepted: () => left.accepted,
    mistakes: () => left.mistakes,
    question: () => left.question,
    options: () => left.options,
    notes: () => [...left.notes],
  };
}

type Judge = (value: unknown) => ReturnType<ValidateReturn>;

function submitResult(left: TurnSubmissions, judge: Judge | null, value: unknown): ToolAnswer {
  if (judge === null) {
    return refuse("Nothing is to be handed in here. End your turn when you are done.");
  }

  const judged = judge(value);
  if ("errors" in judged) {
    left.mistakes = judged.errors
      .slice(0, submissionLimits.errorsMax)
      .map((error) => clipText(error, submissionLimits.errorCharsMax));
    return refuse(composeRefusal(left.mistakes)); // D1
  }

  const { claim, says, warning } = judged;
  left.accepted = { claim, says, ...(warning === undefined ? {} : { warnings: [warning] }) }; // D2
  left.mistakes = [];
  return accept(
    "Accepted. If you hand in again, the last accepted result counts. End your turn when you are done.",
  );
}

function askPerson(left: TurnSubmissions, value: unknown): ToolAnswer {
  const question = readTextField(value, "question").trim();
  if (question === "") {
    return refuse("The question is missing: give it as a text under `question`.");
  }

  left.question = clipText(question, submissionLimits.questionCharsMax);
  left.options = readListField(value, "options")
    .map((option) => clipText(option.trim(), submissionLimits.optionCharsMax))
    .filter((option) => option !== "")
    .slice(0, submissionLimits.optionsMax);

  return accept(
    "Noted. Nobody answers inside this turn: end your turn now. You will be told the answer when the work goes on.",
  );
}

function addNote({ notes }: TurnSubmissions, value: unknown): ToolAnswer {
  const text = readTextField(value, "text").trim();
  if (text === "") return refuse("The note is missing: give it as a text under `text`.");

  // D3
  if (notes.length >= submissionLimits.notesMax) {
    return refuse(
      `There is room for ${submissionLimits.notesMax} notes in a turn; this one is not kept.`,
    );
  }

  notes.push(clipText(text, submissionLimits.noteCharsMax));
  return accept("Noted.");
}

const composeRefusal = (mistakes: readonly string[]): string =>
  [
    "Not accepted:",
    ...mistakes.map((error) => `- ${error}`),
    `Fix it and call ${toolNames.submit} again.`,
  ].join("\n");

const accept = (text: string): ToolAnswer => ({ ok: true, text });
const refuse = (text: string): ToolAnswer => ({ ok: false, text });
const clipText = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${wholeHead(text, charsMax)}…`;

function readField(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

function readTextField(value: unknown, key: string): string {
  const field = readField(value, key);
  return typeof field === "string" ? field : "";
}

function readListField(value: unknown, key: string): readonly string[] {
  const field = readField(value, key);
  return Array.isArray(field) ? field.filter((item) => typeof item === "string") : [];
}
