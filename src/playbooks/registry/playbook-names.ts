// playbook-names: the names of the playbooks, so that lint knows them without loading any.

/** The faces a flow may name. Apart from the table, so that lint can know them without loading any. */
export const faceNames = ["roadmap", "quality", "staged"] as const;
export type FaceName = (typeof faceNames)[number];
