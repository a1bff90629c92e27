import { computed } from '@preact/signals';
import { lookUp } from '../api/resource.js';
import type { Segment } from '../api/types.js';
import { nameSegmentsBy } from '../model/describe.js';
import { currentProject } from '../router.js';
import { offers } from './session.js';

/** All segments. They are read when a description first names one. */
export const segments = computed<readonly Segment[]>(() =>
  offers('listSegments', currentProject()) ? (lookUp('listSegments', {}).data?.segments ?? []) : [],
);

const names = computed(() => new Map(segments.value.map(({ id, name }) => [id, name])));

/** Descriptions show segment names instead of ids. */
export function startSegmentNames(): void {
  nameSegmentsBy((id) => names.value.get(id));
}
