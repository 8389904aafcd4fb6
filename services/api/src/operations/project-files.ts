import type { projectFiles } from '@suzumio/contract/operations/project-files';
import type { Runs } from '../routes.js';

/** Parsing files takes long to load: reading does without. */
export const projectFileRuns: Runs<typeof projectFiles> = {
  async checkProjectFile({ context, body }) {
    const { checkPosted } = await import('./check-project-file.js');
    return checkPosted(context, body.file);
  },

  async getProjectFileSchema() {
    const { projectFileSchema } = await import('@suzumio/core/config/file-schema');
    return projectFileSchema();
  },

  async listExamples({ context }) {
    const { readExamples } = await import('./examples.js');
    return { items: await readExamples(context) };
  },
};
