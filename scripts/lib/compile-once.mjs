// Preloaded where Jest runs. Jest isolates suites by loading every module again for each of them, and V8 has no cache for
// modules that may import others later: a third of the time that short suites take is compiling the same code.
import vm from 'node:vm';

const { compileFunction, SourceTextModule } = vm;
/** What V8 made of a source, by what the source is of. */
const compiled = new Map();

/** V8 checks that the data is of such a source, and compiles where it is not; not that the source is the same one. */
const dataFor = (key, source) => {
  const known = compiled.get(key);
  return known?.source === source ? known.cachedData : undefined;
};

vm.compileFunction = (source, parameters, options) => {
  const key = `${options?.filename}(${parameters})`;
  const cachedData = dataFor(key, source);
  if (cachedData) return compileFunction(source, parameters, { ...options, cachedData });
  const made = compileFunction(source, parameters, { ...options, produceCachedData: true });
  compiled.set(key, { source, cachedData: made.cachedData });
  return made;
};

// Without Node's flag for it, there is no such class.
if (SourceTextModule) {
  vm.SourceTextModule = class extends SourceTextModule {
    constructor(source, options) {
      const key = options.identifier;
      const cachedData = dataFor(key, source);
      super(source, cachedData ? { ...options, cachedData } : options);
      if (!cachedData) compiled.set(key, { source, cachedData: this.createCachedData() });
    }
  };
}
