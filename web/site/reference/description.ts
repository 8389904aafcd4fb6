/** A JSON Schema, as far as the reference shows it. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: boolean | JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
}

interface Body {
  description?: string;
  content?: Record<string, { schema: JsonSchema }>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface DescribedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: Body & { required: boolean };
  responses: Record<string, Body>;
}

/** The OpenAPI document that is checked in; a test of the API holds it to the code. */
export interface Description {
  info: { version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, JsonSchema> };
}

export function schemaName(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

/** A schema itself, where it is referred to by its name. */
export function looked(schema: JsonSchema, { components }: Description): JsonSchema {
  return schema.$ref === undefined ? schema : (components.schemas[schemaName(schema.$ref)] ?? {});
}
