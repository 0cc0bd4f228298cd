import type { Flow } from "../contracts/flow.ts";
export function explore(_flow: Flow): { states: number; findings: string[] } {
  return { states: 0, findings: [] };
}
