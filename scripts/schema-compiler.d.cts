/** Compiles JSON Schemas to the code of a module of functions. */
export function compileSchemas(schemas: Readonly<Record<string, object>>): string;
