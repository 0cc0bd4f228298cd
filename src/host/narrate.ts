import type { Entry } from "../contracts/event.ts";
import { milestone } from "../faces/progress.ts";
import type { Place } from "./place.ts";

/** Tells the person at the terminal what happens, fact by fact. */
export function narrate(place: Place): (entry: Entry) => void {
  return (entry) => {
    const line = milestone(entry);
    if (line !== null) place.show(line);
  };
}
