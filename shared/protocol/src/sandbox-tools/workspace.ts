import * as z from 'zod';
import { defineSandboxTool } from './sandbox-tool.js';

export const workspaceGitRefresh = defineSandboxTool({
  name: 'workspace.git.refresh',
  description:
    'Bring what is new in the repository that your workspace was cloned from into your branch and your files. Your commits, ' +
    'what you have staged and what you have changed are kept. All of it comes, or nothing: conflicts are listed.',
  input: z.strictObject({}),
});
