import { segmentsOf, usesOfSegment } from '../../src/flags/flag.js';
import {
  createSegment,
  deleteSegment,
  evolveSegment,
  NO_SEGMENTS,
  registerSegment,
  renameSegment,
  type SegmentEvent,
  type SegmentState,
  unregisterSegment,
  updateSegment,
} from '../../src/segments/segment.js';
import { flagState, strategyState } from './flag-states.js';
import { refusalOf } from './refusal.js';

const BETA = {
  name: 'beta',
  description: '',
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
} as const;
const BIRTH = { id: 1, createdAt: '2026-01-01T00:00:00.000Z', createdBy: 'ada' };
const segment = { ...BETA, ...BIRTH };

function after(state: SegmentState | undefined, events: readonly SegmentEvent[]): SegmentState | undefined {
  return events.reduce(evolveSegment, state);
}

describe('a segment', () => {
  it('equals the result of its events', () => {
    const created = createSegment({ name: 'beta', constraints: BETA.constraints }, BIRTH);
    expect(created).toEqual([{ type: 'segment-created', data: segment, before: null }]);
    expect(after(undefined, created)).toEqual(segment);
    const changes = { name: 'early', description: 'Early', constraints: [] };
    const updated = updateSegment(segment, changes);
    expect(updated).toEqual([{ type: 'segment-updated', data: { ...segment, ...changes }, before: segment }]);
    expect(after(segment, updated)).toEqual({ ...segment, ...changes });
    const deleted = deleteSegment(segment, 0);
    expect(deleted).toEqual([{ type: 'segment-deleted', data: null, before: segment }]);
    expect(after(segment, deleted)).toBeUndefined();
  });

  it('causes no event without a difference in its state', () => {
    expect(updateSegment(segment, structuredClone(BETA))).toEqual([]);
    expect(updateSegment(segment, { name: 'early' })).toHaveLength(1);
  });

  it('is not deleted while strategies use it', () => {
    const error = refusalOf(() => deleteSegment(segment, 2));
    expect(error.code).toBe('segment_in_use');
    expect(error.message).toContain('2 strategies');
  });

  it('moves to a project whose flags alone use it, and back to the instance', () => {
    const use = { project: 'shop', flag: 'checkout', environment: 'production', strategy: 'a' };
    const moved = { ...segment, project: 'shop' };
    expect(after(segment, updateSegment(segment, { project: 'shop' }, [use]))).toEqual(moved);
    expect(updateSegment(moved, { project: 'shop' }, [use])).toEqual([]);
    expect(after(moved, updateSegment(moved, { project: null }, [use]))).toEqual(segment);
    const error = refusalOf(() => updateSegment(segment, { project: 'other' }, [use]));
    expect(error.code).toBe('segment_in_use');
    expect(error.message).not.toContain('shop');
  });
});

describe('the registry of segments', () => {
  const registry = registerSegment(NO_SEGMENTS, { id: 1, name: 'beta' });

  it('refuses a name that is in use, and keeps the last id when names go', () => {
    expect(refusalOf(() => registerSegment(registry, { id: 2, name: 'beta' })).code).toBe('segment_exists');
    expect(unregisterSegment(registry, 'beta')).toEqual({ lastId: 1, names: [] });
  });

  it('follows a new name', () => {
    expect(renameSegment(registry, 'beta', 'early')).toEqual({ lastId: 1, names: ['early'] });
    const both = registerSegment(registry, { id: 2, name: 'gamma' });
    expect(refusalOf(() => renameSegment(both, 'beta', 'gamma')).code).toBe('segment_exists');
  });
});

describe("a flag's use of segments", () => {
  const flag = flagState({
    environments: [
      {
        name: 'production',
        enabled: true,
        strategies: [strategyState('a', { segments: [2, 1, 2] }), strategyState('b')],
      },
      { name: 'development', enabled: false, strategies: [strategyState('c', { segments: [1] })] },
    ],
  });

  it('is that of its strategies in any environment', () => {
    expect(segmentsOf(flag)).toEqual([2, 1]);
    expect(usesOfSegment(flag, 1)).toEqual([
      { project: 'shop', flag: 'checkout', environment: 'production', strategy: 'a' },
      { project: 'shop', flag: 'checkout', environment: 'development', strategy: 'c' },
    ]);
    expect(usesOfSegment(flag, 3)).toEqual([]);
  });
});
