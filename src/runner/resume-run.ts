// resume-run: resumes a run that was paused, reached its cycle limit or was interrupted by a crash.

import type { CommandResponse } from "../contracts/command-response.ts";
import { whyResumeBlocked } from "../core/breaker.ts";
import { hasFailed } from "../core/selectors.ts";
import type { StagedAsks } from "../contracts/staged-asks.ts";
import { loadPlaybook } from "../playbooks/registry/table.ts";
import { readRequests, removeRequest } from "../project/requests/request-files.ts";
import { findPolicyChange } from "./draft/run-policy.ts";
import { requireSettings } from "../project/config/settings.ts";
import { toActor, type CommandContext } from "../project/command-context.ts";
import { refuse } from "../project/respond.ts";
import { refuseIfForeign } from "../project/runs/require-own-run.ts";
import { toReasonCode, requireStatus, type LoadedRun } from "../project/runs/loaded-run.ts";
import { systemClock } from "../project/runs/system-clock.ts";
import type { OpenRun } from "./open-run.ts";
import { workUntilRest } from "./work-until-rest.ts";

export type ResumeInput = {
  readonly now?: boolean | undefined;
  readonly adoptConfig?: boolean | undefined;
  readonly maxCycles?: number | undefined;
  readonly asks?: StagedAsks | undefined;
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
  earlierWarnings: readonly string[] = [],
): Promise<CommandResponse> {
  const { paths, run } = loaded;
  refuseIfForeign(context, paths, run);
  if (input.isExplicit !== true && hasFailed(loaded.view)) refuseFailed(loaded);
  const configWarnings = await requireResumable(context, loaded, input);
  const playbook = await loadPlaybook(loaded.view.drafted.flow.playbook);

  const preparation = await playbook?.prepareResume?.({
    context,
    paths,
    view: loaded.view,
    flags: input.flags ?? new Set(),
  });

  return workUntilRest(context, {
    paths,
    run,
    options: input,
    warnings: [...earlierWarnings, ...configWarnings, ...(preparation?.warnings ?? [])],
    begin: async (openRun) => {
      requireStatus({ ...loaded, view: openRun.view() }, "resume", "paused", "running"); // another terminal may have been quicker
      const adoption = { context, paths, run: openRun.view(), storeScript: openRun.putBlob };
      const change = await findPolicyChange(adoption, { isAdopted: input.adoptConfig === true });
      if (change !== null) await openRun.append(change);
      for (const text of preparation?.blobs ?? []) await openRun.putBlob(text);
      for (const event of preparation?.events ?? []) await openRun.append(event);
      await removePauseRequests(openRun.folder);
      await appendResume(context, openRun, input);
    },
  });
}

async function appendResume(
  context: CommandContext,
  openRun: OpenRun,
  { now }: ResumeInput,
): Promise<void> {
  const { status, asked, asker } = openRun.view();
  // Its process ended before the requested pause took effect. The pause is recorded first: the
  // resume is the later request.
  if (status === "running" && asked === "pause") {
    await openRun.append({
      ...asker,
      event: "run_paused",
      reason_code: "operator_paused",
      from_state: "running",
      to_state: "paused",
    });
  }

  if (openRun.view().status !== "paused") return;
  await openRun.append({
    event: "run_resumed",
    request: `resume:${openRun.view().seq}`,
    actor: toActor(context),
    reason_code: "operator_resumed",
    from_state: "paused",
    to_state: "running",
    ...(now === true ? { now: true } : {}),
  });
}

function refuseFailed({ run, view }: LoadedRun): never {
  return refuse(toReasonCode(view.reason, "phase_failed"), {
    run_id: run,
    state: view.status,
    message: `${run} failed${view.detail === null ? "" : ` (${view.detail})`}. Nothing was run again.`,
    remediation: [
      "autopilot report says why",
      "autopilot resume tries once more",
      "autopilot stop ends it",
    ],
  });
}

/** Removes pause requests that no process took: the resume is the later request. */
async function removePauseRequests(folder: string): Promise<void> {
  for (const request of await readRequests(folder)) {
    if (request.event === "control_requested" && request.control === "pause") {
      await removeRequest(folder, request.request);
    }
  }
}

/**
 * Refuses if another process owns the run or the breaker has not cooled down. Returns warnings
 * about the config.
 */
async function requireResumable(
  context: CommandContext,
  loaded: LoadedRun,
  input: ResumeInput,
): Promise<string[]> {
  const { run, view, owner, paths } = loaded;
  const runFields = { run_id: run, state: view.status };

  if (owner !== null) {
    refuse("run_locked", {
      ...runFields,
      message: `${run} is being worked on by process ${owner.pid}.`,
      data: { pid: owner.pid },
      remediation: ["autopilot watch", "autopilot pause"],
    });
  }

  const blocked = whyResumeBlocked(view, systemClock.now(), input.now ?? false);
  if (blocked !== null) {
    refuse(blocked.reason, {
      ...runFields,
      message: `The breaker stays open until ${blocked.until}${blocked.reason === "breaker_open" ? "" : ", or until the phase may use more"}.`,
      remediation: [
        ...(blocked.reason === "breaker_open"
          ? []
          : ["autopilot budget raise phase.tokens=+100k, then autopilot resume"]),
        `after ${blocked.until}: autopilot resume`,
        "autopilot resume --now",
      ],
      data: { cooldown_until: blocked.until },
    });
  }

  const { hash } = requireSettings(context, paths);
  if (hash === view.drafted.config_hash || input.adoptConfig === true) return [];
  return [
    "Config changed since the run began; it goes on with its recorded copy (--adopt-config takes the new one).",
  ];
}
