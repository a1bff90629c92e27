interface WireDependency {
  readonly feature: string;
}

/** A reviver for `JSON.parse`: replaces the words of Unleash's documents by those of the engine. */
export function fromUnleash(key: string, value: unknown): unknown {
  if (key === 'dependencies' && Array.isArray(value)) {
    return value.map(({ feature, ...rest }: WireDependency) => ({ flag: feature, ...rest }));
  }
  if (key !== 'expectedResult' || typeof value !== 'object') return value;
  const { feature_enabled: flagEnabled, ...variant } = value as Readonly<Record<string, unknown>>;
  return { ...variant, flagEnabled };
}
