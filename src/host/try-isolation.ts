import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IsolationInForce } from "../contracts/event.ts";
import type { Home } from "./home.ts";
import { isolationFor } from "./isolation-for.ts";

/** Tests the isolation a run would have, in a folder that goes again; refused where it does not hold. */
export async function tryIsolation(wanted: string, home: Home): Promise<IsolationInForce> {
  const folder = mkdtempSync(join(tmpdir(), "autopilot-isolation-"));
  try {
    const { level, mechanism, enforced, not_enforced } = await isolationFor(wanted, home, folder);
    return { level, mechanism, enforced: [...enforced], not_enforced: [...not_enforced] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
