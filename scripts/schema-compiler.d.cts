/** Compiles JSON Schemas to the code of functions, which `object` has by the names of the schemas, and `named` exports. */
export function compileSchemas(schemas: Readonly<Record<string, object>>): {
  readonly declarations: string;
  readonly object: string;
  readonly named: string;
};

/** Options of esbuild that shorten the code. */
export const SHORTER: { readonly minifySyntax: true; readonly minifyIdentifiers: true };
