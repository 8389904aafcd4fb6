/**
 * Where a test makes directories that projects may name: suites may have their temporary files in memory, below `/dev`,
 * and nothing there is ever mounted or copied.
 */
export const mountable = '/var/tmp';
