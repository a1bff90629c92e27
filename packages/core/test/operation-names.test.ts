import type { EvaluationOperations } from '../src/evaluation/evaluation.types.js';
import { type AnyOperation, OPERATIONS } from '../src/features.js';
import { type Flags, memoryStorage, openFlags } from '../src/index.js';
import { methodsOf } from './method-names.js';

/** What runs no operation. */
const WITHOUT_OPERATION: Readonly<
  Record<
    Exclude<keyof EvaluationOperations, 'evaluator'> | 'as' | 'close' | 'subscribe' | 'history.asOf',
    'evaluation' | 'synchronous' | 'lifecycle'
  >
> = {
  isEnabled: 'evaluation',
  getVariant: 'evaluation',
  getPayload: 'evaluation',
  forContext: 'evaluation',
  explain: 'evaluation',
  evaluateAll: 'evaluation',
  recentContexts: 'evaluation',
  onImpression: 'evaluation',
  configuration: 'evaluation',
  projectOf: 'evaluation',
  onConfigurationChange: 'evaluation',
  status: 'evaluation',
  refresh: 'evaluation',
  as: 'lifecycle',
  close: 'lifecycle',
  subscribe: 'synchronous',
  'history.asOf': 'synchronous',
};

describe('the names of operations', () => {
  let flags: Flags;

  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage(), pollInterval: 0 });
  });

  afterEach(() => flags.close());

  it('have one method each, and every method of flags has an operation', () => {
    const rows: readonly AnyOperation[] = Object.values(OPERATIONS);
    const named = rows.map(({ op, method = op }) => method);
    expect(named.toSorted()).toEqual(
      [...methodsOf(flags).keys()].filter((name) => !(name in WITHOUT_OPERATION)).toSorted(),
    );
    expect(Object.entries(OPERATIONS).filter(([name, { op }]) => name !== op)).toEqual([]);
  });

  it('have at most 60 methods on the root, and each namespace is made once', () => {
    const root = [...methodsOf(flags).keys()].filter((name) => !name.includes('.'));
    expect(root.length).toBeLessThanOrEqual(60);
    expect(flags.segments).toBe(flags.segments);
    expect(flags.as('ada').segments).not.toBe(flags.segments);
  });
});
