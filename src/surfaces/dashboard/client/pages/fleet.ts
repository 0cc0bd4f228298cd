// fleet: the page of a shared store: its workers and their leases, waiting orders, and runs that were taken over. It only shows; commands
// act.

import { type Child, el, foreignText } from "../../../../views/web/element.ts";
import { fleetBoard } from "../../../../views/web/fleet-board.ts";
import { emptyState, commandBox, notice } from "../../../../views/web/components.ts";
import { icon, stateIcon } from "../../../../views/web/icons.ts";
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
        { icon: stateIcon("bad"), kind: "bad" },
        "The store could not be asked.",
        el("div.second", foreignText(fleet.problem)),
        commandBox("autopilot fleet doctor", copy),
      ),
    ];
  if (fleet.board === null)
    return [
      h1("Fleet"),
      emptyState(
        {
          icon: icon("fleet"),
          title: "No store is named",
          text: "Several machines share one database and one git repository; each takes runs as it has room.",
        },
        commandBox("autopilot fleet init --store postgres://USER@HOST/DATABASE", copy),
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
