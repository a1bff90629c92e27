import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import type { Segment } from '../api/types.js';
import { nameSegmentsBy } from '../model/describe.js';
import { currentProject } from '../router.js';
import { offers } from './session.js';

const names = signal<ReadonlyMap<number, string>>(new Map());
nameSegmentsBy((id) => names.value.get(id));

/** Reads all segments, so that descriptions show segment names instead of ids. */
export function useSegments(): readonly Segment[] {
  const { data } = useResource('listSegments', offers('listSegments', currentProject()) ? {} : undefined);
  useEffect(() => {
    if (data) names.value = new Map(data.segments.map(({ id, name }) => [id, name]));
  }, [data]);
  return data?.segments ?? [];
}
