import type { FlagDefinition, SegmentDefinition } from '../../src/evaluation/definitions.types.js';
import { type Flags, type FlagsError, isFlagsError, type StrategyInput } from '../../src/index.js';
import { DEFAULT } from '../references.js';
import { standInName, toStrategyInput, toVariantInputs, withoutFault } from './admin-input.js';
import { eventsOf, type Specification, type SpecificationEvent, type SpecificationState } from './documents.js';

/** An instance with the content of a document of the specification. */
export interface CreatedDocument {
  /** The name of a flag of the document. */
  readonly nameOf: (flag: string) => string;
  /** The parts that the administration refused or changed, and their replacements. */
  readonly deviations: readonly string[];
}

/** Creates the document in an empty instance, by operations of the administration only. */
export async function createDocument(flags: Flags<string>, document: Specification): Promise<CreatedDocument> {
  const creation = new DocumentCreation(flags);
  for (const event of eventsOf(document)) await creation.take(event);
  return { nameOf: (flag) => creation.nameOf(flag), deviations: creation.deviations };
}

class DocumentCreation {
  readonly deviations: string[] = [];
  private readonly names = new Map<string, string>();
  private readonly segments = new Map<number, number>();

  constructor(private readonly flags: Flags<string>) {}

  nameOf(flag: string): string {
    return this.names.get(flag) ?? flag;
  }

  async take(event: SpecificationEvent): Promise<void> {
    switch (event.type) {
      case 'hydration':
        return this.hydrate(event);
      case 'feature-updated':
        return this.hydrate({ features: [event.feature] });
      case 'feature-removed':
        return this.removeFlag(event.featureName);
      case 'segment-updated':
        return this.createSegment(event.segment);
      case 'segment-removed':
        return this.flags.segments.delete({ segment: this.segments.get(event.segmentId) ?? 0 });
    }
  }

  private async hydrate({ features, segments = [] }: SpecificationState): Promise<void> {
    for (const segment of segments) await this.createSegment(segment);
    for (const feature of features) await this.createFlag(feature);
    for (const feature of withParentsFirst(features)) await this.addDependencies(feature);
  }

  private async removeFlag(name: string): Promise<void> {
    const flag = this.nameOf(name);
    await this.flags.archiveFlag({ ...DEFAULT, flag });
    await this.flags.deleteFlag({ flag });
  }

  private async createSegment({ id, constraints }: SegmentDefinition): Promise<void> {
    const input = { name: `segment ${id}`, constraints: constraints ?? [] };
    const created = await this.flags.segments.create(input as Parameters<Flags['segments']['create']>[0]);
    this.segments.set(id, created.id);
  }

  private async createFlag(definition: FlagDefinition): Promise<void> {
    await this.createNamed(definition.name);
    const place = this.placeOf(definition);
    for (const strategy of definition.strategies ?? []) {
      await this.addStrategy(definition, toStrategyInput(strategy, this.segments));
    }
    if (definition.enabled && !definition.strategies?.length) {
      await this.flags.addStrategy(place, { name: 'default' });
      this.deviations.push(`${definition.name}: enabled without strategies, gets default`);
    }
    if (definition.enabled) await this.flags.enable(place);
    await this.setVariants(definition);
  }

  private async createNamed(name: string): Promise<void> {
    const refusal = await refusalOf(this.flags.createFlag(DEFAULT, { name }));
    if (!refusal) return;
    this.names.set(name, standInName(name));
    await this.flags.createFlag(DEFAULT, { name: this.nameOf(name) });
    this.deviations.push(`${name}: ${refusal.code}, called ${this.nameOf(name)}`);
  }

  private async addStrategy(definition: FlagDefinition, strategy: StrategyInput<string>): Promise<void> {
    const refusal = await refusalOf(this.flags.addStrategy(this.placeOf(definition), strategy));
    if (!refusal) return;
    const path = refusal.details[0]?.path ?? '';
    const { operator, value, values } = strategy.constraints?.[Number(path.split('/')[2])] ?? {};
    this.deviations.push(`${definition.name}: ${refusal.code} ${path}, ${operator} ${value ?? values}`);
    for (const alternative of withoutFault(strategy, path)) await this.addStrategy(definition, alternative);
  }

  private async setVariants({ name, variants }: FlagDefinition): Promise<void> {
    if (!variants?.length) return;
    const set = await this.flags.setVariants({ ...DEFAULT, flag: this.nameOf(name) }, toVariantInputs(variants));
    const [before, after] = [variants, set].map((list) => list.map(({ weight }) => weight).join(' '));
    this.deviations.push(`${name}: weights ${before} are ${after}`);
  }

  /**
   * A flag is off if its parent can never have the required state, so it is disabled where the dependency is refused.
   */
  private async addDependencies(child: FlagDefinition): Promise<void> {
    const place = this.placeOf(child);
    for (const { flag, enabled, variants } of child.dependencies ?? []) {
      const input = { flag: this.nameOf(flag), ...(enabled !== undefined && { enabled }), variants: variants ?? [] };
      const refusal = await refusalOf(this.flags.addDependency(place, input));
      if (!refusal) continue;
      await this.flags.disable(place);
      this.deviations.push(`${child.name}: ${refusal.code}, ${flag}, switched off`);
    }
  }

  private placeOf({ name }: FlagDefinition) {
    return { ...DEFAULT, flag: this.nameOf(name), environment: 'production' };
  }
}

/** Flags that depend on a flag with dependencies come last: theirs are refused. */
function withParentsFirst(features: readonly FlagDefinition[]): readonly FlagDefinition[] {
  const children = new Set(features.filter(({ dependencies }) => dependencies?.length).map(({ name }) => name));
  const isDeep = ({ dependencies }: FlagDefinition) => dependencies?.some(({ flag }) => children.has(flag)) ?? false;
  return [...features.filter((one) => !isDeep(one)), ...features.filter(isDeep)];
}

/** Returns the refusal of an attempt; undefined if it succeeds. Throws other errors. */
async function refusalOf(attempt: Promise<unknown>): Promise<FlagsError | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (isFlagsError(error)) return error;
    throw error;
  }
}
