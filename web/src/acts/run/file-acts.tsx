import type { Artifact } from '@suzumio/sdk/client';
import { bytes, some } from '../../parts/numbers.js';
import { mostTextBytes, textOf } from '../../parts/preview.js';
import { visible } from '../../parts/visible.js';
import { useContent } from '../../use-files.js';
import { useMay } from '../use-act.js';
import { openDialog } from './dialogs.js';
import { Menu, MenuItem } from './menu.js';
import { Going, RedactDialog } from './redact-dialog.js';
import { asked } from './use-run.js';

/** What is done to a published file: its content removed. */
export default function FileActs({ project, version }: { project: string; version: Artifact }) {
  const may = useMay();
  if (version.redacted || !may('redactArtifact')) return null;
  const request = asked('redactArtifact', { project, artifact: version.id });
  return (
    <Menu name="More">
      <MenuItem
        does="Remove its content…"
        will="Removes it for good, everywhere, after it was shown once more."
        onAct={() =>
          openDialog(
            <RedactDialog changes={project} request={request} what="artifact">
              <p>
                <b>
                  <bdi>{visible(version.name)}</bdi>
                </b>
                , {version.kind === 'directory' ? some(version.files, 'file') : bytes(version.sizeBytes)}
                {version.description === null ? null : (
                  <>
                    : <bdi>{visible(version.description)}</bdi>
                  </>
                )}
              </p>
              {version.kind === 'directory' ? null : <Content project={project} version={version} />}
            </RedactDialog>,
          )
        }
      />
    </Menu>
  );
}

function Content({ project, version }: { project: string; version: Artifact }) {
  const content = useContent(project, version);
  const text = content.data === undefined ? undefined : textOf(content.data.subarray(0, mostTextBytes));
  return text === undefined ? null : <Going text={text} />;
}
