// driving-flags: the flags shared by every command that starts or resumes a run.

import { omitUndefined } from "../../kit/omit-undefined.ts";
import type { FlagSpec, ParsedInput } from "./spec.ts";

export const yesFlag: FlagSpec = {
  name: "yes",
  kind: "flag",
  about: "Don't ask for confirmation.",
};
export const resumeFlags: readonly FlagSpec[] = [
  {
    name: "now",
    isRare: true,
    kind: "flag",
    about: "Don't wait for the circuit breaker's cooldown.",
  },
  {
    name: "adopt-config",
    isRare: true,
    kind: "flag",
    about: "Use the current config instead of the recorded one.",
  },
];
export const maxCyclesFlag: FlagSpec = {
  name: "max-cycles",
  kind: "number",
  min: 1,
  placeholder: "N",
  about: "Stop after N cycles.",
  defaultText: "20",
};

export type DrivingFlags = {
  readonly yes: boolean;
  readonly now?: boolean;
  readonly adoptConfig?: boolean;
};

/** The values of these flags. */
export const parseDrivingFlags = (input: ParsedInput): DrivingFlags => ({
  yes: input.flag("yes"),
  ...omitUndefined({
    now: input.flag("now") || undefined,
    adoptConfig: input.flag("adopt-config") || undefined,
  }),
});
