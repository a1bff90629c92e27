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
  return new Meter();
}

class Meter implements SetSize {
  private readonly unmeasured: (DomainEvent | string)[] = [];
  private events = 0;
  private documents = 0;
  private bytes = 0;

  addEvent(event: DomainEvent): void {
    this.events += 1;
    this.unmeasured.push(event);
    if (this.events > UNMEASURED_EVENTS) this.assertSize(undefined);
  }

  addDocument(text: string, path: string | undefined): void {
    this.documents += 1;
    this.unmeasured.push(text);
    if (this.documents > 1 || this.events > UNMEASURED_EVENTS) this.assertSize(path);
  }

  private assertSize(path: string | undefined): void {
    for (const one of this.unmeasured.splice(0)) {
      this.bytes += Buffer.byteLength(typeof one === 'string' ? one : JSON.stringify([one.data, one.before]));
    }
    assertSize(this.bytes, path);
  }
}

function assertSize(bytes: number, path: string | undefined): void {
  if (bytes <= LIMITS.changeSetBytes) return;
  const message =
    `The changes would write more than ${LIMITS.changeSetBytes} bytes of documents and events in one commit; divide them ` +
    'into several change sets. Before you delete a large project, delete its archived flags and segments.';
  throw locateRefusal(new FlagsError('change_set_too_large', message), path);
}
