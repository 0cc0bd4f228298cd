import { mayResume } from "../core/breaker.ts";
import { settingsOf } from "./settings.ts";
import type { Place } from "./place.ts";
import { refuse } from "./reply.ts";
import type { Standing } from "./standing.ts";
import { systemClock } from "./system-clock.ts";

/** Whether a run may be taken up now: nobody else owns it, the breaker has cooled down. Gives what should be said beforehand. */
export async function mayTakeUp(place: Place, standing: Standing, input: { readonly now?: boolean | undefined; readonly adoptConfig?: boolean | undefined }): Promise<string[]> {
  const { run, view, owner, home } = standing;
  const where = { run_id: run, state: view.status };
  if (owner !== null) refuse("run_locked", { ...where, message: `${run} is being worked on by process ${owner.pid}.`, data: { pid: owner.pid }, remediation: ["autopilot watch", "autopilot pause"] });
  const hot = mayResume(view, systemClock.now(), input.now ?? false);
  if (hot !== null) refuse("breaker_open", { ...where, message: `The breaker stays open until ${hot.until}: ${hot.reason}.`, remediation: [`autopilot resume after ${hot.until}`, "autopilot resume --now"], data: { cooldown_until: hot.until } });
  const { hash } = settingsOf(place, home);
  if (hash === view.drafted.config_hash || input.adoptConfig === true) return [];
  return ["Config changed since the run began; it goes on with its recorded copy (--adopt-config takes the new one)."];
}
