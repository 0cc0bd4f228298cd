// settings-page: the settings in force, as the dashboard shows them.

import type { CommandResponse } from "../../contracts/command-response.ts";

export type SettingsPage = {
  readonly problem: string | null;
  readonly settings: readonly {
    readonly key: string;
    readonly value: unknown;
    readonly from: string;
    readonly file?: string;
    readonly line?: number;
  }[];
  readonly warnings: readonly string[];
};

/** From what `config show` answers. */
export function buildSettingsPage({
  result,
  message,
  data,
  warnings,
}: CommandResponse): SettingsPage {
  return {
    problem: result === "FAIL" ? message : null,
    settings: (data?.["settings"] ?? []) as SettingsPage["settings"],
    warnings,
  };
}
