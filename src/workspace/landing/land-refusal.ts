// land-refusal: a landing's answer that nothing was moved, and why.

import type { LandResult } from "../../ports/workspace.ts";

export type LandRefusal = Extract<LandResult, { readonly landed: false }>;

export const createRefusal = (because: LandRefusal["because"], detail: string): LandRefusal => ({
  landed: false,
  because,
  detail,
});
