// playbook-names: the names of the playbooks, so that lint knows them without loading any.

export const playbookNames = ["roadmap", "quality", "staged"] as const;
export type PlaybookName = (typeof playbookNames)[number];
