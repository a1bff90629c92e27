import type { Engine } from '../changes/engine.js';
import type { ErrorDetail } from '../errors.js';
import { isFlagsError } from '../errors.js';
import { findLabelIssues } from '../flags/flag.schema.js';
import { findConstraintIssues, findCostIssues, findStrategyIssues, issuesOrElse } from '../flags/strategies.schema.js';
import type { StrategyInput } from '../flags/strategy.types.js';
import { findVariantsIssues } from '../flags/variants.schema.js';
import { timeSlice } from '../time-slice.js';
import { copyJson } from '../validation/json.js';
import { LIMITS } from '../validation/limits.js';
import { createValidator, invalidInput } from '../validation/validator.js';
import { envelope, flagDefinition, issuesAt, projectDefinition, segmentDefinition } from './definition.schema.js';
import type { DefinedFlag, DefinedProject, DefinedSegment, Definitions } from './definition.types.js';

const validateEnvelope = createValidator<Definitions>(envelope);
const validateProject = createValidator<DefinedProject>(projectDefinition, findProjectIssues);
const validateSegment = createValidator<DefinedSegment>(segmentDefinition, findSegmentIssues);

/** Collects issues of a document, at most as many as one error has. */
export class Issues {
  private readonly found: ErrorDetail[] = [];

  add(path: string, message: string): void {
    if (this.found.length < LIMITS.issues) this.found.push({ message, path });
  }

  addAll(issues: Iterable<ErrorDetail>): void {
    for (const { path = '', message } of issues) this.add(path, message);
  }

  get isFull(): boolean {
    return this.found.length >= LIMITS.issues;
  }

  /** Throws `invalid_input` if there are issues. */
  assertNone(): void {
    if (this.found.length > 0) throw invalidInput(this.found);
  }
}

/** Validates and copies a document, item by item, in slices. Does not read the store. */
export async function readDefinitions({ settings }: Engine, input: Definitions): Promise<Required<Definitions>> {
  const { projects = [], segments = [], flags = [] } = validateEnvelope(input);
  const environments = settings.environments.map(({ name }) => name);
  const validateFlag = createValidator<DefinedFlag>(flagDefinition, (flag) => findFlagIssues(flag, environments));
  const issues = new Issues();

  async function readItems<Item>(path: string, items: readonly Item[], { validate, idOf }: Reading<Item>) {
    const seen = new Set<string>();
    const copies: Item[] = [];
    for (const [index, item] of items.entries()) {
      if (timeSlice.isOver()) await timeSlice.next();
      if (issues.isFull) break;
      try {
        const copy = copyJson(validate(item)) as Item;
        const id = idOf(copy);
        if (seen.has(id)) issues.add(`${path}/${index}`, `is the second one of ${id}; remove one of them`);
        seen.add(id);
        copies.push(copy);
      } catch (error) {
        if (!isFlagsError(error) || error.code !== 'invalid_input') throw error;
        issues.addAll(issuesAt(`${path}/${index}`, error.details));
      }
    }
    return copies;
  }

  const copies = {
    version: 1 as const,
    projects: await readItems('/projects', projects, { validate: validateProject, idOf: ({ id }) => id }),
    segments: await readItems('/segments', segments, { validate: validateSegment, idOf: ({ name }) => name }),
    flags: await readItems('/flags', flags, { validate: validateFlag, idOf: ({ name }) => name }),
  };
  issues.assertNone();
  return copies;
}

interface Reading<Item> {
  readonly validate: (item: unknown) => Item;
  readonly idOf: (item: Item) => string;
}

function* findProjectIssues({ members = [] }: DefinedProject): Generator<ErrorDetail> {
  const seen = new Set<number>();
  for (const [index, { userId }] of members.entries()) {
    if (seen.has(userId)) yield { message: 'must be unique among the members', path: `/members/${index}/userId` };
    seen.add(userId);
  }
}

function findSegmentIssues({ constraints = [] }: DefinedSegment): Iterable<ErrorDetail> {
  return issuesOrElse(findConstraintIssues(constraints), () => findCostIssues(constraints, LIMITS.flagCost));
}

function* findFlagIssues(flag: DefinedFlag, known: readonly string[]): Generator<ErrorDetail> {
  const { labels, variants = [], dependencies = [], environments = {} } = flag;
  if (labels) yield* findLabelIssues({ labels });
  yield* issuesAt('/variants', findVariantsIssues(variants));
  for (const [index, { flag: parent, enabled = true, variants: names = [] }] of dependencies.entries()) {
    const path = `/dependencies/${index}`;
    if (!enabled && names.length > 0) {
      yield { message: 'must be empty where the parent has to be off', path: `${path}/variants` };
    }
    if (dependencies.findIndex((other) => other.flag === parent) < index) {
      yield { message: 'must be unique among the dependencies', path: `${path}/flag` };
    }
  }
  for (const [name, { enabled, strategies }] of Object.entries(environments)) {
    const path = `/environments/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!known.includes(name)) {
      yield { message: `is not a configured environment; there are ${known.join(', ')}`, path };
    }
    if (enabled && strategies?.length === 0) {
      yield { message: 'must be false without a strategy', path: `${path}/enabled` };
    }
    const ids = new Set<string>();
    for (const [index, { segments, ...strategy }] of (strategies ?? []).entries()) {
      const place = `${path}/strategies/${index}`;
      yield* issuesAt(place, findStrategyIssues(strategy as StrategyInput));
      if (new Set(segments).size < (segments?.length ?? 0))
        yield { message: 'must be unique', path: `${place}/segments` };
      if (strategy.id === undefined) continue;
      if (ids.has(strategy.id)) yield { message: 'must be unique', path: `${place}/id` };
      ids.add(strategy.id);
    }
  }
}
