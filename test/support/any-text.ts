import fc from './fast-check.js';

/** All code points but surrogates, of which UTF-8 has none. */
const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((point) => (point < 0xd800 ? point : point + 0x800));

/**
 * Text of any code points, and such as `__proto__`. `fc.string({ unit: 'binary' })` first makes a table of all code
 * points, which takes longer than most suites.
 *
 * @param maxLength in code points
 */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.array(codePoint, { maxLength }).map((points) => String.fromCodePoint(...points)),
    fc.string({ maxLength }),
  );
