import { FlagsError } from '../errors.js';
import type { DomainEvent } from '../events/event.types.js';
import { LIMITS } from '../validation/limits.js';
import { locateRefusal } from './refusal-path.js';

/** Measures what a change set writes. Refuses a set that exceeds the limit as soon as it does. */
export interface SetSize {
  /** Throws `change_set_too_large`. */
  addEvent(event: DomainEvent): void;
  /**
   * Throws `change_set_too_large`.
   *
   * @param path the place of the last change of the document in the caller's input
   */
  addDocument(text: string, path: string | undefined): void;
}

/** So many events fit beside one document. Measuring them would slow down every single change. */
const UNMEASURED_EVENTS = 3;

export function createSetSize(): SetSize {
  const unmeasured: DomainEvent[] = [];
  let events = 0;
  let documents = 0;
  let bytes = 0;

  function measureEvents(): void {
    for (const { data, before } of unmeasured.splice(0)) bytes += Buffer.byteLength(JSON.stringify([data, before]));
  }

  return {
    addEvent(event) {
      events += 1;
      unmeasured.push(event);
      if (events <= UNMEASURED_EVENTS) return;
      measureEvents();
      assertSize(bytes, undefined);
    },
    addDocument(text, path) {
      documents += 1;
      bytes += text.length;
      if (documents === 1 && events <= UNMEASURED_EVENTS) return;
      measureEvents();
      assertSize(bytes, path);
    },
  };
}

function assertSize(bytes: number, path: string | undefined): void {
  if (bytes <= LIMITS.changeSetBytes) return;
  const message =
    `The changes would write more than ${LIMITS.changeSetBytes} bytes of documents and events in one commit; divide them ` +
    'into several change sets. Before you delete a large project, delete its archived flags and segments.';
  throw locateRefusal(new FlagsError('change_set_too_large', message), path);
}
