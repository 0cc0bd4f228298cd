// ask-owner: how a command reaches a run. With a living owner it leaves a request and waits to see it done; with none it takes the run in hand itself.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunView } from "../core/state.ts";
import { eventOf, fits } from "../engine/requests.ts";
import { redactEvent } from "../kit/redact-value.ts";
import type { Request } from "../ports/inbox.ts";
import { runFolder } from "./home.ts";
import { sendRequest } from "./inbox.ts";
import { withRun } from "./open-run.ts";
import type { Place } from "./place.ts";
import { readRun } from "./read-run.ts";
import { redactionOf } from "./redaction-of.ts";
import type { Standing } from "./standing.ts";

const journaledWithinMs = 1_500;
const doneWithinMs = 8_000;
const lookEveryMs = 40;

type Asked = Request extends infer R ? (R extends Request ? Omit<R, "request" | "actor"> : never) : never;

/** Asks for something of a run and waits until `isDone`, or until it is written down where that is all one can wait for. */
export async function ask(
  place: Place,
  standing: Standing,
  asked: Asked,
  isDone: (run: RunView) => boolean,
): Promise<{ outcome: "done" | "left"; view: RunView }> {
  const request = requestOf(place, standing.home.root, asked);
  if (standing.owner === null) return { outcome: "done", view: await takeInHand(place, standing, request) };
  await sendRequest(runFolder(standing.home, standing.run), request, { waitMs: journaledWithinMs });
  const mustWait = asked.event !== "control_requested" || asked.now;
  const until = performance.now() + (mustWait ? doneWithinMs : 0);
  for (;;) {
    const { view, owner } = await readRun(standing.home, standing.run);
    if (isDone(view)) return { outcome: "done", view };
    if (owner === null) return { outcome: "done", view: await takeInHand(place, { ...standing, view }, request) };
    if (performance.now() >= until) return { outcome: "left", view };
    await sleep(lookEveryMs);
  }
}

/** What was asked for, as it may lie in a file until its owner takes it: without secrets. */
export function requestOf(place: Place, root: string, asked: Asked): Request {
  const request = { ...asked, request: randomUUID(), actor: `operator:${place.user}` } as Request;
  return redactEvent(redactionOf(place, root).redactor.text, request);
}

/** Nobody owns the run: the command takes the lock, writes the request down, and lets the run come to rest. */
async function takeInHand(place: Place, standing: Standing, request: Request): Promise<RunView> {
  return withRun(place, standing.home, standing.run, async (hand) => {
    if (hand.view().requests[request.request] !== undefined) return hand.view();
    if (!fits(hand.view(), request)) return hand.view();
    await hand.append(eventOf(hand.view(), request));
    if (request.event === "control_requested") await hand.drive();
    return hand.view();
  });
}
