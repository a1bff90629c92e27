import { type Change, type Flags, memoryStorage, openFlags } from '../../src/index.js';
import { ADA, approve, LAUNCH } from './protected.js';

const DEFAULT = { project: 'default' };
const at = (flag: string) => ({ ...DEFAULT, flag, environment: 'production' });
const PAYLOAD = { type: 'string', value: 'x' } as const;
const COUNTRY = { contextName: 'country', operator: 'IN', values: ['DE'] } as const;
const AGE = { contextName: 'age', operator: 'NUM_GT', value: '18' } as const;
const MAIL = { contextName: 'mail', operator: 'STR_ENDS_WITH', values: ['@example.com'] } as const;
const RED = { name: 'red', weight: 400, weightType: 'fix' } as const;
const BLUE = { name: 'blue', weight: 600, weightType: 'variable' } as const;
const LEFT = { ...RED, name: 'left', stickiness: 'default' };
const RIGHT = { ...BLUE, name: 'right', stickiness: 'default' };

const parameters = { rollout: '50', stickiness: 'userId', groupId: 'a', note: null };

/** The ids that an edit may need. */
interface Ids {
  readonly strategy: string;
  /** The strategy of the parent. */
  readonly ofParent: string;
  readonly segment: number;
}
/** The changes of an edit of the flag `a`, of its parent, or of its segment. */
type Edit = (ids: Ids) => readonly Change<string>[];

/** Everything that the strategy has: an update replaces it. */
const stored = ({ segment: id }: Pick<Ids, 'segment'>) => ({
  name: 'flexibleRollout',
  parameters,
  constraints: [COUNTRY, AGE, MAIL],
  segments: [id],
  variants: [LEFT, RIGHT],
});
const strategy =
  (input: object): Edit =>
  (ids) => [{ op: 'updateStrategy', ref: { ...at('a'), strategy: ids.strategy }, input: { ...stored(ids), ...input } }];
const variants = (...input: object[]): Edit => {
  return () => [{ op: 'setVariants', ref: at('a'), input } as Change<string>];
};
const dependency = (input: object): Edit => {
  const ref = at('a');
  const added = { op: 'addDependency', ref, input: { flag: 'base', ...input } } as const;
  return () => [{ op: 'removeDependency', ref, input: { flag: 'base' } }, added];
};
const ofParent =
  (input: object): Edit =>
  ({ ofParent: id }) => {
    const replaced = { name: 'default', constraints: [AGE], ...input };
    return [{ op: 'updateStrategy', ref: { ...at('base'), strategy: id }, input: replaced } as Change<string>];
  };
const segment =
  (...constraints: object[]): Edit =>
  ({ segment: id }) => [{ op: 'updateSegment', ref: { segment: id }, input: { constraints } } as Change<string>];

const SEEN: readonly (readonly [name: string, edit: Edit])[] = [
  ['another parameter', strategy({ parameters: { ...parameters, rollout: '60' } })],
  ['a text instead of null', strategy({ parameters: { ...parameters, note: 'null' } })],
  ['one parameter less', strategy({ parameters: { rollout: '50', stickiness: 'userId' } })],
  ['one constraint less', strategy({ constraints: [COUNTRY, AGE] })],
  [
    'a constraint of another context field',
    strategy({ constraints: [{ ...COUNTRY, contextName: 'city' }, AGE, MAIL] }),
  ],
  ['another operator', strategy({ constraints: [{ ...COUNTRY, operator: 'NOT_IN' }, AGE, MAIL] })],
  ['other values', strategy({ constraints: [{ ...COUNTRY, values: ['FR'] }, AGE, MAIL] })],
  ['another value', strategy({ constraints: [COUNTRY, { ...AGE, value: '21' }, MAIL] })],
  ['an inverted constraint', strategy({ constraints: [{ ...COUNTRY, inverted: true }, AGE, MAIL] })],
  ['a constraint that ignores case', strategy({ constraints: [COUNTRY, AGE, { ...MAIL, caseInsensitive: true }] })],
  ['no segment', strategy({ segments: [] })],
  ['a disabled strategy', strategy({ disabled: true })],
  ['no strategy', ({ strategy: id }) => [{ op: 'removeStrategy', ref: { ...at('a'), strategy: id } }]],
  ['another name of a variant of a strategy', strategy({ variants: [{ ...LEFT, name: 'middle' }, RIGHT] })],
  [
    'other weights of a strategy',
    strategy({
      variants: [
        { ...LEFT, weight: 300 },
        { ...RIGHT, weight: 700 },
      ],
    }),
  ],
  ['another payload of a strategy', strategy({ variants: [{ ...LEFT, payload: PAYLOAD }, RIGHT] })],
  [
    'other stickiness of a strategy',
    strategy({ variants: [LEFT, RIGHT].map((one) => ({ ...one, stickiness: 'mail' })) }),
  ],
  ['no variants of a strategy', strategy({ variants: [] })],
  ['another name of a variant', variants({ ...RED, name: 'green' }, BLUE)],
  ['other weights', variants({ ...RED, weight: 300 }, { ...BLUE, weight: 700 })],
  ['a payload', variants({ ...RED, payload: PAYLOAD }, BLUE)],
  ['an override', variants({ ...RED, overrides: [{ contextName: 'userId', values: ['7'] }] }, BLUE)],
  ['no variants', variants()],
  ['a parent that must be off', dependency({ enabled: false })],
  ['a parent that must have a variant', dependency({ variants: ['tall'] })],
  ['no parent', () => [{ op: 'removeDependency', ref: at('a'), input: { flag: 'base' } }]],
  ['a parent that is off', () => [{ op: 'disable', ref: at('base') }]],
  ['another strategy of the parent', () => [{ op: 'addStrategy', ref: at('base'), input: { name: 'default' } }]],
  ['other constraints of the parent', ofParent({ constraints: [COUNTRY] })],
  ['a segment of the parent', ({ segment: id, ...ids }) => ofParent({ segments: [id] })({ segment: id, ...ids })],
  ['variants of a strategy of the parent', ofParent({ variants: [LEFT, RIGHT] })],
  ['other values of the segment', segment({ ...COUNTRY, values: ['AT'] })],
  ['an inverted constraint of the segment', segment({ ...COUNTRY, inverted: true })],
];

const NOT_SEEN: readonly (readonly [name: string, edit: Edit])[] = [
  [
    'defaults of constraints',
    strategy({ constraints: [{ ...COUNTRY, inverted: false, caseInsensitive: false }, AGE, MAIL] }),
  ],
  ['defaults of variants', variants({ ...RED, stickiness: 'default', overrides: [] }, BLUE)],
  ['defaults of the parent', dependency({ enabled: true, variants: [] })],
  ['defaults of constraints of the segment', segment({ ...COUNTRY, inverted: false })],
  ['a title', strategy({ title: 'Half' })],
  ['numbers instead of text', strategy({ parameters: { ...parameters, rollout: 50 } })],
  ['empty lists of the parent', ofParent({ constraints: [{ ...AGE, values: [] }], segments: [], variants: [] })],
  ['parameters in another order', strategy({ parameters: Object.fromEntries(Object.entries(parameters).reverse()) })],
  [
    'a disabled strategy of the parent',
    () => [{ op: 'addStrategy', ref: at('base'), input: { name: 'x', disabled: true } }],
  ],
];

describe('an edit', () => {
  let flags: Flags<string>;
  let ids: Ids;

  beforeEach(async () => {
    flags = await openFlags<string>({
      storage: memoryStorage(),
      due: { run: 'elsewhere' },
      onProblem: () => undefined,
    });
    const { id: segmentId } = await flags.segments.create({ name: 'EU', constraints: [COUNTRY] });
    for (const name of ['base', 'a']) await flags.createFlag(DEFAULT, { name });
    const strategies = [{ name: 'default', constraints: [AGE] }] as const;
    const base = await flags.configureEnvironment(at('base'), { enabled: true, strategies });
    const { id } = await flags.addStrategy(at('a'), stored({ segment: segmentId }));
    await flags.setVariants(at('a'), [RED, BLUE]);
    await flags.addDependency(at('a'), { flag: 'base' });
    ids = { strategy: id, ofParent: base.strategies[0]?.id ?? '', segment: segmentId };
  });
  afterEach(() => flags.close());

  /** Whether the plan of an edit has an effect on the flag, which is on. */
  async function hasEffect(edit: Edit): Promise<boolean> {
    await flags.enable(at('a'));
    const { effects } = await flags.plan(edit(ids));
    return effects.some(({ flag }) => flag === 'a');
  }

  /** Whether an approval to enable the flag still counts after an edit. */
  async function isStillApproved(edit: Edit): Promise<boolean> {
    await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
    const { id } = await flags.as(ADA).changeRequests.create([{ op: 'enable', ref: at('a') }], LAUNCH);
    const ref = { changeRequest: id };
    await approve(flags, ref);
    await flags.apply(edit(ids), { bypassApproval: 'Test' });
    return (await flags.changeRequests.get(ref)).approvals.every(({ current }) => current);
  }

  describe.each(SEEN)('that clients see (%s)', (_, edit) => {
    it('is listed among the effects of its plan', async () => expect(await hasEffect(edit)).toBe(true));
    it('ends an approval', async () => expect(await isStillApproved(edit)).toBe(false));
  });

  describe.each(NOT_SEEN)('that clients do not see (%s)', (_, edit) => {
    it('is not listed among the effects of its plan', async () => expect(await hasEffect(edit)).toBe(false));
    it('keeps an approval', async () => expect(await isStillApproved(edit)).toBe(true));
  });
});
