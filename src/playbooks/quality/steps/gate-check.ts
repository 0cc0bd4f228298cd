// gate-check: one check of the terminal gate by its verdict, and how its reason lists names.

import type { GateCheck } from "../../../contracts/quality/quality-facts.ts";
import { listSome } from "../../../kit/list-some.ts";

const namesShownMax = 10;

export const passed = (name: string, reason: string): GateCheck => ({
  name,
  verdict: "pass",
  reason,
});

export const warned = (name: string, reason: string): GateCheck => ({
  name,
  verdict: "warn",
  reason,
});

export const failed = (name: string, reason: string): GateCheck => ({
  name,
  verdict: "fail",
  reason,
});

export const skipped = (name: string, reason: string): GateCheck => ({
  name,
  verdict: "skip",
  reason,
});

export const listNames = (names: readonly string[]): string => listSome(names, namesShownMax);
