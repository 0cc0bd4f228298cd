// racer: a process that tries to own a run when told to. Spoken to by lines on stdin, answers by
// lines on stdout.
//   race <dir> <at> at that time (ms since 1970) try to open; answers {"owner":pid} or
//   {"kind":…,"pid":…} write <dir> open and append for ever; answers the number of each
//   acknowledged line end close what is open; answers {"ended":true}

import { createInterface } from "node:readline";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import { openJournal } from "../../src/journal/file-journal.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { skipped, still } from "../../src/journal/scene.test-support.ts";

let journal: Journal | null = null;
const say = (answer: unknown) => process.stdout.write(`${JSON.stringify(answer)}\n`);

async function obey(line: string): Promise<void> {
  const [verb, dir = "", at = "0"] = line.split(" ");
  if (verb === "end") {
    await journal?.close();
    journal = null;
    say({ ended: true });

    return;
  }

  // Wait asleep, then awake, so that all racers leave together.
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, Number(at) - Date.now() - 2)));
  while (Date.now() < Number(at));
  try {
    ({ journal } = await openJournal(dir, still));
    say({ owner: process.pid });
  } catch (error) {
    say(error instanceof JournalFailure ? error.trouble : { kind: String(error) });
  }

  if (verb === "write" && journal !== null) await writeForEver(journal);
}

async function writeForEver(owned: Journal): Promise<never> {
  for (let n = 1; ; n++) {
    say(owned.appendSync([skipped(n), skipped(n)]).length + 2 * (n - 1));
    if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

createInterface({ input: process.stdin }).on("line", (line) => void obey(line));
