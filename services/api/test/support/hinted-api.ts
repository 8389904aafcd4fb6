import { type TestApi, testApi } from './api.js';

/** An API in which only hints bring news: what is answered in time is not owed to the poll. */
export interface HintedApi {
  api: TestApi;
  /** How often a project was looked into, since a test last set it. */
  seen: { looks: number };
}

export async function hintedApi(): Promise<HintedApi> {
  const api = await testApi({ events: { pollMs: 600_000 } });
  await api.create();
  const use = api.cell.stores.use.bind(api.cell.stores);
  const seen = { looks: 0 };
  api.cell.stores.use = (project, body) => {
    seen.looks += 1;
    return use(project, body);
  };
  return { api, seen };
}
