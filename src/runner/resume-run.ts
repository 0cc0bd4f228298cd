// resume-run: resumes a run that was paused, reached its cycle limit or was interrupted by a crash.

import type { Answer } from "../contracts/answer.ts";
import { resumeBlockedBy } from "../core/breaker.ts";
import { hasFailed } from "../core/selectors.ts";
import type { Asks } from "../contracts/asks.ts";
import { loadPlaybook } from "../playbooks/registry/table.ts";
import { readRequests, removeRequest } from "../project/inbox/inbox-files.ts";
import { policyChange } from "./draft/policy.ts";
import { settingsOf } from "../project/config/settings.ts";
import { actorOf, type CommandContext } from "../project/command-context.ts";
import { refuse } from "../project/reply.ts";
import { refuseIfForeign } from "../project/runs/require-own-run.ts";
import { reasonCode, requireStatus, type LoadedRun } from "../project/runs/loaded-run.ts";
import { systemClock } from "../project/runs/system-clock.ts";
import { work } from "./work.ts";

export type ResumeInput = {
  readonly now?: boolean | undefined;
  readonly adoptConfig?: boolean | undefined;
  readonly maxCycles?: number | undefined;
  readonly asks?: Asks | undefined;
  readonly leavesParked?: boolean | undefined;
  /** Whether a person typed `resume`: nothing else continues a failed run. */
  readonly isExplicit?: boolean | undefined;
  /** Flags that a playbook understands, by name. */
  readonly flags?: ReadonlySet<string> | undefined;
};

/** Resumes a run that rests: paused, out of cycles, or left behind by a crash. */
export async function resumeRun(
  context: CommandContext,
  loaded: LoadedRun,
  input: ResumeInput,
  reported: readonly string[] = [],
): Promise<Answer> {
  const { paths, run } = loaded;
  refuseIfForeign(context, paths, run);
  if (input.isExplicit !== true && hasFailed(loaded.view)) refuseFailed(loaded);
  const may = await requireResumable(context, loaded, input);
  const playbook = await loadPlaybook(loaded.view.drafted.flow.playbook);
  const found = await playbook?.prepareResume?.({ context, paths, view: loaded.view, flags: input.flags ?? new Set() });
  const warnings = [...reported, ...may, ...(found?.warnings ?? [])];
  return work(context, paths, run, input, { all: warnings }, async (openRun) => {
    requireStatus({ ...loaded, view: openRun.view() }, "resume", "paused", "running"); // another terminal may have been quicker
    const change = await policyChange(context, paths, openRun.view(), input.adoptConfig === true, openRun.putBlob);
    if (change !== null) await openRun.append(change);
    for (const text of found?.blobs ?? []) await openRun.putBlob(text);
    for (const event of found?.events ?? []) await openRun.append(event);
    await forgetPauses(openRun.folder);
    const { status, asked, asker } = openRun.view();
    // Its process ended before the requested pause took effect. The pause is recorded first: the resume is the later request.
    if (status === "running" && asked === "pause")
      await openRun.append({ ...asker, event: "run_paused", reason_code: "operator_paused", from_state: "running", to_state: "paused" });
    if (openRun.view().status !== "paused") return;
    await openRun.append({
      event: "run_resumed",
      request: `resume:${openRun.view().seq}`,
      actor: actorOf(context),
      reason_code: "operator_resumed",
      from_state: "paused",
      to_state: "running",
      ...(input.now === true ? { now: true } : {}),
    });
  });
}

function refuseFailed({ run, view }: LoadedRun): never {
  return refuse(reasonCode(view.reason, "phase_failed"), {
    run_id: run,
    state: view.status,
    message: `${run} failed${view.detail === null ? "" : ` (${view.detail})`}. Nothing was run again.`,
    remediation: ["autopilot report says why", "autopilot resume tries once more", "autopilot stop ends it"],
  });
}

/** Pauses that no process lived to take: the resume is the later request. */
async function forgetPauses(folder: string): Promise<void> {
  for (const request of await readRequests(folder)) {
    if (request.event === "control_requested" && request.control === "pause") await removeRequest(folder, request.request);
  }
}

/** Whether a run may be resumed now: no other process owns it, and the breaker has cooled down. Returns what to tell the user first. */
async function requireResumable(context: CommandContext, loaded: LoadedRun, input: ResumeInput): Promise<string[]> {
  const { run, view, owner, paths } = loaded;
  const where = { run_id: run, state: view.status };
  if (owner !== null)
    refuse("run_locked", {
      ...where,
      message: `${run} is being worked on by process ${owner.pid}.`,
      data: { pid: owner.pid },
      remediation: ["autopilot watch", "autopilot pause"],
    });
  const blocked = resumeBlockedBy(view, systemClock.now(), input.now ?? false);
  if (blocked !== null)
    refuse(blocked.reason, {
      ...where,
      message: `The breaker stays open until ${blocked.until}${blocked.reason === "breaker_open" ? "" : ", or until the phase may use more"}.`,
      remediation: [
        ...(blocked.reason === "breaker_open" ? [] : ["autopilot budget raise phase.tokens=+100k, then autopilot resume"]),
        `after ${blocked.until}: autopilot resume`,
        "autopilot resume --now",
      ],
      data: { cooldown_until: blocked.until },
    });
  const { hash } = settingsOf(context, paths);
  if (hash === view.drafted.config_hash || input.adoptConfig === true) return [];
  return ["Config changed since the run began; it goes on with its recorded copy (--adopt-config takes the new one)."];
}
