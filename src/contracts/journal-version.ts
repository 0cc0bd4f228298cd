// journal-version: the version of the journal format, on its own so that readers need not load the
// event schemas.

export const journalVersion = 1;
