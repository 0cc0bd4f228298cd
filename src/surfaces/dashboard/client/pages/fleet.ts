// fleet: the workers of a store, their leases, what waits for them and what was taken over. Looked at, never acted on: commands do that.

import { type Child, el, foreignText } from "../../../../views/web/element.ts";
import { fleetBoard } from "../../../../views/web/fleet-board.ts";
import { blank, command, notice } from "../../../../views/web/pieces.ts";
import { icon, mark } from "../../../../views/web/shapes.ts";
import { figure, plural } from "../../../../views/web/page-figures.ts";
import { copy } from "../actions.ts";
import { h1 } from "../controls.ts";
import { state } from "../store.ts";

export function fleetPage(): Child {
  const { fleet } = state;
  if (fleet === null) return h1("Fleet");
  if (fleet.problem !== null)
    return [
      h1("Fleet"),
      notice(
        mark("bad"),
        "bad",
        "The store could not be asked.",
        el("div.second", foreignText(fleet.problem)),
        command("autopilot fleet doctor", copy),
      ),
    ];
  if (fleet.board === null)
    return [
      h1("Fleet"),
      blank(
        icon("fleet"),
        "No store is named",
        "Several machines share one database and one git repository; each takes runs as it has room.",
        command("autopilot fleet init --store postgres://USER@HOST/DATABASE", copy),
      ),
    ];
  return [
    el(
      "div.head",
      el(
        "div",
        h1("Fleet"),
        el(
          "p",
          foreignText(fleet.store ?? ""),
          `: ${plural(fleet.runs, "run")}, ${figure(fleet.take_overs)} taken over from an owner that went silent.`,
        ),
      ),
    ),
    fleetBoard(fleet.board),
  ];
}
