// place: where a command was given, as the host sees it: progress and questions go to stderr, so that stdout holds the answer alone.

import type { Place } from "../../host/place.ts";
import { oneLine } from "../../faces/wording.ts";
import { visible } from "../../kit/visible.ts";
import type { Io } from "./io.ts";
import { progressLine } from "./render.ts";

const asksMax = 3;
const clearLine = "\r\u001b[2K";

export type PlaceSettings = {
  readonly cwd: string;
  readonly mayAsk: boolean;
  readonly hasColour: boolean;
  readonly interrupted: AbortSignal;
};

export function openPlace(io: Io, { cwd, mayAsk, hasColour, interrupted }: PlaceSettings): Place & { readonly settle: () => void } {
  let isLive = false;
  /** Takes the live line away, so that what follows begins on a clean one. */
  const settle = (): void => {
    if (isLive) io.write("err", clearLine);
    isLive = false;
  };
  const show = (line: string): void => {
    settle();
    io.write("err", `${progressLine(line, { hasColour })}\n`);
  };
  return {
    cwd,
    env: io.env,
    user: io.user,
    isTerminal: mayAsk,
    interrupted,
    settle,
    show,
    live: (line) => {
      if (!io.isTerminal.err) return;
      const cut = oneLine(line, Math.max(10, io.columns() - 1));
      io.write("err", `${clearLine}${cut}`);
      isLive = cut !== "";
    },
    ask: (question, choices) => (mayAsk ? ask({ io, interrupted, settle }, question, choices) : Promise.resolve(null)),
  };
}

/** One of the choices, by its own letters or the beginning of them; any text where there are none; null after three wrong answers. */
async function ask(
  { io, interrupted, settle }: { readonly io: Io; readonly interrupted: AbortSignal; readonly settle: () => void },
  question: string,
  choices: readonly string[],
): Promise<string | null> {
  for (let asked = 0; asked < asksMax; asked += 1) {
    settle();
    io.write("err", `${visible(question)}${choices.length === 0 ? "" : ` [${choices.map(visible).join("/")}]`} `);
    const line = await io.readLine(interrupted);
    if (line === null) {
      io.write("err", "\n");
      return null;
    }
    const word = line.trim();
    if (choices.length === 0) return word === "" ? null : word;
    const chosen = chosenBy(word.toLowerCase(), choices);
    if (chosen !== null) return chosen;
  }
  return null;
}

function chosenBy(word: string, choices: readonly string[]): string | null {
  if (word === "") return null;
  const exact = choices.find((choice) => choice.toLowerCase() === word);
  if (exact !== undefined) return exact;
  // "yes" for `y` is as good as `y` for "yes".
  const near = choices.filter(
    (choice) => choice.toLowerCase().startsWith(word) || (choice.length === 1 && word.startsWith(choice.toLowerCase())),
  );
  return near.length === 1 ? (near[0] ?? null) : null;
}
