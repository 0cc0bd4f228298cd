import { chooseBox, questionsOf } from "../faces/choose-box.ts";
import { own } from "../core/record.ts";
import { stepsOf } from "../core/reading.ts";
import type { RunView } from "../core/state.ts";
import { isVerdict } from "../faces/verdicts.ts";
import type { Hand } from "./open-run.ts";
import type { Place } from "./place.ts";

/** Puts the open question to the person at the terminal. True: it is answered, and the run goes on now. */
export async function answerHere(place: Place, hand: Hand): Promise<boolean> {
  const run = hand.view();
  const questions = questionsOf(run);
  const question = questions.find(({ block }) => own(run.blocks, block)?.hold === true) ?? questions[0];
  if (question === undefined) return false;
  for (const line of chooseBox(question)) place.show(line);
  const keys = Object.keys(question.options);
  const answer = await place.ask(keys.length === 0 ? "Your answer:" : "Choose", keys);
  if (answer === null || answer === "") return false;
  const issues = await issuesFor(place, own(run.blocks, question.block), answer);
  if (issues === null) return false;
  const leaves = leavesWith(run, question.block, answer);
  const actor = `operator:${place.user}`;
  await hand.append({
    event: "block_answered",
    request: `here:${run.seq}`,
    block: question.block,
    answer,
    ...(issues.length === 0 ? {} : { issues: [...issues] }),
    actor,
    reason_code: "block_answered",
  });
  if (leaves) return false;
  await hand.append({
    event: "run_resumed",
    request: `resume:${hand.view().seq}`,
    actor,
    reason_code: "operator_resumed",
    from_state: "paused",
    to_state: "running",
  });
  return true;
}

/** What is wrong, where a verdict says that something is; null where nobody says it, and without it there is nothing to put right. */
async function issuesFor(place: Place, block: RunView["blocks"][string] | undefined, answer: string): Promise<readonly string[] | null> {
  if (block === undefined || !isVerdict(block) || answer === "pass") return [];
  const issue = (await place.ask("What is wrong? In one line:", []))?.trim() ?? "";
  if (issue !== "") return [issue];
  return answer === "issues_found" ? null : [];
}

/** Whether the flow ends this invocation with that answer. */
function leavesWith(run: RunView, id: string, answer: string): boolean {
  const block = own(run.blocks, id);
  const walk = block === undefined ? undefined : own(run.walks, block.walk);
  if (block === undefined || walk === undefined || block.house) return false;
  return stepsOf(run, walk).find((step) => step.id === block.step)?.human?.leaves === answer;
}
