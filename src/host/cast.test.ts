import { expect, test } from "vitest";
import type { Config } from "../contracts/config.ts";
import type { Flow } from "../contracts/flow.ts";
import { castOf } from "./cast.ts";
import type { Place } from "./place.ts";

const flow: Flow = {
  flow: "tried",
  version: 1,
  phases: [
    {
      id: "1",
      steps: [
        { id: "do", agent: "executor", prompt: "d.md" },
        { id: "look", agent: "judge", prompt: "l.md" },
      ],
    },
  ],
};
const agents = { one: { argv: ["one", "--acp"] }, two: { argv: ["two"] } };
// Nothing here reads a file, so nothing of the place is looked at.
const cast = (agent: string | undefined, config: Config): ReturnType<typeof castOf> =>
  castOf({} as Place, agent, config, flow, () => Promise.reject(new Error("there is no script to keep")));

test("a role is played by the flag's agent, else by the role's own, else by the config's", async () => {
  const config = { agents, agent: "one", roles: { judge: "two" } };
  expect(await cast(undefined, config)).toEqual({
    executor: { agent: "one", argv: ["one", "--acp"] },
    judge: { agent: "two", argv: ["two"] },
  });
  expect(await cast("two", config)).toMatchObject({ executor: { agent: "two" }, judge: { agent: "two" } });
});

test("where nobody is named for a role it is agent_unavailable, with who could be", async () => {
  await expect(cast(undefined, { agents })).rejects.toMatchObject({
    answer: { reason_code: "agent_unavailable", remediation: expect.arrayContaining(["--agent one", "--agent two"]) as string[] },
  });
});
