import type { Entry } from "../contracts/event.ts";
import { milestone } from "../faces/progress.ts";
import type { Place } from "./place.ts";

/** Tells the person at the terminal what happens, fact by fact. */
export function narrate(place: Place): (entry: Entry) => void {
  const kinds = new Map<string, string>();
  return (entry) => {
    if (entry.event === "step_started") kinds.set(entry.attempt, entry.kind);
    const line = milestone(entry, (attempt) => kinds.get(attempt) ?? null);
    if (line !== null) place.show(line);
  };
}
