import type { DefinedFlag, DefinedStrategy } from '../../src/features/definitions/definition.types.js';
import {
  flagTarget,
  projectTarget,
  rolloutsLeftAlone,
  segmentTarget,
} from '../../src/features/definitions/targets.decide.js';
import type { FlagState } from '../../src/features/flags/flag.js';
import type { Strategy } from '../../src/features/flags/strategy.types.js';
import { flagState, strategyState } from '../flags/flag-states.js';
import { gradual, rollingFlag, rolloutState } from '../rollouts/rollout-states.js';

const NOW = '2026-03-03T00:00:00.000Z';
const ORIGIN = { now: NOW, actor: 'ada', newId: (place: string) => `new ${place}` };

describe('the project of a definition', () => {
  const member = (userId: number) => ({ userId, roleId: 4 });
  const current = {
    id: 'shop',
    name: 'Shop',
    description: 'Sells',
    createdAt: '2026-01-01T00:00:00.000Z',
    members: [],
  };

  it('has its members in the order of their ids, as every stored project', () => {
    const { members } = projectTarget({ id: 'shop', members: [10, 9, 11].map(member) }, current, ORIGIN);
    expect(members).toEqual([9, 10, 11].map(member));
  });

  it('keeps what the definition omits, or has defaults', () => {
    expect(projectTarget({ id: 'shop' }, current, ORIGIN)).toEqual(current);
    const created = { id: 'shop', name: 'shop', description: '', createdAt: NOW, members: [] };
    expect(projectTarget({ id: 'shop' }, undefined, ORIGIN)).toEqual(created);
  });
});

describe('the segment of a definition', () => {
  const current = { id: 3, name: 'beta', description: '', constraints: [], createdAt: NOW, createdBy: 'ada' };
  const target = (definition: object, state: object | undefined) =>
    segmentTarget({ name: 'beta', ...definition }, state as typeof current | undefined, { ...ORIGIN, id: 3 });

  it.each<[string, object, object | undefined, object]>([
    ['is of the instance by default', {}, undefined, current],
    ['stays of the instance', {}, current, current],
    ['is of the project that it names', { project: 'shop' }, current, { ...current, project: 'shop' }],
    ['stays in its project', {}, { ...current, project: 'shop' }, { ...current, project: 'shop' }],
    ['becomes one of the instance', { project: null }, { ...current, project: 'shop' }, current],
  ])('%s', (_, definition, state, expected) => {
    // Strictly: a segment of the instance has no member `project`.
    expect(target(definition, state)).toStrictEqual(expected);
  });
});

describe('the strategies of a definition', () => {
  /** Returns the strategies of the flag after an import of these. */
  function imported(flag: FlagState, ...strategies: readonly DefinedStrategy[]): readonly Strategy[] | undefined {
    const definition: DefinedFlag = { name: 'checkout', environments: { production: { strategies } } };
    const origin = { ...ORIGIN, defaultType: 'release', segmentId: Number };
    return flagTarget(definition, flag, origin).environments[0]?.strategies;
  }

  const asDefined = ({ id: _id, ...strategy }: Strategy) => strategy as DefinedStrategy;
  const share = (id: string, rollout: string, groupId: string) => ({
    ...gradual({ parameters: { rollout, groupId } }),
    id,
  });
  const titled = (id: string, title: string) => strategyState(id, { title });

  it('without ids are those at their places first, if they are equal', () => {
    const current = [titled('s-1', 'same'), titled('s-2', 'same'), titled('s-3', 'same')];
    const wanted = [titled('s-1', 'new'), titled('s-2', 'same'), titled('s-3', 'same')];
    expect(imported(rollingFlag(undefined, { strategies: current }), ...wanted.map(asDefined))).toEqual(wanted);
  });

  it('set a percentage that does not roll out', () => {
    const flag = rollingFlag(undefined, { strategies: [share('s-1', '5', 'a')] });
    expect(imported(flag, asDefined(share('s-1', '60', 'a')))).toEqual([share('s-1', '60', 'a')]);
    expect(imported(flag, share('s-1', '60', 'a'))).toEqual([share('s-1', '60', 'a')]);
  });

  it('keep the percentages that roll out, and are told apart by all else', () => {
    const current = [share('s-1', '5', 'a'), share('s-2', '25', 'b')];
    const rollouts = { 's-1': rolloutState(), 's-2': rolloutState() };
    const flag = rollingFlag(undefined, { strategies: current, rollouts });
    const reversed = [share('', '1', 'b'), share('', '2', 'a')].map(asDefined);
    expect(imported(flag, ...reversed)).toEqual([...current].reverse());
    expect(imported(flag, { ...share('s-1', '7', 'b'), id: 's-1' })).toEqual([share('s-1', '5', 'b')]);
  });

  it('that do not roll out go first to those that are equal', () => {
    const current = [share('s-1', '5', 'a'), share('s-2', '60', 'a')];
    const flag = rollingFlag(rolloutState(), { strategies: current });
    const wanted = [share('', '60', 'a'), share('', '1', 'a')].map(asDefined);
    expect(imported(flag, ...wanted)).toEqual([share('s-2', '60', 'a'), share('s-1', '5', 'a')]);
  });

  it('get new ids by their places if there are no others', () => {
    const wanted = [titled('', 'a'), titled('', 'b')].map(asDefined);
    expect(imported(rollingFlag(undefined, { strategies: [titled('s-1', 'b')] }), ...wanted)).toEqual([
      titled('new checkout/production/0', 'a'),
      titled('s-1', 'b'),
    ]);
  });
});

describe('the rollouts that an import leaves alone', () => {
  const current = rollingFlag(rolloutState(), { strategies: [gradual(), strategyState('s-2')] });
  const strategies: readonly DefinedStrategy[] = [];
  const place = { project: 'shop', flag: 'checkout', environment: 'production', strategy: 's-1' };

  it.each<[string, Pick<DefinedFlag, 'environments'>, FlagState, readonly object[]]>([
    ['are those of strategies that it has', { environments: { production: { strategies } } }, current, [place]],
    [
      'are those of its only strategy',
      { environments: { production: { strategies } } },
      rollingFlag(rolloutState()),
      [place],
    ],
    [
      'do not include those of strategies that it removes',
      { environments: { production: { strategies } } },
      rollingFlag(undefined, { strategies: [strategyState('s-2')] }),
      [],
    ],
    ['do not include those of a switch', { environments: { production: { enabled: true } } }, current, []],
    ['do not include those of other environments', { environments: { development: { strategies } } }, current, []],
    ['do not include those of metadata', {}, current, []],
    [
      'do not include those of a flag without the environment',
      { environments: { production: { strategies } } },
      flagState(),
      [],
    ],
  ])('%s', (_, definition, target, expected) => {
    expect(rolloutsLeftAlone(definition, current, target)).toEqual(expected);
  });
});
