// quality: audits this code base: resumes the open audit, or drafts and starts a new one.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { goDraft, goNew, type GoFlags } from "../../runner/go-draft.ts";
import { listObjectiveFlags } from "../../playbooks/contract/go-input.ts";
import { readOpenRun } from "../../project/runs/read-open-run.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals } from "../../project/respond.ts";
import { resumeRun } from "../../runner/resume-run.ts";

const flowName = "quality";

export type QualityInput = GoFlags & {
  readonly benchmark?: string | undefined;
  readonly leverState?: string | undefined;
  readonly playbookVersion?: string | undefined;
  readonly targetPath?: string | undefined;
  readonly runner?: string | undefined;
  readonly requireDocs?: boolean | undefined;
};

/** Flags that describe an audit ask for a new one; without any the open one is resumed. */
export function quality(context: CommandContext, input: QualityInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const flagOptions = {
      benchmark: input.benchmark,
      lever_state: input.leverState,
      playbook_version: input.playbookVersion,
      target_path: input.targetPath,
      require_docs: input.requireDocs === true ? "true" : undefined,
    };
    const setOptions = Object.fromEntries(
      Object.entries(flagOptions).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    );

    const options = { ...input.options, ...setOptions };
    const agent = input.runner ?? input.agent;
    const request = { ...input, ...(agent === undefined ? {} : { agent }), options };
    const isNewRequest =
      Object.keys(options).length > 0 ||
      listObjectiveFlags({ ...request, options: undefined }).length > 0 ||
      (input.scope ?? []).length > 0;
    const loaded = isNewRequest ? null : await readOpenRun(context, flowName, input.run);
    if (loaded === null) return goNew(context, { ...request, words: [], flow: flowName });
    const { paths, run, view } = loaded;
    if (view.status !== "draft") return resumeRun(context, loaded, input);
    const { explainStale } = await import("../../runner/draft/draft-in-force.ts");

    return goDraft(context, { paths, run, stale: await explainStale(context, paths, view) }, input);
  });
}
