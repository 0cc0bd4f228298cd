import { realpathSync } from "node:fs";
import { relative } from "node:path";
import type { Home } from "./runs/home.ts";
import type { Place } from "./place.ts";
import { refuse } from "./reply.ts";

/** A run works on the whole repository, so one that is begun in a folder of it would run its checks elsewhere than its user expects. */
export function refuseInside(place: Pick<Place, "cwd">, home: Pick<Home, "root">): void {
  const [here, root] = [realpathSync(place.cwd), realpathSync(home.root)];
  if (here === root) return;
  const inside = relative(root, here);
  refuse("workspace_unusable", {
    message: `You are in ${inside}/, but checks and criteria run in the root of the repository, ${root}.`,
    remediation: [
      `cd ${root}`,
      `--scope "${inside}/**" keeps the changes to this folder`,
      `--done-criteria "… :: cd ${inside} && COMMAND" checks it there`,
    ],
    data: { root, inside },
  });
}
