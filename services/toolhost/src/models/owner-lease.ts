/** How long a process that makes a call is believed without a word, and how often it gives one. */
export const ownerLeaseMs = 20_000;
export const ownerBeatMs = 5_000;
