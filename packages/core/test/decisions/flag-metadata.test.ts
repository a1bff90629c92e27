import type { JsonPatch } from '../../src/base/common.types.js';
import type { FlagChanges } from '../../src/flags/flag.types.js';
import { changeMetadata, patchMetadata } from '../../src/flags/metadata.decide.js';
import { validate } from '../base/default-validators.js';
import { after, flagState } from './flag-states.js';
import { refusalOf } from './refusal.js';

const { environments: _environments, ...HEAD } = flagState();

describe('changing metadata', () => {
  it('is one event with the flag as it is after and before, without its environments', () => {
    const events = changeMetadata(flagState(), { description: 'new', type: 'release', impressionData: true });
    expect(events).toEqual([
      {
        type: 'flag-updated',
        data: { ...HEAD, description: 'new', impressionData: true },
        before: HEAD,
      },
    ]);
  });

  it('is an event of its own for staleness, on and off', () => {
    expect(changeMetadata(flagState(), { stale: true })).toEqual([
      { type: 'flag-stale-on', data: { stale: true }, before: { stale: false } },
    ]);
    const stale = flagState({ stale: true });
    const events = changeMetadata(stale, { stale: false, type: 'operational' });
    expect(events).toMatchObject([{ type: 'flag-updated' }, { type: 'flag-stale-off' }]);
    expect(after(stale, events)).toEqual(flagState({ type: 'operational' }));
  });

  it.each<FlagChanges>([{}, { stale: false }, { description: 'The new checkout', type: 'release' }])(
    'is no event for what stays the same: %j',
    (changes) => {
      expect(changeMetadata(flagState(), changes)).toEqual([]);
    },
  );

  it('clears a description by null, and keeps absent members', () => {
    expect(after(flagState(), changeMetadata(flagState(), { description: null }))).toEqual(
      flagState({ description: null }),
    );
  });

  it('replaces the labels, keeps their order, and clears the owner by null', () => {
    const flag = flagState({ labels: ['b', 'a'], owner: 'ada' });
    expect(after(flag, changeMetadata(flag, { labels: ['c', 'a'], owner: null }))).toEqual(
      flagState({ labels: ['c', 'a'], owner: null }),
    );
  });

  it('never changes the identity of the flag', () => {
    const changes = { name: 'x', project: 'x', createdAt: 'x', archived: true, variants: [] } as FlagChanges;
    expect(changeMetadata(flagState(), changes)).toEqual([]);
  });

  it('is refused for an archived flag, even when nothing would change', () => {
    expect(refusalOf(() => changeMetadata(flagState({ archived: true }), {})).code).toBe('flag_archived');
  });
});

describe('patching metadata', () => {
  it('keeps unchanged members, such as a type that is no longer configured', () => {
    const old = flagState({ type: 'retired' });
    const patch: JsonPatch = [{ op: 'replace', path: '/description', value: 'new' }];
    expect(patchMetadata(old, { patch, validate: validate.flagChanges })).toMatchObject([
      { type: 'flag-updated', data: { description: 'new' } },
    ]);
  });

  const flag = flagState();

  function patched(...patch: JsonPatch) {
    return after(flag, patchMetadata(flag, { patch, validate: validate.flagChanges }));
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

  it.each(['name', 'project', 'createdAt', 'lastSeen', 'lastSeenAt'])('keeps /%s without a word', (field) => {
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

  it('is refused with patch_test_failed when a test does not hold, whatever else it does', () => {
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
  ])('is refused with invalid_input for what a flag cannot be after %j', (operation) => {
    expect(refusalOf(() => patched(operation))).toMatchObject({
      code: 'invalid_input',
      details: [{ path: operation.path }],
    });
  });

  it('says of every member that it would remove that it cannot be', () => {
    const refusal = refusalOf(() => patched({ op: 'remove', path: '/stale' }, { op: 'remove', path: '/type' }));
    expect(refusal.message).toBe('The patch cannot be applied: /type cannot be removed.');
    expect(refusal.details).toEqual([
      { message: 'cannot be removed', path: '/type' },
      { message: 'cannot be removed', path: '/stale' },
    ]);
  });

  it('is refused for an archived flag', () => {
    const input = { patch: [], validate: validate.flagChanges };
    expect(refusalOf(() => patchMetadata(flagState({ archived: true }), input)).code).toBe('flag_archived');
  });
});
