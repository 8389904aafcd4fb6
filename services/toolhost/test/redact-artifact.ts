import { findArtifact } from '@suzumio/store/content/artifacts';
import { ContentStore } from '@suzumio/store/content/content-store';
import { redact } from '@suzumio/store/redaction/redact';
import { redactableArtifact } from '@suzumio/store/redaction/redact-artifact';
import type { ToolhostBench } from './toolhost-client.js';

/** Removes the content of an artifact, as a person does. */
export const redactArtifact = ({ testing }: ToolhostBench, project: string, which: { id: string }) =>
  testing.store(project, async (store) => {
    const { directory } = testing.cell;
    const place = { store, directory: directory.projectDir(project), file: directory.projectFile(project) };
    const artifact = findArtifact(store.reader, which);
    if (!artifact) throw new Error('there is no such artifact');
    const subject = await redactableArtifact(artifact, new ContentStore(place.directory));
    return redact(place, subject, { actor: 'ops', because: null });
  });
