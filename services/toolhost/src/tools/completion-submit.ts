import * as z from 'zod';
import { plainText } from '@suzumio/protocol/plain-text';
import { submitReport } from '@suzumio/store/projects/project-transitions';
import { defineTool } from './tool.js';

const maxReportBytes = 1024 * 1024;

export const completionSubmit = defineTool({
  name: 'completion.submit',
  description: 'Hand in the final report (Markdown) for the person to approve or send back. This ends your turn.',
  input: z.strictObject({
    report: plainText
      .min(1)
      .refine((report) => Buffer.byteLength(report) <= maxReportBytes, `at most ${String(maxReportBytes)} bytes`),
  }),
  async prepare({ report }, { content, store }) {
    const path = content.pathOf(await store(Buffer.from(report), 'reports'));
    return (tx, site) => {
      const { version } = submitReport(tx, { path, agent: site.agent, turn: site.turn, promptSeq: site.promptSeq });
      return {
        output: `Submitted as version ${String(version)}. Your turn ends here.`,
        metadata: { version },
        endTurn: true,
      };
    };
  },
});
