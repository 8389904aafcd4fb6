/** A JSON Schema, as far as the API's description uses it. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: boolean | JsonSchema;
  anyOf?: JsonSchema[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  [keyword: string]: unknown;
}

export interface OpenApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  explode?: boolean;
  schema: JsonSchema;
}

export interface OpenApiResponse {
  description: string;
  headers?: Record<string, { description: string; schema: JsonSchema }>;
  content?: Record<string, { schema: JsonSchema }>;
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security?: object[];
  parameters: OpenApiParameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, OpenApiResponse>;
}

/** An OpenAPI 3.1 document, as far as the API's description uses it. */
export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown> & { title: string; version: string; description: string };
  servers: object[];
  security: object[];
  /** The groups that operations name. */
  tags: { name: string; description: string }[];
  /** By path, then by method. */
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { securitySchemes: object; schemas: Record<string, JsonSchema> };
}
