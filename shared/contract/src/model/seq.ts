import * as z from 'zod';

export const seq = z.int().describe("A place in a list: what `after` of the list's query counts.");
