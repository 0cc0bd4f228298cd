// require-repository: opens the git repository around a folder, or refuses with the reason.

import type { Policy } from "../../contracts/policy.ts";
import {
  findRepository,
  type RepositoryLookup,
  type Repository,
  type SurveyedRepository,
  surveyRepository,
} from "../../workspace/git/repository.ts";
import { refuse } from "../respond.ts";

/** The repository around a folder; otherwise refuses with why it cannot hold a run. */
export const requireRepository = async (folder: string): Promise<Repository> => orRefuse(await findRepository(folder));

/** Where the installed packages of a run in a copy are: in the repository it is a copy of, while that is there. */
export async function findPackagesOrigin({
  dependencies_from: root,
}: Pick<Policy, "dependencies_from">): Promise<{ packagesFrom?: Repository }> {
  const lookup = root === undefined ? null : await findRepository(root);
  return lookup !== null && "repository" in lookup ? { packagesFrom: lookup.repository } : {};
}

/** The same with its checkout surveyed, for starting a run. It takes a while, and runs beside other work. */
export function startSurvey(repository: Repository, owned: readonly string[] = []): () => Promise<SurveyedRepository> {
  const survey = surveyRepository(repository, owned);
  survey.catch(() => undefined); // the waiting caller is notified
  return async () => orRefuse(await survey);
}

function orRefuse<Kind extends Repository>(lookup: RepositoryLookup<Kind>): Kind {
  if ("repository" in lookup) return lookup.repository;
  const { reason, detail, hint } = lookup.failure;
  return refuse(reason, { message: detail, ...(hint === undefined ? {} : { remediation: [hint] }) });
}
