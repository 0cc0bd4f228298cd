// requests: the requests a page may send, each handled by the same use case as its command, as the
// person who started the server.
//
// Invariants:
//   D1. Nothing is written here: every change goes through the use case, so through the run's inbox
//       or lock, and is journaled with its actor.
//   D2. The actor is never part of a request.
//   D3. An answer or approval names the content that was shown; a stop names the run.

import * as v from "valibot";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { respond } from "../../project/respond.ts";
import { answer } from "../answer.ts";
import { pause } from "../pause.ts";
import { note } from "../note.ts";
import { stop } from "../stop.ts";
import type { RunSource } from "./followed-runs.ts";
import type { ResumeApart } from "./resume-apart.ts";

const textUpTo = (charsMax: number) => v.pipe(v.string(), v.maxLength(charsMax));
const key = textUpTo(200);

const Note = v.strictObject({
  path: textUpTo(4_096),
  line: v.pipe(v.number(), v.integer(), v.minValue(0)),
  side: v.picklist(["old", "new"]),
  text: v.pipe(textUpTo(4_000), v.nonEmpty()),
});

/** What a page may ask for. No request has a field for its actor (D2). */
const PageRequest = v.variant("do", [
  v.strictObject({
    do: v.literal("answer"),
    key,
    block: textUpTo(500),
    content: textUpTo(100), // D3
    text: textUpTo(8_000),
    issues: v.optional(v.array(textUpTo(2_000))),
  }),
  v.strictObject({ do: v.literal("pause"), key, now: v.boolean() }),
  v.strictObject({ do: v.literal("resume"), key }),
  v.strictObject({
    do: v.literal("stop"),
    key,
    confirm: textUpTo(200),
    reason: v.optional(textUpTo(1_000)),
  }),
  v.strictObject({
    do: v.literal("note"),
    key,
    commit: textUpTo(64),
    notes: v.pipe(v.array(Note), v.minLength(1), v.maxLength(200)),
  }),
  v.strictObject({ do: v.literal("dispatch"), key: v.literal("portfolio"), paused: v.boolean() }),
]);
export type PageRequest = v.InferOutput<typeof PageRequest>;

/** A request, or what is wrong with it. */
export function readRequest(body: unknown): PageRequest | { readonly problem: string } {
  const parsed = v.safeParse(PageRequest, body);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;

  return { problem: `${v.getDotPath(issue) ?? "the request"}: ${issue.message}` };
}

type RequestContext = {
  readonly context: CommandContext;
  readonly sourceOf: (key: string) => RunSource | null;
  readonly resumeApart: ResumeApart;
};

/**
 * Handles a request with the use case of its command (D1); `sourceOf` finds the run that its key
 * names.
 */
export async function performRequest(
  request: PageRequest,
  { context, sourceOf, resumeApart }: RequestContext,
): Promise<CommandResponse> {
  if (request.key === "portfolio") return performPortfolioRequest(request, context);
  const source = sourceOf(request.key);
  if (source === null) {
    return respond("run_missing", {
      message: `There is no run ${request.key} here any more.`,
      remediation: ["autopilot runs"],
    });
  }

  const runContext: CommandContext = { ...context, cwd: source.paths.root };
  const { run } = source;

  switch (request.do) {
    case "answer":
      return answer(runContext, {
        run,
        block: request.block,
        text: request.text,
        content: request.content,
        issues: request.issues,
      });
    case "pause":
      return pause(runContext, { run, now: request.now });
    case "resume":
      return resumeApart(runContext, run);
    case "stop":
      if (request.confirm !== run) {
        return respond("usage", {
          message: `Type ${run} to stop it: a stopped run is never resumed.`,
          remediation: [`type ${run}`],
        });
      } // D3
      return stop(runContext, { run, reason: request.reason });
    case "note":
      return note(runContext, { run, commit: request.commit, notes: request.notes });
    default:
      return respond("usage", {
        message: "That is asked of a portfolio, not of a run.",
        remediation: ["autopilot portfolio help"],
      });
  }
}

async function performPortfolioRequest(
  request: PageRequest,
  context: CommandContext,
): Promise<CommandResponse> {
  if (request.do === "dispatch") {
    return (await import("../portfolio/change.ts")).pausePortfolio(context, {
      paused: request.paused,
    });
  }

  if (request.do !== "answer") {
    return respond("usage", {
      message: "A portfolio takes answers, and to be paused.",
      remediation: ["autopilot portfolio help"],
    });
  }

  const { answerPortfolio } = await import("../portfolio/answer.ts");
  return answerPortfolio(context, {
    block: request.block,
    content: request.content,
    text: request.text,
  });
}
