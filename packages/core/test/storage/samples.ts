import type { Commit, DocumentKey, DocumentPut, NewEvent } from '../../src/storage/port.js';

export const flag = (id: string): DocumentKey => ({ kind: 'flag', id });

export const closed = { name: 'FlagsError', code: 'closed' };
export const busy = { name: 'FlagsError', code: 'storage_busy' };
export const unsupported = { name: 'FlagsError', code: 'storage_unsupported' };
export const unavailable = { name: 'FlagsError', code: 'storage_unavailable' };

export function put(id: string, expected = 0): DocumentPut {
  return { key: flag(id), expected, parent: 'shop', body: { name: id }, summary: { id } };
}

export function newEvent(id: string, type = 'changed'): NewEvent {
  return {
    type,
    at: '2026-01-01T00:00:00.000Z',
    actor: 'ada',
    changeSet: `set-${id}`,
    subject: flag(id),
    project: 'shop',
    environment: null,
    data: { id },
    before: null,
  };
}

/** Creates a flag, with one event of the type. */
export function creation(id: string, type = 'created'): Commit {
  return { writes: [put(id)], events: [newEvent(id, type)] };
}
