/**
 * Registers the schema of your application, for types that TypeScript cannot infer from a call, such as `request.flags`
 * of `@flags/express/request`.
 *
 * @example
 * declare module '@flags/core' {
 *   interface RegisteredFlags {
 *     schema: typeof schema;
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications add `schema` by module augmentation
export interface RegisteredFlags {}
