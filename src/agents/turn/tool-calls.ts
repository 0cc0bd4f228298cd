// tool-calls: keeps an agent's tool calls, merged by id, and finds the paths they name.

import type { AttemptId } from "../../contracts/ids.ts";
import type { LiveEvent } from "../../contracts/live-event.ts";
import { asArray, type JsonObject, asRecord, asString } from "./untrusted-json.ts";
import { describeInput, describeOutput } from "./tool-texts.ts";

export type ToolCall = {
  readonly id: string;
  readonly title: string;
  readonly kind: string | null;
  readonly status: string;
  readonly locationPaths: readonly string[];
  readonly diffPaths: readonly string[];
  /** Paths in a tool's arguments, by the usual field names. */
  readonly inputPaths: readonly string[];
  readonly input: string | null;
  /** A tool's output so far; returned with the call's end and then dropped. */
  readonly output: string | null;
};

const callsMax = 10_000;
/** Of one call, in each of its fields. */
const pathsMax = 1000;
/**
 * Longer than any view shows. A secret cut in two is no longer recognised by the redactor, so the
 * cut lies past what is shown.
 */
const titleCharsMax = 2_000;
const changingKinds = new Set(["edit", "delete", "move"]);
/** Names of arguments that are paths: `file_path`, `from`, `target`. */
const pathFieldPattern =
  /path$|^(?:file|filename|file_name|from|to|source|destination|target|dest)$/i;

/** Whether a call of this status is still at work. */
const isOpen = (status: string): boolean => status === "pending" || status === "in_progress";

export class ToolCalls {
  readonly #calls = new Map<string, ToolCall>();
  #droppedCount = 0;

  /**
   * Adds a `tool_call`, a `tool_call_update` or the call named in a request for permission; arrays
   * replace, as the protocol says. Null if it has no id, or there are too many.
   */
  merge(update: JsonObject): ToolCall | null {
    const id = asString(update["toolCallId"]);
    if (id === null) return null;
    const previous = this.#calls.get(id);
    if (previous === undefined && this.#calls.size >= callsMax) {
      this.#droppedCount += 1;
      return null;
    }

    const call: ToolCall = {
      id,
      title: asString(update["title"])?.slice(0, titleCharsMax) ?? previous?.title ?? "",
      kind: asString(update["kind"]) ?? previous?.kind ?? null,
      status: asString(update["status"]) ?? previous?.status ?? "pending",
      locationPaths: Array.isArray(update["locations"])
        ? readLocationPaths(update["locations"])
        : (previous?.locationPaths ?? []),
      diffPaths: Array.isArray(update["content"])
        ? readDiffPaths(update["content"])
        : (previous?.diffPaths ?? []),
      inputPaths:
        update["rawInput"] === undefined
          ? (previous?.inputPaths ?? [])
          : findInputPaths(update["rawInput"]),
      input: describeInput(update["rawInput"]) ?? previous?.input ?? null,
      output: describeOutput(update) ?? previous?.output ?? null,
    };
    this.#calls.set(id, isOpen(call.status) ? call : { ...call, output: null });
    return call;
  }

  /** Whether a tool is at work, so that silence isn't a stall. */
  hasOpen(): boolean {
    return [...this.#calls.values()].some(({ status }) => isOpen(status));
  }

  /** Ends every call that is still open, and returns them. */
  closeOpen(): readonly ToolCall[] {
    const open = [...this.#calls].filter(([, { status }]) => isOpen(status));
    for (const [id, call] of open) this.#calls.set(id, { ...call, status: "cancelled" });
    return open.map(([, call]) => call);
  }

  /** How many calls were named, kept or dropped. */
  get seenCount(): number {
    return this.#calls.size + this.#droppedCount;
  }

  /** The paths named as changed that the given test rejects; a failed call changed nothing. */
  listChangedOutside(isInside: (path: string) => boolean): readonly string[] {
    const changed = [...this.#calls.values()]
      .filter(({ status }) => status !== "failed")
      .flatMap(({ kind, locationPaths, diffPaths }) =>
        kind !== null && changingKinds.has(kind) ? [...locationPaths, ...diffPaths] : diffPaths,
      );
    return [...new Set(changed)].filter((path) => !isInside(path));
  }
}

/** A call as a live event, with its output once it has ended. */
export function toLiveEvent(attempt: AttemptId, call: ToolCall, status = call.status): LiveEvent {
  const [path] = [...listCallPaths(call), ...call.inputPaths];
  return {
    signal: "tool",
    attempt,
    title: call.title,
    status,
    call: call.id,
    ...(call.kind === null ? {} : { kind: call.kind }),
    ...(path === undefined ? {} : { path }),
    ...(call.input === null ? {} : { input: call.input }),
    ...(call.output === null || isOpen(status) ? {} : { output: call.output }),
  };
}

/**
 * Every path that a call names as reached or changed, in the fields its protocol has for them; of
 * its arguments: `inputPaths`.
 */
export const listCallPaths = ({ locationPaths, diffPaths }: ToolCall): readonly string[] => [
  ...locationPaths,
  ...diffPaths,
];

/** Whether a call changes files, as far as it says so. */
export const isChanging = ({ kind, diffPaths }: ToolCall): boolean =>
  diffPaths.length > 0 || (kind !== null && changingKinds.has(kind));

const readLocationPaths = (locations: unknown): readonly string[] =>
  asArray(locations)
    .slice(0, pathsMax)
    .flatMap((location) => asString(asRecord(location)["path"]) ?? []);

const readDiffPaths = (content: unknown): readonly string[] =>
  asArray(content)
    .slice(0, pathsMax)
    .map(asRecord)
    .flatMap((part) => (part["type"] === "diff" ? (asString(part["path"]) ?? []) : []));

const findInputPaths = (raw: unknown): readonly string[] =>
  Object.entries(asRecord(raw))
    .slice(0, pathsMax)
    .flatMap(([name, value]) =>
      pathFieldPattern.test(name) &&
      typeof value === "string" &&
      value !== "" &&
      !value.includes("\n")
        ? [value]
        : [],
    );
