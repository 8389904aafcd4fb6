// npm run check: what can be known of a change within a minute. With paths, the tests and the style of those alone.
import process from 'node:process';
import { createReport } from './lib/report.mjs';
import { onProjectNode } from './lib/project-node.mjs';

await onProjectNode();
const { checkAll, checkPaths } = await import('./lib/check.mjs');
const report = createReport();
const paths = process.argv.slice(2);
await (paths.length > 0 ? checkPaths(report, paths) : checkAll(report));
report.finish();
