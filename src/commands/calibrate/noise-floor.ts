// noise-floor: parses `--noise-floor`, the smallest difference between two figures that counts.

import { refuse } from "../../project/respond.ts";

/** `0.05` is in the figure's own unit; `5%` is relative: a share of the figure before. */
export function parseNoiseFloor(
  flagValue: string | undefined,
  defaultText: string,
): { readonly floor: number; readonly isRelative: boolean } {
  const text = (flagValue ?? defaultText).trim();
  const [, digits, percent] = /^(\d{1,12}(?:\.\d{1,9})?|\.\d{1,9})(%)?$/.exec(text) ?? [];
  const value = Number(digits);
  if (digits === undefined || !Number.isFinite(value)) {
    refuse("calibration_input_invalid", {
      message: `--noise-floor is ${text}, expected a number such as 0.05, or a share such as 5%.`,
    });
  }

  return percent === undefined
    ? { floor: value, isRelative: false }
    : { floor: value / 100, isRelative: true };
}
