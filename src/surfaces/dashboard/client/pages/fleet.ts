// fleet: renders the page of a shared store: its workers and their leases, waiting orders, and runs
// that were taken over. It changes nothing; commands do.

import { type Child, el, foreignText } from "../../../../views/web/element.ts";
import { fleetBoard } from "../../../../views/web/fleet-board.ts";
import { emptyState, commandBox, noticeBox } from "../../../../views/web/components.ts";
import { icon, stateIcon } from "../../../../views/web/icons.ts";
import { formatNumber, plural } from "../../../../views/web/format-numbers.ts";
import { copyText } from "../actions.ts";
import { pageHeading } from "../controls.ts";
import { state } from "../store.ts";

export function fleetPage(): Child {
  const { fleet } = state;
  if (fleet === null) return pageHeading("Fleet");
  if (fleet.problem !== null) {
    return [
      pageHeading("Fleet"),
      noticeBox(
        { icon: stateIcon("bad"), kind: "bad" },
        "The store could not be asked.",
        el("div.second", foreignText(fleet.problem)),
        commandBox("autopilot fleet doctor", copyText),
      ),
    ];
  }

  if (fleet.board === null) {
    return [
      pageHeading("Fleet"),
      emptyState(
        {
          icon: icon("fleet"),
          title: "No store is named",
          text: "Several machines share one database and one git repository; each takes runs as it has room.",
        },
        commandBox("autopilot fleet init --store postgres://USER@HOST/DATABASE", copyText),
      ),
    ];
  }

  return [
    el(
      "div.head",
      el(
        "div",
        pageHeading("Fleet"),
        el(
          "p",
          foreignText(fleet.store ?? ""),
          `: ${plural(fleet.runs, "run")}, ${formatNumber(fleet.take_overs)} taken over from an owner that went silent.`,
        ),
      ),
    ),
    fleetBoard(fleet.board),
  ];
}
