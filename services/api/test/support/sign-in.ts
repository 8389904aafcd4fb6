import type { TestApi } from './api.js';

export interface SignInLink {
  url: string;
  expiresAt: string | null;
}

/** A link that signs a browser in, made with a token. */
export async function linkFor(
  api: TestApi,
  body: { path?: string; token?: string } = {},
  token = api.adminToken,
): Promise<SignInLink> {
  return (await api.post('/api/sign-in-links', body, { token })).json as SignInLink;
}

/** A browser that is signed in: its session, and what its pages send. */
export async function signIn(
  api: TestApi,
  token = api.adminToken,
  from: Record<string, string> = { origin: api.url },
): Promise<{ id: string; headers: Record<string, string> }> {
  const code = (await linkFor(api, {}, token)).url.split('#')[1];
  const { headers, json } = await api.post('/api/session', { code }, { token: null, headers: from });
  const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  return { id: (json as { session: { id: string } }).session.id, headers: { ...from, cookie } };
}
