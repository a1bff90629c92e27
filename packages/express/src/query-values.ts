/** The documented parameters of a query that were given, of the types that their schemas name. */
export type QueryValues = Readonly<Record<string, unknown>>;
