import { openRepository, type Repository } from "../workspace/repository.ts";
import { refuse } from "./reply.ts";

/** The repository around a folder; why it cannot hold a run is the answer otherwise. */
export async function openedRepository(folder: string): Promise<Repository> {
  const opened = await openRepository(folder);
  if ("repository" in opened) return opened.repository;
  return refuse(opened.failure.reason, { message: opened.failure.detail });
}
