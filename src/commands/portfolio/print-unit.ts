// print-unit: prints a systemd unit and a cron line that keep this portfolio going. Installs
// nothing.

import { realpathSync } from "node:fs";
import type { CommandResponse } from "../../contracts/command-response.ts";
import {
  hasControlCharacter,
  renderCronLine,
  renderSystemdUnit,
} from "../../portfolio/views/unit-file.ts";
import { requirePortfolio } from "../../portfolio/store/folder.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { refuseInput } from "./portfolio-input.ts";

/** `every`: how often the portfolio is worked on, such as `30m`. */
export function printUnit(
  context: CommandContext,
  { every }: { readonly every: string },
): Promise<CommandResponse> {
  return catchRefusals(() => {
    const { root } = requirePortfolio(context);
    const program = [process.execPath, realpathSync(process.argv[1] ?? "")];

    const schedule = {
      program,
      folder: root,
      every,
      path: context.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    };
    if (hasControlCharacter(schedule)) {
      return refuseInput("The folder's or program's path holds a line break or control character.");
    }

    const [unit, cron] = [renderSystemdUnit(schedule), renderCronLine(schedule)];
    return Promise.resolve(
      respond("ok", {
        message: "Nothing was installed.",
        page: [
          "# systemd: save as ~/.config/systemd/user/autopilot.service, then systemctl --user enable --now autopilot",
          ...unit,
          "",
          "# or cron: crontab -e, one line",
          cron,
        ],
        data: { systemd: unit.join("\n"), cron },
      }),
    );
  });
}
