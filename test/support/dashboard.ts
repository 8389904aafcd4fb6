import { readFileSync } from 'node:fs';

/** The queries of the dashboard that comes with Suzumio. */
export function dashboardQueries(): string[] {
  const { panels } = JSON.parse(
    readFileSync(new URL('../../deploy/grafana/suzumio.json', import.meta.url), 'utf8'),
  ) as { panels: { targets?: { expr: string }[] }[] };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}
