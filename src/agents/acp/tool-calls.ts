// tool-calls: what the agent said it did with its tools, merged by id, and which paths it named.

import { listOf, type Loose, recordOf, textOf } from "./loose.ts";

export type ToolCall = {
  readonly title: string;
  readonly kind: string | null;
  readonly status: string;
  readonly locations: readonly string[];
  readonly diffs: readonly string[];
};

const callsMax = 10_000;
const pathsMax = 1000;
const titleCharsMax = 200;
const changing = new Set(["edit", "delete", "move"]);

export class ToolCalls {
  readonly #calls = new Map<string, ToolCall>();
  #beyond = 0;

  /** Takes a `tool_call`, a `tool_call_update` or the call named in a request for permission; arrays replace, as the protocol says. */
  merge(update: Loose): ToolCall | null {
    const id = textOf(update["toolCallId"]);
    if (id === null) return null;
    const before = this.#calls.get(id);
    if (before === undefined && this.#calls.size >= callsMax) {
      this.#beyond += 1;
      return null;
    }
    const call: ToolCall = {
      title: textOf(update["title"])?.slice(0, titleCharsMax) ?? before?.title ?? "",
      kind: textOf(update["kind"]) ?? before?.kind ?? null,
      status: textOf(update["status"]) ?? before?.status ?? "pending",
      locations: Array.isArray(update["locations"]) ? pathsOf(update["locations"]) : (before?.locations ?? []),
      diffs: Array.isArray(update["content"]) ? diffsOf(update["content"]) : (before?.diffs ?? []),
    };
    this.#calls.set(id, call);
    return call;
  }

  /** Whether a tool is at work, so that silence is no stall. */
  hasOpen(): boolean {
    return [...this.#calls.values()].some(({ status }) => status === "pending" || status === "in_progress");
  }

  get count(): number {
    return this.#calls.size + this.#beyond;
  }

  /** The paths named as changed that the given test does not let pass; a call that failed changed nothing. */
  changedOutside(isInside: (path: string) => boolean): readonly string[] {
    const changed = [...this.#calls.values()]
      .filter(({ status }) => status !== "failed")
      .flatMap(({ kind, locations, diffs }) => (kind !== null && changing.has(kind) ? [...locations, ...diffs] : diffs));
    return [...new Set(changed)].filter((path) => !isInside(path));
  }
}

/** Every path a call names, to be reached or changed. */
export const namedBy = (call: ToolCall): readonly string[] => [...call.locations, ...call.diffs];

const pathsOf = (locations: unknown): readonly string[] =>
  listOf(locations)
    .slice(0, pathsMax)
    .flatMap((location) => textOf(recordOf(location)["path"]) ?? []);

const diffsOf = (content: unknown): readonly string[] =>
  listOf(content)
    .slice(0, pathsMax)
    .map(recordOf)
    .flatMap((part) => (part["type"] === "diff" ? (textOf(part["path"]) ?? []) : []));
