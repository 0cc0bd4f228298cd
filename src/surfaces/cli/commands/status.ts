// status: the full `status` command, including the response when there is no run.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";
import { statusCommand } from "./status-command.ts";

export const status: Command = {
  ...statusCommand,
  run: async (context, input) =>
    (await import("../../../commands/status.ts")).status(
      context,
      omitUndefined({ run: input.run }),
      {
        idle: async (root) =>
          (await import("../../../commands/status-idle.ts")).respondWithoutRun(context, root),
        playbookStatus: async (playbook, root) =>
          playbook === "staged"
            ? (await import("../../../commands/staged/staged-progress.ts")).readStagedProgress(root)
            : null,
      },
    ),
};
