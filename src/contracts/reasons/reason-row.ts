// reason-row: one row of the table of reason codes, and the short ways to write one.

export type ResultWord = "PASS" | "WARN" | "FAIL";
/**
 * Whether an unattended process tries again. `always`: something outside the work is missing, full
 * or busy. `bounded`: it is unclear, so only a few times. `never`, the default: it is about the
 * work, and a person must act.
 */
export type Retry = "always" | "bounded" | "never";
export type Reason = {
  readonly meaning: string;
  readonly result: ResultWord;
  readonly hint: string;
  readonly retry?: Retry;
};

export const reason = (result: ResultWord, meaning: string, hint: string): Reason => ({
  meaning,
  result,
  hint,
});
/** Tried again for as long as it takes. */
export const outage = (meaning: string, hint: string): Reason => ({
  ...reason("FAIL", meaning, hint),
  retry: "always",
});
/** Tried again a few times. */
export const failsWithBoundedRetry = (meaning: string, hint: string): Reason => ({
  ...reason("FAIL", meaning, hint),
  retry: "bounded",
});
