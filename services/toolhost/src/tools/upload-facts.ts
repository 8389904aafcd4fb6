/** What the runner adds when it has uploaded the content; the journal does not count it as part of what is asked. */
export const uploadFacts = ['sha256', 'sizeBytes', 'kind'] as const;
