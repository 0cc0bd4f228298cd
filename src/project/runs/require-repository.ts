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
export const requireRepository = async (folder: string): Promise<Repository> =>
  orRefuse(await findRepository(folder));

/**
 * For a run in a copy of a repository: the original, which has the installed packages, if it still
 * exists.
 */
export async function findPackagesOrigin({
  dependencies_from: root,
}: Pick<Policy, "dependencies_from">): Promise<{ packagesFrom?: Repository }> {
  const lookup = root === undefined ? null : await findRepository(root);
  return lookup !== null && "repository" in lookup ? { packagesFrom: lookup.repository } : {};
}

/**
 * Starts to survey the repository's checkout, which takes a while; the returned function waits for
 * the result, or refuses.
 */
export function startSurvey(
  repository: Repository,
  owned: readonly string[] = [],
): () => Promise<SurveyedRepository> {
  const survey = surveyRepository(repository, owned);
  survey.catch(() => undefined); // an error is reported to the caller that waits for it, not as an unhandled rejection
  return async () => orRefuse(await survey);
}

function orRefuse<Kind extends Repository>(lookup: RepositoryLookup<Kind>): Kind {
  if ("repository" in lookup) return lookup.repository;
  const { reason, detail, hint } = lookup.failure;
  return refuse(reason, {
    message: detail,
    ...(hint === undefined ? {} : { remediation: [hint] }),
  });
}
