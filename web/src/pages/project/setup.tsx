import type { ProjectDetail } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { api, keys } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { visible } from '../../parts/markdown.js';

const mostChars = 400_000;

/** The project's file with everything resolved; values of variables are shown to nobody. */
export function Setup({ detail: { project } }: { detail: ProjectDetail }) {
  const config = useQuery({
    queryKey: [...keys.project(project.id), 'config'],
    queryFn: () => api.getResolvedConfig({ project: project.id }),
  });
  if (config.error) return <Failure error={config.error} again={() => void config.refetch()} />;
  if (config.data === undefined) return null;
  const text = JSON.stringify(config.data, null, 2);
  return (
    <div className="page">
      <p className="quiet">The project file as it was resolved. Values of env are hidden.</p>
      <pre className="setup" tabIndex={0}>
        {visible(text.slice(0, mostChars))}
      </pre>
    </div>
  );
}
