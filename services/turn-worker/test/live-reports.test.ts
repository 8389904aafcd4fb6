import { expect, test } from '@jest/globals';
import type { LiveReport } from '@suzumio/protocol/live';
import { LiveReports } from '../src/door/live-reports.js';

const report: LiveReport = { skipped: 0, output: [{ step: '0.0', stream: 'stdout', text: 'one\n' }] };

function reportsTo(send: (report: LiveReport) => Promise<{ followed: boolean }>) {
  const sent: LiveReport[] = [];
  const reports = new LiveReports((one) => {
    sent.push(one);
    return send(one);
  });
  return { reports, sent };
}

test('nothing is sent while nobody follows', async () => {
  const { reports, sent } = reportsTo(() => Promise.resolve({ followed: true }));
  for (let number = 0; number < 100; number += 1) expect(await reports.take(report)).toEqual({ followed: false });
  expect(sent).toEqual([]);
});

test('one report is sent at a time, and none once nobody follows any more', async () => {
  const { reports, sent } = reportsTo(() => Promise.resolve({ followed: false }));
  reports.isFollowed = true;
  const answers = await Promise.all([reports.take(report), reports.take(report), reports.take(report)]);
  expect(answers.map(({ followed }) => followed)).toEqual([false, true, true]);
  expect(sent).toEqual([report]);
  expect(await reports.take(report)).toEqual({ followed: false });
  expect(sent).toHaveLength(1);
});

test('a ToolHost that is away fails nothing', async () => {
  const { reports } = reportsTo(() => Promise.reject(new Error('away')));
  reports.isFollowed = true;
  expect(await reports.take(report)).toEqual({ followed: true });
});
