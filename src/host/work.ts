import type { Answer } from "../contracts/answer.ts";
import type { RunView } from "../core/state.ts";
import type { Home } from "./home.ts";
import { narrate } from "./narrate.ts";
import { type Hand, withRun } from "./open-run.ts";
import { outcomeOf } from "./outcome-of.ts";
import type { Place } from "./place.ts";

const isParked = ({ status, parked }: RunView): boolean => status === "paused" && parked !== undefined;

/** Takes a run in hand, lets it begin, and works until it rests. */
export async function work(
  place: Place,
  home: Home,
  run: string,
  input: { readonly maxCycles?: number | undefined },
  warnings: readonly string[],
  begin: (hand: Hand) => Promise<void>,
): Promise<Answer> {
  return withRun(place, home, run, async (hand) => {
    await begin(hand);
    const overrides = input.maxCycles === undefined ? {} : { overrides: { max_cycles: input.maxCycles } };
    let why = await hand.drive({ watch: narrate(place), ...overrides });
    while (isParked(hand.view())) {
      const { waitForProvider } = await import("./park.ts"); // rarely needed
      if (!(await waitForProvider(place, hand))) break;
      why = await hand.drive({ watch: narrate(place), ...overrides });
    }
    return outcomeOf(hand.view(), why, warnings);
  });
}
