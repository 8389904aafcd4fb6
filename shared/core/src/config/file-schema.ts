import * as z from 'zod';
import { sourceConfig } from './source-schema.js';

/** A JSON Schema, with the dialect that it is written in. */
interface JsonSchema {
  $schema: string;
  [field: string]: unknown;
}

let made: JsonSchema | undefined;

/** The JSON Schema of project files as people write them. What no schema can say, such as references, is not in it. */
export function projectFileSchema(): JsonSchema {
  if (made === undefined) {
    const { $schema = '', ...schema } = z.toJSONSchema(sourceConfig, { io: 'input', unrepresentable: 'any' });
    const anchors = { '^x-': { description: 'A place for anchors; nothing reads it.' } };
    made = { $schema, title: 'A project file of Suzumio', ...schema, patternProperties: anchors };
  }
  return made;
}
