/** Fields that the runner adds after an upload; the journal does not count them as part of the request. */
export const uploadFacts = ['sha256', 'sizeBytes', 'kind', 'base'] as const;
