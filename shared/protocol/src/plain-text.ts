import * as z from 'zod';

/** A text without NUL, which no argument of a program, path or name may hold. */
export const plainText = z.string().refine((text) => !text.includes('\0'), 'expected a text without NUL');
