// Preloaded into the benchmark and into every process that it starts.
import { registerHooks } from 'node:module';
import process from 'node:process';

const observed = new URL('observed-transport.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const parent = context.parentURL ?? '';
    // Sources name each other as the compiler would leave them. Node runs those as they are that need no compiler.
    const isSource = parent.endsWith('.ts') && specifier.startsWith('.');
    if (isSource) return next(specifier.replace('/src/', '/dist/').replace(/(?<!\/dist\/.*)\.js$/, '.ts'), context);
    const resolved = next(specifier, context);
    // Every service gets a transport that notes when something passes it, and knows nothing of that.
    if (!process.env.BENCH_MARKS || parent === observed) return resolved;
    return resolved.url.endsWith('/queue/bullmq-transport.js')
      ? { ...resolved, url: observed, format: 'module-typescript' }
      : resolved;
  },
});
