// opened-repository: opens the git repository around a folder, or refuses with the reason.

import {
  findRepository,
  type RepositoryLookup,
  type Repository,
  type SurveyedRepository,
  surveyRepository,
} from "../../workspace/git/repository.ts";
import { refuse } from "../reply.ts";

/** The repository around a folder; otherwise refuses with why it cannot hold a run. */
export const openedRepository = async (folder: string): Promise<Repository> => orRefuse(await findRepository(folder));

/** The same with its checkout surveyed, for starting a run. It takes a while, and runs beside other work. */
export function surveying(repository: Repository, owned: readonly string[] = []): () => Promise<SurveyedRepository> {
  const survey = surveyRepository(repository, owned);
  survey.catch(() => undefined); // the waiting caller is notified
  return async () => orRefuse(await survey);
}

function orRefuse<Kind extends Repository>(found: RepositoryLookup<Kind>): Kind {
  if ("repository" in found) return found.repository;
  const { reason, detail, hint } = found.failure;
  return refuse(reason, { message: detail, ...(hint === undefined ? {} : { remediation: [hint] }) });
}
