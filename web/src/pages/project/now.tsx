import type { ProjectDetail } from '@suzumio/sdk/client';
import { Held } from './held.js';
import { Mail } from './mail-list.js';
import { Lanes } from './lanes.js';
import { Team } from './team/team.js';

/** What happens now: the team and its mail as a graph, its turns in time, its newest mail. */
export function Now({ detail }: { detail: ProjectDetail }) {
  return (
    <div className="now">
      <div className="now-left">
        <Held detail={detail} />
        <Team detail={detail} />
        <Lanes detail={detail} />
      </div>
      <Mail detail={detail} />
    </div>
  );
}
