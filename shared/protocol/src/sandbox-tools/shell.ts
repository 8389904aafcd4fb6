import * as z from 'zod';
import { plainText } from '../plain-text.js';
import { defineSandboxTool, sandboxPath, upTo } from './sandbox-tool.js';

// Names, defaults and bounds are those of the tools that Suzumio has published; what is beyond them is optional.

const handle = plainText.min(1).max(100).describe('As shell.exec gave it.');
const maxOutputBytes = upTo(200_000, 40_000).describe('How many bytes of output, 200000 at most.');

export const shellExec = defineSandboxTool({
  name: 'shell.exec',
  description:
    'Run a shell command, in the workspace unless cwd says otherwise. Answers with its output, exit code and time. Where ' +
    'output is too long, its beginning and end are shown, and a file has all of it. The command gets no input and no ' +
    'terminal. What it leaves running is ended with it; for a server or a watcher, use background.',
  input: z.strictObject({
    command: plainText.min(1).max(100_000),
    cwd: sandboxPath.optional(),
    timeoutMs: upTo(300_000, 60_000).describe(
      'Milliseconds after which it is ended, 300000 at most; not in background.',
    ),
    maxOutputBytes,
    background: z
      .boolean()
      .default(false)
      .describe('Let it run, and answer with a handle at once. It ends with the turn.'),
  }),
});

export const shellRead = defineSandboxTool({
  name: 'shell.read',
  description: 'Read what a background command has printed since you last read it, and whether it still runs.',
  input: z.strictObject({
    handle,
    offset: z.int().nonnegative().optional().describe('The byte to read from, instead.'),
    maxOutputBytes,
  }),
});

export const shellStop = defineSandboxTool({
  name: 'shell.stop',
  description: 'End a background command with all that it started, and read the rest of its output.',
  input: z.strictObject({ handle }),
});
