// Which hub a repository has, as the journal says.

import { expect, test } from "vitest";
import { findChangeFault } from "../../contracts/portfolio/portfolio-journal.ts";
import { whyNoHub, listProjectsWithoutHub } from "./hubs.ts";
import { dispatched, project, task, written } from "./portfolio.test-support.ts";

const begun = () =>
  written(
    { event: "project_created", project_id: "proj-shop", fields: project({ repository: "/shop" }) },
    {
      event: "project_created",
      project_id: "proj-till",
      fields: project({ name: "till", repository: "/shop" }),
    },
    {
      event: "project_created",
      project_id: "proj-bank",
      fields: project({ name: "bank", repository: "/bank" }),
    },
    {
      event: "project_created",
      project_id: "proj-none",
      fields: project({ name: "none", repository: null }),
    },
  );

test("a repository has one hub, whichever of its projects is asked, and a hub has one repository", () => {
  const { state, write } = begun();
  expect(listProjectsWithoutHub(state).map(({ project_id }) => project_id)).toEqual([
    "proj-shop",
    "proj-bank",
  ]);

  write({ event: "hub_set", repository: "/shop", hub: "/hubs/shop.git" });
  expect(listProjectsWithoutHub(state).map(({ project_id }) => project_id)).toEqual(["proj-bank"]);
  expect(whyNoHub(state, "/bank", "/hubs/shop.git")).toContain("is the hub of /shop already");
  expect(() => write({ event: "hub_set", repository: "/bank", hub: "/hubs/shop.git" })).toThrow(
    "H2",
  );

  write(
    { event: "hub_set", repository: "/shop", hub: null },
    { event: "hub_set", repository: "/bank", hub: "/hubs/shop.git" },
  );

  expect(state.hubs).toEqual({ "/bank": "/hubs/shop.git" });
});

test("a hub moves while no task of its repository is running", () => {
  const { state, write } = begun();
  write(
    { event: "hub_set", repository: "/shop", hub: "/hubs/shop.git" },
    {
      event: "task_created",
      task_id: "task-a-000001",
      project_id: "proj-till",
      status: "ready",
      fields: task(),
    },
    dispatched("task-a-000001", 1),
  );

  expect(whyNoHub(state, "/shop", "/hubs/moved.git")).toContain("task-a-000001 is running");
  expect(whyNoHub(state, "/shop", "/hubs/shop.git")).toBeNull();
  expect(whyNoHub(state, "/bank", "/hubs/bank.git")).toBeNull();
  write({
    event: "task_status_changed",
    task_id: "task-a-000001",
    to_status: "ready",
    because: "taken back",
  });

  expect(whyNoHub(state, "/shop", "/hubs/moved.git")).toBeNull();
});

test("what is no address of git, names a program or holds a password is no hub", () => {
  const { state } = begun();
  const good = [
    "/srv/git/shop.git",
    "ssh://git@hub.example/shop.git",
    "git@hub.example:shop.git",
    "https://hub.example/shop.git",
    "file:///srv/shop.git",
  ];

  const bad = [
    "shop.git",
    "-u",
    "ext::sh -c id",
    "--upload-pack=id",
    "ssh://git:word@hub.example/x",
    "https://token@hub.example/x",
    "/a b",
    "",
  ];

  const fault = (hub: string) =>
    findChangeFault({
      event: "hub_set",
      actor: "system",
      reason_code: "ok",
      repository: "/shop",
      hub,
    });

  for (const hub of good) {
    expect([hub, whyNoHub(state, "/shop", hub), fault(hub)]).toEqual([hub, null, null]);
  }

  for (const hub of bad) {
    expect([hub, whyNoHub(state, "/shop", hub) !== null, fault(hub) !== null]).toEqual([
      hub,
      true,
      true,
    ]);
  }
});
