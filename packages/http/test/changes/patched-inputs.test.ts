import { changeMetadata } from '../../../core/src/features/flags/flag.decide.js';
import { replaceStrategy } from '../../../core/src/features/flags/strategies.decide.js';
import type { Variant } from '../../../core/src/features/flags/variant.types.js';
import { setVariants } from '../../../core/src/features/flags/variants.decide.js';
import { validate } from '../../../core/test/base/default-validators.js';
import { refusalOf } from '../../../core/test/decision.js';
import { after, flagState, strategyState } from '../../../core/test/flags/flag-states.js';
import type { JsonPatch } from '../../src/changes/json-patch.js';
import { patchedMetadata, patchedStrategy, patchedVariants } from '../../src/features/flags/patches.js';

const TWO = { environment: 'production', strategy: 'two' };

function variantState(name: string, weight: number, changes: Partial<Variant> = {}): Variant {
  return { name, weightType: 'variable', weight, stickiness: 'default', overrides: [], ...changes };
}

describe('patching metadata', () => {
  it('keeps unchanged members, such as a type that is no longer configured', () => {
    const old = flagState({ type: 'retired' });
    const patch: JsonPatch = [{ op: 'replace', path: '/description', value: 'new' }];
    expect(changeMetadata(old, validate.flagChanges(patchedMetadata(old, patch)))).toMatchObject([
      { type: 'flag-updated', data: { description: 'new' } },
    ]);
  });

  const flag = flagState();

  function patched(...patch: JsonPatch) {
    return after(flag, changeMetadata(flag, validate.flagChanges(patchedMetadata(flag, patch))));
  }

  it.each<[JsonPatch[number], object]>([
    [{ op: 'replace', path: '/description', value: 'new' }, { description: 'new' }],
    [{ op: 'add', path: '/type', value: 'operational' }, { type: 'operational' }],
    [{ op: 'replace', path: '/stale', value: true }, { stale: true }],
    [{ op: 'replace', path: '/impressionData', value: true }, { impressionData: true }],
    [{ op: 'remove', path: '/description' }, { description: null }],
    [{ op: 'move', from: '/description', path: '/description' }, {}],
    [{ op: 'copy', from: '/name', path: '/description' }, { description: 'checkout' }],
    [{ op: 'move', from: '/project', path: '/description' }, { description: 'shop' }],
    [{ op: 'copy', from: '/stale', path: '/impressionData' }, {}],
    [{ op: 'add', path: '/labels/-', value: 'c' }, { labels: ['c'] }],
    [{ op: 'replace', path: '/labels', value: ['c', 'b'] }, { labels: ['c', 'b'] }],
    [{ op: 'remove', path: '/labels' }, {}],
    [{ op: 'replace', path: '/owner', value: 'ada' }, { owner: 'ada' }],
    [{ op: 'remove', path: '/owner' }, {}],
  ])('does %j', (operation, changes) => {
    expect(patched(operation)).toEqual({ ...flag, ...changes });
  });

  it.each(['name', 'project', 'createdAt', 'lastSeen', 'lastSeenAt'])('ignores changes of /%s', (field) => {
    expect(patched({ op: 'replace', path: `/${field}`, value: 'x' })).toEqual(flag);
    expect(patched({ op: 'add', path: `/${field}`, value: 'x' })).toEqual(flag);
    expect(patched({ op: 'remove', path: `/${field}` })).toEqual(flag);
    expect(patched({ op: 'move', from: '/description', path: `/${field}` })).toEqual(flag);
    expect(patched({ op: 'copy', from: '/description', path: `/${field}` })).toEqual(flag);
    expect(patched({ op: 'add', path: `/${field}/nested`, value: 'x' })).toEqual(flag);
  });

  it('tests the true values of kept members, even after an ignored change', () => {
    expect(
      patched(
        { op: 'replace', path: '/name', value: 'x' },
        { op: 'test', path: '/name', value: 'checkout' },
        { op: 'test', path: '/createdAt', value: flag.createdAt },
      ),
    ).toEqual(flag);
  });

  it('is refused with patch_test_failed when a test fails, with any other operations', () => {
    const refusal = refusalOf(() =>
      patched({ op: 'replace', path: '/stale', value: true }, { op: 'test', path: '/stale', value: false }),
    );
    expect(refusal).toMatchObject({ code: 'patch_test_failed', details: [{ path: '/1' }] });
  });

  it.each(['/lastSeen', '/lastSeenAt'])('cannot test or copy %s, which does not belong to the flag', (path) => {
    expect(refusalOf(() => patched({ op: 'test', path, value: null })).code).toBe('patch_test_failed');
    expect(refusalOf(() => patched({ op: 'copy', from: path, path: '/description' })).code).toBe('invalid_patch');
  });

  it.each<JsonPatch[number]>([
    { op: 'remove', path: '/type' },
    { op: 'remove', path: '/stale' },
    { op: 'remove', path: '/impressionData' },
    { op: 'move', from: '/type', path: '/description' },
    { op: 'add', path: '/unknown', value: 1 },
    { op: 'add', path: '/archived', value: true },
    { op: 'replace', path: '/variants', value: [] },
    { op: 'add', path: '/environments/0', value: {} },
    { op: 'replace', path: '', value: {} },
    { op: 'add', path: '/__proto__', value: {} },
    { op: 'add', path: '/description/nested', value: 1 },
    { op: 'remove', path: '/description/0' },
    { op: 'remove', path: '/labels/0' },
    { op: 'add', path: '/owner/nested', value: 'x' },
  ])('is refused with invalid_patch for %j', (operation) => {
    expect(refusalOf(() => patched(operation)).code).toBe('invalid_patch');
  });

  it.each<JsonPatch[number]>([
    { op: 'replace', path: '/description', value: 7 },
    { op: 'replace', path: '/type', value: 'unheard-of' },
    { op: 'replace', path: '/stale', value: null },
    { op: 'copy', from: '/name', path: '/impressionData' },
    { op: 'replace', path: '/owner', value: '' },
    { op: 'replace', path: '/labels', value: 'a' },
  ])('is refused with invalid_input if the flag would be invalid after %j', (operation) => {
    expect(refusalOf(() => patched(operation))).toMatchObject({
      code: 'invalid_input',
      details: [{ path: operation.path }],
    });
  });

  it('names every member that cannot be removed', () => {
    const refusal = refusalOf(() => patched({ op: 'remove', path: '/stale' }, { op: 'remove', path: '/type' }));
    expect(refusal.message).toBe('The patch cannot be applied: /type cannot be removed.');
    expect(refusal.details).toEqual([
      { message: 'cannot be removed', path: '/type' },
      { message: 'cannot be removed', path: '/stale' },
    ]);
  });
});

describe('patching a strategy', () => {
  const stored = strategyState('two', { parameters: { rollout: 5, groupId: 'g' }, title: 'Title', sortOrder: 3 });
  const strategies = [stored];
  const flag = flagState({ environments: [{ name: 'production', enabled: true, strategies }] });

  function replaceBy(patch: JsonPatch) {
    return replaceStrategy(flag, TWO, validate.strategy(patchedStrategy(stored, patch)));
  }

  function patched(...patch: JsonPatch) {
    return after(flag, replaceBy(patch))?.environments[0]?.strategies[0];
  }

  it.each<[JsonPatch[number], object]>([
    [{ op: 'replace', path: '/parameters/rollout', value: 50 }, { parameters: { rollout: 50, groupId: 'g' } }],
    [
      { op: 'add', path: '/parameters/stickiness', value: 'userId' },
      { parameters: { rollout: 5, groupId: 'g', stickiness: 'userId' } },
    ],
    [{ op: 'remove', path: '/parameters/rollout' }, { parameters: { groupId: 'g' } }],
    [{ op: 'remove', path: '/parameters' }, { parameters: {} }],
    [{ op: 'replace', path: '/parameters', value: null }, { parameters: null }],
    [{ op: 'replace', path: '/name', value: 'own' }, { name: 'own' }],
    [{ op: 'add', path: '/disabled', value: true }, { disabled: true }],
    [
      { op: 'add', path: '/constraints/-', value: { contextName: 'a', operator: 'IN', values: ['b'] } },
      { constraints: [{ contextName: 'a', operator: 'IN', values: ['b'] }] },
    ],
    [{ op: 'copy', from: '/id', path: '/title' }, { title: 'two' }],
    [{ op: 'replace', path: '/id', value: 'stolen' }, {}],
    [{ op: 'remove', path: '/id' }, {}],
  ])('does %j', (operation, changes) => {
    expect(patched(operation)).toEqual({ ...strategies[0], ...changes });
  });

  it('can remove an optional member', () => {
    expect(patched({ op: 'remove', path: '/title' })).not.toHaveProperty('title');
  });

  it('causes no event without a difference', () => {
    const patch: JsonPatch = [{ op: 'test', path: '/parameters/rollout', value: 5 }];
    expect(replaceBy(patch)).toEqual([]);
  });

  it.each<[JsonPatch[number], string]>([
    [{ op: 'replace', path: '/unknown', value: 1 }, 'invalid_patch'],
    [{ op: 'add', path: '/unknown', value: 1 }, 'invalid_patch'],
    [{ op: 'add', path: '', value: { name: 'default' } }, 'invalid_patch'],
    [{ op: 'replace', path: '/segments', value: [] }, 'invalid_patch'],
    [{ op: 'add', path: '/constraints/1', value: {} }, 'invalid_patch'],
    [{ op: 'test', path: '/id', value: 'three' }, 'patch_test_failed'],
    [{ op: 'remove', path: '/name' }, 'invalid_input'],
    [{ op: 'add', path: '/constraints/-', value: {} }, 'invalid_input'],
    [{ op: 'add', path: '/parameters/deep', value: {} }, 'invalid_input'],
  ])('is refused for %j with %s', (operation, code) => {
    expect(refusalOf(() => patched(operation)).code).toBe(code);
  });

  it('keeps a percentage in a strategy of flexibleRollout', () => {
    const refusal = refusalOf(() =>
      patched(
        { op: 'replace', path: '/name', value: 'flexibleRollout' },
        { op: 'replace', path: '/parameters/rollout', value: 101 },
      ),
    );
    expect(refusal).toMatchObject({ code: 'invalid_input', details: [{ path: '/parameters/rollout' }] });
  });
});

describe('patching variants', () => {
  const flag = flagState({
    variants: [variantState('a', 100, { weightType: 'fix' }), variantState('b', 450), variantState('c', 450)],
  });

  function weightsAfter(...patch: JsonPatch) {
    const patched = after(flag, setVariants(flag, validate.variants(patchedVariants(flag, patch))));
    return patched?.variants.map(({ name, weight }) => [name, weight]);
  }

  it.each<[JsonPatch[number], unknown]>([
    [
      { op: 'add', path: '/-', value: { name: 'd' } },
      [
        ['a', 100],
        ['b', 300],
        ['c', 300],
        ['d', 300],
      ],
    ],
    [
      { op: 'add', path: '/0', value: { name: 'd' } },
      [
        ['d', 300],
        ['a', 100],
        ['b', 300],
        ['c', 300],
      ],
    ],
    [
      { op: 'remove', path: '/1' },
      [
        ['a', 100],
        ['c', 900],
      ],
    ],
    [
      { op: 'replace', path: '/0/weight', value: 300 },
      [
        ['a', 300],
        ['b', 350],
        ['c', 350],
      ],
    ],
    [
      { op: 'replace', path: '/0/weightType', value: 'variable' },
      [
        ['a', 334],
        ['b', 333],
        ['c', 333],
      ],
    ],
    [
      { op: 'replace', path: '/2/weight', value: 7 },
      [
        ['a', 100],
        ['b', 450],
        ['c', 450],
      ],
    ],
    [
      { op: 'move', from: '/2', path: '/0' },
      [
        ['c', 450],
        ['a', 100],
        ['b', 450],
      ],
    ],
    [{ op: 'replace', path: '', value: [] }, []],
  ])('does %j', (operation, weights) => {
    expect(weightsAfter(operation)).toEqual(weights);
  });

  it.each<[JsonPatch[number], string]>([
    [{ op: 'add', path: '/4', value: { name: 'd' } }, 'invalid_patch'],
    [{ op: 'move', from: '/0', path: '/3' }, 'invalid_patch'],
    [{ op: 'remove', path: '/3' }, 'invalid_patch'],
    [{ op: 'remove', path: '/-' }, 'invalid_patch'],
    [{ op: 'test', path: '/1/weight', value: 7 }, 'patch_test_failed'],
    [{ op: 'remove', path: '' }, 'invalid_input'],
    [{ op: 'copy', from: '/0', path: '/-' }, 'invalid_input'],
    [{ op: 'replace', path: '/0/weight', value: 1000 }, 'invalid_input'],
    [{ op: 'add', path: '/0/colour', value: 'red' }, 'invalid_input'],
  ])('is refused for %j with %s', (operation, code) => {
    expect(refusalOf(() => weightsAfter(operation)).code).toBe(code);
  });
});
