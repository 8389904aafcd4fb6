/** What a suite may take that is named for no kind. */
const slowMs = 2_000;
const most = 10;

/** Names the suites that take longer than their name says. A busy machine makes suites slow: this fails nothing. */
export function printSlow(suites) {
  const slow = suites
    .filter(({ path, durationMs }) => durationMs > slowMs && !/\.(slow|process|container|browser)\.test/.test(path))
    .sort((one, other) => other.durationMs - one.durationMs)
    .slice(0, most);
  if (slow.length === 0) return;
  const lines = slow.map(({ path, durationMs }) => `    ${(durationMs / 1000).toFixed(1)} s  ${path}`);
  console.log(`\nThe longest beyond ${slowMs / 1000} s; what is so on an idle machine is named *.slow.test.ts:`);
  console.log(lines.join('\n'));
}
