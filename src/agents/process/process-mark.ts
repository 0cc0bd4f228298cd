// process-mark: the mark of an agent's processes: environment variables by which they are found
// even if they have left their parent.
//
// Children inherit the variables, and a process keeps the environment it was started with even
// after setsid() and after its parent is gone. Process groups and parent ids do not last that long.
//
// Invariants:
//   M1. The variables are set on agents only, never on the runner or its guardian: a marked process
//       may be killed. Checks have none, so that they can't tell who runs them.
//   M2. A run's name is unique in one repository only, so a mark also has the repository, and the
//       life (one opened set of agents) that started it. An older life's guardian never touches a
//       newer life's agents.

export type Mark = {
  readonly run: string;
  readonly attempt: string;
  /** The repository, if two could use one run's name; empty if not given. */
  readonly repository: string;
  /** One opened set of agents, globally unique. */
  readonly agentsId: string;
};

const variableNames = {
  run: "AUTOPILOT_RUN",
  attempt: "AUTOPILOT_ATTEMPT",
  place: "AUTOPILOT_PLACE",
  life: "AUTOPILOT_LIFE",
} as const;
export const lifeVariable = variableNames.life;

/** The environment variables of a mark. */
export function toMarkVariables(mark: Mark): Record<string, string> {
  return {
    [variableNames.run]: mark.run,
    [variableNames.attempt]: mark.attempt,
    [variableNames.life]: mark.agentsId,
    ...(mark.repository === "" ? {} : { [variableNames.place]: mark.repository }),
  };
}

/** Decides, from the `NAME=value` entries of a process's environment, whether it belongs. */
export type EnvironmentFilter = (entries: readonly string[]) => boolean;

/**
 * The processes of one turn: this life, this attempt. Other attempts of the run may run beside it.
 */
export function createTurnFilter(mark: Mark): EnvironmentFilter {
  return (entries) =>
    entries.includes(`${variableNames.life}=${mark.agentsId}`) &&
    entries.includes(`${variableNames.attempt}=${mark.attempt}`);
}

/** Everything one opened set of agents started. */
export function createLifeFilter(life: string): EnvironmentFilter {
  return (entries) => entries.includes(`${variableNames.life}=${life}`);
}

/** The processes of one run in one repository, of any life. M2 */
export function createRunFilter(run: string, place: string): EnvironmentFilter {
  return (entries) => {
    if (!entries.includes(`${variableNames.run}=${run}`)) return false;
    return place === "" || entries.includes(`${variableNames.place}=${place}`);
  };
}

/** Whether an environment is that of an agent's process, or of one it started. */
export const hasMark = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env[variableNames.life] !== undefined ||
  (env[variableNames.run] !== undefined && env[variableNames.attempt] !== undefined);
