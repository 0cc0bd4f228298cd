// noise-floor: parses the noise floor: a number in the figure's own unit, or a share of the earlier figure.

import { refuse } from "../../project/respond.ts";

/** `0.05`, or `5%`. */
export function parseNoiseFloor(typed: string | undefined, standard: string): { readonly floor: number; readonly isRelative: boolean } {
  const text = (typed ?? standard).trim();
  const [, digits, percent] = /^(\d{1,12}(?:\.\d{1,9})?|\.\d{1,9})(%)?$/.exec(text) ?? [];
  const value = Number(digits);
  if (digits === undefined || !Number.isFinite(value))
    refuse("calibration_input_invalid", { message: `--noise-floor is ${text}, expected a number such as 0.05, or a share such as 5%.` });
  return percent === undefined ? { floor: value, isRelative: false } : { floor: value / 100, isRelative: true };
}
