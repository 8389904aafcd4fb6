import * as z from 'zod';
import { listArtifacts } from '@suzumio/store/content/artifacts';
import { defineTool } from './tool.js';

const maxListed = 500;

export const artifactsList = defineTool({
  name: 'artifacts.list',
  description:
    'List the published files and directories, oldest first: id, name, size, who published it and its description.',
  input: z.strictObject({}),
  prepare: () => (tx) => {
    const artifacts = listArtifacts(tx, { limit: maxListed }).items.map(
      ({ id, name, kind, files, creator, sizeBytes, sha256, description, createdAt }) => ({
        id,
        name,
        kind,
        files,
        creator,
        sizeBytes,
        sha256,
        description,
        createdAt,
      }),
    );
    const lines = artifacts.map(({ id, name, kind, files, creator, sizeBytes, description }) => {
      const what = kind === 'directory' ? `directory of ${String(files)} files, ` : '';
      return [`${id}  ${name}  ${what}${String(sizeBytes)} bytes  by ${creator}`, description]
        .filter(Boolean)
        .join('  ');
    });
    return { output: lines.length === 0 ? 'Nothing has been published.' : lines.join('\n'), metadata: { artifacts } };
  },
});
