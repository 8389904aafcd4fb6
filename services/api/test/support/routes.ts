import type { Express } from 'express';

interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
  handle: { stack?: Layer[] };
}

/** Every route that an application really has, as `GET /path`. */
export function routesOf(app: Express): string[] {
  return routesOfStack((app.router as unknown as { stack: Layer[] }).stack);
}

function routesOfStack(stack: readonly Layer[]): string[] {
  return stack.flatMap(({ route, handle }) =>
    route
      ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`)
      : routesOfStack(handle.stack ?? []),
  );
}
