// spec: the type of a command's specification: its arguments, flags and texts. The parser, the
// help, the completions and the reference all read this data. Only `run` is code, and it imports
// its use case when it is called, so that `status` never loads what `go` needs.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";

/** Names that a completion script asks autopilot for. */
export type CompletionNames = "flows" | "schemas";

export type FlagSpec = {
  readonly name: string;
  readonly short?: string;
  /**
   * `flag` takes no value; `number` a whole one of at least `min` (without it 0) and at most `max`;
   * `enum` one of `values`.
   */
  readonly kind: "flag" | "text" | "number" | "enum";
  /** May be given more than once. */
  readonly isRepeatable?: boolean;
  readonly about: string;
  readonly values?: readonly string[];
  readonly placeholder?: string;
  readonly min?: number;
  readonly max?: number;
  /** Names that only this folder knows; completions ask for them. */
  readonly names?: CompletionNames;
  /** The default, in words. */
  readonly defaultText?: string;
  /** A text must match; `says` is its form in words. */
  readonly form?: { readonly matches: RegExp; readonly says: string };
  /** Another flag that cannot be beside this one. */
  readonly excludes?: string;
  /** Accepted, but neither in the help nor completed. */
  readonly isHidden?: boolean;
  /** Few need it: help shows it after the others, and only as far as there is room. */
  readonly isRare?: boolean;
};

export type ArgumentSpec = {
  readonly name: string;
  readonly about: string;
  readonly isRepeatable?: boolean;
  readonly isOptional?: boolean;
  readonly values?: readonly string[];
  readonly names?: CompletionNames;
};

/** Holds only flags that the command knows and values that their kinds allow. */
export type ParsedInput = {
  readonly words: readonly string[];
  readonly run: string | undefined;
  flag(name: string): boolean;
  text(name: string): string | undefined;
  texts(name: string): readonly string[] | undefined;
  number(name: string): number | undefined;
};

export type Command = {
  /** One word, or two: `budget raise`. */
  readonly name: string;
  readonly summary: string;
  /** The arguments in the usage line. */
  readonly usage: string;
  readonly details: readonly string[];
  readonly arguments: readonly ArgumentSpec[];
  readonly flags: readonly FlagSpec[];
  /** Whether `--run ID` means something here. */
  readonly takesRun: boolean;
  /**
   * Set if, in a portfolio's folder, `--run` may also name a task's run: whether the command only
   * reads that run, or changes it.
   */
  readonly ofTask?: "reads" | "changes";
  /**
   * The message at the first interrupt, which asks to come to rest; the second exits. Without it
   * the first one exits.
   */
  readonly onInterrupt?: string;
  /**
   * The message at the second interrupt, which cuts the work short; then the third exits. Without
   * it the second one exits.
   */
  readonly onSecondInterrupt?: string;
  /**
   * The message when the system asks the process to end, and nothing is waited for. Default: that
   * of the first interrupt.
   */
  readonly onTerminate?: string;
  /**
   * Whether the page is for programs (a script, JSON lines): it goes out as it is, with nothing
   * around it.
   */
  readonly isRaw?: (input: ParsedInput) => boolean;
  /** `print` puts a line on stdout as it is, while the command still works. */
  readonly run: (
    context: CommandContext,
    input: ParsedInput,
    print: (line: string) => void,
  ) => Promise<CommandResponse>;
};

/** Flags that every command knows. */
export const globalFlags: readonly FlagSpec[] = [
  { name: "json", kind: "flag", about: "Print one JSON object on stdout." },
  {
    name: "directory",
    short: "C",
    kind: "text",
    placeholder: "DIR",
    about: "Act as if started in DIR.",
  },
  {
    name: "run",
    kind: "text",
    placeholder: "ID",
    about: "Use this run instead of the current one.",
  },
  {
    name: "verbose",
    short: "v",
    kind: "flag",
    about: "Show everything, not only what fits a screen.",
  },
  { name: "help", short: "h", kind: "flag", about: "Show help." },
  { name: "version", short: "V", kind: "flag", about: "Show the version." },
  { name: "no-color", kind: "flag", about: "No colour. NO_COLOR does the same." },
];

/**
 * The messages of `go` and of other commands that drive a run, when they are interrupted or asked
 * to end.
 */
export const pausesWhenInterrupted: Pick<
  Command,
  "onInterrupt" | "onSecondInterrupt" | "onTerminate"
> = {
  onInterrupt: "! Pausing when the turn ends. Ctrl-C again pauses now; `autopilot resume` goes on.",
  onSecondInterrupt:
    "! Pausing now: the turn is cut short, its changes are saved aside. Ctrl-C again leaves without waiting.",
  onTerminate: "! Asked to end: pausing now, the turn is set aside. `autopilot resume` goes on.",
};

/** Names that a later version will use: they are refused rather than taken for goal words. */
export const reservedNames: readonly string[] = ["hub"];
