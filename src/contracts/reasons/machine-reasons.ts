// machine-reasons: the reason codes of the machine a run works on: sandbox, tools, repository,
// disk, journal, shared store; part of the one table in ../reason.ts.

import { type Reason, outage, reason, failsWithBoundedRetry } from "./reason-row.ts";

export const machineReasons = {
  isolation_unavailable: reason(
    "FAIL",
    "No strong enough sandbox works here.",
    "install bubblewrap, or choose --isolation clone by name",
  ),
  workspace_changed: reason("FAIL", "Something else changed the run's branch.", "autopilot doctor"),
  workspace_unusable: failsWithBoundedRetry("A run can't work in this folder.", "autopilot doctor"),
  tools_missing: reason(
    "FAIL",
    "Something that checks or a sandbox need isn't installed here.",
    "autopilot doctor says how to install each",
  ),
  packages_missing: reason(
    "FAIL",
    "The work needs packages that aren't installed.",
    "install them here, then autopilot resume",
  ),
  not_a_repository: reason(
    "FAIL",
    "Not a git repository.",
    "git init && git add -A && git commit --allow-empty -m start",
  ),
  no_commits_yet: reason(
    "FAIL",
    "The repository has no commits.",
    "git add -A && git commit -m start",
  ),
  repository_bare: reason(
    "FAIL",
    "Bare repository: no checkout to merge into.",
    "run in a clone of it",
  ),
  disk_full: outage(
    "Disk full; no recorded work is lost.",
    "free some space, then autopilot resume",
  ),
  journal_damaged: reason(
    "FAIL",
    "The run's journal is damaged.",
    "restore .autopilot/runs/<run> from a backup; autopilot validate names the line",
  ),
  lease_lost: outage(
    "Another worker has this run now, or nothing was heard of the store for too long; this process wrote and spent nothing more.",
    "autopilot fleet status shows who has it",
  ),
  worker_name_taken: reason(
    "FAIL",
    "A worker of this name is alive.",
    "give this one another name with --name",
  ),
  store_unreachable: outage("The store doesn't answer.", "autopilot fleet doctor"),
  store_unusable: outage("The store cannot be used as it is.", "autopilot fleet doctor"),
  hub_unreachable: outage(
    "The git repository through which machines exchange commits cannot be used.",
    "check AUTOPILOT_HUB, then autopilot resume",
  ),
  hub_unusable: reason(
    "FAIL",
    "A project's repository has no hub, or another one's.",
    "autopilot portfolio edit PROJECT --hub URL",
  ),
  store_lost_lines: reason(
    "FAIL",
    "The store has lost lines that it had acknowledged, as a failover to a lagging standby does. Nothing was written over them.",
    "restore the store from the server that has them; see docs/FLEET.md",
  ),
  journal_unwritable: outage(
    "Can't write to disk; what is recorded is safe.",
    "check the disk, then autopilot resume",
  ),
  journal_newer: reason("FAIL", "A newer autopilot wrote this journal.", "update autopilot"),
  journal_repaired: reason("PASS", "Removed an incomplete last line from the journal.", ""),
} as const satisfies Record<string, Reason>;
