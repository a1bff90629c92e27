import { computed } from '@preact/signals';
import { lookUp } from '../api/resource.js';
import type { Consumer } from '../api/types.js';
import { currentProject } from '../router.js';
import { offers } from './session.js';

/** The durable consumers of events; empty for those who may not list them. */
const consumers = computed<readonly Consumer[]>(() =>
  offers('listConsumers', currentProject()) ? (lookUp('listConsumers', {}).data?.consumers ?? []) : [],
);

/** The consumers whose handler failed at the last event. */
export const failingConsumers = computed(() => consumers.value.filter(({ error }) => error !== null));
