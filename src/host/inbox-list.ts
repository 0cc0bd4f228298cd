import type { Answer } from "../contracts/answer.ts";
import type { Place } from "./place.ts";
import { answered, reply } from "./reply.ts";
import { standingOf } from "./standing.ts";

/** Every question that waits for a person. */
export function inbox(place: Place, input: { readonly run?: string | undefined }): Promise<Answer> {
  return answered(async () => {
    const { run, view } = await standingOf(place, input.run);
    const blocks = Object.values(view.blocks).map(({ block, question, options, recommend, show }) => ({
      block,
      question,
      options,
      recommend,
      show,
    }));
    const page = blocks.flatMap(({ block, question, options, recommend }) => [
      question,
      ...Object.entries(options).map(([key, about]) => `  ${key}  ${about}${key === recommend ? "  (recommended)" : ""}`),
      `  autopilot answer --block "${block}" <answer>`,
      "",
    ]);
    const message =
      blocks.length === 0
        ? "No question waits for a person."
        : `${blocks.length} ${blocks.length === 1 ? "question waits" : "questions wait"} for a person.`;
    return reply("ok", { run_id: run, state: view.status, message, page: [message, "", ...page], data: { blocks } });
  });
}
